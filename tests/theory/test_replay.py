"""Learning again in plain Python: the same to the bit, or the certificate is refused; alone in an empty Python, too."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import onlinear
from commands import run_here
from onlinear import replay, verify as verifier
from onlinear.data.rows import dense_dot, sparse_dot
from onlinear.estimators.passes import orders, shuffled_orders
from onlinear.kernels.learn.state import EXAMPLES
from onlinear.theory.certificates import digest_of_json, replace_and_seal
from onlinear.theory.exact import above, root_above
from theory.drawn import draw, draw_classes, fitted, perceptrons

Rows = list[tuple[int, dict[int, float]]]


def rows_of(X: Any, y: np.ndarray) -> Rows:
    """As FILE has them: of sparse rows all that is stored, zeros, too."""
    if scipy.sparse.issparse(X):
        spans = [slice(*X.indptr[i : i + 2]) for i in range(len(y))]
        entries = [dict(zip(X.indices[s].tolist(), X.data[s].tolist(), strict=True)) for s in spans]
    else:
        entries = [dict(enumerate(row)) for row in X.tolist()]
    return [(int(t > 0), row) for t, row in zip(y.tolist(), entries, strict=True)]


def certified(model: Any, X: Any, y: np.ndarray, **more: Any) -> dict[str, Any]:
    return json.loads(json.dumps(onlinear.certify(model, X, y, **more)))


def believed(certificate: dict[str, Any], rows: Rows) -> None:
    """By both: the rows, and the run made once more."""
    verifier.verify(certificate, rows)
    replay.replay(certificate, rows)


def is_refused(certificate: dict[str, Any], rows: Rows, what: str) -> None:
    """By the replay: the rows alone tell nothing against it."""
    verifier.verify(certificate, rows)
    with pytest.raises(verifier.Failed, match=what):
        replay.replay(certificate, rows)


# ------------------------------------------------------------------ the same bits


def tenths(rows: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose scores often come to 0, or to the margin, but for rounding: the order of sums decides."""
    rng = np.random.default_rng(features)
    return 0.1 * rng.integers(-1, 2, size=(rows, features)), rng.choice([-1.0, 1.0], size=rows)


def dense(features: int) -> tuple[np.ndarray, np.ndarray]:
    return tenths(200, features)


def sparse(entries: int) -> tuple[Any, np.ndarray]:
    """Rows with so many entries each, of which a third are zeros that are stored."""
    X, y = tenths(500, entries)
    places = np.random.default_rng(entries).permuted(np.tile(np.arange(2 * entries), (len(y), 1)), axis=1)
    columns = np.sort(places[:, :entries], axis=1)
    starts = entries * np.arange(len(y) + 1)
    return scipy.sparse.csr_matrix((X.ravel(), columns.ravel(), starts), (len(y), 2 * entries)), y


ROWS: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "3 columns": lambda: dense(3),
    "70 columns": lambda: dense(70),
    "150 columns": lambda: dense(150),
    "150 columns in single precision": lambda: (dense(150)[0].astype(np.float32), dense(150)[1]),
    "5 entries": lambda: sparse(5),
    "400 entries": lambda: sparse(400),
    "400 entries in single precision": lambda: (sparse(400)[0].astype(np.float32), sparse(400)[1]),
}
MODELS: dict[str, Callable[[], Any]] = {
    "drop-in": lambda: onlinear.Perceptron(max_iter=4, tol=None, eta0=0.3, shuffle=False),
    "drop-in, shuffled": lambda: onlinear.Perceptron(max_iter=4, tol=None, random_state=7),
    "averaged, shuffled": lambda: onlinear.AveragedPerceptron(max_iter=4, random_state=2**32 - 1),
    "averaged, no intercept": lambda: onlinear.AveragedPerceptron(max_iter=4, order="stream", fit_intercept=False),
    "margin, shuffled": lambda: onlinear.MarginPerceptron(margin=0.05, rate=0.1, max_iter=4, random_state=3),
    "margin, averaged": lambda: onlinear.MarginPerceptron(0.05, rate=0.1, average=True, max_iter=4, order="stream"),
}


@pytest.mark.compiles
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ROWS)
def test_the_same_bits(name: str, model: str, weighed: bool) -> None:
    X, y = ROWS[name]()
    more = {"sample_weight": np.random.default_rng(1).uniform(0.5, 2.0, len(y))} if weighed else {}
    found = certified(fitted(MODELS[model](), X, y, **more), X, y, **more)
    assert found["replayed"]
    assert type(found["replay"]) is dict
    assert found["updates"] > 5
    assert (found["replay"]["importance"] is not None) == weighed
    believed(found, rows_of(X, y))


@pytest.mark.parametrize("length", [0, 1, 15, 16, 63, 64, 66, 127, 128, 143, 144, 300])
def test_a_product_is_added_up_as_the_learner_does(length: int) -> None:
    rng = np.random.default_rng(length)
    weights, x = rng.normal(size=length).tolist(), rng.normal(size=length).tolist()
    table = np.array(weights).reshape(length, 1, 1)
    entries, by_column = dict(enumerate(x)), dict(enumerate(weights))
    assert replay.PlainRow(1, entries, None, 1.0).product(by_column) == sparse_dot(range(length), x, table, 0, 0)
    assert replay.PlainRow(1, entries, length, 1.0).product(by_column) == dense_dot(weights, x)


@pytest.mark.compiles
@pytest.mark.parametrize(("name", "columns"), [("150 columns", None), ("400 entries", 800)])
def test_the_order_of_sums_matters(name: str, columns: int | None) -> None:
    """Else the test before would pass whatever the order."""
    X, y = ROWS[name]()
    found = certified(fitted(MODELS["margin, averaged"](), X, y), X, y)
    other = replace_and_seal(found, replay=found["replay"] | {"columns": columns})
    is_refused(other, rows_of(X, y), "the certificate says")


@pytest.mark.compiles
def test_zeros_that_are_stored_take_their_place_among_the_entries() -> None:
    X, y = sparse(400)
    found = certified(fitted(MODELS["margin, averaged"](), X, y), X, y)
    rows = [(place, {j: x for j, x in row.items() if x != 0.0}) for place, row in rows_of(X, y)]
    is_refused(found, rows, "the certificate says")


def test_rows_of_importance_0_are_absent() -> None:
    X, y = tenths(50, 3)
    weights = np.arange(50) % 3 / 2.0
    model = fitted(onlinear.AveragedPerceptron(max_iter=4, order="stream"), X, y, sample_weight=weights)
    found = certified(model, X, y, sample_weight=weights)
    assert found["rows"] == 33
    believed(found, rows_of(X[weights > 0.0], y[weights > 0.0]))
    assert certified(model, X[weights > 0.0], y[weights > 0.0])["replay"] == "unlike"
    with pytest.raises(onlinear.BadInput, match="leave sample_weight out"):
        onlinear.certify(model, onlinear.open_stream(X, y), sample_weight=weights)


@given(st.integers(0, 10**6), st.sampled_from([0, 3]), st.integers(0, 5), st.integers(1, 3), st.booleans())
@settings(max_examples=30, deadline=None)
def test_every_perceptron_that_has_a_bound(seed: int, flipped: int, which: int, passes: int, intercept: bool) -> None:
    X, y = draw(seed, 15, 2, flipped=flipped)
    found = certified(fitted(perceptrons(intercept, passes)[which], X, y), X, y)
    if which == 4:
        is_refused(found, rows_of(X, y), "replay: only the perceptron")
    else:
        believed(found, rows_of(X, y))


def test_each_class_against_the_rest() -> None:
    X, y = draw_classes(1, 3, 20, flipped=2)
    certificates = onlinear.certify(fitted(onlinear.AveragedPerceptron(max_iter=3, random_state=5), X, y), X, y)
    for label, each in certificates.items():
        believed(each, rows_of(X, np.where(y == label, 1.0, -1.0)))


@pytest.mark.parametrize(
    "make", [lambda: onlinear.OnlineClassifier(loss="perceptron", rule="perceptron"), onlinear.AveragedPerceptron]
)
@pytest.mark.parametrize("first", [-1.0, 1.0])
def test_classes_that_come_one_after_the_other(first: float, make: Callable[[], Any]) -> None:
    """Until another comes nothing is a mistake, and a tie is answered by the first."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, -2.0], [1.0, 1.0]])
    y = first * np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    model = make()
    for _ in range(2):
        model.partial_fit(X, y)
    found = certified(model, X, y)
    assert found["replay"]["open"]
    assert found["replay"]["order"] == "stream"
    assert found["mistakes"] < found["updates"]
    believed(found, rows_of(X, y))
    is_refused(replace_and_seal(found, mistakes=found["mistakes"] - 1), rows_of(X, y), "mistakes")


@pytest.mark.parametrize("seed", [0, 1, 77, 2**31 - 2])
@pytest.mark.parametrize("rows", [1, 2, 3, 17, 1000])
def test_generators_are_those_of_the_estimators(seed: int, rows: int) -> None:
    shuffled = [order.tolist() for order in islice(orders("shuffle", rows, seed), 3)]
    assert [list(order) for order in islice(replay.orders("shuffle", seed, rows), 3)] == shuffled
    shuffled = [order.tolist() for order in islice(shuffled_orders(rows, seed), 3)]
    assert [list(order) for order in islice(replay.orders("xorshift", seed, rows), 3)] == shuffled


# ------------------------------------------------------------------ forgeries


def honest() -> tuple[Any, np.ndarray, np.ndarray, dict[str, Any]]:
    X, y = draw(3, 15, 2, flipped=3)
    model = fitted(onlinear.Perceptron(max_iter=3, tol=None, shuffle=False), X, y)
    return model, X, y, certified(model, X, y)


def test_a_forged_count_is_caught() -> None:
    _, X, y, found = honest()
    believed(found, rows_of(X, y))
    is_refused(replace_and_seal(found, mistakes=found["mistakes"] - 1), rows_of(X, y), "mistakes: the certificate says")
    fewer = found["updates"] - 1
    sums = {"run_pull": str(fewer), "run_squares": str(fewer)}
    is_refused(replace_and_seal(found, updates=fewer, **sums), rows_of(X, y), "updates: the certificate says")
    silent = dict.fromkeys(("run_pull", "run_squares", "run_margin", "bound", "bound_kind", "bound_exact", "holds"))
    half = {"pull": str(2 * found["updates"]), "margin_upper": None} | silent
    other = replace_and_seal(found, **half, inseparable_bound=None)
    with pytest.raises(verifier.Failed):
        believed(other, rows_of(X, y))


def test_a_forged_weight_is_caught() -> None:
    model, X, y, found = honest()
    model._learner.table.cells[0, 0, 1] = np.nextafter(model._learner.table.cells[0, 0, 1], np.inf)
    other = certified(model, X, y)
    assert (other["replayed"], other["replay"]) == (False, "unlike")
    is_refused(other, rows_of(X, y), "replay: certify has learned these rows again")
    is_refused(replace_and_seal(other, replay=found["replay"]), rows_of(X, y), "weights: the certificate says")


def test_rows_that_have_changed_places_are_caught() -> None:
    model, X, y, found = honest()
    order = [5, 1, 2, 3, 4, 0, *range(6, 15)]
    other = certified(model, X[order], y[order])
    assert other["replay"] == "unlike"
    is_refused(replace_and_seal(other, replay=found["replay"]), rows_of(X[order], y[order]), "the certificate says")


CHANGES: list[tuple[str, Any]] = [
    *[("rate", 0.5), ("rate", 0.0), ("rate", 1), ("margin", 0.25), ("margin", -1.0), ("average", 1), ("average", -1)],
    *[("tie", 0), ("tie", True), ("columns", 1), ("columns", 2.0), ("order", "shuffle"), ("order", "replacement")],
    *[("seed", 1), ("seed", -1), ("importance", [2.0] + [1.0] * 14), ("importance", [1.0] * 14), ("open", 0)],
    *[("importance", [True] * 15), ("importance", [0.0] * 15), ("importance", [float("nan")] * 15), ("more", 1)],
]


@pytest.mark.parametrize(("name", "value"), CHANGES)
def test_a_run_that_went_otherwise_is_caught(name: str, value: Any) -> None:
    _, X, y, found = honest()
    other = replace_and_seal(found, replay=found["replay"] | {name: value})
    is_refused(other, rows_of(X, y), "replay: |the certificate says")


def test_a_run_that_would_take_hours_is_not_begun() -> None:
    _, X, y, found = honest()
    passes = 10**9
    with pytest.raises(verifier.Failed, match="hours"):
        replay.replay(found | {"passes": passes}, rows_of(X, y))
    model, X, y, _ = honest()
    model._learner.counters.array[0, EXAMPLES] *= passes
    assert certified(model, X, y)["replay"] == "long"


def test_rows_without_entries_take_their_time_as_well() -> None:
    """Two rows, five hundred million times: an hour, or five with the lanes of dense rows."""
    rows: Rows = [(0, {}), (1, {})]
    how = {"rate": 1.0, "margin": 0.0, "average": 0, "tie": -1, "order": "stream", "seed": None}
    certificate = {"kernel": ["linear", 1, "1", "1"], "weights": [{}], "passes": 500_000_000}
    for columns in (None, 5000):
        certificate["replay"] = how | {"columns": columns, "importance": None, "open": False}
        with pytest.raises(verifier.Failed, match="hours"):
            replay.check_run(certificate, rows)


@pytest.mark.parametrize(
    ("x", "constant", "rate"),
    [(0.5, 0.0, 5e-324), (1e-200, 0.0, 1e-200), (0.0, 5e-324, 0.25)],
    ids=["steps", "products", "intercept"],
)
def test_steps_that_floats_lose_prove_no_margin(x: float, constant: float, rate: float) -> None:
    """The weights stay 0 whatever the steps add up to, as if the best margin were 0: it is that of (1,)."""
    entries = {0: x} if x else {}
    rows: Rows = [(1, entries), (1, entries)]
    how = {"rate": rate, "margin": 0.0, "average": 0, "tie": -1, "columns": None, "order": "stream", "seed": None}
    learner = replay.Perceptron(how | {"open": True}, constant, {0})
    for row in rows:
        learner.learn(replay.Row(*row, None, 1.0))
    claims = learner.claims()
    assert claims["updates"] == 2
    assert claims["weights"] == [{"columns": [], "values": [], "intercept": 0.0}]
    found = certified(
        onlinear.Perceptron(fit_intercept=False, max_iter=1, tol=None).partial_fit(*ones(), [-1, 1]), *ones()
    )
    radius = root_above(Fraction(x) ** 2 + Fraction(constant))
    upper = above(Fraction(8, 1 << 53) * Fraction(radius))
    assert upper < 1e-10 * radius
    forged = replace_and_seal(
        found,
        kernel=["linear", 1, "1", str(Fraction(constant))],
        radius=radius,
        radius_squared=str(Fraction(x) ** 2 + Fraction(constant)),
        norm=0.0,
        norm_squared="0",
        least_score="0",
        margin_lower=None,
        margin_upper=upper,
        combination=None,
        separable=None,
        witness=None,
        weights=claims["weights"],
        model_sha256=digest_of_json(claims["weights"]),
        data_sha256=verifier.digest_of(rows),
        updates=2,
        pull=claims["pull"],
        replay=how | {"importance": None, "open": True},
        **dict.fromkeys(("run_pull", "run_squares", "run_margin", "inseparable_bound", "hinge_bound", "mistakes")),
        **dict.fromkeys(("bound", "bound_kind", "bound_exact", "holds")),
    )
    replay.replay(forged, rows)
    with pytest.raises(verifier.Failed, match="pull: it is not positive, or too small"):
        verifier.verify(forged, rows)


def ones() -> tuple[np.ndarray, np.ndarray]:
    return np.ones((2, 1)), np.ones(2)


# ------------------------------------------------------------------ runs that cannot be learned again


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "seed": (lambda: onlinear.AveragedPerceptron(max_iter=2, random_state=None), "shuffled by a seed that nobody"),
    "drawn": (lambda: onlinear.AveragedPerceptron(max_iter=2, order="replacement"), "drawn with replacement"),
    "kernel": (lambda: onlinear.KernelPerceptron("linear", max_iter=2), "go through BLAS"),
    "voted": (lambda: onlinear.VotedPerceptron(max_iter=2), "go through BLAS"),
    "rule": (lambda: onlinear.AROWClassifier(max_iter=2), "only the perceptron"),
    "penalty": (lambda: onlinear.Perceptron(penalty="l2", max_iter=2, tol=None), "only the perceptron"),
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", REFUSED)
def test_a_run_that_cannot_be_learned_again_is_refused_with_its_reason(name: str) -> None:
    make, said = REFUSED[name]
    X, y = draw(3, 12, 2, flipped=3, whole=True)
    is_refused(certified(fitted(make(), X, y), X, y), rows_of(X, y), said)


def test_several_classes_that_move_together_are_refused() -> None:
    X, y = draw_classes(1, 3, 9)
    model = onlinear.OnlineClassifier(loss="multiclass_perceptron", rule="perceptron", max_iter=4)
    found = certified(fitted(model, X, y), X, y)
    rows = [(int(place), dict(enumerate(row))) for place, row in zip(y.tolist(), X.tolist(), strict=True)]
    is_refused(found, rows, "only the perceptron")


# ------------------------------------------------------------------ on the command line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


PLAIN = "1 1:1 2:2\n-1 1:-1 2:1\n1 1:2 2:1\n-1 1:-2\n"


def ended(words: str) -> Any:
    return run_here(*words.split())


def test_what_was_the_learners_word_is_verified(folder: Path) -> None:
    (folder / "rows.svm").write_text(PLAIN)
    assert ended("certify rows.svm --output cert").code == 0
    before, after = ended("verify cert rows.svm"), ended("verify cert rows.svm --replay")
    assert (before.code, after.code) == (0, 0)
    assert "not verified, the learner's word and what follows from it:" in before.out
    heading = "verified, by learning the rows again, and what follows from it:"
    run = "The perceptron asks for scores above 0.0 in steps of 1.0, in 2 passes over the rows as they stand; "
    said = f"{heading}\n  {run}a tie answers the first class."
    assert after.out == before.out.replace("not verified, the learner's word and what follows from it:", said)


def test_a_forged_count_ends_the_command(folder: Path) -> None:
    (folder / "rows.svm").write_text(PLAIN)
    assert ended("certify rows.svm --output cert").code == 0
    found = json.loads((folder / "cert").read_text())
    (folder / "cert").write_text(json.dumps(replace_and_seal(found, mistakes=found["mistakes"] - 1)))
    assert ended("verify cert rows.svm").code == 0
    said = ended("verify cert rows.svm --replay")
    assert (said.code, said.out) == (1, "")
    assert said.err == "NOT verified: mistakes: the certificate says 1, and the rows say 2\n"


@pytest.mark.compiles
@pytest.mark.parametrize("options", ["", "--average", "--no-intercept", "--classes -1,1"])
@pytest.mark.parametrize("loss", ["perceptron", "hinge"])
@pytest.mark.parametrize("long", [False, True])
def test_models_of_files(folder: Path, loss: str, options: str, long: bool) -> None:
    """Zeros that are written down in the rows are stored, and count as entries."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 90 if long else 4)), rng.choice([-1, 1], size=30)
    X[rng.random(X.shape) < 0.1] = 0.0
    lines = [
        f"{t} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row)) for t, row in zip(y, X.tolist(), strict=True)
    ]
    (folder / "rows.svm").write_text("\n".join(lines) + "\n")
    words = f"train rows.svm --model m --loss {loss} --rule perceptron --passes 3 --quiet {options}"
    assert ended(words).code == 0
    assert ended("certify rows.svm --model m --output cert").code == 0
    said = ended("verify cert rows.svm --model m --replay")
    assert (said.code, said.err) == (0, "")


@pytest.mark.compiles
def test_prepared_rows_with_importance(folder: Path) -> None:
    """Texts that were hashed, with the weights of their examples: what FILE holds are the exported rows."""
    words = [f"w{k}" for k in range(120)]
    rng = np.random.default_rng(2)
    lines = []
    for _ in range(40):
        text = " ".join(rng.permutation(words)[: rng.integers(3, 100)])
        lines.append(f"{rng.choice(['-1', '1'])} {rng.uniform(0.5, 2):.3f} | {text}")
    (folder / "rows.vw").write_text("\n".join(lines) + "\n")
    common = "--loss perceptron --rule perceptron --passes 2 --quiet"
    assert ended(f"train rows.vw --model m {common}").code == 0
    assert ended("certify rows.vw --model m --output cert --export rows.svm").code == 0
    assert json.loads((folder / "cert").read_text())["replay"]["importance"] is not None
    assert ended("verify cert rows.svm --replay").code == 0
    assert ended("verify cert rows.vw --replay").code == 1


@pytest.mark.compiles
def test_exported_tables_have_the_zeros_that_are_stored(folder: Path) -> None:
    X, y = tenths(300, 90)
    lines = [",".join(map(repr, [*row, int(t)])) for row, t in zip(X.tolist(), y.tolist(), strict=True)]
    header = ",".join([*(f"c{j}" for j in range(90)), "y"])
    (folder / "rows.csv").write_text("\n".join([header, *lines]) + "\n")
    common = "--loss perceptron --rule perceptron --average --passes 4 --quiet"
    assert ended(f"train rows.csv --target y --model m {common}").code == 0
    assert ended("certify rows.csv --model m --output cert --export rows.svm").code == 0
    assert ":0.0 " in (folder / "rows.svm").read_text()
    assert ended("verify cert rows.svm --replay").code == 0


def test_several_classes_on_the_command_line(folder: Path) -> None:
    (folder / "rows.svm").write_text("1 1:1 2:0.5\n2 1:-1\n3 2:-1\n1 1:0.5 2:1\n2 1:-2 2:0.5\n3 1:0.5 2:-2\n")
    assert ended("certify rows.svm --output cert").code == 0
    said = ended("verify cert rows.svm --replay")
    assert said.code == 0
    assert said.out.count("verified, by learning the rows again") == 3


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--loss perceptron --rule perceptron --slim", "the model was saved slim"),
        ("--loss perceptron --rule perceptron --on-drift reset", "where its data drifted"),
        ("--loss hinge --rule arow", "only the perceptron"),
    ],
)
def test_models_that_cannot_be_learned_again(folder: Path, options: str, reason: str) -> None:
    (folder / "rows.svm").write_text(PLAIN)
    assert ended(f"train rows.svm --model m --quiet {options}").code == 0
    assert ended("certify rows.svm --model m --output cert").code == 0
    assert ended("verify cert rows.svm").code == 0
    said = ended("verify cert rows.svm --replay")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("NOT verified: replay: ")
    assert reason in said.err


def test_certificates_of_another_version_are_refused(folder: Path) -> None:
    (folder / "rows.svm").write_text(PLAIN)
    assert ended("certify rows.svm --output cert").code == 0
    found = json.loads((folder / "cert").read_text())
    del found["replay"]
    (folder / "cert").write_text(json.dumps(replace_and_seal(found, onlinear_certificate=2)))
    for option in ("", " --replay"):
        said = ended(f"verify cert rows.svm{option}")
        assert (said.code, said.out) == (1, "")
        assert said.err.startswith("NOT verified: version: ")


# ------------------------------------------------------------------ alone


def test_alone(folder: Path) -> None:
    """Two files in a Python that has nothing else."""
    (folder / "rows.svm").write_text(PLAIN)
    assert ended("certify rows.svm --output cert").code == 0
    for module in (replay, verifier):
        path = Path(str(module.__file__))
        (folder / path.name).write_bytes(path.read_bytes())
    command = [sys.executable, "-S", "replay.py", "cert", "rows.svm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ended("verify cert rows.svm --replay").out


def test_is_short_and_needs_nothing() -> None:
    lines = Path(replay.__file__).read_text().splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 250
    imported = {line.split()[1].partition(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert imported <= set(sys.stdlib_module_names)
