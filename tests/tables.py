"""Small tables written for a test."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def table(folder: Path, columns: dict[str, Sequence[Any]], name: str = "rows.csv") -> str:
    """A CSV file of columns with their names."""
    file = folder / name
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return str(file)
