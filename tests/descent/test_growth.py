"""The table of steps to epsilon: its counts are those of the solvers, and they grow as theory has it."""

from __future__ import annotations

import numpy as np
import pytest

from onlinear.descent import drawn_problem, gradient_descent, mean_loss, newton, rows_table, sgd, steps_table
from onlinear.errors import BadInput
from onlinear.losses import Logistic

GAPS = (1e-1, 1e-2, 1e-3)


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_steps_are_those_of_the_solvers(loss: str) -> None:
    f = drawn_problem(loss, 500, features=4)
    optimum = newton(f, 1e-15).value
    table = steps_table(f, GAPS, seeds=2)
    assert list(table.costs) == ["GD", "Newton", "SGD", "2nd-order SGD"]
    assert table.amounts == ("1.0e-01", "1.0e-02", "1.0e-03")
    for place, gap in enumerate(GAPS):
        assert table.costs["GD"][place].steps == gradient_descent(f, gap, optimum=optimum).steps
        steps = [sgd(f, gap, optimum=optimum, seed=seed).steps for seed in range(2)]
        assert table.costs["SGD"][place].steps == np.mean(steps)
        assert all(costs[place].arrived for costs in table.costs.values())


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_steps_grow_as_the_classical_table_says(loss: str) -> None:
    """A digit more: as many steps again for gradient descent, at most one for Newton's method, ten times as many for
    SGD; four times the rows: no more steps. Powers within 0.4, numbers within a factor of three.
    """
    gaps = (1e-2, 10**-2.5, 1e-3, 10**-3.5)
    table = steps_table(drawn_problem(loss, 2000), gaps)
    steps = {name: [cost.steps for cost in costs] for name, costs in table.costs.items()}
    assert max(np.diff(steps["GD"])) <= 3 * min(np.diff(steps["GD"]))
    assert max(np.diff(steps["Newton"])) <= 1
    for name in ("SGD", "2nd-order SGD"):
        assert np.polyfit(-np.log(gaps), np.log(steps[name]), 1)[0] == pytest.approx(1.0, abs=0.4)
    rows = rows_table(loss, (500, 2000, 8000), gap=1e-2)
    for costs in rows.costs.values():
        assert max(cost.steps for cost in costs) <= 3 * min(cost.steps for cost in costs)


def test_it_prints_a_block_for_each_method_that_there_is() -> None:
    lines = str(steps_table(drawn_problem("hinge", 200, features=3), (0.3, 1e-9), max_steps=50)).splitlines()
    assert lines[0].split() == ["epsilon,", "200", "rows", "3.0e-01", "1.0e-09"]
    assert [line[:30].rstrip() for line in lines[1:]] == [
        *["GD, a step: n d", "  steps: log 1/e", "  in all"],
        *["SGD, a step: d", "  steps: 1/e", "  in all"],
        *["2nd-order SGD, a step: d^2", "  steps: 1/e", "  in all"],
    ]
    assert lines[2].split()[-1] == ">50"
    assert ">" not in lines[2].split()[-2]


def test_ones_own_rows_have_a_table() -> None:
    X = np.random.default_rng(0).standard_normal((100, 2))
    table = steps_table(mean_loss(X, np.sign(X[:, 0] + 0.5), Logistic(), l2=0.1), (1e-2,), seeds=1)
    assert "100 rows" in table.heading


@pytest.mark.parametrize(("gaps", "seeds"), [((), 1), ((0.1, 0.0), 1), ((0.1,), 0)])
def test_no_gap_or_seed_is_refused(gaps: tuple[float, ...], seeds: int) -> None:
    with pytest.raises(BadInput, match="give gaps above 0, and one seed or more"):
        steps_table(drawn_problem("log_loss", 50), gaps, seeds)
