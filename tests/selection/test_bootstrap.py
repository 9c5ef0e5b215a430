"""The bootstrap's draws are Poisson, and depend on nothing but seed, row and replicate; its intervals cover."""

from __future__ import annotations

import math

import numpy as np

from onlinear.selection.bootstrap import bootstrap_intervals, draws


def test_draws_are_poisson() -> None:
    found = draws(np.arange(20_000), 10, seed=3)
    for k in range(5):
        expected = math.exp(-1.0) / math.factorial(k)
        deviation = math.sqrt(expected * (1.0 - expected) / found.size)
        assert abs((found == k).mean() - expected) < 5.0 * deviation
    correlations = np.corrcoef(found.T) - np.eye(10)
    assert np.abs(correlations).max() < 5.0 / math.sqrt(20_000)


def test_draws_do_not_depend_on_blocks_but_on_the_seed() -> None:
    whole = draws(np.arange(100), 4, seed=1)
    parts = np.concatenate([draws(np.arange(start, start + 10), 4, seed=1) for start in range(0, 100, 10)])
    np.testing.assert_array_equal(whole, parts)
    assert (whole != draws(np.arange(100), 4, seed=2)).any()


def test_the_interval_of_a_mean_covers() -> None:
    rng, covered = np.random.default_rng(0), 0
    for trial in range(200):
        values = rng.normal(size=80)
        weights = draws(np.arange(80) + 80 * trial, 200, seed=7)
        means = (weights.T @ values) / weights.sum(axis=0)
        low, high = bootstrap_intervals(values.mean(), means)
        covered += bool(low <= 0.0 <= high)
    assert 175 <= covered <= 199  # 95 % of 200, less what percentiles of few rows miss
