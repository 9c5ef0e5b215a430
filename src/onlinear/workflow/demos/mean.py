"""Learning a mean by w <- w + a_t (x_t - w): which rates find it, and what a heavy tail does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.descent import running_means
from onlinear.plots.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from onlinear.rules.schedules import Constant, Power
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "A mean, learned: w <- w + a_t (x_t - w)"
#: rates by name: which of the two sums, of the rates and of their squares, are infinite
RATES: dict[str, Any] = {
    "1/t": Power(1.0, 1.0),
    "t^-0.6": Power(1.0, 0.6),
    "t^-0.5": Power(1.0, 0.5),
    "0.1": Constant(0.1),
    "1/t^2": Power(1.0, 2.0),
}
SUMS = {"1/t": "infinite", "t^-0.6": "infinite", "t^-0.5": "infinite", "0.1": "infinite", "1/t^2": "finite"}
SQUARES = {"1/t": "finite", "t^-0.6": "finite", "t^-0.5": "infinite", "0.1": "infinite", "1/t^2": "finite"}
MEAN, RUNS, MARKS = 1.0, 40, (10, 100, 1000, 10_000)
#: the heavy tail: P(|x| > s) = s^-INDEX for s >= 1, either sign alike: its mean is 0 and its variance infinite
INDEX, HEAVY_RUNS, HEAVY_RATES, DECADES = 1.2, 10, ("t^-0.6", "1/t"), 5
#: parts of the logarithmic axis of the picture, of each of which the estimate farthest from 0 is kept
PARTS = 300


@dataclass(frozen=True)
class WithRate:
    """Normal draws: the root of the mean squared error over the runs, at the marks."""

    rate: str
    errors: list[float]


@dataclass(frozen=True)
class HeavyTail:
    """Draws with a heavy tail, decade by decade: steps over 1, how many are expected, and the farthest estimate."""

    rate: str
    jumps: list[float]  # of a run, in the mean
    expected: list[float]
    farthest: list[float]  # the median over the runs
    times: list[int]  # for the picture, of the first run
    estimates: list[float]


@dataclass(frozen=True)
class Means:
    runs: int
    normal: list[WithRate]
    heavy_runs: int
    heavy: list[HeavyTail]


def compute(seed: int) -> Means:
    rng = np.random.default_rng(seed)
    draws = MEAN + rng.standard_normal((RUNS, MARKS[-1]))
    normal = [WithRate(name, errors_of(draws, rate)) for name, rate in RATES.items()]
    shape = HEAVY_RUNS, 10**DECADES
    tails = (1.0 + rng.pareto(INDEX, shape)) * rng.choice([-1.0, 1.0], shape)
    return Means(RUNS, normal, HEAVY_RUNS, [heavy_tail(name, tails) for name in HEAVY_RATES])


def errors_of(draws: Any, rate: Any) -> list[float]:
    estimates = np.array([running_means(run, rate) for run in draws])[:, np.array(MARKS) - 1]
    errors: list[float] = np.sqrt(((estimates - MEAN) ** 2).mean(axis=0)).tolist()
    return errors


def heavy_tail(name: str, tails: Any) -> HeavyTail:
    times = np.arange(1, tails.shape[1] + 1)
    rates = np.array([RATES[name].at(float(t)) for t in times])
    over, chances = rates * abs(tails) > 1.0, np.minimum(1.0, rates**INDEX)
    estimates = np.array([running_means(run, RATES[name]) for run in tails])
    decades = [slice(10**k, 10 ** (k + 1)) for k in range(DECADES)]  # from t = 10^k + 1 on
    kept = kept_places(estimates[0])
    return HeavyTail(
        name,
        [float(over[:, decade].sum(axis=1).mean()) for decade in decades],
        [float(chances[decade].sum()) for decade in decades],
        [float(np.median(abs(estimates[:, decade]).max(axis=1))) for decade in decades],
        (kept + 1).tolist(),
        estimates[0, kept].tolist(),
    )


def kept_places(path: Any) -> Any:
    """The place farthest from 0 in each part of the logarithmic axis."""
    edges = np.unique(np.geomspace(1, len(path) + 1, PARTS).astype(int)) - 1
    return np.array([low + int(abs(path[low:high]).argmax()) for low, high in pairwise(edges)])


def lines(result: Means) -> Iterator[str]:
    yield f"Normal draws: the root mean squared error of {result.runs} runs"
    cells: Cells = [("a_t", "sum a_t", "sum a_t^2", *(f"t = {t:,}" for t in MARKS))]
    for each in result.normal:
        errors = (f"{error:.4f}" for error in each.errors)
        cells.append((each.rate, SUMS[each.rate], SQUARES[each.rate], *errors))
    yield from table(cells, names=True)
    yield from paragraph(
        "Rates with an infinite sum, whose squares have a finite one, suffice if the variance is bounded (Robbins & "
        "Monro 1951). They are not needed: with t^-0.5 the mean squared error vanishes, too. Rates with a finite sum "
        "stop short, and a constant one keeps the noise of the last draws."
    )
    yield ""
    yield from lines_of_tails(result)


def lines_of_tails(result: Means) -> Iterator[str]:
    yield f"A heavy tail: P(|x| > s) = s^-{INDEX}, mean 0, infinite variance; {result.heavy_runs} runs"
    cells: Cells = [("t up to", *(f"{10 ** (k + 1):,}" for k in range(DECADES)))]
    for each in result.heavy:
        cells.append((f"a_t = {each.rate}: steps a_t |x_t| > 1", *(f"{jumps:.1f}" for jumps in each.jumps)))
        cells.append(("  expected", *(f"{jumps:.1f}" for jumps in each.expected)))
        cells.append(("  farthest |w|", *(f"{far:.2f}" for far in each.farthest)))
    yield from table(cells, names=True)
    yield from paragraph(
        "A column is of the draws since the one before. With t^-0.6 such steps never end (Borel & Cantelli: their "
        "chances t^-0.72 have an infinite sum), so w does not converge, although the noise has mean 0 and the rates "
        "satisfy both conditions. With 1/t it does: that is the law of large numbers."
    )


def as_formula(rate: str) -> str:
    """
    >>> as_formula("t^-0.6")
    '$t^{-0.6}$'
    """
    base, _, power = rate.partition("^")
    return f"${base}^{{{power}}}$" if power else f"${base}$"


def draw(result: Means, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    draw_errors(left, result)
    draw_paths(right, result)


def draw_errors(ax: Axes, result: Means) -> None:
    for each, colour, marker in zip(result.normal, (BLUE, GREEN, ORANGE, VERMILION, PURPLE), "osv^D", strict=True):
        ax.plot(MARKS, each.errors, f"{marker}-", color=colour, label=as_formula(each.rate))
    ax.set(xscale="log", yscale="log", xlabel="draws t", ylabel="root mean squared error, normal draws")
    ax.set_title("variance 1", loc="left")
    ax.legend(frameon=False, title="$a_t$", loc="lower left")


def draw_paths(ax: Axes, result: Means) -> None:
    for each, colour in zip(result.heavy, (VERMILION, BLUE), strict=True):
        ax.plot(each.times, each.estimates, "-", color=colour, label=f"$a_t = $ {as_formula(each.rate)}", linewidth=1.8)
    ax.axhline(0.0, color=GREY, linestyle="--", linewidth=1.5)
    ax.set(xscale="log", xlabel="draws t", ylabel="estimate of the mean, which is 0")
    ax.set_title("infinite variance", loc="left")
    ax.legend(frameon=False)
