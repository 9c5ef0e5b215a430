"""``onlinear.race``: what it compares, what it saves and what it refuses. The race itself runs interpreted."""

from __future__ import annotations

import io
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
import scipy.sparse

import onlinear
from commands import run_here
from onlinear import losses, rules
from onlinear.errors import BadInput, BadLine, BadSource, Diverged, OnlinearError, Refused
from onlinear.plots import RaceDisplay
from onlinear.selection import configuration, grid, race as runners, usual
from onlinear.selection.race import Race, rungs_of
from onlinear.selection.race_stream import fold_table
from onlinear.workflow import race_result as racing

RNG = np.random.default_rng(7)
X = RNG.normal(size=(90, 4)) * (RNG.random((90, 4)) < 0.8)
SCORES = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.5 * RNG.normal(size=90)
PAIR = np.where(SCORES > 0.3, "yes", "no")
FOUR = np.digitize(SCORES, [-1.0, 0.0, 1.0]) + 3


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(racing, "Race", partial(Race, compiled=False))


def some(task: str = "classification") -> list[Any]:
    loss = "squared_error" if task == "regression" else "log_loss"
    return grid(loss=loss, rule=[rules.Normalised(0.1), rules.Normalised(0.6)], l2=[0.0, 0.01])


def lone(one: Any, **more: Any) -> Any:
    """The estimator of a configuration."""
    cls = onlinear.OnlineRegressor if isinstance(one.loss, losses.Squared) else onlinear.OnlineClassifier
    return cls(one.loss, one.rule, l2=one.settings.l2, average=bool(one.settings.average), **more)


def write_csv(path: Path, y: Any, stop: int = 90) -> Path:
    lines = ["a,b,c,d,y", *(",".join([*map(repr, x.tolist()), str(label)]) for x, label in zip(X, y, strict=True))]
    path.write_text("\n".join(lines[: stop + 1]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("y", [PAIR, FOUR, SCORES], ids=["two", "four", "numbers"])
@pytest.mark.parametrize("sparse", [False, True])
def test_scores_and_models_are_those_of_each_alone(y: np.ndarray, sparse: bool, tmp_path: Path) -> None:
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    regression = y is SCORES
    result = onlinear.race(rows, some("regression" if regression else "classification"), target=y)
    assert [place.finish.score for place in result.places] == sorted(place.finish.score for place in result.places)
    for place in result.places:
        model = lone(place.configuration)
        bad = 0.0
        for i in range(90):
            if regression:
                bad += (float(model.predict(rows[i : i + 1])[0]) - y[i]) ** 2 if i else y[i] ** 2
                model.partial_fit(rows[i : i + 1], y[i : i + 1])
            else:
                model.partial_fit(rows[i : i + 1], y[i : i + 1], classes=np.unique(y))
        score = np.sqrt(bad / 90) if regression else model.mistakes_ / 90
        assert place.finish.score == pytest.approx(score, rel=1e-9)
        assert place.rows == 90
        result.save(tmp_path / "one.model", place.finish.number)
        saved = onlinear.load(tmp_path / "one.model")
        np.testing.assert_array_equal(saved.coef_, model.coef_)
        np.testing.assert_array_equal(saved.intercept_, model.intercept_)
        assert (saved.examples_, saved.mistakes_, saved.loss_) == (90, model.mistakes_, model.loss_)
        np.testing.assert_array_equal(saved.predict(rows), model.predict(rows))


def test_the_winner_of_folds_learns_all_rows_once_more(tmp_path: Path) -> None:
    result = onlinear.race(X, some(), folds=3, passes=2, target=PAIR)
    result.save(tmp_path / "best.model")
    saved, model = onlinear.load(tmp_path / "best.model"), lone(result.best, max_iter=2, order="stream").fit(X, PAIR)
    np.testing.assert_array_equal(saved.coef_, model.coef_)
    assert saved.n_iter_ == 2
    assert saved.mistakes_per_pass_ == model.mistakes_per_pass_
    assert all(place.rows == 90 for place in result.places)


def test_the_fold_of_a_row_is_its_own_however_the_file_is_cut(tmp_path: Path) -> None:
    whole = write_csv(tmp_path / "all.csv", PAIR)
    lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    parts = []
    for number, (start, stop) in enumerate([(1, 8), (8, 50), (50, 91)]):
        parts.append(str(tmp_path / f"part{number}.csv"))
        Path(parts[-1]).write_text("".join([lines[0], *lines[start:stop]]), encoding="utf-8")
    how: dict[str, Any] = {"folds": 4, "target": "y"}
    scores = [[p.finish for p in onlinear.race(source, some(), **how).places] for source in (whole, parts)]
    assert scores[0] == scores[1]
    assert scores[0] != [p.finish for p in onlinear.race(whole, some(), seed=1, **how).places]


@pytest.mark.parametrize("folds", [2, 5])
def test_every_round_is_dealt_to_all_folds(folds: int) -> None:
    table = fold_table(folds, seed=3).reshape(-1, folds)
    assert (np.sort(table, axis=1) == np.arange(folds)).all()
    counts = [(table[:, 0] == fold).mean() for fold in range(folds)]
    assert max(abs(count - 1.0 / folds) for count in counts) < 0.05


@pytest.mark.parametrize("names", [{"names": "exact"}, {"bits": 6}], ids=["exact", "hashed"])
def test_a_file_is_raced_saved_and_predicted(tmp_path: Path, names: dict[str, Any]) -> None:
    file = write_csv(tmp_path / "rows.csv", PAIR)
    stream = onlinear.open_stream(file, target="y", scale="standardise", **names)
    results = [onlinear.race(stream, some()) for _ in range(2)]  # the first leaves the stream as it was
    assert results[0].table() == results[1].table()
    results[0].save(tmp_path / "best.model")
    ended = run_here("predict", tmp_path / "best.model", file)
    assert ended.code == 0
    assert set(ended.out.split()) <= {"yes", "no", "prediction"}
    answered = [word for word in ended.out.split() if word in ("yes", "no")]
    assert len(answered) == 90
    assert np.mean(np.array(answered) == PAIR) > 0.8
    assert onlinear.load(tmp_path / "best.model").examples_ == 90
    trained = tmp_path / "trained.model"
    learned = results[0].best
    options = ["--target", "y", "--scale", "standardise", "--rate", learned.rule.rate, "--l2", learned.settings.l2]
    options += ["--names", "exact"] if "names" in names else ["--bits", names["bits"]]
    assert run_here("train", file, "--model", trained, *options).code == 0
    np.testing.assert_array_equal(onlinear.load(trained).coef_, onlinear.load(tmp_path / "best.model").coef_)


def test_halving_leaves_one_for_the_last_half(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rungs_of(64_000, 40) == [1000, 2000, 4000, 8000, 16_000, 32_000]
    assert rungs_of(900, 40) == [450]  # 225 rows say too little
    assert rungs_of(64_000, 1) == []
    monkeypatch.setattr(runners, "FEWEST", 20)
    result = onlinear.race(X, some(), halving=True, target=PAIR)
    assert [place.finish.stopped_at for place in result.places] == [None, 45, 22, 22]
    assert [place.rows for place in result.places] == [90, 45, 22, 22]
    racers = onlinear.race(X, some(), target=PAIR)
    assert result.places[0].finish in [place.finish for place in racers.places]


def test_one_that_stopped_can_be_saved_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "FEWEST", 20)
    result = onlinear.race(X, some(), halving=True, target=PAIR)
    last = result.places[-1]
    result.save(tmp_path / "last.model", last.finish.number)
    model = lone(last.configuration).fit(X, PAIR)
    np.testing.assert_array_equal(onlinear.load(tmp_path / "last.model").coef_, model.coef_)
    with pytest.raises(Refused, match="no configuration 4: choose one of 0 to 3"):
        result.save(tmp_path / "none.model", 4)


def test_rows_of_importance_0_are_absent() -> None:
    weight = np.where(np.arange(90) % 3 == 0, 0.0, 2.0)
    there = weight > 0.0
    ours = onlinear.race(X, some(), target=PAIR, weight=weight)
    theirs = onlinear.race(X[there], some(), target=PAIR[there], weight=weight[there])
    assert [place.finish for place in ours.places] == [place.finish for place in theirs.places]
    assert ours.how.rows == 60


def test_the_table_fits_a_terminal() -> None:
    long = configuration("log_loss", rules.SGD(rules.Power(0.123456, 0.25)), l1=1e-5, l2=1e-3, average=10)
    result = onlinear.race(X, [*some(), long], target=PAIR)
    lines = str(result).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "race of 5 configurations over 90 rows: progressive error"
    first = result.places[0]
    assert re.match(r"   1 +[0-9.]+ % +[0-9.]+-[0-9.]+  log_loss", lines[2])
    assert f"{100 * first.finish.score:.2f} %" in lines[2]
    assert result.table(2).splitlines()[-1] == "and 3 more"
    assert long.name in re.sub(r"\s+", " ", str(result))


def test_the_frame_has_the_same_figures() -> None:
    result = onlinear.race(X, some(), target=PAIR)
    frame = result.frame()
    assert frame.index.tolist() == [1, 2, 3, 4]
    for rank, place in enumerate(result.places, 1):
        row = frame.loc[rank]
        assert (row["error"], row["configuration"]) == (place.finish.score, place.configuration.name)
        assert row["low"] < row["error"] < row["high"]
        assert (row["loss"], row["rule"]) == ("log_loss", "normalised")
    assert "low" not in onlinear.race(X, some("regression"), target=SCORES).frame()


def test_the_picture_has_a_line_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    result = onlinear.race(X, usual("classification")[:8], target=PAIR)
    shown = result.plot()
    try:
        assert len(shown.ax_.lines) == 8
        assert [line.get_label() for line in shown.lines_] == [p.configuration.name for p in result.places[:5]]
        assert shown.lines_[0].get_xydata().tolist() == [list(point) for point in result.places[0].finish.curve]
        assert (shown.ax_.get_xscale(), shown.ax_.get_yscale()) == ("log", "log")
    finally:
        pyplot.close("all")


def test_a_long_curve_is_drawn_from_where_it_means_something() -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    curve = [(1 << k, 0.5 / (k + 1)) for k in range(12)]
    shown = RaceDisplay(curves=[curve, [(16, 0.0)]], names=["long", "stopped"]).plot()
    try:
        assert [line.get_xdata().tolist() for line in shown.lines_] == [[1 << k for k in range(4, 12)], [16]]
    finally:
        pyplot.close("all")


def test_numbers_and_classes_are_told_by_losses_and_labels() -> None:
    assert onlinear.race(X, some(), target=FOUR).task.classes == 4
    assert onlinear.race(X, some("regression"), target=FOUR).task.classes == 0
    assert onlinear.race(X, [{"loss": "squared_error"}], task="classification", target=FOUR).task.classes == 4
    assert {place.configuration.name for place in onlinear.race(X[:12], target=SCORES[:12]).places} == {
        one.name for one in usual("regression")
    }


def refused(match: str, error: type[OnlinearError], *given: Any, **how: Any) -> Any:
    return pytest.param(error, match, given, how, id=match[:30])


@pytest.mark.parametrize(
    ("error", "match", "given", "how"),
    [
        refused("the only class is 'no'", BadInput, X, target=np.full(90, "no")),
        refused("4 rows cannot be cut in 5 folds", BadInput, X[:4], folds=5, target=np.arange(4) % 2),
        refused("the target is 2 in every row", BadInput, X, task="regression", target=np.full(90, 2.0)),
        refused("the loss 'hingy' is unknown", Refused, X, [{"loss": "hingy"}], target=PAIR),
        refused("is a measurement, not a class", BadInput, X, [{"loss": "hinge"}], target=SCORES),
        refused("'no' is no number|'yes' is no number", BadInput, X, [{"loss": "huber"}], target=PAIR),
        refused("'hinge'.*is not for regression", Refused, X, [{"loss": "hinge"}], task="regression", target=SCORES),
        refused("'quantile'.*not for class", Refused, X, [{"loss": "quantile"}], task="classification", target=PAIR),
        refused("there are no examples", BadInput, X[:0], target=PAIR[:0]),
        refused("no configuration to race", Refused, X, [], target=PAIR),
        refused("l2 is -1: give a finite number of at least 0", Refused, X, [{"loss": "hinge", "l2": -1}], target=PAIR),
        refused("forget is 2.0: give a number of at least 0 and below 1", Refused, X, [{"forget": 2.0}], target=PAIR),
        refused(
            "the rate of the schedule 'constant' is -1.0: give",
            Refused,
            X,
            [{"rule": rules.SGD(rules.Constant(-1.0))}],
            target=PAIR,
        ),
        refused("folds is 2.5: give a whole number", Refused, X, folds=2.5, target=PAIR),
        refused("seed is -1: give a whole number", Refused, X, folds=2, seed=-1, target=PAIR),
        refused("are no names of files: give names, or rows as an array", BadSource, X.tolist(), target=PAIR),
        refused("is no configuration: make one", Refused, X, ["hinge"], target=PAIR),
        refused("is no configuration: its keys", Refused, X, [{"speed": 3}], target=PAIR),
        refused("1 folds compares nothing", Refused, X, folds=1, target=PAIR),
        refused("0 passes learn nothing", Refused, X, passes=0, target=PAIR),
        refused("second pass is a training error", Refused, X, passes=2, target=PAIR),
        refused("the task 'sorting' is unknown", Refused, X, task="sorting", target=PAIR),
        refused("there is no label to learn from", BadLine, X),
    ],
)
def test_refused(error: type[OnlinearError], match: str, given: Any, how: dict[str, Any]) -> None:
    with pytest.raises(error, match=match):
        onlinear.race(*given, **how)


def test_a_stream_takes_no_more_options() -> None:
    with pytest.raises(Refused, match="target: a stream is open already"):
        onlinear.race(onlinear.open_stream(X, target=PAIR), target=PAIR)


def test_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BytesIO(b"a,y\n1,2\n2,3\n"))
    monkeypatch.setattr(sys, "stdin", text)
    with pytest.raises(BadSource, match="standard input can be read only once"):
        onlinear.race("-", format="csv", target="y")


def test_bad_lines_are_reported_once(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "rows.csv", PAIR)
    file.write_text(file.read_text(encoding="utf-8") + "1,2,3\n", encoding="utf-8")
    with pytest.raises(BadLine, match=r"rows\.csv:92"):
        onlinear.race(file, some(), target="y")
    bad: list[Any] = []
    result = onlinear.race(file, some(), folds=2, passes=2, target="y", on_bad=lambda line, text: bad.append(line.line))
    assert bad == [92]
    assert result.how.rows == 90


def test_all_diverge() -> None:
    wild = configuration("squared_error", rules.SGD(rules.Constant(1e300)))
    with pytest.raises(Diverged, match="every configuration diverged"):
        onlinear.race(X, [wild], target=SCORES)


def test_a_race_that_some_survive_says_who_diverged() -> None:
    tame, wild = (configuration("squared_error", rules.SGD(rules.Constant(rate))) for rate in (0.01, 1e300))
    result = onlinear.race(X, [wild, tame], target=SCORES)
    assert result.best == tame
    assert "diverged" in str(result).splitlines()[-1]


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "selection.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    shown: dict[str, Any] = {"__name__": "shown"}
    for block in blocks:
        exec(compile(block, "selection.md", "exec"), shown)
    assert "progressive error" in capsys.readouterr().out
    assert (tmp_path / "best.onlinear").exists()


def test_a_frame_has_the_parameters_that_are_what_they_are_anyway() -> None:
    chosen = [
        {"rule": "normalised"},
        {"rule": rules.Normalised(0.2), "l2": 0.1},
        {"rule": rules.AdaGrad()},
        {"rule": rules.SGD(0.3), "average": True},
    ]
    frame = onlinear.race(X, chosen, target=PAIR).frame().sort_values("number")
    assert frame["rate"].tolist() == [0.8, 0.2, 0.1, 0.3]
    assert frame["l2"].tolist() == [0.0, 0.1, 0.0, 0.0]
    assert frame["average"].tolist() == [False, False, False, True]
    assert frame["schedule"].isna().tolist() == [True, True, True, False]  # what a rule has not, it has not
