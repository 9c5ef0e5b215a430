"""Inner products of rows that round alike, whatever the number of threads, of features and of outputs.

A product of matrices sums along the rows in pieces, whose size depends on their length and on the number of threads;
and the product of a matrix with one row is another function. Here the pieces have a fixed size and are added up in
their order, so that each sum has one order, to which features that are 0 add nothing. (OpenBLAS 0.3.31: of rows with
more than 384 features, products differed between one thread and two; of these pieces none did, with one to eight.)
Rows that do not fill a tile of BLAS's are summed otherwise, too: on an AMD EPYC products of three rows differed from
those of four. So the tiles of ``rows`` are full; callers bring ``others`` of one size.
"""

from __future__ import annotations

import numpy as np

#: features of a piece: no more than BLAS takes at once
PIECE = 256
#: rows of which a tile of BLAS's is made: as many as the largest that it has for floats of either kind
TILE = 32


def products(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """``x.z`` of each of ``rows`` with each of ``others``.

    >>> products(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0], [0.0, 1.0]]))
    array([[5., 2.]])
    """
    if len(others) == 1:
        return pairwise_products(rows, others)[:, None]
    missing = -len(rows) % TILE
    if missing:
        return products(np.pad(rows, ((0, missing), (0, 0))), others)[: len(rows)]
    answer = rows[:, :PIECE] @ others[:, :PIECE].T
    part = np.empty_like(answer)
    for start in range(PIECE, rows.shape[1], PIECE):
        np.matmul(rows[:, start : start + PIECE], others[:, start : start + PIECE].T, out=part)
        answer += part
    return answer


def squares(rows: np.ndarray) -> np.ndarray:
    """``x.x`` of each row."""
    return pairwise_products(rows, rows)


def pairwise_products(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """``x.z`` of each row with its own other, or with the only one."""
    answer = np.zeros(len(rows), rows.dtype)
    for start in range(0, rows.shape[1], PIECE):
        pieces = [filled_up(table[:, start : start + PIECE]) for table in (rows, others)]
        answer += np.einsum("ij,ij->i", *np.broadcast_arrays(*pieces))
    return answer


def filled_up(piece: np.ndarray) -> np.ndarray:
    """A whole piece: shorter ones would be summed otherwise."""
    missing = PIECE - piece.shape[1]
    return np.pad(piece, ((0, 0), (0, missing))) if missing else piece
