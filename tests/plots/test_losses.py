"""Losses beside the 0/1 loss: the values by hand, and what is drawn."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from onlinear import BadInput, Refused
from onlinear.losses import Hinge, Quantile
from onlinear.plots import LossesDisplay


def at(shown: LossesDisplay, name: str, margin: float) -> float:
    return float(np.interp(margin, shown.margins, shown.values[shown.names.index(name)]))


def test_the_values_are_those_of_the_textbook() -> None:
    shown = LossesDisplay.from_losses(low=-2.0, high=2.0, plot=False)
    assert shown.names == ["perceptron", "hinge", "logistic, in bits", "squared hinge", "half the squared error"]
    for margin in (-1.0, 0.0, 0.5, 2.0):
        wanted = {
            "perceptron": max(0.0, -margin),
            "hinge": max(0.0, 1.0 - margin),
            "logistic, in bits": math.log2(1.0 + math.exp(-margin)),
            "squared hinge": max(0.0, 1.0 - margin) ** 2,
            "half the squared error": 0.5 * (1.0 - margin) ** 2,
        }
        for name, value in wanted.items():
            assert at(shown, name, margin) == pytest.approx(value, abs=1e-4), (name, margin)


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "log_loss"])
def test_losses_that_bound_mistakes_are_nowhere_below_the_0_1_loss(name: str) -> None:
    shown = LossesDisplay.from_losses([name], low=-9.0, high=9.0, plot=False)
    assert (shown.values[0] >= shown.zero_one).all()
    assert shown.zero_one[shown.margins <= 0.0].all()
    assert not shown.zero_one[shown.margins > 0.0].any()


def test_the_logistic_loss_may_be_the_one_that_learners_count() -> None:
    shown = LossesDisplay.from_losses(["log_loss"], bits=False, low=-2.0, high=2.0, plot=False)
    assert shown.names == ["logistic"]
    assert at(shown, "logistic", 0.0) == pytest.approx(math.log(2.0))


class Cubed(NamedTuple):
    def value(self, score: float, target: float) -> float:
        return max(0.0, -target * score) ** 3

    def slope(self, score: float, target: float) -> float:
        return -3.0 * target * max(0.0, -target * score) ** 2


def test_the_lines_are_the_arrays() -> None:
    shown = LossesDisplay.from_losses([Hinge(0.5), Cubed()], low=-1.0, high=1.0)
    for line, values in zip(shown.lines_, shown.values, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([shown.margins, values]))
    assert shown.zero_one_line_.get_xydata().tolist() == [[-1, 1], [0, 1], [0, 0], [1, 0]]
    assert [text.get_text() for text in shown.ax_.get_legend().get_texts()] == ["0/1 loss", "hinge", "Cubed"]
    looks = {(line.get_color(), line.get_linestyle()) for line in shown.lines_}
    assert len(looks) == len({colour for colour, _ in looks}) == len({style for _, style in looks}) == 2
    assert shown.ax_.get_ylabel() == "loss"


@pytest.mark.parametrize(
    ("losses", "options", "kind", "reason"),
    [
        ([Quantile(0.9)], {}, Refused, "the loss Quantile does not treat -1 and .1 alike"),
        (["softmax"], {}, Refused, "the loss Softmax is of several classes"),
        (["hinges"], {}, Refused, "hinges"),
        ([], {}, Refused, "there are 0 losses: choose 1 to 5"),
        (["hinge"], {"low": 1.0}, BadInput, "low is 1.0 and high 2.5"),
        (["hinge"], {"high": math.nan}, BadInput, "give a number below 0 and one above"),
    ],
)
def test_what_cannot_be_drawn(losses: Any, options: dict[str, Any], kind: type[Exception], reason: str) -> None:
    with pytest.raises(kind, match=reason):
        LossesDisplay.from_losses(losses, **options)
