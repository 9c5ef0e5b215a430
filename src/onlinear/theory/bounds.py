"""Mistake bounds, in rationals: no root is taken, and nothing is rounded where something is proven.

All are of runs that start at 0, pay no penalty, and update by ``w += a y x``, a > 0, exactly when ``y <w, x> <= beta``.
Let S be the sum of all a, Q that of their squares, k the number of updates, R the radius. For every u,

    S min(y <u, x>) <= <w, u> <= |u| |w|,    |w|^2 <= Q R^2 + 2 beta S,

the first because each update adds ``a y <u, x>``, the second because it adds ``2 a y <w, x> + a^2 |x|^2``. So, with the
least margin m of u on the rows, ``S^2 m^2 <= |u|^2 (Q R^2 + 2 beta S)``: Novikoff 1962 for a = 1 and beta = 0. If
every a is the same, then k is S^2 / Q, and this is a bound on k.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from onlinear.theory.margins import Margins


class Run(NamedTuple):
    """What the theorems need to know of a run."""

    updates: int
    pull: Fraction  # S
    squares: Fraction  # Q
    margin: Fraction = Fraction(0)  # beta


class Bound(NamedTuple):
    """At most how many updates there can have been, and whether there were no more.

    With steps of different sizes it is not the updates that are bounded but ``S^2 / Q``, never more than they are.
    """

    kind: str
    value: Fraction
    holds: bool


def separable_bound(run: Run, margins: Margins) -> Bound | None:
    """The bound that weights with a positive margin prove; None if theirs is not."""
    if margins.least <= 0 or run.updates == 0:
        return None
    room = run.squares * margins.radius_squared + 2 * run.margin * run.pull
    holds = run.pull**2 * margins.least**2 <= margins.norm_squared * room
    value = room / run.squares * margins.norm_squared / margins.least**2
    kind = "margin perceptron" if run.margin > 0 else "perceptron"
    return Bound(kind, value, holds)


def inseparable_holds(updates: int, gamma: Fraction, scaled_radius: Fraction, deviation: Fraction) -> bool:
    """Whether ``k <= ((R |w| + D) / gamma)^2``, given the squares of ``R |w|`` and D: without a root.

    >>> one, four = Fraction(1), Fraction(4)
    >>> inseparable_holds(9, one, one, four), inseparable_holds(10, one, one, four)
    (True, False)
    """
    rest = updates * gamma**2 - scaled_radius - deviation
    return rest <= 0 or rest**2 <= 4 * scaled_radius * deviation
