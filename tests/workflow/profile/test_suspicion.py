"""Columns that name rows or give the target away; and those that only look so."""

from __future__ import annotations

import numpy as np
import pytest

from onlinear.workflow.profile import ids, leaks
from onlinear.workflow.profile.words import are_dates, is_prose, moment_of

RANDOM = np.random.default_rng(1)
CLASSES = RANDOM.integers(0, 2, 400)
TARGET = RANDOM.normal(size=400) * 100
NONE = np.uint64(7)


def bits_of(numbers: np.ndarray) -> np.ndarray:
    return np.asarray(numbers, float).view(np.uint64)


def class_leak(numbers: np.ndarray, classes: np.ndarray = CLASSES) -> str | None:
    return leaks.leak_in(bits_of(numbers), NONE, np.asarray(numbers, float), classes)


def number_leak(numbers: np.ndarray, target: np.ndarray = TARGET) -> str | None:
    return leaks.leak_of_numbers(bits_of(numbers), NONE, np.asarray(numbers, float), target)


def id_reason(values: np.ndarray, name: str = "x", target: np.ndarray | None = None) -> str | None:
    values = np.asarray(values, float)
    target = np.zeros(len(values)) if target is None else target
    ascending = bool((np.diff(values) >= 0).all())
    return ids.id_of_numbers(name, len(np.unique(values)) / len(values), len(values), ascending, values, target)


def test_a_column_that_says_the_class_is_a_leak() -> None:
    assert class_leak(CLASSES * 3.0 + 1.0) == leaks.BY_VALUE
    many = CLASSES * 10 + RANDOM.integers(0, 10, 400)  # twenty values, each in one class
    assert class_leak(many) == leaks.BY_VALUE


def test_a_threshold_between_the_classes_is_a_leak() -> None:
    numbers = CLASSES * 2.0 + RANDOM.random(400)
    assert class_leak(numbers) == leaks.BY_THRESHOLD
    numbers[3] += 1.0 if CLASSES[3] == 0 else -1.0
    numbers[3] += 0.5 if CLASSES[3] == 0 else -0.5
    assert class_leak(numbers) is None


def test_what_is_missing_in_one_class_only_is_a_leak() -> None:
    bits = bits_of(RANDOM.random(400)).copy()
    bits[CLASSES == 1] = NONE
    assert leaks.leak_in(bits, NONE, None, CLASSES) == leaks.BY_ABSENCE
    bits[np.flatnonzero(CLASSES == 1)[0]] = 12345
    assert leaks.leak_in(bits, NONE, None, CLASSES) is None


@pytest.mark.parametrize("wrong", [1, 4])
def test_a_strong_feature_is_no_leak(wrong: int) -> None:
    numbers = CLASSES.astype(float)
    numbers[:wrong] = 1.0 - numbers[:wrong]
    assert class_leak(numbers) is None


def test_few_rows_and_values_that_hardly_come_again_prove_nothing() -> None:
    assert class_leak(CLASSES[:40].astype(float), CLASSES[:40]) is None
    pairs = np.repeat(np.arange(200.0), 2)  # each value twice, and the same class both times
    classes = np.repeat(RANDOM.integers(0, 2, 200), 2)
    assert class_leak(pairs, classes) is None
    rare = np.zeros(400, int)
    rare[:2] = 1  # nearly any column would agree with that
    assert class_leak(rare.astype(float), rare) is None


@pytest.mark.parametrize("numbers", [3.0 - 2.0 * TARGET, np.round(TARGET * 100.0) / 7.0])
def test_a_line_is_a_leak(numbers: np.ndarray) -> None:
    assert number_leak(numbers) == leaks.BY_LINE


def test_a_function_that_grows_or_falls_is_a_leak() -> None:
    assert number_leak(np.exp(TARGET / 100.0)) == leaks.BY_ORDER
    assert number_leak(-(TARGET**3)) == leaks.BY_ORDER
    noisy = np.exp(TARGET / 100.0) * (1.0 + 0.1 * RANDOM.random(400))
    assert number_leak(noisy) is None


def test_each_value_with_one_number_is_a_leak() -> None:
    groups = RANDOM.integers(0, 20, 400)
    prices = RANDOM.random(20)[groups]
    assert number_leak(groups.astype(float), prices) == leaks.BY_VALUE
    assert number_leak(groups.astype(float)) is None


def test_numbers_of_rows_and_customers_are_ids() -> None:
    shuffled = RANDOM.permutation(400) + 1
    assert id_reason(np.arange(30)) == ids.ASCENDING
    assert id_reason(shuffled) == ids.ROW_NUMBERS
    assert id_reason(RANDOM.choice(10**7, 400, replace=False)) == ids.CODES
    assert id_reason(RANDOM.choice(9000, 400, replace=False), name="customer_id") == ids.CODES
    assert id_reason(RANDOM.choice(9000, 400, replace=False), name="customerId") == ids.CODES


def test_measurements_are_no_ids() -> None:
    wages = RANDOM.choice(5000, 400, replace=False)
    assert id_reason(wages) is None
    assert id_reason(wages * 100 + 20_000) is None  # round, as amounts are
    assert id_reason(RANDOM.integers(0, 100, 400)) is None
    assert id_reason(np.arange(10)) is None
    big = RANDOM.choice(10**6, 400, replace=False)
    assert id_reason(big, target=big + 1e5 * RANDOM.normal(size=400)) is None  # says something of the target
    assert id_reason(wages, name="humid") is None


def test_codes_are_ids_and_sentences_are_not() -> None:
    assert ids.id_of_texts(1.0, 50, 1.0) == ids.CODES
    assert ids.id_of_texts(0.5, 50, 1.0) is None
    assert ids.id_of_texts(1.0, 50, 6.0) is None


def test_prose_is_long_and_rarely_comes_again() -> None:
    long = ["the train to the coast is late", "nobody has seen the other one"]
    assert is_prose(long, 0.9)
    assert not is_prose(long, 0.1)
    assert not is_prose(["Bern", "New York"], 1.0)
    assert not is_prose([], 1.0)


def test_dates_are_iso_8601() -> None:
    assert are_dates(["2024-03-31", "2024-03-31T12:30"])
    assert not are_dates(["2024-03-31", "yesterday"])
    assert not are_dates(["20240331"])  # a number, for all we know
    assert not are_dates([])
    assert moment_of("2024-01-01T00:00:01Z") == 1_704_067_201_000_000
    assert moment_of("2023-12-31T23:00:00-01:00") == 1_704_067_200_000_000
