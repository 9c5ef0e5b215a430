"""Block: the examples of one piece of a stream, with labels as the file has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from onlinear.batch import Rows
from onlinear.errors import BadLine


class Origin(Protocol):
    """Where rows come from."""

    def error(self, row: int, reason: str) -> BadLine:
        """What is wrong with a row, with the place of its line."""


@dataclass(slots=True)
class Block:
    """Rows with their labels and importance. ``bad`` lines among them were left out.

    ``read`` is how much of the file on disk was needed so far; ``width`` one more than the highest column of the rows,
    where that is not known beforehand.
    """

    rows: Rows
    labels: np.ndarray
    importance: np.ndarray
    origin: Origin
    bad: list[tuple[BadLine, bytes]] = field(default_factory=list)
    read: int = 0
    width: int = 0

    def __len__(self) -> int:
        return len(self.labels)
