"""Loss curves: the means against the losses of examples one by one, and the pictures of ``onlinear demo``."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import run_here, source_folder
from onlinear import OnlineClassifier, Refused
from onlinear.plots import LossCurveDisplay
from onlinear.streams.synthetic import Noisy


def test_the_means_are_those_of_examples_one_by_one() -> None:
    X, y = next(Noisy(21, 3, noise=0.2).arrays(21))
    model, losses, wrong = OnlineClassifier(), [], []
    for i in range(21):
        known = i > 0
        chance = model.predict_proba(X[i : i + 1])[0, int(y[i] > 0)] if known else 0.5
        losses.append(-np.log(chance))
        wrong.append(float((model.predict(X[i : i + 1])[0] if known else -1.0) != y[i]))
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1.0, 1.0])
    marks = [1, 2, 4, 8, 16, 21]
    for shown, suffered, name in (
        (LossCurveDisplay.from_estimator(model, plot=False), losses, "loss"),
        (LossCurveDisplay.from_mistakes(model, plot=False), wrong, "share of mistakes"),
    ):
        assert shown.examples.tolist() == marks
        np.testing.assert_allclose(shown.mean, [np.mean(suffered[:stop]) for stop in marks])
        since = [np.mean(suffered[start:stop]) for start, stop in zip([0, *marks], marks, strict=False)]
        np.testing.assert_allclose(shown.since_last, since, atol=1e-12)
        assert (shown.training, shown.name) == (0, name)


def test_later_passes_are_marked_as_training() -> None:
    X, y = next(Noisy(10, 2, noise=0.1).arrays(10))
    shown = LossCurveDisplay.from_estimator(OnlineClassifier(max_iter=3, order="stream").fit(X, y))
    assert shown.examples.tolist() == [1, 2, 4, 8, 16, 30]
    assert shown.training == 2
    assert shown.training_.get_x() == 8
    assert shown.training_.get_x() + shown.training_.get_width() == 30


def test_the_lines_are_the_arrays() -> None:
    shown = LossCurveDisplay(examples=[1, 2, 4], mean=[1.0, 0.8, 0.5], since_last=[1.0, 0.6, 0.2]).plot()
    np.testing.assert_array_equal(shown.mean_line_.get_xydata(), [[1, 1.0], [2, 0.8], [4, 0.5]])
    np.testing.assert_array_equal(shown.since_line_.get_xydata(), [[1, 1.0], [2, 0.6], [4, 0.2]])
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel(), shown.ax_.get_xscale()) == ("examples", "loss", "log")
    assert not hasattr(shown, "training_")


def test_an_estimator_that_has_learned_nothing_is_refused() -> None:
    with pytest.raises(Refused, match="OnlineClassifier has no history"):
        LossCurveDisplay.from_estimator(OnlineClassifier())


# ------------------------------------------------------------------ onlinear demo --plot


def test_the_demo_draws_its_pictures_beside_what_it_prints(tmp_path: Path) -> None:
    plain = run_here("demo", "--json")
    drawn = run_here("demo", "--json", "--plot", tmp_path / "demo.png")
    assert plain == drawn
    assert drawn.code == 0
    assert json.loads(drawn.out)["examples"] == 569
    picture = (tmp_path / "demo.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (1000, 400)


def test_the_demo_draws_an_svg(tmp_path: Path) -> None:
    assert run_here("demo", "--plot", tmp_path / "demo.svg").code == 0
    picture = (tmp_path / "demo.svg").read_text(encoding="utf-8")
    for text in ("share of mistakes", "loss", "examples", "since the last mark", "Breast cancer as a stream"):
        assert f"<!-- {text}" in picture


def test_without_matplotlib_the_demo_says_so_and_learns_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ended = run_here("demo", "--plot", tmp_path / "demo.png")
    said = "pictures are drawn by Matplotlib, which is not installed: pip install 'onlinear[plot]'\n"
    assert ended == (2, "", said)
    assert run_here("demo").code == 0


def test_settings_that_matplotlib_does_not_take_are_a_sentence(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "onlinear", "demo", "--plot", str(tmp_path / "demo.png")]
    env = os.environ | {"PYTHONPATH": source_folder(), "MPLBACKEND": "no-such"}
    ended = subprocess.run(words, env=env, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("Matplotlib does not start: ")
    assert ended.stderr.count("\n") == 1


def test_a_picture_that_cannot_be_written(tmp_path: Path) -> None:
    ended = run_here("demo", "--plot", tmp_path / "nowhere" / "demo.png")
    assert ended.code == 3
    assert ended.err == f"{tmp_path}/nowhere/demo.png cannot be saved: there is no such folder; make the folder first\n"
