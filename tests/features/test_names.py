"""Names and hashes against a few obvious lines; every refusal with its sentence."""

from __future__ import annotations

import enum
import math
import pickle
import random
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, strategies as st

from onlinear.errors import BadRow, OnlinearError, TooManyNames
from onlinear.features.names import ExactNames, HashedNames, hash_name

short_names = st.text("ab=é", max_size=4)
numbers = st.floats(-1e6, 1e6) | st.integers(-1000, 1000) | st.booleans()
rows = st.dictionaries(short_names, numbers | short_names, max_size=8)


class Colour(enum.StrEnum):
    RED = "red"

    def __str__(self):
        return "Colour.RED"


def named(row, names):
    """What the arrays say, as a dict of full name -> value."""
    indices, values = row
    assert list(indices) == sorted(set(indices.tolist()))
    assert indices.dtype == np.uint32
    assert values.dtype == np.float64
    return {names.names()[j]: x for j, x in zip(indices, values, strict=True)}


def expected(x):
    sums = {}
    for name, value in x.items():
        full, number = (f"{name}={value}", 1.0) if isinstance(value, str) else (name, float(value))
        sums[full] = sums.get(full, 0.0) + number
    return sums


@given(rows)
def test_exact_row_says_what_the_dict_says(x):
    names = ExactNames()
    assert named(names.register(x), names) == expected(x)
    assert named(names.look_up(x), names) == expected(x)


@given(st.lists(rows, max_size=6), st.randoms(use_true_random=False))
def test_key_order_does_not_matter(stream, shuffler):
    names, shuffled_names = ExactNames(), ExactNames()
    for x in stream:
        keys = list(x)
        shuffler.shuffle(keys)
        row = names.register(x)
        shuffled_row = shuffled_names.register({key: x[key] for key in keys})
        np.testing.assert_array_equal(row, shuffled_row)
    assert names.names() == shuffled_names.names()


@given(st.lists(rows, max_size=6))
def test_many_rows_are_the_rows_one_by_one(stream):
    for one, many in [(ExactNames(), ExactNames()), (HashedNames(5), HashedNames(5))]:
        indptr, indices, values = many.register_many(stream)
        assert (indptr.dtype, indices.dtype, values.dtype) == (np.int64, np.uint32, np.float64)
        assert len(indptr) == len(stream) + 1
        for i, x in enumerate(stream):
            row = slice(indptr[i], indptr[i + 1])
            np.testing.assert_array_equal(one.register(x), (indices[row], values[row]))
        assert one.size == many.size
    assert vars(many) == vars(one)


@given(rows, rows)
def test_look_up_is_pure_and_skips_the_unknown(x, other):
    names = ExactNames()
    names.register(x)
    before = pickle.dumps(names)
    known = {name: value for name, value in expected(other).items() if name in expected(x)}
    assert named(names.look_up(other), names) == known
    assert pickle.dumps(names) == before


@given(st.lists(rows, max_size=6))
def test_categories_are_a_cache_of_the_positions(stream):
    names = ExactNames()
    names.register_many(stream)
    for some in (names, ExactNames(names.names()), pickle.loads(pickle.dumps(names))):
        assert some.positions == names.positions
        for name, values in some.categories.items():
            for value, position in values.items():
                assert some.positions[f"{name}={value}"] == position
        for name in some.positions:
            head, equals_sign, tail = name.partition("=")
            assert not equals_sign or some.categories[head][tail] == some.positions[name]


def test_category_and_plain_name_are_the_same_feature():
    names = ExactNames()
    x = {"a": "b", "a=b": 2.5}
    assert named(names.register(x), names) == {"a=b": 3.5}
    indices, values = HashedNames().register(x)
    assert (len(indices), values[0]) == (1, 3.5)
    nested = {"a": "b=c", "a=b": "c", "a=b=c": 1}
    assert named(names.register(nested), names) == {"a=b=c": 3.0}


def test_explicit_zeros_and_booleans():
    names = ExactNames()
    x = {"zero": 0, "yes": True, "no": False, "numpy": np.bool_(True)}
    assert named(names.register(x), names) == {"zero": 0.0, "yes": 1.0, "no": 0.0, "numpy": 1.0}
    assert names.names() == ["no", "numpy", "yes", "zero"]


def test_empty_row():
    for names in (ExactNames(), HashedNames()):
        indices, values = names.register({})
        assert (len(indices), len(values)) == (0, 0)
        indptr, indices, values = names.register_many([])
        assert (indptr.tolist(), len(indices), len(values)) == ([0], 0, 0)


@pytest.mark.parametrize(
    "value",
    [
        2,
        2.0,
        np.float64(2),
        np.float32(2),
        np.float16(2),
        np.int64(2),
        np.uint8(2),
        Fraction(2),
        Decimal(2),
        np.longdouble(2),
    ],
)
def test_every_kind_of_number(value):
    for names in (ExactNames(), HashedNames()):
        assert names.register({"a": value})[1].tolist() == [2.0]


@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
def test_every_kind_of_mapping(kind):
    assert ExactNames().register(kind({"a": 2}))[1].tolist() == [2.0]


def test_names_need_not_be_strings():
    names = ExactNames()
    names.register({("a", 1): 2.0, 7: 1.0, 3: "x"})
    assert names.names() == [("a", 1), "3=x", 7]
    assert hash_name("7") >> 46 == HashedNames().look_up({7: 1.0})[0][0]
    assert hash_name("7=x") >> 46 == HashedNames().look_up({7: "x"})[0][0]


def test_subclass_of_str_counts_as_its_characters():
    for names in (ExactNames(), HashedNames()):
        row = names.register({"red": 1, "a": "red"})
        same = names.look_up({Colour.RED: 1, "a": Colour.RED})
        np.testing.assert_array_equal(row, same)
    names = ExactNames()
    names.register({Colour.RED: Colour.RED, np.str_("b"): 1})
    assert [type(name) for name in names.names()] == [str, str]
    assert names.names() == ["b", "red=red"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "feature 'age' is nan: leave the key out of the dict, or impute it first"),
        (-math.inf, "feature 'age' is -inf: leave the key out"),
        (np.float32("nan"), "feature 'age' is nan"),
        (Decimal("nan"), "feature 'age' is nan"),
        (10**400, "feature 'age' is too large for a float"),
        (None, r"feature 'age' is None \(NoneType\): a value is a number or a string"),
        ([1.0], r"feature 'age' is \[1.0\] \(list\)"),
        (list(range(99)), r"feature 'age' is \[0, 1, .*\.\.\. \(list\)"),
        (np.array([1.0]), r"\(ndarray\)"),
        (1j, r"\(complex\)"),
        (np.complex128(1), r"\(complex128\)"),
        (np.timedelta64(1, "s"), r"\(timedelta64\)"),
        (b"red", r"\(bytes\)"),
    ],
)
def test_bad_values_are_refused_by_name(value, reason):
    for names in (ExactNames(["known"]), HashedNames()):
        before = pickle.dumps(names)
        for method in (names.register, names.look_up):
            with pytest.raises(BadRow, match=reason):
                method({"new": 1.0, "known": 1.0, "age": value})
        with pytest.raises(BadRow, match=f"row 2: {reason}" if reason[0] == "f" else reason):
            names.register_many([{"new": 1.0}, {}, {"age": value}])
        assert pickle.dumps(names) == before


@pytest.mark.parametrize("x", [None, [1.0], "text", [("a", 1.0)]])
def test_row_that_is_no_dict(x):
    for names in (ExactNames(), HashedNames()):
        with pytest.raises(BadRow, match=f"a row is a dict .* not {type(x).__name__}"):
            names.register(x)


def test_sum_beyond_all_floats():
    with pytest.raises(BadRow, match="add up to infinity"):
        HashedNames(1).register({str(k): 1e308 for k in range(9)})


def test_cap_refuses_a_row_whole():
    names = ExactNames(cap=2)
    names.register({"a": 1})
    with pytest.raises(TooManyNames, match=r"feature 'c' .* cap is 2: raise the cap.*bits=18"):
        names.register({"c": 1, "b": "", "a": 2})
    with pytest.raises(TooManyNames, match="row 1: feature 'c'"):
        names.register_many([{"b": 1}, {"c": 1}])
    assert (names.names(), names.categories) == (["a"], {})
    names.register({"b": 1, "a": 1})
    assert names.size == 2
    with pytest.raises(TooManyNames):
        ExactNames("abc", cap=2)


def test_names_given_twice():
    with pytest.raises(OnlinearError, match="'a' is there twice"):
        ExactNames(["a", "b", "a"])


@pytest.mark.parametrize("bits", [0, -1, 31])
def test_bits_out_of_range(bits):
    with pytest.raises(OnlinearError, match="choose 1 to 30"):
        HashedNames(bits)


def test_hash_is_fnv_1a_with_a_final_mix():
    # Landon Noll's published value of FNV-1a for "foobar", through MurmurHash3's fmix64.
    bits = 0x85944171F73967E8
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        bits = (bits ^ bits >> 33) * factor % 2**64
    assert hash_name("foobar") == bits ^ bits >> 33


def test_hash_spreads_evenly():
    # 2**16 balls into 2**10 bins: chi-squared has mean 1023 and deviation 45.
    for names in ([f"x{k}" for k in range(2**16)], [str(k) for k in range(2**16)]):
        counts = np.bincount([hash_name(name) >> 54 for name in names], minlength=2**10)
        assert ((counts - 64.0) ** 2 / 64).sum() < 1023 + 5 * 45


def test_hashed_collisions_add_up_in_any_order():
    names = HashedNames(1)
    x = {str(k): 10.0 ** random.Random(k).uniform(-8, 8) for k in range(50)}
    row = names.register(x)
    assert row[0].tolist() == [0, 1]
    np.testing.assert_array_equal(row, names.register(dict(sorted(x.items(), reverse=True))))


@given(rows, st.integers(1, 30))
def test_hashed_row(x, bits):
    indices, values = HashedNames(bits).look_up(x)
    sums = {}
    for name, number in expected(x).items():
        index = hash_name(name) >> (64 - bits)
        sums[index] = sums.get(index, 0.0) + number
    assert indices.tolist() == sorted(sums)
    np.testing.assert_allclose(values, [sums[j] for j in sorted(sums)], atol=1e-9)


@pytest.mark.parametrize(
    "nan", [float("nan"), np.float64("nan"), np.float32("nan")], ids=["float", "float64", "float32"]
)
def test_a_name_that_equals_nothing_is_refused(nan):
    """Each would be another name, and a copy of the model would know none of them."""
    names = ExactNames(["a"])
    with pytest.raises(BadRow, match="the name nan, which equals nothing"):
        names.register({"b": 1.0, nan: 1.0})
    with pytest.raises(BadRow, match="row 1: a feature has the name nan"):
        names.register_many([{"b": 1.0}, {nan: 1.0}])
    assert names.names() == ["a"]
    assert names.look_up({"a": 2.0, nan: 1.0})[0].tolist() == [0]
