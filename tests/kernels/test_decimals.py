"""Numbers from bytes, against Python's ``float()``: the same bits, and the same end."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg"

from __future__ import annotations

import math
import re
import struct
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from numba import njit, types
from numba.core.errors import TypingError

from onlinear.kernels.compiler.inlining import register_overloads
from onlinear.kernels.compiler.object_layout import AVAILABLE
from onlinear.kernels.text import decimals

register_overloads()

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="needs the JIT")

LITERAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
LARGEST_BITS = 0x7FEFFFFFFFFFFFFF


@njit(nogil=True, error_model="numpy")
def read(text, at, stop):
    return decimals.read_number(text, at, stop)


@njit(nogil=True, error_model="numpy")
def read_all(text, values, ends):
    """All numbers of a text, one space after each, and where each of them ends."""
    at = 0
    for k in range(len(values)):
        values[k], ends[k] = decimals.read_number(text, at, len(text))
        at = ends[k] + 1
    return at


def bits_of(value: float) -> int:
    return int.from_bytes(struct.pack(">d", value))


def float_of(bits: int) -> float:
    value: float = struct.unpack(">d", bits.to_bytes(8))[0]
    return value


def check(text: str) -> None:
    """The number alone, and where more bytes can be loaded at once: with others before and after it."""
    expected = float(text)
    for before, after in ((b"", b""), (b"7", b" "), (b"", b" 12345678.5 "), (b"1234567.", b":123456789")):
        characters = np.frombuffer(before + text.encode() + after, np.uint8)
        value, end = read(characters, len(before), len(characters))
        assert end == len(before) + len(text), text[:100]
        assert bits_of(value) == bits_of(expected), text[:100]


def check_all(texts: list[str]) -> None:
    """As above for many numbers, in one call."""
    values, ends = np.empty(len(texts)), np.empty(len(texts), np.int64)
    characters = np.frombuffer("".join(f"{text} " for text in texts).encode(), np.uint8)
    assert read_all(characters, values, ends) == len(characters)
    assert np.array_equal(ends, np.cumsum([len(text) + 1 for text in texts]) - 1)
    expected = np.array([float(text) for text in texts])
    wrong = np.flatnonzero(values.view(np.uint64) != expected.view(np.uint64))
    assert not len(wrong), [texts[k] for k in wrong[:5]]


def exactly(value: Fraction) -> str:
    """All digits of a fraction whose denominator is a power of two."""
    places = value.denominator.bit_length() - 1
    digits = str(value.numerator * 5**places).rjust(places + 1, "0")
    return f"{digits[: len(digits) - places]}.{digits[len(digits) - places :]}"


def middle_above(bits: int) -> Fraction:
    """Halfway to the next float; for the largest one, to where the next would be."""
    if bits == LARGEST_BITS:
        return Fraction(2**1024 + int(sys.float_info.max)) / 2
    return (Fraction(float_of(bits)) + Fraction(float_of(bits + 1))) / 2


def around(text: str) -> list[str]:
    """A number with all its digits, a little less and a little more, and the same with an exponent."""
    digits = text.rstrip("0") if "." in text else text
    less = str(int(digits.replace(".", "")) - 1).rjust(len(digits) - 1, "0")
    point = digits.index(".")
    less = f"{less[:point]}.{less[point:]}"
    near = [text, f"{text}{'0' * 900}", f"{text}1", f"{text}{'0' * 900}1", f"{less}9", f"{less}{'9' * 900}", less]
    significant = digits.replace(".", "").lstrip("0")
    return [*near, f"{significant}e{point + 1 - len(digits)}", f"{significant}1E{point - len(digits)}"]


@settings(max_examples=500)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_is_read_back(value: float) -> None:
    check(repr(value))


@settings(max_examples=500)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 40), st.sampled_from("eEgf"))
def test_forms_with_any_number_of_digits(value: float, digits: int, form: str) -> None:
    check(f"{value:.{digits}{form}}")


digit_strings = st.text("0123456789", max_size=50)
exponents = st.one_of(
    st.just(""), st.integers(-400, 400).map(lambda k: f"e{k}"), st.integers(-30, 30).map("E{:+d}".format)
)


@settings(max_examples=2000)
@given(st.sampled_from(["", "+", "-"]), digit_strings, st.sampled_from(["", "."]), digit_strings, exponents)
def test_random_digits(sign: str, whole: str, point: str, fraction: str, exponent: str) -> None:
    if whole or fraction:
        check(f"{sign}{whole}{point}{fraction}{exponent}")


@settings(max_examples=1000)
@given(st.integers(0, LARGEST_BITS))
@example(0)
@example(1)
@example(2**52 - 1)  # the largest float below the normal ones
@example(2**52)
@example(LARGEST_BITS)
@example(bits_of(2.0**53))
@example(bits_of(2.0**64))
def test_the_middle_of_two_floats_and_its_surroundings(bits: int) -> None:
    check_all(around(exactly(middle_above(bits))))


@settings(max_examples=1000)
@given(st.integers(0, LARGEST_BITS), st.integers(15, 25))
def test_the_first_digits_of_a_middle(bits: int, digits: int) -> None:
    significant = exactly(middle_above(bits)).replace(".", "").lstrip("0")
    exponent = math.floor(math.log10(float_of(bits))) if bits > 0 else -324
    first = int(significant[:digits].ljust(digits, "0"))
    check_all([f"{first + step}e{exponent - digits + shift}" for step in (-1, 0, 1) for shift in (0, 1, 2)])


def test_a_middle_at_every_exponent() -> None:
    for field in range(0, 2047, 7):
        for fraction in (0, 1, 2**51 + field, 2**52 - 2, 2**52 - 1):
            check_all(around(exactly(middle_above(min((field << 52) + fraction, LARGEST_BITS)))))


def test_short_middles() -> None:
    """Halfway with so few digits that no more than a word of them is needed."""
    texts = []
    for power in range(64):
        for odd in (2**53 + 1, 2**53 + 3, 2**54 - 1, 2**54 - 3):
            value = Fraction(odd * 2**power, 2**4)
            texts += [exactly(value), f"-{exactly(value)}", f"{odd * 2**power}", f"{odd * 2**power * 625}e-4"]
    texts += [f"{odd * 2**power}e{ten}" for ten in range(1, 24) for odd in (1, 3, 5, 7, 9) for power in range(60)]
    texts += [f"{(2**53 + odd) // 5**ten}e{ten}" for ten in range(1, 24) for odd in range(-99, 99)]
    check_all(texts)


def test_random_bits_come_back() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**64, 200_000, np.uint64).view(np.float64)
    check_all([repr(value) for value in values[np.isfinite(values)].tolist()])


def test_random_words_at_every_power_of_the_table() -> None:
    rng = np.random.default_rng(1)
    for exponent in range(-365, 330):
        words = rng.integers(0, 10**19, 40, np.uint64) >> rng.integers(0, 64, 40, np.uint64)
        check_all([f"{word}e{exponent}" for word in [*words.tolist(), 0, 1, 10**19 - 1, 2**63, 2**53, 2**53 + 1]])


def test_the_table_holds_the_first_bits_of_the_powers_of_five() -> None:
    table = decimals.powers_of_five().tolist()
    for k, (upper, lower) in zip(range(decimals.LOWEST, decimals.HIGHEST + 1), table, strict=True):
        size = (5 ** abs(k)).bit_length()
        exponent = size - 1 if k >= 0 else -size  # of the highest bit
        missing = Fraction(5) ** k / Fraction(2) ** (exponent - 127) - ((upper << 64) | lower)
        assert upper >> 63 == 1
        assert -1 < missing < 0 if -27 <= k < 0 else 0 <= missing < 1


EDGES = """
0 -0 +0 0.0 -0.0 .0 0. -.0 0e0 0e999 -0e-999 0.000e+5 00000000000000000000000000
-0000000000000000000000.00000000000000 1 +1 -1 1. .1 01 0001.5000 1e0 1E0 1e+0 1e-0 1e00000000000000000000000001
1e-00000000000000000000000000000000000001 1e22 1e23 -1e22 1e-22 1e-23 9007199254740991e22 9007199254740992e22
9007199254740993e22 9007199254740993e-22 8.5e23 9007199254740992 9007199254740993 9007199254740994 9007199254740995
-9007199254740993 9007199254740993.0 9007199254740993.00000000000000000000000 9007199254740993.00000000000000000000001
9007199254740992.99999999999999999999 9223372036854775807 9223372036854775808 9999999999999999999 18446744073709551615
18446744073709551616 99999999999999999999 1.7976931348623157e308 1.7976931348623158e308 1.7976931348623159e308
179769313486231580793e289 17976931348623159e292 1e308 9.99e307 1e309 2e308 -2e308 1e310 0.1e310 0.000001e314
1000000e303 123456789e301 1e400 1e9999 1e999999999999 1e99999999999999999999999999999999999999
-1e99999999999999999999999999999999999999 1e-99999999999999999999999999999999 2.2250738585072014e-308
2.2250738585072011e-308 2.2250738585072012e-308 2.225073858507201e-308 2.2250738585072009e-308
2.2250738585072011360574097967091319759348195463516456480234261097248222220210769455165295239081350879141491589130396e-308
5e-324 4.9e-324 4.9406564584124654e-324 3e-324 2.5e-324 2.4703282292062327e-324 2.4703282292062328e-324 2.47e-324
2e-324 2.47032822920623272088284396434110686182e-324 2.47032822920623272088284396434110686183e-324 1e-324
7.4109846876186982e-324 1e-342 1e-343 9999999999999999999e-342 9999999999999999999e-343 9999999999999999999e-344
18446744073709551615e-343 1e-400 1e-9999 -1e-9999 1e-999999999999 0.1e-307 10000000000000000000000000000e-352
123456789012345678901234567890e-330 6.631236846766476e-316 3.237883913302901e-319 6.953355807847524e-310
1448997445238699 0.500000000000000166533453693773481063544750213623046875 3.518437208883201171875e13
62.5364939768271845828 8.10109172351e-10 1.50000000000000011102230246251565 1.00000000000000011102230246251565
30078505129381147446200 3.0078505129381147e22 1777820000000000000001
0.000000000000000000000000000000000000783468600204798
"""


@pytest.mark.parametrize("text", EDGES.split())
def test_edges(text: str) -> None:
    check(text)


def test_many_digits() -> None:
    for n in (19, 20, 21, 100, 767, 768, 769, 773, 774, 775, 776, 10_000):
        check_all(
            [
                "1" * n,
                "9" * n,
                f"0.{'9' * n}",
                f"{'0' * n}1",
                f"{'0' * n}.{'0' * n}12",
                f"{'0' * n}.{'0' * n}12e{n}",
                f"0.{'0' * n}{'123456789' * n}e{n}",
                f"{'7' * n}e-{n}",
                f"{'7' * n}.{'3' * n}e-{n}",
                f"1{'0' * n}e-{n}",
                f"1{'0' * n}1e-{n}",
                f"1{'0' * n}.e-{n + 300}",
                f"{'1' * n}e{310 - n}",
                f"{'1' * n}e-{n + 323}",
                f"{'1' * n}e-{n + 324}",
                f"9007199254740993{'0' * n}e-{n}",
                f"9007199254740993{'0' * n}1e-{n}",
                f"900719925474099.3{'0' * n}1e-{n}",
            ]
        )


def test_millions_of_digits() -> None:
    n = 10_000_000
    for text, expected in (
        (f"0.{'0' * n}9007199254740993{'0' * n}1e{n + 16}", 9007199254740994.0),
        (f"9007199254740993{'0' * n}1{'0' * n}e-{2 * n + 1}", 9007199254740994.0),
        (f"9007199254740993{'0' * n}e-{n}", 9007199254740992.0),
        (f"1e-{'0' * n}5", 1e-5),
        (f"1e{'9' * n}", math.inf),
    ):
        characters = np.frombuffer(text.encode(), np.uint8)
        value, end = read(characters, 0, len(characters))
        assert (value, end) == (expected, len(text))


@pytest.mark.parametrize(
    ("text", "value", "end"),
    [
        ("12abc", 12.0, 2),
        ("1.2.3", 1.2, 3),
        ("1..2", 1.0, 2),
        ("1e", 1.0, 1),
        ("1e+", 1.0, 1),
        ("1.5E-x", 1.5, 3),
        ("2e5.5", 2e5, 3),
        ("1e5e5", 1e5, 3),
        ("1_000", 1.0, 1),
        ("0x10", 0.0, 1),
        ("-0x10", -0.0, 2),
        ("17:0.5", 17.0, 2),
        ("1+2", 1.0, 1),
        ("1-2", 1.0, 1),
        ("1/2", 1.0, 1),  # the character before the digits
        ("1\x00", 1.0, 1),
        ("1\xb2", 1.0, 1),
        ("5.\n", 5.0, 2),
    ],
)
def test_where_a_number_ends(text: str, value: float, end: int) -> None:
    for after in ("", "12345678"):
        characters = np.frombuffer((text + " " + after).encode("latin-1"), np.uint8)
        got, got_end = read(characters, 0, len(characters))
        assert (bits_of(got), got_end) == (bits_of(value), end)


NOT_NUMBERS = ["", "+", "-", ".", "+.", "-.", "..", ".e5", "e5", "-e5", "--1", "+-1", "- 1", " 1", "nan", "inf", "-inf"]
NOT_NUMBERS += ["infinity", "NaN", "_1", ":1", "/1", "\x00", "\xff\xff", "-.\n5", "abcdefghijkl", "\u0661"]


@pytest.mark.parametrize("text", NOT_NUMBERS)
@pytest.mark.parametrize("after", ["", " ", " 123456789"])
def test_what_is_no_number_is_not_read(text: str, after: str) -> None:
    characters = np.frombuffer((text + after).encode(), np.uint8)
    assert read(characters, 0, len(characters)) == (0.0, 0)


def test_nothing_at_or_after_the_stop_is_read() -> None:
    text = b"-12.345678901234567890123e-123456789"
    characters = np.frombuffer(text, np.uint8)
    for at in range(len(text) + 1):
        for stop in range(at, len(text) + 1):
            found = LITERAL.match(text[at:stop])
            expected = (float(found[0]), at + len(found[0])) if found else (0.0, at)
            assert read(characters, at, stop) == expected


@settings(max_examples=2000)
@given(st.text("0123456789+-.eE x:", max_size=30), st.integers(0, 10))
def test_the_longest_literal_is_read(text: str, at: int) -> None:
    characters = np.frombuffer(text.encode(), np.uint8)
    at = min(at, len(text))
    found = LITERAL.match(text.encode(), at)
    value, end = (float(found[0]), found.end()) if found else (0.0, at)
    got, got_end = read(characters, at, len(text))
    assert (bits_of(got), got_end) == (bits_of(value), end)


@settings(max_examples=300)
@given(st.binary(max_size=24))
def test_any_bytes(text: bytes) -> None:
    characters = np.frombuffer(text, np.uint8)
    found = LITERAL.match(text)
    value, end = (float(found[0]), found.end()) if found else (0.0, 0)
    assert read(characters, 0, len(text)) == (value, end)


def test_words_of_bits_are_never_made_floats() -> None:
    """An unsigned and a signed integer make a float in Numba: digits beyond 2^53 would be lost without a word."""

    @njit
    def words(text, at, stop):
        text = decimals.address_of(text)
        few = decimals.few_digits(text, at, stop, np.uint64(0))
        more = decimals.more_digits(text, at, stop, np.uint64(0))
        return few, more, decimals.nearest(few[0], at)

    characters = np.frombuffer(b"18446744073709551557,", np.uint8)
    expected = (18446744073709551557, 20)
    assert words(characters, 0, len(characters)) == (expected, expected, bits_of(18446744073709551557.0))
    pair = types.Tuple((types.uint64, types.int64))
    assert words.nopython_signatures[0].return_type == types.Tuple((pair, pair, types.uint64))
    assert read.nopython_signatures[0].return_type == types.Tuple((types.float64, types.int64))


def test_writable_text_and_other_integers() -> None:
    characters = np.frombuffer(b"x1.25 ", np.uint8).copy()
    assert read(characters, np.uint64(1), np.int32(len(characters))) == (1.25, 5)


def test_no_object_and_no_reference_is_touched_on_the_way() -> None:
    """Counting references to the text, atomically, took longer than reading a short number."""
    read_all(np.frombuffer(b"1 ", np.uint8), np.empty(1), np.empty(1, np.int64))
    (code,) = read_all.inspect_llvm().values()
    start = code.index("define")
    body = code[start : code.index("\n}\n", start)]
    assert body.count("call void @NRT_incref") <= 3  # one for each argument, outside the loop
    assert "NRT_MemInfo_alloc" not in code


@pytest.mark.parametrize("text", [np.zeros(4, np.int8), np.zeros(8, np.uint8)[::2], np.zeros((2, 2), np.uint8)])
def test_other_arrays_than_bytes_in_a_row_are_refused(text: np.ndarray) -> None:
    with pytest.raises(TypingError):
        read(text, 0, 4)
