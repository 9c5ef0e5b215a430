"""One feature of its own for every example: what makes any rows separable, and the bound for those that are not.

Let ``|u| = 1``, ``|x_i| <= R``, and let example i fall short of the margin g by ``d_i = max(0, g - y_i u.x_i)``, all of
them together by ``D = sqrt(sum of d_i^2)``. Give example i one more coordinate, which no other has:

    x_i' = (x_i, Delta e_i),    u' = (u, y_1 d_1 / Delta, y_2 d_2 / Delta, ...) / Z,    Z = sqrt(1 + D^2 / Delta^2).

Now ``|u'| = 1`` and every example has margin ``y_i u'.x_i' >= g / Z``, while ``|x_i'|^2 <= R^2 + Delta^2``: a
perceptron on x' makes at most ``(R^2 + Delta^2) (1 + D^2 / Delta^2) / g^2`` mistakes. In its first pass it predicts as
one on x, because nobody has seen an example's own coordinate before. The bound is smallest for ``Delta = sqrt(R D)``:

    ((R + D) / g)^2.

Freund & Schapire 1999, Theorem 2, after Klasner & Simon 1995.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse

from onlinear.data.matrices import as_csr
from onlinear.errors import BadInput


def unique_features(X: Any, delta: float, *, first: int = 0, examples: int | None = None) -> scipy.sparse.csr_matrix:
    """The rows, each with ``delta`` in one more column that is its own.

    ``first`` is the number of the first row and ``examples`` how many there will be, where the rows come in parts: all
    parts then have the same columns.

    >>> unique_features(np.array([[1.0, 2.0], [3.0, 4.0]]), 0.5).toarray()
    array([[1. , 2. , 0.5, 0. ],
           [3. , 4. , 0. , 0.5]])
    """
    rows = scipy.sparse.csr_matrix(as_csr(X) if scipy.sparse.issparse(X) else X)
    count = rows.shape[0]
    width = first + count if examples is None else examples
    if not 0.0 < delta < math.inf:
        raise BadInput(f"delta is {delta}: it must be a positive number, best sqrt(R D)")
    if width < first + count:
        raise BadInput(f"the rows end at number {first + count}, but there are only {width} examples: raise examples")
    own = np.full(count, delta, dtype=rows.dtype if rows.dtype.kind == "f" else np.float64)
    columns = np.arange(first, first + count)
    added = scipy.sparse.csr_matrix((own, columns, np.arange(count + 1)), shape=(count, width))
    return scipy.sparse.hstack([rows, added], format="csr")


def extended_bound(radius: float, deviation: float, margin: float, delta: float) -> float:
    """``(R^2 + Delta^2) (1 + D^2 / Delta^2) / g^2``: most mistakes on rows with features of their own."""
    return ((radius / margin) ** 2 + (delta / margin) ** 2) * (1 + (deviation / delta) ** 2)


def best_delta(radius: float, deviation: float) -> float:
    """``sqrt(R D)``, for which :func:`extended_bound` is ``((R + D) / g)^2``.

    >>> best_delta(4.0, 9.0), extended_bound(4.0, 9.0, 2.0, best_delta(4.0, 9.0)), ((4.0 + 9.0) / 2.0) ** 2
    (6.0, 42.25, 42.25)
    """
    return math.sqrt(radius) * math.sqrt(deviation)
