"""All outputs of a bank at once are each output alone, to the bit: whatever their number, and the row's length."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from onlinear.data.rows import LONG_SPARSE, SparseRows, bank_add, bank_dots
from onlinear.kernels.compiler.inlining import register_overloads

register_overloads()

FEATURES = 100


@numba.njit
def compiled_dots(columns, values, table, sums):  # type: ignore
    return bank_dots(columns, values, table, sums)


@numba.njit
def compiled_add(columns, values, table, amounts, factors):  # type: ignore
    bank_add(columns, values, table, amounts, factors)


def drawn(outputs: int, slots: int, length: int, kind: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns and values of a row, and a table of which some numbers are -0."""
    rng = np.random.default_rng(outputs * 1000 + length)
    table = rng.normal(size=(FEATURES, outputs, slots))
    table[rng.random(table.shape) < 0.2] = -0.0
    columns = np.sort(rng.choice(FEATURES, length, replace=False)).astype(np.uint32)
    return columns, rng.normal(size=length).astype(kind), table


every_size = pytest.mark.parametrize("slots", [1, 2, 3])
every_length = pytest.mark.parametrize("length", [0, 1, 7, LONG_SPARSE - 1, LONG_SPARSE, LONG_SPARSE + 3])
every_kind = pytest.mark.parametrize("kind", [np.float32, np.float64])


@pytest.mark.compiles
@every_size
@every_length
@every_kind
def test_scores(slots: int, length: int, kind: type) -> None:
    for outputs in (*range(1, 18), 31):
        columns, values, table = drawn(outputs, slots, length, kind)
        for dots in (bank_dots, compiled_dots):
            sums = np.full(outputs * slots, np.nan)
            square = dots(columns, values, table, sums)
            rows = SparseRows(np.array([0, length]), columns, values)
            alone = np.array([rows.slot_dot(0, table, m, slot) for m in range(outputs) for slot in range(slots)])
            assert sums.tobytes() == alone.tobytes()
            assert (alone[0], square) == rows.dot_and_square(0, table, 0)


@pytest.mark.compiles
@every_size
@every_length
@every_kind
def test_moves(slots: int, length: int, kind: type) -> None:
    for outputs in (*range(1, 18), 31):
        columns, values, table = drawn(outputs, slots, length, kind)
        rng = np.random.default_rng(1)
        moves = rng.random(outputs) < 0.7
        amount, mass = np.where(moves, rng.normal(size=outputs), 0.0), rng.integers(0, 9, outputs).astype(float)
        amounts, factors = np.zeros((outputs, slots)), np.ones((outputs, slots))
        amounts[:, 0] = amounts[:, -1] = amount  # the slots between stay as they are
        factors[:, 1:] = mass[:, None]
        alone = table.copy()
        rows = SparseRows(np.array([0, length]), columns, values)
        for m in np.flatnonzero(moves):
            if slots == 1:
                rows.add(0, alone, m, amount[m])
            else:
                rows.add_twice(0, alone, m, amount[m], slots - 1, mass[m])
        for add in (bank_add, compiled_add):
            moved = table.copy()
            add(columns, values, moved, amounts.ravel(), factors.ravel())
            assert moved.tobytes() == alone.tobytes()
