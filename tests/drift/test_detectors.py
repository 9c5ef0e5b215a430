"""Detectors against slow ones that keep every value, against their theorem, and against River's."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from river import drift

from onlinear.drift import ADWIN, DETECTORS, PageHinkley
from onlinear.drift.adwin import ALIKE
from onlinear.drift.curve import Curve
from onlinear.errors import BadInput, OnlinearError, Refused
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner
from onlinear.losses import Hinge
from onlinear.rules import SGD

Detector = ADWIN | PageHinkley


class SlowADWIN:
    """ADWIN as the paper puts it: the whole window, and every cut between buckets with means from scratch."""

    def __init__(self, delta: float) -> None:
        self.delta = delta
        self.window: list[float] = []
        self.sizes: list[int] = []  # of the buckets, oldest first
        self.seen = 0

    def update(self, value: float) -> bool:
        self.window.append(value)
        self.sizes.append(1)
        self.merge()
        self.seen += 1
        if self.seen % 32:
            return False
        before = len(self.window)
        while self.cuts():
            del self.window[: self.sizes.pop(0)]
        return len(self.window) < before

    def merge(self) -> None:
        size = 1
        while self.sizes.count(size) > 5:
            oldest = self.sizes.index(size)
            self.sizes[oldest : oldest + 2] = [2 * size]
            size *= 2

    def cuts(self) -> list[int]:
        """Where a cut between buckets parts means that differ by more than the bound."""
        return [cut for cut in np.cumsum(self.sizes[:-1]).tolist() if self.differ(cut)]

    def differ(self, cut: int) -> bool:
        older, newer = np.array(self.window[:cut]), np.array(self.window[cut:])
        return abs(older.mean() - newer.mean()) > bound(np.array(self.window), cut, self.delta)


def bound(window: np.ndarray, cut: int, delta: float) -> float:
    n = len(window)
    harmonic = 1.0 / (1.0 / cut + 1.0 / (n - cut))
    doubt = math.log(2.0 * math.log(n) / delta)
    return math.sqrt(2.0 / harmonic * window.var() * doubt) + 2.0 / (3.0 * harmonic) * doubt


def coins(rng: np.random.Generator, *parts: tuple[int, float]) -> list[float]:
    """Zeros and ones: so many with this probability of a one, then so many with that."""
    return np.concatenate([(rng.random(n) < p).astype(float) for n, p in parts]).tolist()


def alarms(detector: Any, values: list[float]) -> list[int]:
    return [i for i, value in enumerate(values) if detector.update(value)]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.002, 0.1]), st.booleans())
def test_adwin_is_the_slow_one(seed: int, delta: float, coin: bool) -> None:
    rng = np.random.default_rng(seed)
    parts = [(int(rng.integers(50, 400)), float(rng.random())) for _ in range(4)]
    values = coins(rng, *parts) if coin else [min(p * rng.random() * 2, 1.0) for n, p in parts for _ in range(n)]
    detector, slow = ADWIN(delta), SlowADWIN(delta)
    for value in values:
        assert detector.update(value) == slow.update(value)
        assert detector.width == len(slow.window)
    assert math.isclose(detector.mean, float(np.mean(slow.window)), abs_tol=1e-12)


def test_every_cut_is_one_that_a_look_at_all_positions_would_make() -> None:
    values = coins(np.random.default_rng(3), (500, 0.1), (500, 0.5))
    slow = SlowADWIN(0.002)
    for value in values:
        before = [*slow.window, value]
        if slow.update(value):
            break
    found = [cut for cut in range(1, len(before)) if all_positions_differ(np.array(before), cut)]
    assert 500 < len(before) < 620
    assert found
    assert min(abs(cut - 500) for cut in found) < 32


def all_positions_differ(window: np.ndarray, cut: int) -> bool:
    return abs(window[:cut].mean() - window[cut:].mean()) > bound(window, cut, 0.002)


@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_adwin_raises_fewer_false_alarms_than_delta(delta: float) -> None:
    """Theorem 3.1 (1): with a constant mean, a look shrinks the window with probability of at most delta."""
    rng = np.random.default_rng(17)
    looks = found = 0
    for p in (0.05, 0.2, 0.5) * 4:
        found += len(ADWIN(delta).update_many(coins(rng, (3200, p))))
        looks += 3200 // 32
    assert found <= delta * looks


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.3), (0.2, 0.6), (0.05, 0.9)])
def test_adwin_finds_a_jump_as_soon_as_its_bound_allows(low: float, high: float) -> None:
    """Theorem 3.1 (2): a difference above twice the bound is found, at the next look, but for probability delta."""
    rng = np.random.default_rng(5)
    old = 4096
    enough = next(n for n in range(1, old) if high - low > 2.0 * expected_bound(old, n, low, high))
    delays = []
    for _ in range(8):
        detector = ADWIN()
        detector.update_many(coins(rng, (old, low)))
        delays.append(next(i for i, value in enumerate(coins(rng, (2 * old, high))) if detector.update(value)))
        assert detector.rise > 0.0
    assert sum(delay <= enough + 32 for delay in delays) >= 7
    assert min(delays) > 3


def expected_bound(n0: int, n1: int, low: float, high: float) -> float:
    mean = (n0 * low + n1 * high) / (n0 + n1)
    share, doubt = 1.0 / n0 + 1.0 / n1, math.log(2.0 * math.log(n0 + n1) / 0.002)
    return math.sqrt(2.0 * share * mean * (1.0 - mean) * doubt) + 2.0 / 3.0 * share * doubt


def test_adwin_tells_a_fall_from_a_rise() -> None:
    detector = ADWIN()
    assert detector.update_many([1.0] * 320 + [0.0] * 320)
    assert detector.rise < 0.0


def test_adwin_keeps_few_buckets() -> None:
    detector = ADWIN()
    detector.update_many(coins(np.random.default_rng(0), (20_000, 0.3)))
    assert detector.width == 20_000
    assert sum(map(len, detector.state()["buckets"])) <= 6 * math.log2(20_000)


# ------------------------------------------------------------------ the Page-Hinkley test


def slow_page_hinkley(values: list[float], threshold: float, allowance: float, least: int) -> list[int]:
    found: list[int] = []
    start = 0
    for i in range(len(values)):
        part = np.array(values[start : i + 1])
        means = np.cumsum(part) / np.arange(1, len(part) + 1)
        climb = np.cumsum(part - means - allowance)
        if len(part) >= least and climb[-1] - climb.min() > threshold:
            found.append(i)
            start = i + 1
    return found


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_page_hinkley_is_the_slow_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = coins(rng, *[(200, float(rng.random())) for _ in range(3)])
    assert PageHinkley(8.3, 0.01, 20).update_many(values) == slow_page_hinkley(values, 8.3, 0.01, 20)


# ------------------------------------------------------------------ both


@pytest.mark.parametrize("make", DETECTORS.values(), ids=DETECTORS)
def test_chunks_do_not_matter_and_resume_is_continue(make: Callable[[], Detector]) -> None:
    values = coins(np.random.default_rng(1), (700, 0.1), (700, 0.7), (333, 0.4))
    whole, detector = make(), make()
    expected = whole.update_many(values)
    found, start = [], 0
    for stop in (0, 1, 33, 701, 760, 1100, len(values)):
        found += [start + i for i in detector.update_many(values[start:stop])]
        detector = type(detector).from_state(json.loads(json.dumps(detector.state(), allow_nan=False)))
        start = stop
    assert found == expected
    assert expected
    assert detector.state() == whole.state()


@pytest.mark.parametrize("make", DETECTORS.values(), ids=DETECTORS)
def test_anew_forgets_the_values_and_keeps_the_parameters(make: Callable[..., Detector]) -> None:
    detector = make(0.5)
    fresh = detector.state()
    detector.update_many([0.0] * 100 + [1.0] * 100)
    assert detector.anew().state() == fresh


HUGE = 10**400  # a whole number of JSON, and no float
LIES: list[tuple[Any, dict[str, Any]]] = [
    (ADWIN, {"buckets": [[[0.0, 0.0]] * 20_000], "width": 20_000}),
    (ADWIN, {"buckets": [[[0.0, 0.0]] * 6], "width": 6}),
    (ADWIN, {"buckets": [[]] * 100_000, "width": 0}),
    (ADWIN, {"buckets": [[] for _ in range(2000)] + [[[1.0, 1.0]]], "width": 1 << 2000}),
    *((ADWIN, {name: HUGE}) for name in ("delta", "rise", "seen", "width")),
    (PageHinkley, {"width": 5, "lowest": [-5.0, 10]}),
    (PageHinkley, {"width": HUGE, "lowest": [0.0, 1]}),
    *((PageHinkley, {name: HUGE}) for name in ("threshold", "allowance", "least", "rise", "mean", "excess")),
    (Curve, {"window": HUGE, "examples": HUGE, "sums": [0.5]}),
    (Curve, {"window": 1, "examples": HUGE, "sums": [0.5]}),
    (Curve, {"examples": -5}),
    (Curve, {"total": HUGE}),
]


@pytest.mark.parametrize(("kind", "lie"), LIES)
def test_a_state_that_no_values_lead_to_is_refused(kind: Any, lie: dict[str, Any]) -> None:
    with pytest.raises(OnlinearError, match="that we wrote"):
        kind.from_state(kind().state() | lie)


def test_parameters_beyond_the_floats_are_refused() -> None:
    with pytest.raises(Refused, match="finite"):
        PageHinkley(threshold=HUGE)
    with pytest.raises(Refused, match="l2 is 1"):
        Learner(Hinge(), SGD(), features=1, settings=Settings(l2=HUGE))


def test_values_that_a_detector_cannot_bear_are_refused() -> None:
    for value in (-0.1, 1.5, math.nan):
        with pytest.raises(BadInput, match="between 0 and 1"):
            ADWIN().update(value)
    with pytest.raises(BadInput, match="finite"):
        PageHinkley().update(math.inf)
    with pytest.raises(Refused, match="delta"):
        ADWIN(1.0)
    with pytest.raises(Refused, match="threshold"):
        PageHinkley(0.0)


def test_a_long_window_is_kept_in_few_buckets() -> None:
    """Which is what makes an update quick: no more of each size than alike are kept, and sizes double."""
    detector = ADWIN()
    detector.update_many(coins(np.random.default_rng(0), (45_312, 0.2)))
    assert max(map(len, detector._buckets)) <= ALIKE
    assert len(detector._buckets) <= math.log2(45_312) + 1


# ------------------------------------------------------------------ River's


def test_the_first_alarm_is_rivers() -> None:
    """River's ADWIN starts anew at an alarm, and takes 4 off either side of a cut: ours is never later."""
    rng = np.random.default_rng(8)
    same = 0
    for before, after in [(0.2, 0.35), (0.1, 0.6), (0.5, 0.2), (0.3, 0.9)] * 3:
        values = coins(rng, (2000, before), (2000, after))
        ours, theirs = first(ADWIN(), values), first_of_river(drift.ADWIN(), values)
        assert ours <= theirs <= ours + 64
        same += ours == theirs
    assert same >= 8


def test_page_hinkley_is_rivers_without_fading() -> None:
    values = coins(np.random.default_rng(8), (500, 0.1), (500, 0.6), (500, 0.9))
    theirs = drift.PageHinkley(min_instances=30, delta=0.005, threshold=20.0, alpha=1.0, mode="up")
    expected = [i for i, value in enumerate(values) if river_alarms(theirs, value)]
    assert PageHinkley(20.0).update_many(values) == expected
    assert len(expected) == 2


def first(detector: Any, values: list[float]) -> int:
    return next(i for i, value in enumerate(values) if detector.update(value))


def first_of_river(detector: Any, values: list[float]) -> int:
    return next(i for i, value in enumerate(values) if river_alarms(detector, value))


def river_alarms(detector: Any, value: float) -> bool:
    detector.update(value)
    return bool(detector.drift_detected)
