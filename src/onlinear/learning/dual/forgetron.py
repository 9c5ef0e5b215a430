"""A perceptron on a budget: the self-tuned Forgetron.

After each update that makes the examples one too many, all coefficients shrink by a factor, and the oldest example,
which has shrunk most often, is removed. What a removal can cost is

    Psi(l, m) = l^2 + 2 l - 2 l m,

where ``l`` is the example's coefficient and ``m`` its margin ``y f(x)``, both after the shrinking; the factor is the
largest in (0, 1] for which the sum of all these costs stays within 15/32 of the mistakes.

Guarantee: where ``K(x, x) <= 1`` and a perceptron keeps ``B >= 83`` examples, then against every ``g`` of norm at most
``sqrt((B + 1) / ln(B + 1)) / 4`` its mistakes are at most ``2 |g|^2 + 4 sum of max(0, 1 - y g(x))``. Rows of another
size are measured with the largest ``K(x, x)`` so far in place of 1: the guarantee is then exact if that is the first's,
as with the RBF kernel, whose ``K(x, x)`` is 1.

Dekel, Shalev-Shwartz & Singer 2008, "The Forgetron: a kernel-based perceptron on a budget".
"""

from __future__ import annotations

import math

import numpy as np

from onlinear.data.products import products
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.support import Support
from onlinear.learning.dual.versions import Versions

#: the part of its mistakes that a perceptron may lose by removals
ALLOWANCE = 15.0 / 32.0


def forget_oldest(versions: Versions, support: Support, kernel: Kernel, radius2: float) -> tuple[float, int, float]:
    """Shrink a perceptron and remove its oldest example; answer the factor, and what was removed with which amount."""
    position, amount = versions.positions[0], versions.amounts[0]
    alike = kernel.matrix(support.rows[versions.positions], support.rows[position : position + 1])[:, 0]
    score = float(products(alike[None].astype(float), np.array([versions.amounts]))[0, 0])
    margin = math.copysign(1.0, amount) * score / radius2 if radius2 > 0.0 else 0.0
    factor = shrinking(abs(amount), margin, versions.debt - ALLOWANCE * versions.made)
    versions.debt += cost(factor * abs(amount), factor * margin)
    versions.amounts = [factor * one for one in versions.amounts[1:]]
    del versions.positions[0], versions.times[0]
    return factor, position, factor * amount


def cost(coefficient: float, margin: float) -> float:
    """What the removal of an example can cost: Psi."""
    return coefficient * coefficient + 2.0 * coefficient - 2.0 * coefficient * margin


def shrinking(coefficient: float, margin: float, spare: float) -> float:
    """The largest factor f in (0, 1] with ``cost(f coefficient, f margin) + spare <= 0``; ``spare`` is negative.

    >>> shrinking(1.0, 1.0, -10.0)
    1.0
    >>> factor = shrinking(1.0, -2.0, -0.5)
    >>> round(cost(factor, -2.0 * factor), 12)
    0.5
    """
    if cost(coefficient, margin) + spare <= 0.0:
        return 1.0
    bend = coefficient * (coefficient - 2.0 * margin)
    return -2.0 * spare / (2.0 * coefficient + math.sqrt(4.0 * coefficient * coefficient - 4.0 * bend * spare))
