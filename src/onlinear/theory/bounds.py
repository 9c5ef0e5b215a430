"""Mistake bounds, in rationals: no root is taken, and nothing is rounded where something is proven.

All are of runs that start at 0, pay no penalty, and update by ``w += a z``, a > 0, exactly when ``<w, z> <= beta`` for
the row's z: y x, or against the strongest rival ``x (x) (e_y - e_r)``, whose squared length is at most R^2 times a
*stretch* of 1 or 2. Let S be the sum of all a, Q that of their squares, k the number of updates. For every u,

    S min <u, z> <= <w, u> <= |u| |w|,    |w|^2 <= Q stretch R^2 + 2 beta S,

the first because each update adds ``a <u, z>``, the second because it adds ``2 a <w, z> + a^2 |z|^2``. So, with the
least margin m of u on the rows, ``S^2 m^2 <= |u|^2 (Q stretch R^2 + 2 beta S)``: Novikoff 1962 for a = 1 and beta = 0.
If every a is the same, then k is S^2 / Q, and this is a bound on k.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from onlinear.theory.margins import Margins

#: products below it are rounded by more than a share of themselves: floats go down to 2^-1074
FAINT = Fraction(1, 1 << 1000)


class RunFigures(NamedTuple):
    """What the theorems need to know of a run."""

    updates: int
    pull: Fraction  # S
    squares: Fraction  # Q
    margin: Fraction = Fraction(0)  # beta
    stretch: int = 1

    def room(self, radius_squared: Fraction) -> Fraction:
        """What |w|^2 cannot be above: ``Q stretch R^2 + 2 beta S``."""
        return self.squares * self.stretch * radius_squared + 2 * self.margin * self.pull

    @property
    def is_plain(self) -> bool:
        """Whether all steps are of one size, so that the number of updates is what the theorem speaks of."""
        return self.pull**2 == self.updates * self.squares

    def is_faint(self, radius_squared: Fraction) -> bool:
        """Whether products of weights and rows are too small for floats, so that ``<w, z> <= 0`` is not what was asked.

        A step adds ``a z`` to the weights, and ``a^2`` is ``Q / k`` in the mean: of which floats may have lost any
        share if it is faint itself.
        """
        return self.squares < self.updates * FAINT or self.squares * radius_squared**2 < self.updates * FAINT**2

    @property
    def kind(self) -> str:
        """Which theorem covers it."""
        return ("multiclass " if self.stretch == 2 else "") + ("margin perceptron" if self.margin else "perceptron")


def is_lost(pull: Fraction, radius_squared: Fraction, constant_squared: Fraction) -> bool:
    """Whether weights may lack any share of the steps they are made of: products with these are too small for floats.

    The longest row, of length R, adds up to ``R pull``; the intercept, the weight of a constant c, up to ``c^2 pull``.
    """
    least = min(radius_squared, constant_squared**2 or radius_squared)
    return 0 < pull**2 * least < FAINT**2


class Bound(NamedTuple):
    """At most how many updates there can have been, and whether there were no more.

    With steps of different sizes it is not the updates that are bounded but ``S^2 / Q``, never more than they are.
    """

    kind: str
    value: Fraction
    holds: bool


def separable_bound(run: RunFigures, margins: Margins) -> Bound | None:
    """The bound that weights with a positive margin prove; None if theirs is not."""
    if margins.least <= 0 or run.updates == 0:
        return None
    room = run.room(margins.radius_squared)
    holds = run.pull**2 * margins.least**2 <= margins.norm_squared * room
    return Bound(run.kind, room / run.squares * margins.norm_squared / margins.least**2, holds)


def promised_share(run: RunFigures, margins: Margins) -> Fraction | None:
    """The share of the best margin that weights have after a pass without updates: None if a row is not beyond beta.

    Their margin is above ``beta / |w|``, and the best at most ``|v| / S``, v being the last weights. Neither w nor v is
    longer than the root of the room: so it is at least ``beta S / room``.
    """
    room = run.room(margins.radius_squared)
    if run.margin == 0 or margins.least <= run.margin or margins.norm_squared > room:
        return None
    return run.margin * run.pull / room


def inseparable_holds(updates: int, gamma: Fraction, middle: Fraction, product: Fraction) -> bool:
    """Whether ``k <= (middle + sqrt(product)) / gamma^2``: without a root.

    >>> one, four = Fraction(1), Fraction(4)
    >>> inseparable_holds(9, one, one + four, 4 * one * four), inseparable_holds(10, one, one + four, 4 * one * four)
    (True, False)
    """
    rest = updates * gamma**2 - middle
    return rest <= 0 or rest**2 <= product
