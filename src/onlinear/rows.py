"""What a learning loop is given: rows, targets, and where a weight lies in the table.

Sparse and dense rows look alike to the loops: a row is the positions ``start..stop``, each with a column and a value.
The table turns to face the rows. For sparse rows it is ``[feature, output, slot]``, so that a feature's numbers share a
cache line; for dense rows it is ``[output, slot, feature]``, so that a dot product reads straight through memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class SparseRows(NamedTuple):
    """Compressed rows. Columns are unsigned: Numba then leaves out its check for negative indices."""

    starts: Any
    columns: Any
    values: Any

    def start(self, i: int) -> int:
        return self.starts[i]

    def stop(self, i: int) -> int:
        return self.starts[i + 1]

    def column(self, k: int) -> int:
        return self.columns[k]

    def value_at(self, i: int, k: int) -> float:
        return float(self.values[k])

    def dot(self, i: int, table: Any, m: int) -> float:
        k = self.starts[i]
        stop = self.starts[i + 1]
        c, x = self.columns, self.values
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = rest = 0.0
        while k + 8 <= stop:
            a0 += table[c[k], m, 0] * float(x[k])
            a1 += table[c[k + 1], m, 0] * float(x[k + 1])
            a2 += table[c[k + 2], m, 0] * float(x[k + 2])
            a3 += table[c[k + 3], m, 0] * float(x[k + 3])
            a4 += table[c[k + 4], m, 0] * float(x[k + 4])
            a5 += table[c[k + 5], m, 0] * float(x[k + 5])
            a6 += table[c[k + 6], m, 0] * float(x[k + 6])
            a7 += table[c[k + 7], m, 0] * float(x[k + 7])
            k += 8
        while k < stop:
            rest += table[c[k], m, 0] * float(x[k])
            k += 1
        return ((a0 + a4) + (a2 + a6)) + ((a1 + a5) + (a3 + a7)) + rest

    def add(self, i: int, table: Any, m: int, amount: float) -> None:
        for k in range(self.starts[i], self.starts[i + 1]):
            table[self.columns[k], m, 0] += amount * float(self.values[k])

    def add_twice(self, i: int, table: Any, m: int, amount: float, slot: int, mass: float) -> None:
        for k in range(self.starts[i], self.starts[i + 1]):
            moved = amount * float(self.values[k])
            table[self.columns[k], m, 0] += moved
            table[self.columns[k], m, slot] += mass * moved

    def length(self, i: int) -> float:
        total = 0.0
        for k in range(self.starts[i], self.starts[i + 1]):
            total += float(self.values[k]) * float(self.values[k])
        return total

    def get(self, table: Any, j: int, m: int, slot: int) -> float:
        return table[j, m, slot]

    def set(self, table: Any, j: int, m: int, slot: int, number: float) -> None:
        table[j, m, slot] = number

    def width(self, table: Any) -> int:
        return table.shape[0]


class DenseRows(NamedTuple):
    """A two-dimensional array, one row after the other."""

    values: Any

    def start(self, i: int) -> int:
        return 0

    def stop(self, i: int) -> int:
        return self.values.shape[1]

    def column(self, k: int) -> int:
        return k

    def value_at(self, i: int, k: int) -> float:
        return float(self.values[i, k])

    def dot(self, i: int, table: Any, m: int) -> float:
        x = self.values
        stop = x.shape[1]
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = rest = 0.0
        k = 0
        while k + 8 <= stop:
            a0 += table[m, 0, k] * float(x[i, k])
            a1 += table[m, 0, k + 1] * float(x[i, k + 1])
            a2 += table[m, 0, k + 2] * float(x[i, k + 2])
            a3 += table[m, 0, k + 3] * float(x[i, k + 3])
            a4 += table[m, 0, k + 4] * float(x[i, k + 4])
            a5 += table[m, 0, k + 5] * float(x[i, k + 5])
            a6 += table[m, 0, k + 6] * float(x[i, k + 6])
            a7 += table[m, 0, k + 7] * float(x[i, k + 7])
            k += 8
        while k < stop:
            rest += table[m, 0, k] * float(x[i, k])
            k += 1
        return ((a0 + a4) + (a2 + a6)) + ((a1 + a5) + (a3 + a7)) + rest

    def add(self, i: int, table: Any, m: int, amount: float) -> None:
        for k in range(self.values.shape[1]):
            table[m, 0, k] += amount * float(self.values[i, k])

    def add_twice(self, i: int, table: Any, m: int, amount: float, slot: int, mass: float) -> None:
        for k in range(self.values.shape[1]):
            moved = amount * float(self.values[i, k])
            table[m, 0, k] += moved
            table[m, slot, k] += mass * moved

    def length(self, i: int) -> float:
        total = 0.0
        for k in range(self.values.shape[1]):
            total += float(self.values[i, k]) * float(self.values[i, k])
        return total

    def get(self, table: Any, j: int, m: int, slot: int) -> float:
        return table[m, slot, j]

    def set(self, table: Any, j: int, m: int, slot: int, number: float) -> None:
        table[m, slot, j] = number

    def width(self, table: Any) -> int:
        return table.shape[2]


class Numbers(NamedTuple):
    """Regression targets: every output of the bank sees the same number, and nothing is a mistake."""

    values: Any

    def target_of(self, i: int, m: int) -> float:
        return self.values[i]

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        pass


class Signs(NamedTuple):
    """Targets -1 and +1: every output of the bank sees the same sign. A tie answers -1, the first class."""

    values: Any

    def target_of(self, i: int, m: int) -> float:
        return self.values[i]

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        for m in range(scores.shape[0]):
            if (scores[m] > 0.0) != (self.values[i] > 0.0):
                mistakes[m] += 1.0


class Labels(NamedTuple):
    """Classes 0, 1, ...: output m learns class ``first + m`` against the rest; ``classes`` outputs answer.

    With two classes ``first`` is 1 and one output answers by its sign; with one class none does. Outputs beyond
    ``classes`` stand for classes not yet seen: their label never comes.
    """

    values: Any
    first: int
    classes: int

    def target_of(self, i: int, m: int) -> float:
        return 1.0 if self.values[i] == self.first + m else -1.0

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        answer = 0
        if self.classes == 1:
            answer = 1 if scores[0] > 0.0 else 0
        for m in range(1, self.classes):
            if scores[m] > scores[answer]:
                answer = m
        if answer != self.values[i]:
            mistakes[0] += 1.0


def row_start(self: Any, i: int) -> int:
    return self.start(i)


def row_stop(self: Any, i: int) -> int:
    return self.stop(i)


def row_column(self: Any, k: int) -> int:
    return self.column(k)


def row_value_at(self: Any, i: int, k: int) -> float:
    return self.value_at(i, k)


def row_dot(self: Any, i: int, table: Any, m: int) -> float:
    """The row times the weights of output m, summed in eight lanes that are folded in a fixed order."""
    return self.dot(i, table, m)


def row_add(self: Any, i: int, table: Any, m: int, amount: float) -> None:
    """Add ``amount * x`` to the weights of output m."""
    self.add(i, table, m, amount)


def row_add_twice(
    self: Any, i: int, table: Any, m: int, amount: float, slot: int, mass: float
) -> None:
    """Add ``amount * x`` to the weights of output m, and ``mass`` times that to another slot."""
    self.add_twice(i, table, m, amount, slot, mass)


def row_length(self: Any, i: int) -> float:
    """The row's squared length."""
    return self.length(i)


def cell_get(self: Any, table: Any, j: int, m: int, slot: int) -> float:
    return self.get(table, j, m, slot)


def cell_set(self: Any, table: Any, j: int, m: int, slot: int, number: float) -> None:
    self.set(table, j, m, slot, number)


def target_of(self: Any, i: int, m: int) -> float:
    return self.target_of(i, m)


def judge(self: Any, i: int, scores: Any, mistakes: Any) -> None:
    self.judge(i, scores, mistakes)


def columns(self: Any, table: Any) -> int:
    """How many features the table holds."""
    return self.width(table)
