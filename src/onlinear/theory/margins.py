"""The least margin of weights on rows, and the rows' radius: to the last bit, by a pass in floats and a few exact rows.

A row whose interval does not reach the smallest upper end cannot have the least margin; what is left is exact.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from onlinear.theory.exact import squared_length
from onlinear.theory.examples import ExactRow, ExactRows, Examples
from onlinear.theory.hypotheses import Hypothesis
from onlinear.theory.intervals import Interval


class Margins(NamedTuple):
    """What is exactly true of a hypothesis on rows."""

    examples: int
    least: Fraction  # the least score, for two classes min y <w, x>
    radius_squared: Fraction  # max K(x, x): of weights max |x|^2, with the constant feature's square
    norm_squared: Fraction  # |w|^2, with the constant feature's weight
    norm_slack: Fraction = Fraction(0)  # by how much that may be too large

    @property
    def shortest_squared(self) -> Fraction:
        """The squared norm that makes the margin least: below 0 it is a short hypothesis that has the lower one."""
        return self.norm_squared if self.least >= 0 else self.norm_squared - self.norm_slack

    @property
    def signed_square(self) -> Fraction:
        """The square of the least margin, with its sign."""
        return self.least * abs(self.least) / self.shortest_squared


def margins_of(hypothesis: Hypothesis, examples: Examples) -> Margins:
    """The least margin and the radius, exactly."""
    count = 0
    least, longest = Least(), Least()
    for block in examples():
        count += len(block.targets)
        scores, lengths = hypothesis.intervals(block)
        least.see(block, scores)
        longest.see(block, Interval(-lengths.high, -lengths.low))
    return Margins(
        count,
        min(hypothesis.score(row) for row in least.rows()),
        hypothesis.kernel.of_square(max(squared_length(row.values) for row in longest.rows())),
        hypothesis.norm_squared,
        hypothesis.norm_slack,
    )


class Least:
    """The rows that may have the least of something known in intervals."""

    def __init__(self) -> None:
        self.reach = np.inf
        self.kept: list[tuple[float, ExactRow]] = []

    def see(self, block: ExactRows, among: Interval) -> None:
        self.reach = float(np.fmin.reduce(among.high, initial=self.reach))
        self.kept = [(low, row) for low, row in self.kept if not low > self.reach]
        for i in np.flatnonzero(~(among.low > self.reach)):
            self.kept.append((float(among.low[i]), block.row(int(i))))

    def rows(self) -> list[ExactRow]:
        return [row for _, row in self.kept]
