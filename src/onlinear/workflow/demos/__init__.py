"""Demonstrations: what a teacher would put on a slide, one module each, run by ``onlinear demo NAME``.

A module computes a result of plain numbers, tells it in lines of 80 columns at most, and draws it:

>>> found = demonstration("tight").compute(seed=0)
>>> [run.updates == run.rows for run in found.runs]
[True, True, True, True]
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: what each demonstration shows, by the name of its module
DEMONSTRATIONS = {
    "perceptron": "a perceptron, one line for each update, and how its boundary moves",
    "board": "the same in one dimension: a threshold moves along a line",
    "bound": "updates beside (R/g)^2 in 2, 20, 200 and 2,000 dimensions",
    "proof": "the proof in two quantities: <w,u> grows faster than |w| may",
    "tight": "rows that reach the bound, and an adversary who forces mistakes",
    "margin": "how much of the best margin a margin perceptron promises and finds",
    "xor": "no line separates it: the witness, the oscillation, four remedies",
    "noisy": "wrong labels: R, D, gamma and Delta of Freund and Schapire's bound",
    "voting": "20 orders of the same rows: the last weights, a vote, an average",
    "descent": "gradient descent, Newton and SGD: steps and time to epsilon",
    "mean": "learning a mean: which rates find it, and what heavy tails do",
    "stream": "rows that depend on each other, on an adversary, or on the time",
}


class Demonstration(Protocol):
    """What the module of a demonstration holds."""

    TITLE: str

    def compute(self, seed: int) -> Any:
        """The result, a dataclass of plain numbers: the same for the same seed, but for times."""

    def lines(self, result: Any) -> Iterator[str]:
        """The result in words and tables."""

    def draw(self, result: Any, figure: Figure) -> None:
        """The result as a picture."""


def demonstration(name: str) -> Demonstration:
    """The demonstration of a name; its module is imported now, as it takes its time."""
    return cast(Demonstration, importlib.import_module(f"{__name__}.{name}"))
