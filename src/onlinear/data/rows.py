"""What a learning loop is given: rows, targets, and where a weight lies in the table.

Sparse and dense rows look alike to the loops: a row is the positions ``start..stop``, each with a column and a value.
The table turns to face the rows. For sparse rows it is ``[feature, output, slot]``, so that a feature's numbers share a
cache line; for dense rows it is ``[output, slot, feature]``, so that a dot product reads straight through memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

#: sparse and dense rows with fewer entries are summed one after the other, as scikit-learn does: its trajectories can
#: amplify the last bit of a score
LONG_SPARSE, LONG_DENSE = 64, 128


#: how many sums a long dense row is added up in, side by side
LANES = 16


def lane_dot(w: Any, x: Any, stop: int) -> float:
    """The product of two vectors up to ``stop``: sixteen sums side by side, then halves added to halves."""
    sums = [0.0] * LANES
    for k in range(0, stop, LANES):
        for lane in range(LANES):
            sums[lane] += double(w[k + lane]) * double(x[k + lane])
    half = LANES
    while half > 1:
        half //= 2
        for lane in range(half):
            sums[lane] += sums[lane + half]
    return sums[0]


#: how many rows ahead of the one at hand memory is asked for
AHEAD = 4
#: numbers that a table may have and be close to the processor all the time
IN_CACHE = 1 << 17


def fetch(numbers: Any, start: int, stop: int) -> None:
    """Tell the processor that these will be read soon; interpreted code has no word for it."""


#: a row side by side is filled up to a multiple of so many entries, whole registers of them, by its last one once more:
#: any other number might be one that the rule cannot bear
WHOLE = 8


def filled_up(length: int) -> int:
    """The length of a row that is filled up."""
    return (length + WHOLE - 1) & -WHOLE


def fill_up(numbers: Any, length: int) -> None:
    """Repeat the last number, more than often enough."""
    if length > 0:
        last = numbers[length - 1]
        for k in range(WHOLE):
            numbers[length + k] = last


def gather(columns: Any, table: Any, m: int, gathered: Any) -> None:
    """Lay the cells of output m side by side: from ``table[column, m, slot]`` to ``gathered[m, slot, k]``."""
    for k in range(len(columns)):
        for slot in range(table.shape[2]):
            gathered[m, slot, k] = table[columns[k], m, slot]
    for slot in range(table.shape[2]):
        fill_up(gathered[m, slot], len(columns))


def scatter(columns: Any, table: Any, m: int, gathered: Any) -> None:
    """The inverse of :func:`gather`."""
    for k in range(len(columns)):
        for slot in range(table.shape[2]):
            table[columns[k], m, slot] = gathered[m, slot, k]


def bank_dots(columns: Any, values: Any, table: Any, sums: Any) -> float:
    """The row times the slots of every output, as :func:`sparse_dot` adds them up, to ``sums[m * slots + slot]``.

    The answer is the row's squared length.
    """
    slots = table.shape[2]
    for place in range(table.shape[1] * slots):
        sums[place] = sparse_dot(columns, values, table, place // slots, place % slots)
    return sparse_square(values)


def bank_add(columns: Any, values: Any, table: Any, amounts: Any, factors: Any) -> None:
    """Add ``amount * x * factor`` to every output's slots, an amount and a factor for each; none where that is 0."""
    slots = table.shape[2]
    for k in range(len(columns)):
        for place in range(table.shape[1] * slots):
            if amounts[place] != 0.0:
                table[columns[k], place // slots, place % slots] += amounts[place] * float(values[k]) * factors[place]


def added_up(numbers: Any, stop: int) -> float:
    """The sum of the numbers up to ``stop``, in eight lanes."""
    even = stop - stop % 8
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = rest = 0.0
    for k in range(0, even, 8):
        a0 += numbers[k]
        a1 += numbers[k + 1]
        a2 += numbers[k + 2]
        a3 += numbers[k + 3]
        a4 += numbers[k + 4]
        a5 += numbers[k + 5]
        a6 += numbers[k + 6]
        a7 += numbers[k + 7]
    for k in range(even, stop):
        rest += numbers[k]
    return (((a0 + a4) + (a2 + a6)) + ((a1 + a5) + (a3 + a7))) + rest


def sparse_dot(c: Any, x: Any, table: Any, m: int, slot: int) -> float:
    """The product of a slot of output m and a row with columns ``c``: of a long row in four sums."""
    even = len(x) - len(x) % 4 if len(x) >= LONG_SPARSE else 0
    a0 = a1 = a2 = a3 = rest = 0.0
    for k in range(0, even, 4):
        a0 += table[c[k], m, slot] * float(x[k])
        a1 += table[c[k + 1], m, slot] * float(x[k + 1])
        a2 += table[c[k + 2], m, slot] * float(x[k + 2])
        a3 += table[c[k + 3], m, slot] * float(x[k + 3])
    for k in range(even, len(x)):
        rest += table[c[k], m, slot] * float(x[k])
    return ((a0 + a2) + (a1 + a3)) + rest


def dense_dot(w: Any, x: Any) -> float:
    """The product of weights and a row side by side: of a long row in lanes."""
    even = len(x) - len(x) % LANES if len(x) >= LONG_DENSE else 0
    rest = 0.0
    for k in range(even, len(x)):
        rest += w[k] * float(x[k])
    return lane_dot(w, x, even) + rest if even else rest


def sparse_square(x: Any) -> float:
    """The squared length of a row, added up as :func:`sparse_dot` does."""
    even = len(x) - len(x) % 4 if len(x) >= LONG_SPARSE else 0
    a0 = a1 = a2 = a3 = rest = 0.0
    for k in range(0, even, 4):
        a0 += double(x[k]) * double(x[k])
        a1 += double(x[k + 1]) * double(x[k + 1])
        a2 += double(x[k + 2]) * double(x[k + 2])
        a3 += double(x[k + 3]) * double(x[k + 3])
    for k in range(even, len(x)):
        rest += double(x[k]) * double(x[k])
    return ((a0 + a2) + (a1 + a3)) + rest


def dense_square(x: Any) -> float:
    """The squared length of a row side by side, in lanes."""
    even = len(x) - len(x) % LANES
    rest = 0.0
    for k in range(even, len(x)):
        rest += double(x[k]) * double(x[k])
    return lane_dot(x, x, even) + rest


def double(x: Any) -> float:
    """A value of a row in double precision: Numba's ``float`` leaves a float32 as it is."""
    return 1.0 * float(x)


class SparseRows(NamedTuple):
    """Compressed rows. Columns are unsigned: Numba then leaves out its check for negative indices."""

    starts: Any
    columns: Any
    values: Any

    def fits(self, i: int, width: int) -> bool:
        stop = self.starts[i + 1]
        return self.starts[i] == stop or self.columns[stop - 1] < width  # columns are sorted

    def fetch(self, i: int) -> None:
        fetch(self.columns, self.starts[i], self.starts[i + 1])
        fetch(self.values, self.starts[i], self.starts[i + 1])

    def fetch_cells(self, i: int, table: Any) -> None:
        size = table.shape[1] * table.shape[2]
        for column in self.columns[self.starts[i] : self.starts[i + 1]]:
            fetch(table, column * size, (column + 1) * size)

    def cells(self, table: Any, gathered: Any) -> Any:
        return gathered

    def gather(self, i: int, table: Any, m: int, gathered: Any) -> None:
        gather(self.columns[self.starts[i] : self.starts[i + 1]], table, m, gathered)

    def scatter(self, i: int, table: Any, m: int, gathered: Any) -> None:
        scatter(self.columns[self.starts[i] : self.starts[i + 1]], table, m, gathered)

    def alone(self, i: int, room: Any) -> SideBySide:
        x = self.values[self.starts[i] : self.starts[i + 1]]
        for k in range(len(x)):
            room[k] = x[k]
        fill_up(room, len(x))
        return SideBySide(room[: filled_up(len(x))], len(x))

    def columns_of(self, i: int) -> Any:
        return self.columns[self.starts[i] : self.starts[i + 1]]

    def column(self, columns: Any, k: int) -> int:
        return columns[k]

    def values_of(self, i: int) -> Any:
        return self.values[self.starts[i] : self.starts[i + 1]]

    def dot(self, i: int, table: Any, m: int) -> float:
        c = self.columns[self.starts[i] : self.starts[i + 1]]
        return sparse_dot(c, self.values[self.starts[i] : self.starts[i + 1]], table, m, 0)

    def slot_dot(self, i: int, table: Any, m: int, slot: int) -> float:
        c = self.columns[self.starts[i] : self.starts[i + 1]]
        return sparse_dot(c, self.values[self.starts[i] : self.starts[i + 1]], table, m, slot)

    def dot_and_square(self, i: int, table: Any, m: int) -> tuple[float, float]:
        c = self.columns[self.starts[i] : self.starts[i + 1]]
        x = self.values[self.starts[i] : self.starts[i + 1]]
        even = len(x) - len(x) % 4 if len(x) >= LONG_SPARSE else 0
        a0 = a1 = a2 = a3 = rest = 0.0
        b0 = b1 = b2 = b3 = other = 0.0
        for k in range(0, even, 4):
            x0, x1, x2, x3 = double(x[k]), double(x[k + 1]), double(x[k + 2]), double(x[k + 3])
            a0 += table[c[k], m, 0] * x0
            a1 += table[c[k + 1], m, 0] * x1
            a2 += table[c[k + 2], m, 0] * x2
            a3 += table[c[k + 3], m, 0] * x3
            b0 += x0 * x0
            b1 += x1 * x1
            b2 += x2 * x2
            b3 += x3 * x3
        for k in range(even, len(x)):
            rest += table[c[k], m, 0] * float(x[k])
            other += double(x[k]) * double(x[k])
        return ((a0 + a2) + (a1 + a3)) + rest, ((b0 + b2) + (b1 + b3)) + other

    def serves_bank(self) -> bool:
        return True

    def dots(self, i: int, table: Any, sums: Any) -> float:
        c = self.columns[self.starts[i] : self.starts[i + 1]]
        return bank_dots(c, self.values[self.starts[i] : self.starts[i + 1]], table, sums)

    def add_to_all(self, i: int, table: Any, amounts: Any, factors: Any) -> None:
        c = self.columns[self.starts[i] : self.starts[i + 1]]
        bank_add(c, self.values[self.starts[i] : self.starts[i + 1]], table, amounts, factors)

    def gathered_dot(self, row: SideBySide, w: Any) -> float:
        x, length = row.values, row.length
        even = length - length % 4 if length >= LONG_SPARSE else 0
        a0 = a1 = a2 = a3 = rest = 0.0
        for k in range(0, even, 4):
            a0 += w[k] * x[k]
            a1 += w[k + 1] * x[k + 1]
            a2 += w[k + 2] * x[k + 2]
            a3 += w[k + 3] * x[k + 3]
        for k in range(even, length):
            rest += w[k] * x[k]
        return ((a0 + a2) + (a1 + a3)) + rest

    def add(self, i: int, table: Any, m: int, amount: float) -> None:
        c = self.columns[self.starts[i] : self.starts[i + 1]]
        x = self.values[self.starts[i] : self.starts[i + 1]]
        for k in range(len(x)):
            table[c[k], m, 0] += amount * float(x[k])

    def add_twice(self, i: int, table: Any, m: int, amount: float, slot: int, mass: float) -> None:
        c = self.columns[self.starts[i] : self.starts[i + 1]]
        x = self.values[self.starts[i] : self.starts[i + 1]]
        for k in range(len(x)):
            moved = amount * float(x[k])
            cell = table[c[k], m]
            cell[0] += moved
            cell[slot] += mass * moved

    def get(self, table: Any, j: int, m: int, slot: int) -> float:
        return table[j, m, slot]

    def set(self, table: Any, j: int, m: int, slot: int, number: float) -> None:
        table[j, m, slot] = number

    def width(self, table: Any) -> int:
        return table.shape[0]


class DenseRows(NamedTuple):
    """A two-dimensional array, one row after the other."""

    values: Any

    def fits(self, i: int, width: int) -> bool:
        return self.values.shape[1] == width

    def fetch(self, i: int) -> None:
        pass  # a dense row is long: the processor guesses what comes next

    def fetch_cells(self, i: int, table: Any) -> None:
        pass  # its cells lie side by side, too

    def cells(self, table: Any, gathered: Any) -> Any:
        return table

    def gather(self, i: int, table: Any, m: int, gathered: Any) -> None:
        pass  # they lie side by side

    def scatter(self, i: int, table: Any, m: int, gathered: Any) -> None:
        pass

    def alone(self, i: int, room: Any) -> SideBySide:
        return SideBySide(self.values[i], self.values.shape[1])

    def columns_of(self, i: int) -> Any:
        return range(self.values.shape[1])

    def column(self, columns: Any, k: int) -> int:
        return k

    def values_of(self, i: int) -> Any:
        return self.values[i]

    def dot(self, i: int, table: Any, m: int) -> float:
        return dense_dot(table[m, 0], self.values[i])

    def slot_dot(self, i: int, table: Any, m: int, slot: int) -> float:
        return dense_dot(table[m, slot], self.values[i])

    def dot_and_square(self, i: int, table: Any, m: int) -> tuple[float, float]:
        return dense_dot(table[m, 0], self.values[i]), dense_square(self.values[i])

    def serves_bank(self) -> bool:
        return False  # what lies side by side are the features

    def dots(self, i: int, table: Any, sums: Any) -> float:
        slots = table.shape[1]
        for place in range(table.shape[0] * slots):
            sums[place] = dense_dot(table[place // slots, place % slots], self.values[i])
        return dense_square(self.values[i])

    def add_to_all(self, i: int, table: Any, amounts: Any, factors: Any) -> None:
        pass

    def gathered_dot(self, row: SideBySide, w: Any) -> float:
        return dense_dot(w, row.values)

    def add(self, i: int, table: Any, m: int, amount: float) -> None:
        w, x = table[m, 0], self.values[i]
        for k in range(len(x)):
            w[k] += amount * float(x[k])

    def add_twice(self, i: int, table: Any, m: int, amount: float, slot: int, mass: float) -> None:
        w, u, x = table[m, 0], table[m, slot], self.values[i]
        for k in range(len(x)):
            moved = amount * float(x[k])
            w[k] += moved
            u[k] += mass * moved

    def get(self, table: Any, j: int, m: int, slot: int) -> float:
        return table[m, slot, j]

    def set(self, table: Any, j: int, m: int, slot: int, number: float) -> None:
        table[m, slot, j] = number

    def width(self, table: Any) -> int:
        return table.shape[2]


class SideBySide(NamedTuple):
    """One row of either kind whose cells lie side by side: ``[output, slot, entry]``.

    There may be more values than the row's ``length``: see WHOLE.
    """

    values: Any
    length: int

    def get(self, table: Any, j: int, m: int, slot: int) -> float:
        return table[m, slot, j]

    def set(self, table: Any, j: int, m: int, slot: int, number: float) -> None:
        table[m, slot, j] = number


def row_fits(self: Any, i: int, width: int) -> bool:
    """Whether the row has no column beyond the table's."""
    return self.fits(i, width)


def row_fetch(self: Any, i: int) -> None:
    """Ask for the row's memory, to be learned from soon."""
    self.fetch(i)


def row_fetch_cells(self: Any, i: int, table: Any) -> None:
    """Ask for the cells of the row's columns, which will be read soon."""
    self.fetch_cells(i, table)


def row_columns(self: Any, i: int) -> Any:
    """The columns of a row's entries."""
    return self.columns_of(i)


def row_column(self: Any, columns: Any, k: int) -> int:
    """The column of a row's k-th entry, given its ``row_columns``."""
    return self.column(columns, k)


def row_cells(self: Any, table: Any, gathered: Any) -> Any:
    """Where the cells of the row at hand lie side by side: ``[output, slot, entry]``."""
    return self.cells(table, gathered)


def row_gather(self: Any, i: int, table: Any, m: int, gathered: Any) -> None:
    """Bring the cells of output m there, if they lie elsewhere."""
    self.gather(i, table, m, gathered)


def row_scatter(self: Any, i: int, table: Any, m: int, gathered: Any) -> None:
    """Put the cells of output m back."""
    self.scatter(i, table, m, gathered)


def row_alone(self: Any, i: int, room: Any) -> SideBySide:
    """The row as it faces its cells side by side; a sparse one is filled up."""
    return self.alone(i, room)


def row_values(self: Any, i: int) -> Any:
    """The values of a row's entries."""
    return self.values_of(i)


def row_dot_and_square(self: Any, i: int, table: Any, m: int) -> tuple[float, float]:
    """The same as :func:`row_dot`, and the row's squared length, from one look at its values."""
    return self.dot_and_square(i, table, m)


def row_dot(self: Any, i: int, table: Any, m: int) -> float:
    """The row times the weights of output m; a long row is summed in lanes that are folded in a fixed order."""
    return self.dot(i, table, m)


def row_slot_dot(self: Any, i: int, table: Any, m: int, slot: int) -> float:
    """The row times another slot of output m, summed alike."""
    return self.slot_dot(i, table, m, slot)


def row_serves_bank(self: Any) -> bool:
    """Whether the numbers that all outputs keep of a feature lie side by side: the next two then take them at once."""
    return self.serves_bank()


def row_dots(self: Any, i: int, table: Any, sums: Any) -> float:
    """:func:`row_slot_dot` of every output and slot, to the bit, and the row's squared length, as its answer.

    For sparse rows see :func:`bank_dots`. Compiled loops that do not want the length do not add it up.
    """
    return self.dots(i, table, sums)


def row_add_to_all(self: Any, i: int, table: Any, amounts: Any, factors: Any) -> None:
    """:func:`row_add` or :func:`row_add_twice` to every output, to the bit: see :func:`bank_add`."""
    self.add_to_all(i, table, amounts, factors)


def row_gathered_dot(self: Any, row: SideBySide, w: Any) -> float:
    """The same to the bit, of the row and its weights side by side."""
    return self.gathered_dot(row, w)


def row_add(self: Any, i: int, table: Any, m: int, amount: float) -> None:
    """Add ``amount * x`` to the weights of output m."""
    self.add(i, table, m, amount)


def row_add_twice(self: Any, i: int, table: Any, m: int, amount: float, slot: int, mass: float) -> None:
    """Add ``amount * x`` to the weights of output m, and ``mass`` times that to another slot."""
    self.add_twice(i, table, m, amount, slot, mass)


def cell_get(self: Any, table: Any, j: int, m: int, slot: int) -> float:
    return self.get(table, j, m, slot)


def cell_set(self: Any, table: Any, j: int, m: int, slot: int, number: float) -> None:
    self.set(table, j, m, slot, number)


def width_of(self: Any, table: Any) -> int:
    """How many features the table holds."""
    return self.width(table)
