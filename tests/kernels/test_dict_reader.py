"""The compiled walk against features/names.py: the same bits, or politely no answer."""

from __future__ import annotations

import enum
import gc
import math
import os
import subprocess
import sys
import textwrap
from collections import OrderedDict, UserDict
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numba import njit

from onlinear.errors import OnlinearError
from onlinear.features.names import ExactNames, HashedNames
from onlinear.kernels.compiler.inlining import register_overloads
from onlinear.kernels.compiler.object_layout import AVAILABLE
from onlinear.kernels.dicts import dict_reader
from onlinear.kernels.dicts.name_index import NameIndex
from onlinear.kernels.text.entries import DIGITS, Entries
from onlinear.learning.dict_path import Index, address_of

register_overloads()

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="needs CPython with a GIL, and the JIT")

CAPACITY = 64


@njit
def exact(x, name_index, entries):
    return dict_reader.read_exact(x, name_index, entries, False, 0)


@njit
def exact_known(x, name_index, entries):
    return dict_reader.read_exact(x, name_index, entries, True, 0)


@njit
def adopting(x, name_index, entries):
    return dict_reader.read_exact(x, name_index, entries, False, 1 << 30)


@njit
def hashed(x, bits, entries):
    return dict_reader.read_hashed(x, bits, entries)


@njit
def exact_often(x, name_index, entries, times):
    total = 0
    for _ in range(times):
        total += dict_reader.read_exact(x, name_index, entries, False, 0)
    return total


@njit
def hashed_often(x, bits, entries, times):
    total = 0
    for _ in range(times):
        total += dict_reader.read_hashed(x, bits, entries)
    return total


def room(capacity=CAPACITY):
    return Entries(
        columns=np.empty(capacity, np.uint32),
        values=np.empty(capacity),
        names=np.empty(capacity, np.int64),
        items=np.empty(capacity, np.int64),
        keys=np.empty(2 * capacity, np.int64),
        kept=np.empty(capacity),
        starts=np.empty(DIGITS, np.int64),
    )


def name_index_of(names, index):
    addresses = [id(names.positions), id(names.categories)]
    return NameIndex(
        *addresses, index.slots, address_of(index.slots), index.held, address_of(index.held), index.entered
    )


def indexed(names, more=0):
    """An index of all names there are, with room for more."""
    return Index(0).larger(names, names.size + more)


def walked(kernel, x, names, capacity=CAPACITY, index=None):
    """(columns, values), or the negative code."""
    entries = room(capacity)
    if isinstance(names, HashedNames):
        n = kernel(id(x), names.bits, entries)
    else:
        n = kernel(id(x), name_index_of(names, index or indexed(names)), entries)
    return (entries.columns[:n], entries.values[:n]) if n >= 0 else n


def same_bits(row, expected):
    return all(a.tobytes() == b.tobytes() for a, b in zip(row, expected, strict=True))


class Colour(enum.StrEnum):
    RED = "red"


class Text(str):
    def __eq__(self, other):
        raise RuntimeError("compared")

    def __hash__(self):
        raise RuntimeError("hashed")


class Defaults(dict):
    def __missing__(self, key):
        return 1.0


class Number(float):
    def __float__(self):
        return 99.0


class Trap:
    def __float__(self):
        raise RuntimeError("called")


texts = st.text("ab=é\ud800", max_size=3)
ordinary_numbers = (
    st.floats(-1e300, 1e300)
    | st.integers(-(2**70), 2**70)
    | st.booleans()
    | st.floats(-9, 9).map(np.float64)
    | st.floats(-9, 9, width=32).map(np.float32)
    | st.integers(-9, 9).map(np.int64)
    | st.integers(-9, 9).map(np.int32)
    | st.booleans().map(np.bool_)
    | st.floats(-9, 9).map(Number)
)
odd_values = st.sampled_from(
    [
        math.nan,
        math.inf,
        10**400,
        None,
        1j,
        [1.0],
        Trap(),
        Decimal(2),
        np.uint8(3),
        np.int16(4),
        1e308,
        Colour.RED,
        np.str_("b"),
        np.array(1.0),
        np.float32("inf"),
        b"a",
    ]
)
odd_names = st.integers(-2, 2) | st.booleans() | st.just(Colour.RED) | st.tuples(st.integers(0, 1))
ordinary_rows = st.dictionaries(st.text("ab=é", max_size=3), ordinary_numbers | texts, max_size=8)
past_rows = st.dictionaries(texts | odd_names, ordinary_numbers | texts, max_size=8)
all_rows = st.dictionaries(texts | odd_names, ordinary_numbers | texts | odd_values, max_size=8)


def answer(method, x):
    try:
        return method(x)
    except OnlinearError:
        return None


def agrees(row, expected):
    """A code is always allowed (the caller asks Python), a row only if it is the right one."""
    return isinstance(row, int) or (expected is not None and same_bits(row, expected))


@settings(deadline=None)
@given(st.lists(past_rows, max_size=4), all_rows)
def test_walks_agree_with_python_on_every_row_they_accept(past, x):
    names, hashed_names = ExactNames(), HashedNames(3)
    names.register_many(past[:2])
    late = indexed(names)  # it has not heard of the other rows' names
    names.register_many(past[2:])
    assert agrees(walked(hashed, x, hashed_names), answer(hashed_names.look_up, x))
    for index in (Index(0), late, indexed(names)):
        assert agrees(walked(exact_known, x, names, index=index), answer(names.look_up, x))
    rows = [walked(exact, x, names, index=index) for index in (Index(0), late, indexed(names))]
    size = names.size
    expected = answer(names.register, x)
    for row in rows:
        assert agrees(row, expected)
        assert isinstance(row, int) or names.size == size


@settings(deadline=None)
@given(st.lists(all_rows, max_size=6), st.integers(0, 9))
def test_new_names_are_adopted_as_python_registers_them(rows, more):
    """Whatever room the index has; and it finds them again."""
    names, python = ExactNames(), ExactNames()
    index = indexed(names, more)
    for x in rows:
        row = walked(adopting, x, names, index=index)
        if isinstance(row, int):
            assert names.names() == python.names()
            answer(names.register, x)
        expected = answer(python.register, x)
        assert agrees(row, expected)
        assert names.positions == python.positions
        assert names.names() == python.names()
        for place in (index, index.larger(names, 2 * names.size)):
            assert agrees(walked(exact_known, x, names, index=place), expected)


@pytest.mark.parametrize("more", range(5))
def test_an_index_that_is_full_leaves_names_out(more):
    names = ExactNames()
    index = indexed(names, more)
    for k in range(10):
        assert len(walked(adopting, {f"a{k}": 1.0, f"b{k}": 2.0, f"c{k}": 3.0}, names, index=index)[0]) == 3
    assert index.entered[0] < len(index.slots)
    columns, _ = walked(exact_known, {f"{letter}{k}": 1.0 for k in range(10) for letter in "abcd"}, names, index=index)
    np.testing.assert_array_equal(columns, np.arange(30))


def test_many_names_in_one_index_and_a_larger_one():
    words = [f"word{k}" for k in range(3000)]
    names = ExactNames()
    index = indexed(names, len(words))
    for start in range(0, len(words), 50):
        x = dict.fromkeys(words[start : start + 50], 1.0)
        assert len(walked(adopting, x, names, index=index)[0]) == 50
    assert index.entered[0] == len(words)
    larger = index.larger(names, 9 * len(words))
    assert len(larger.slots) > len(index.slots)
    shuffled = dict.fromkeys(np.random.default_rng(0).permutation(words).tolist(), 1.0)
    for place in (index, larger, Index(0)):
        columns, _ = walked(exact, shuffled, names, capacity=len(words), index=place)
        np.testing.assert_array_equal(columns, np.arange(len(words)))


def test_names_of_one_row_get_their_positions_in_sorted_order():
    texts = [
        "",
        "a",
        "aa",
        "aaaaaaa",
        "aaaaaaaa",
        "aaaaaaaab",
        "aaaaaaa\0",
        "é",
        "z",
        "\U0001f600",
        "日本",
        "\0",
        "\uffff",
    ]
    names = ExactNames()
    walked(adopting, dict.fromkeys(reversed(texts), 1.0), names, index=indexed(names, 99))
    assert names.names() == sorted(texts)


def test_a_row_with_very_many_new_names_is_left_to_python():
    names = ExactNames()
    x = {str(k): 1.0 for k in range(dict_reader.MOST_NEW + 1)}
    assert walked(adopting, x, names, capacity=999, index=indexed(names, 999)) == dict_reader.UNKNOWN
    assert names.size == 0
    x.popitem()
    assert len(walked(adopting, x, names, capacity=999, index=indexed(names, 999))[0]) == dict_reader.MOST_NEW


@settings(deadline=None)
@given(st.lists(ordinary_rows, max_size=4), ordinary_rows)
def test_prediction_after_loading_only_the_names(past, x):
    names = ExactNames()
    names.register_many(past)
    names = ExactNames(names.names())
    assert agrees(walked(exact_known, x, names), answer(names.look_up, x))


@settings(deadline=None)
@given(st.dictionaries(st.text("abcdé", max_size=3), ordinary_numbers | st.text("ab=é", max_size=3), max_size=8))
def test_ordinary_rows_are_accepted(x):
    names, hashed_names = ExactNames(), HashedNames()
    assert walked(exact, x, names) == dict_reader.UNKNOWN if x else len(walked(exact, x, names)[0]) == 0
    nothing = walked(exact_known, x, names)
    assert [len(part) for part in nothing] == [0, 0]
    row = names.register(x)
    assert same_bits(walked(exact, x, names), row)
    assert same_bits(walked(exact_known, x, names), row)
    assert same_bits(walked(hashed, x, hashed_names), hashed_names.register(x))


@pytest.mark.parametrize(
    "x",
    [
        OrderedDict(a=1.0),
        Defaults(a=1.0),
        UserDict(a=1.0),
        [1.0],
        None,
        7,
        {"a": math.nan},
        {"a": -math.inf},
        {"a": np.float64("nan")},
        {"a": np.float32("inf")},
        {"a": 10**400},
        {"a": None},
        {"a": 1j},
        {"a": np.complex128(1)},
        {"a": np.array(1.0)},
        {"a": b"b"},
        {"a": Trap()},
        {"a": Colour.RED},
        {"a": Text("b")},
        {Colour.RED: 1.0},
        {(1, 2): 1.0},
        {"\ud800": "b", 1.5: 1.0},
    ],
)
def test_anything_odd_needs_python(x):
    names = ExactNames(["a", "a=b", "a=red", "red"])
    for kernel in (exact_known, exact):
        assert walked(kernel, x, names) in (dict_reader.NEEDS_PYTHON, dict_reader.UNKNOWN)
    assert walked(exact_known, x, names) == dict_reader.NEEDS_PYTHON
    assert walked(hashed, x, HashedNames()) == dict_reader.NEEDS_PYTHON
    assert int("7") == 7  # a Python error left set would come up at the next call


def test_integer_names():
    names = ExactNames([7, "7=b"])
    assert same_bits(walked(exact, {7: 1.0}, names), names.look_up({7: 1.0}))
    # "7=b" is meant, which only str(7) can tell: 1, 1.0 and True are the same key
    names.register({7: "b"})
    assert walked(exact, {7: "b"}, names) == dict_reader.NEEDS_PYTHON
    assert walked(hashed, {7: 1.0}, HashedNames()) == dict_reader.NEEDS_PYTHON


def test_surrogates():
    for x in ({"\ud800": 1.0}, {"a": "\ud800"}):
        assert walked(hashed, x, HashedNames()) == dict_reader.NEEDS_PYTHON
        names = ExactNames()
        row = names.register(x)
        assert same_bits(walked(exact, x, names), row)


def test_category_of_a_name_with_an_equals_sign():
    names = ExactNames(["a=b=c"])
    assert same_bits(walked(exact_known, {"a": "b=c"}, names), names.look_up({"a": "b=c"}))
    assert walked(exact_known, {"a=b": "c"}, names) == dict_reader.NEEDS_PYTHON
    names.register({"a=b": "c"})
    assert same_bits(walked(exact, {"a=b": "c"}, names), names.look_up({"a=b": "c"}))


def test_capacity():
    x = {str(k): 1.0 for k in range(5)}
    names = ExactNames(x)
    for kernel, some in ((exact, names), (exact_known, names), (hashed, HashedNames())):
        assert len(walked(kernel, x, some, capacity=5)[0]) == 5
        assert walked(kernel, x, some, capacity=4) == dict_reader.NEEDS_PYTHON
    assert walked(exact_known, x | {"unknown": 1.0}, names, capacity=5) == dict_reader.NEEDS_PYTHON


def test_sum_beyond_all_floats_needs_python():
    x = {str(k): 1e308 for k in range(9)}
    assert walked(hashed, x, HashedNames(1)) == dict_reader.NEEDS_PYTHON


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), max_size=60), st.randoms(use_true_random=False))
def test_collisions_add_up_in_any_order(exponents, shuffler):
    x = {str(k): (-7.0) ** exponent / 3 for k, exponent in enumerate(exponents)}
    names = HashedNames(2)
    row = names.look_up(x)
    items = list(x.items())
    shuffler.shuffle(items)
    assert same_bits(walked(hashed, x, names), row)
    assert same_bits(walked(hashed, dict(items), names), row)


def test_long_rows_are_sorted():
    n = 200_000
    backwards = {str(k): float(k) for k in reversed(range(n))}
    names = ExactNames(str(k) for k in range(n))
    indices, values = walked(exact, backwards, names, capacity=n)
    np.testing.assert_array_equal(indices, np.arange(n))
    np.testing.assert_array_equal(values, np.arange(n))
    assert same_bits(walked(hashed, backwards, HashedNames(30), n), HashedNames(30).look_up(backwards))


def test_nothing_leaks():
    names, hashed_names = ExactNames(), HashedNames()
    values = [1.5, 10**30, np.float64(2.5), np.float32(3.5), np.int64(4), "rät", math.nan, 10**400]
    keys = [f"name number {k} é" for k in range(len(values))]
    good, bad = dict(zip(keys[:6], values[:6], strict=True)), dict(zip(keys, values, strict=True))
    names.register(good)
    objects = [*keys, *values, good, bad, names.positions, names.categories]
    entries, index = room(), indexed(names)
    name_index = name_index_of(names, index)
    exact_often(id(good), name_index, entries, 1)  # compiled, and UTF-8 forms cached, before counting
    hashed_often(id(good), hashed_names.bits, entries, 1)
    gc.collect()
    before = [sys.getrefcount(thing) for thing in objects]
    blocks = sys.getallocatedblocks()
    for x in (good, bad):
        exact_often(id(x), name_index, entries, 100_000)
        hashed_often(id(x), hashed_names.bits, entries, 100_000)
    del x
    assert sys.getallocatedblocks() - blocks < 1000
    assert [sys.getrefcount(thing) for thing in objects] == before


CACHED_PROGRAM = """
    import numpy as np
    from numba import njit
    from onlinear.features.names import ExactNames, HashedNames
    from onlinear.kernels.text.entries import DIGITS, Entries
    from onlinear.kernels.compiler.inlining import register_overloads
    from onlinear.kernels.dicts.name_index import NameIndex
    from onlinear.kernels.dicts.dict_reader import read_exact, read_hashed

    register_overloads()

    @njit(cache=True)
    def exact(x, name_index, entries):
        return read_exact(x, name_index, entries, True, 0)

    @njit(cache=True)
    def hashed(x, bits, entries):
        return read_hashed(x, bits, entries)

    words = [np.empty(size, np.int64) for size in (9, 9, 18)]
    entries = Entries(np.empty(9, np.uint32), np.empty(9), *words, np.empty(9), np.empty(DIGITS, np.int64))
    names, x = ExactNames(), {"a": 1.5, "b": "c", "d": 7, "e": np.float32(2)}
    none = np.zeros(2, np.int64)
    at = none.ctypes.data
    name_index = NameIndex(id(names.positions), id(names.categories), none, at, none, at, none)
    row = names.register(x)
    assert exact(id(x), name_index, entries) == 4
    assert (entries.columns[:4] == row[0]).all() and (entries.values[:4] == row[1]).all()
    row = HashedNames(18).register(x)
    assert hashed(id(x), 18, entries) == 4
    assert (entries.columns[:4] == row[0]).all() and (entries.values[:4] == row[1]).all()
    assert hashed(id([]), 18, entries) == -1
    print(*(sum(kernel.stats.cache_hits.values()) for kernel in (exact, hashed)))
"""


def test_disk_cache_works_in_another_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(CACHED_PROGRAM))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(program)]
    hits = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in range(2)
    ]
    assert hits == ["0 0\n", "1 1\n"]
