"""The compiled walk against features/names.py: the same bits, or politely no answer."""

from __future__ import annotations

import enum
import gc
import math
import os
import subprocess
import sys
import textwrap
import time
from collections import OrderedDict, UserDict
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numba import njit

from onlinear.errors import OnlinearError
from onlinear.features.names import ExactNames, HashedNames
from onlinear.kernels import walk

pytestmark = pytest.mark.skipif(not walk.AVAILABLE, reason="needs CPython with a GIL, and the JIT")

CAPACITY = 64


@njit
def exact(x, positions, categories, indices, values):
    return walk.walk_exact(x, positions, categories, indices, values)


@njit
def exact_known(x, positions, categories, indices, values):
    return walk.walk_exact_known(x, positions, categories, indices, values)


@njit
def hashed(x, bits, indices, values):
    return walk.walk_hashed(x, bits, indices, values)


@njit
def exact_often(x, positions, categories, indices, values, times):
    total = 0
    for _ in range(times):
        total += walk.walk_exact(x, positions, categories, indices, values)
    return total


@njit
def hashed_often(x, bits, indices, values, times):
    total = 0
    for _ in range(times):
        total += walk.walk_hashed(x, bits, indices, values)
    return total


def scratch(capacity=CAPACITY):
    return np.empty(capacity, np.uint32), np.empty(capacity, np.float64)


def walked(kernel, x, names, capacity=CAPACITY):
    """(indices, values), or the negative code."""
    indices, values = scratch(capacity)
    if isinstance(names, HashedNames):
        n = kernel(id(x), names.bits, indices, values)
    else:
        n = kernel(id(x), id(names.positions), id(names.categories), indices, values)
    return (indices[:n], values[:n]) if n >= 0 else n


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
    names.register_many(past)
    assert agrees(walked(hashed, x, hashed_names), answer(hashed_names.look_up, x))
    assert agrees(walked(exact_known, x, names), answer(names.look_up, x))
    row = walked(exact, x, names)
    size = names.size
    assert agrees(row, answer(names.register, x))
    assert isinstance(row, int) or names.size == size


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
    assert walked(exact, x, names) == walk.UNKNOWN if x else len(walked(exact, x, names)[0]) == 0
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
        assert walked(kernel, x, names) in (walk.NEEDS_PYTHON, walk.UNKNOWN)
    assert walked(exact_known, x, names) == walk.NEEDS_PYTHON
    assert walked(hashed, x, HashedNames()) == walk.NEEDS_PYTHON
    assert int("7") == 7  # a Python error left set would come up at the next call


def test_integer_names():
    names = ExactNames([7, "7=b"])
    assert same_bits(walked(exact, {7: 1.0}, names), names.look_up({7: 1.0}))
    # "7=b" is meant, which only str(7) can tell: 1, 1.0 and True are the same key
    names.register({7: "b"})
    assert walked(exact, {7: "b"}, names) == walk.NEEDS_PYTHON
    assert walked(hashed, {7: 1.0}, HashedNames()) == walk.NEEDS_PYTHON


def test_surrogates():
    for x in ({"\ud800": 1.0}, {"a": "\ud800"}):
        assert walked(hashed, x, HashedNames()) == walk.NEEDS_PYTHON
        names = ExactNames()
        row = names.register(x)
        assert same_bits(walked(exact, x, names), row)


def test_category_of_a_name_with_an_equals_sign():
    names = ExactNames(["a=b=c"])
    assert same_bits(walked(exact_known, {"a": "b=c"}, names), names.look_up({"a": "b=c"}))
    assert walked(exact_known, {"a=b": "c"}, names) == walk.NEEDS_PYTHON
    names.register({"a=b": "c"})
    assert same_bits(walked(exact, {"a=b": "c"}, names), names.look_up({"a=b": "c"}))


def test_capacity():
    x = {str(k): 1.0 for k in range(5)}
    names = ExactNames(x)
    for kernel, some in ((exact, names), (exact_known, names), (hashed, HashedNames())):
        assert len(walked(kernel, x, some, capacity=5)[0]) == 5
        assert walked(kernel, x, some, capacity=4) == walk.NEEDS_PYTHON
    assert len(walked(exact_known, x | {"unknown": 1.0}, names, capacity=5)[0]) == 5


def test_sum_beyond_all_floats_needs_python():
    x = {str(k): 1e308 for k in range(9)}
    assert walked(hashed, x, HashedNames(1)) == walk.NEEDS_PYTHON


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


def test_long_rows_are_sorted_in_good_time():
    n = 200_000
    backwards = {str(k): float(k) for k in reversed(range(n))}
    names = ExactNames(str(k) for k in range(n))
    began = time.perf_counter()
    indices, values = walked(exact, backwards, names, capacity=n)
    assert time.perf_counter() - began < 5.0  # insertion sort: more than ten seconds
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
    indices, numbers = scratch()
    addresses = [id(names.positions), id(names.categories), indices, numbers]
    exact_often(id(good), *addresses, 1)  # compiled, and UTF-8 forms cached, before counting
    hashed_often(id(good), hashed_names.bits, indices, numbers, 1)
    gc.collect()
    before = [sys.getrefcount(thing) for thing in objects]
    blocks = sys.getallocatedblocks()
    for x in (good, bad):
        exact_often(id(x), *addresses, 100_000)
        hashed_often(id(x), hashed_names.bits, indices, numbers, 100_000)
    del x
    assert sys.getallocatedblocks() - blocks < 1000
    assert [sys.getrefcount(thing) for thing in objects] == before


CACHED_PROGRAM = """
    import numpy as np
    from numba import njit
    from onlinear.features.names import ExactNames, HashedNames
    from onlinear.kernels.walk import walk_exact, walk_hashed

    @njit(cache=True)
    def exact(x, positions, categories, indices, values):
        return walk_exact(x, positions, categories, indices, values)

    @njit(cache=True)
    def hashed(x, bits, indices, values):
        return walk_hashed(x, bits, indices, values)

    indices, values = np.empty(9, np.uint32), np.empty(9)
    names, x = ExactNames(), {"a": 1.5, "b": "c", "d": 7, "e": np.float32(2)}
    row = names.register(x)
    assert exact(id(x), id(names.positions), id(names.categories), indices, values) == 4
    assert (indices[:4] == row[0]).all() and (values[:4] == row[1]).all()
    row = HashedNames(18).register(x)
    assert hashed(id(x), 18, indices, values) == 4
    assert (indices[:4] == row[0]).all() and (values[:4] == row[1]).all()
    assert hashed(id([]), 18, indices, values) == -1
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
