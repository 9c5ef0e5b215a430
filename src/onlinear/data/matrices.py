"""Sparse matrices of SciPy's, looked at before compiled code goes where they point.

SciPy lets one be built, or changed, so that its parts do not fit each other: its own compiled code then reads, as ours
would, whatever lies in memory there. SciPy itself is not imported: that takes longer than most streams.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onlinear.errors import BadInput

ADVICE = "build the matrix anew"


def as_csr(X: Any) -> Any:
    """A sparse matrix of any format as one in CSR, without a copy if it is; refused if its parts do not fit.

    Other than a table, which has rows and columns, it stays as it is: whoever takes it refuses it.
    """
    if X.ndim != 2:
        return X
    check_parts(X)
    rows = X.tocsr()
    if rows is not X:
        check_parts(rows)  # the parts of some formats are lists, which are not looked at
    entries = rows.indptr[-1]
    if entries == len(rows.indices):
        return rows
    return type(rows)((rows.data[:entries], rows.indices[:entries], rows.indptr), shape=rows.shape)  # SciPy keeps room


def check_parts(X: Any) -> None:
    """Refuse a matrix with an entry outside of it, or with parts that do not belong together."""
    if X.format == "coo":
        check_lengths(X.data, *X.coords)
        for places, width, what in zip(X.coords, X.shape, ("row", "column"), strict=True):
            check_places(places, width, what, lambda entry: f"entry {entry}")
    elif X.format in ("csr", "csc", "bsr"):
        across, along = X.shape if X.format != "csc" else X.shape[::-1]
        if X.format == "bsr":
            across, along = across // X.blocksize[0], along // X.blocksize[1]
        check_compressed(X, across, along)


def check_compressed(X: Any, lines: int, width: int) -> None:
    """Refuse lines (rows, or columns of CSC) that do not lie one behind the other, or reach beyond the width."""
    starts = X.indptr
    check_lengths(X.data, X.indices)
    if len(starts) != lines + 1 or starts[0] != 0 or starts[-1] > len(X.indices) or (starts[1:] < starts[:-1]).any():
        raise BadInput(
            f"the indptr of the sparse matrix does not cut its {len(X.indices)} entries into {lines} parts: {ADVICE}"
        )
    line, place = ("column", "row") if X.format == "csc" else ("row", "column")
    check_places(
        X.indices[: starts[-1]],
        width,
        place,
        lambda entry: f"{line} {int(np.searchsorted(starts, entry, side='right')) - 1}",
    )


def check_lengths(values: np.ndarray, *places: np.ndarray) -> None:
    """Refuse more values than places, or fewer."""
    for each in places:
        if len(each) != len(values):
            raise BadInput(f"the sparse matrix has {len(values)} values at {len(each)} places: {ADVICE}")


def check_places(places: Any, width: int, what: str, where: Callable[[int], str]) -> None:
    """Refuse a place that is negative or beyond the width."""
    unsigned = places.view(np.uint32 if places.dtype.itemsize == 4 else np.uint64)  # a negative one is a large one
    if len(unsigned) and unsigned.max() >= width:
        entry = int((unsigned >= width).argmax())
        raise BadInput(f"{where(entry)} has a {what} {places[entry]}, but there are {width} {what}s: {ADVICE}")
