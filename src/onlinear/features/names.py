"""Which weight a feature name stands for: exactly, or by its hash.

A row is a dict of name -> number, or name -> string: the string ``{"colour": "red"}`` is the
feature ``colour=red`` with value 1. Both classes turn a row into ``(indices, values)``, sorted by
index and without duplicates, so the order of the dict's keys never matters.

This file is the specification, in plain Python. ``kernels/walk.py`` does the same for ordinary
rows in machine code and hands everything else, and every error, back to here.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from numbers import Integral, Number
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import BadRow, OnlinearError, TooManyNames

Entry: TypeAlias = tuple[int, float]
SparseRow: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.float64]]
SparseRows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64]]

FNV_OFFSET = 0xCBF29CE484222325
FNV_PRIME = 0x00000100000001B3
MIX_FIRST = 0xFF51AFD7ED558CCD
MIX_SECOND = 0xC4CEB9FE1A85EC53
SIXTY_FOUR_BITS = 0xFFFFFFFFFFFFFFFF

MOST_BITS = 30

#: the value of a cell of a table that is missing
ABSENT = "?"

REAL = (Number, np.bool_)
NOT_REAL = (complex, np.complexfloating, np.timedelta64)


class ExactNames:
    """Every name has its own position, in the order in which the names were first seen.

    New names of the *same* row are numbered in sorted order, so that the positions do not depend
    on the order of the dict's keys.

    ``positions`` maps a name to its position. ``categories`` maps a name and its string value to
    the position of ``name=value``: a cache of ``positions`` that spares gluing the two together.
    Only names that are strings are in it: 1 and True are the same key, but not the same text.
    Compiled code keeps the addresses of both dicts: fill them, never replace them. ``texts`` are the columns of which
    only texts were learned, ``numbers`` those of numbers: anything else there is refused.

    >>> names = ExactNames()
    >>> names.register({"size": 2, "colour": "red"})
    (array([0, 1], dtype=uint32), array([1., 2.]))
    >>> names.names()
    ['colour=red', 'size']
    >>> names.look_up({"size": 3, "weight": 7})
    (array([1], dtype=uint32), array([3.]))
    """

    def __init__(self, names: Iterable[Hashable] = (), cap: int | None = None) -> None:
        self.positions: dict[Hashable, int] = {}
        self.categories: dict[Hashable, dict[str, int]] = {}
        self.cap = cap
        self.texts: frozenset[str] = frozenset()
        self.numbers: frozenset[str] = frozenset()
        fresh = _Fresh(self.positions, cap)
        for name in names:
            if _plain(name) in fresh.positions:
                raise OnlinearError(f"name {name!r} is there twice: a name has one position")
            fresh.place(_plain(name))
        self._adopt(fresh)

    @property
    def size(self) -> int:
        """How many positions are in use."""
        return len(self.positions)

    def names(self) -> list[Hashable]:
        """All names; the one at position j is entry j."""
        return list(self.positions)

    def copy(self) -> ExactNames:
        """The same names, to which others may be added. The caller is alone with them."""
        twin = ExactNames(cap=self.cap)
        twin.texts, twin.numbers = self.texts, self.numbers
        twin.positions = self.positions.copy()
        twin.categories = {name: values.copy() for name, values in self.categories.items()}
        return twin

    def register(self, x: Mapping[Any, Any]) -> SparseRow:
        """The row, with a position for each name it is the first to use. All of them or none."""
        fresh = _Fresh(self.positions, self.cap)
        row = _sorted_and_summed(self._place(x, fresh))
        self._adopt(fresh)
        return _row_arrays(row)

    def register_many(self, rows: Iterable[Mapping[Any, Any]]) -> SparseRows:
        """The same positions as ``register`` row by row; one bad row and nothing is registered."""
        fresh = _Fresh(self.positions, self.cap)
        placed = _numbered(rows, lambda x: _sorted_and_summed(self._place(x, fresh)))
        self._adopt(fresh)
        return _rows_arrays(placed)

    def look_up(self, x: Mapping[Any, Any]) -> SparseRow:
        """The row as far as its names are known. Changes nothing."""
        entries = []
        for name, value in _items(x):
            if isinstance(value, str):
                position = self.positions.get(_category(name, value, self.numbers))
                number = 1.0
            else:
                position = self.positions.get(_plain(name, self.numbers))
                number = _number(name, value, self.texts)
            if position is not None:
                entries.append((position, number))
        return _row_arrays(_sorted_and_summed(entries))

    def _place(self, x: Mapping[Any, Any], fresh: _Fresh) -> list[Entry]:
        features: list[tuple[Hashable, float]] = []
        for name, value in _items(x):
            if isinstance(value, str):
                category = _category(name, value, self.numbers)
                features.append((category, 1.0))
                if isinstance(name, str) and "=" in name:
                    fresh.categories.append((_plain(name), _plain(value)))
            else:
                features.append((_plain(name, self.numbers), _number(name, value, self.texts)))
        known, added = self.positions, fresh.positions
        new = {name for name, _ in features if name not in known and name not in added}
        for name in sorted(new, key=_order):
            fresh.place(name)
        return [(known[name] if name in known else added[name], x) for name, x in features]

    def _adopt(self, fresh: _Fresh) -> None:
        # Categories last: whoever finds a category beside this thread finds its name, too.
        self.positions.update(fresh.positions)
        for name in fresh.positions:
            if isinstance(name, str) and "=" in name:
                # Split at the first "=" only. The compiled walk relies on it: a name without "="
                # whose string value is not among the categories is certain to be unknown.
                head, _, tail = name.partition("=")
                self._remember(head, tail)
        for head, tail in fresh.categories:
            self._remember(head, tail)

    def _remember(self, name: str, value: str) -> None:
        self.categories.setdefault(name, {})[value] = self.positions[f"{name}={value}"]


class _Fresh:
    """Names that have a position but are not registered yet: all of them will be, or none."""

    def __init__(self, known: dict[Hashable, int], cap: int | None) -> None:
        self.known = known
        self.cap = cap
        self.positions: dict[Hashable, int] = {}
        self.categories: list[tuple[str, str]] = []  # whose own names contain a "="

    def place(self, name: Hashable) -> None:
        if isinstance(name, float | np.generic) and name != name:
            raise BadRow(f"a feature has the name {name}, which equals nothing, and is never found again: name it")
        position = len(self.known) + len(self.positions)
        if self.cap is not None and position >= self.cap:
            raise TooManyNames(
                f"feature {name!r} would be name number {position + 1}, and the cap is {self.cap}: "
                f"raise the cap, or use hashed names (bits=18), which need no more room"
            )
        self.positions[name] = position


class HashedNames:
    """A name's position is its hash: a table of fixed size, nothing to remember, and collisions.

    The hash is FNV-1a (64 bits) of the name's UTF-8 bytes, then MurmurHash3's final mix, of which
    the top ``bits`` count. Names that collide share a weight, and their values are added. ``texts`` are the columns of
    which only texts were learned, ``numbers`` those of numbers: anything else there is refused.

    >>> names = HashedNames(bits=18)
    >>> names.size
    262144
    >>> indices, values = names.register({"colour": "red"})
    >>> bool(indices == names.look_up({"colour=red": 1})[0])
    True
    """

    def __init__(self, bits: int = 18) -> None:
        is_whole = isinstance(bits, Integral)
        if not is_whole or not 1 <= bits <= MOST_BITS:
            raise OnlinearError(f"bits is {bits!r:.60}: choose 1 to {MOST_BITS} (2**bits weights)")
        self.bits = int(bits)
        self.texts: frozenset[str] = frozenset()
        self.numbers: frozenset[str] = frozenset()

    @property
    def size(self) -> int:
        """How many positions there are: 2**bits."""
        return 1 << self.bits

    def copy(self) -> HashedNames:
        """Itself: nothing in it changes."""
        return self

    def register(self, x: Mapping[Any, Any]) -> SparseRow:
        """The row. A hash needs no registration: the same as ``look_up``."""
        return _row_arrays(self._place(x))

    def register_many(self, rows: Iterable[Mapping[Any, Any]]) -> SparseRows:
        """The rows, one below the other."""
        return _rows_arrays(_numbered(rows, self._place))

    def look_up(self, x: Mapping[Any, Any]) -> SparseRow:
        """The row."""
        return _row_arrays(self._place(x))

    def _place(self, x: Mapping[Any, Any]) -> list[Entry]:
        shift = 64 - self.bits
        entries = []
        for name, value in _items(x):
            if isinstance(value, str):
                entries.append((hash_name(_category(name, value, self.numbers)) >> shift, 1.0))
            else:
                entries.append((hash_name(_text(name)) >> shift, _number(name, value, self.texts)))
        return _sorted_and_summed(entries)


@lru_cache(maxsize=1 << 16)
def hash_name(name: str) -> int:
    """64 well mixed bits of a name: the same on every machine, in every process.

    Remembers the latest names, because a loop over bytes is slow in plain Python.

    >>> hex(hash_name("size"))
    '0xb77e78e2be63d904'
    """
    return _mixed(hash_bytes(name))


def cross_hash(first: int, second: int) -> int:
    """The hash of the product of two features, from theirs: neither the sum nor the order of the two gives it away.

    For any one feature all products with it have different hashes, and two products have the same one by chance only.
    Its name is that of the first, a star, that of the second: ``user^age*item^red``.

    >>> cross_hash(hash_name("a"), hash_name("b")) == cross_hash(hash_name("b"), hash_name("a"))
    False
    """
    bits = (first * MIX_FIRST + second) & SIXTY_FOUR_BITS
    return ((bits ^ (bits >> 32)) * MIX_SECOND) & SIXTY_FOUR_BITS


def hash_bytes(text: str) -> int:
    """FNV-1a of a text, before the final mix: more text may follow."""
    bits = FNV_OFFSET
    for byte in text.encode("utf-8", "surrogatepass"):
        bits = ((bits ^ byte) * FNV_PRIME) & SIXTY_FOUR_BITS
    return bits


def _mixed(bits: int) -> int:
    # FNV alone leaves the top bits of short names nearly untouched, and the top bits are ours.
    bits = ((bits ^ (bits >> 33)) * MIX_FIRST) & SIXTY_FOUR_BITS
    bits = ((bits ^ (bits >> 33)) * MIX_SECOND) & SIXTY_FOUR_BITS
    return bits ^ (bits >> 33)


def _items(x: Mapping[Any, Any]) -> Iterable[tuple[Any, Any]]:
    if not isinstance(x, Mapping):
        raise BadRow(
            f"a row is a dict of name -> number or string, not {type(x).__name__}: "
            f"for arrays use the methods that take many rows"
        )
    return x.items()


def _number(name: Hashable, value: Any, texts: frozenset[str]) -> float:
    """The value as a finite float, or the reason why not; ``texts`` are names that have no numbers."""
    if isinstance(value, float):
        # The number itself, whatever a subclass makes of it.
        number = value if type(value) is float else float.__float__(value)
    elif _is_real(value):
        try:
            number = float(value)
        except OverflowError:
            raise BadRow(f"feature {name!r} is too large for a float: scale it, or take its logarithm") from None
    else:
        raise BadRow(
            f"feature {name!r} is {_shortened(value)} ({type(value).__name__}): a value is a "
            f"number or a string; leave the key out of the dict, or convert it first"
        )
    if not math.isfinite(number):
        raise BadRow(f"feature {name!r} is {number}: leave the key out of the dict, or impute it first")
    if texts and _text(name) in texts:
        text = f"{number:.15g}" if isinstance(value, float) else str(value)
        raise BadRow(
            f"feature {name!r} is the number {_shortened(value)}, and the model has learned it as a category: "
            f"give text, such as {{{name!r}: {text!r:.40}}}"
        )
    return number


def _is_real(value: Any) -> bool:
    if isinstance(value, int):
        return True
    # NumPy counts timedelta64 among the integers and lets a complex number pass for its real part.
    if isinstance(value, NOT_REAL):
        return False
    return isinstance(value, REAL) and hasattr(value, "__float__")


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _plain(name: Any, columns: frozenset[str] = frozenset()) -> Any:
    # An enumeration's str() is its label; as a dict key it equals its characters. Those count.
    if isinstance(name, str):
        return name if type(name) is str else str.__str__(name)
    # Columns of a table have texts for names: 1 is the column "1".
    return str(name) if columns and str(name) in columns else name


def _text(name: Hashable) -> str:
    return str(_plain(name))


def _category(name: Hashable, value: str, numbers: frozenset[str]) -> str:
    """The name of a text's feature; ``numbers`` are names that have none but that of a missing cell."""
    text, word = _text(name), str.__str__(value)
    if numbers and text in numbers and word != ABSENT:
        raise BadRow(
            f"feature {name!r} is the text {_shortened(value)}, and the model has learned numbers there: "
            f"give a number, such as {{{name!r}: 1.5}}, or {ABSENT!r} if it is missing"
        )
    return f"{text}={word}"


def _order(name: Hashable) -> tuple[str, str]:
    return _text(name), type(name).__name__


def _sorted_and_summed(entries: list[Entry]) -> list[Entry]:
    """Sorted by index; the values of an index are added from the smallest to the largest.

    A fixed order of addition, because three floats add up to something else in another order.
    """
    entries.sort()
    sums: dict[int, float] = {}
    for index, value in entries:
        sums[index] = sums[index] + value if index in sums else value
    if len(sums) == len(entries):
        return entries
    if not all(map(math.isfinite, sums.values())):
        raise BadRow("features that share a position add up to infinity: scale them first")
    return list(sums.items())


def _numbered(rows: Iterable[Mapping[Any, Any]], place: Any) -> list[list[Entry]]:
    placed = []
    for number, x in enumerate(rows):
        try:
            placed.append(place(x))
        except OnlinearError as error:
            raise type(error)(f"row {number}: {error}") from None
    return placed


def _row_arrays(entries: list[Entry]) -> SparseRow:
    indices = np.array([index for index, _ in entries], dtype=np.uint32)
    return indices, np.array([value for _, value in entries], dtype=np.float64)


def _rows_arrays(rows: list[list[Entry]]) -> SparseRows:
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=indptr[1:])
    return indptr, *_row_arrays([entry for row in rows for entry in row])


#: the names of a model's features, of either kind
Names = ExactNames | HashedNames
