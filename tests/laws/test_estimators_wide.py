"""Laws 2, 3 and 5, kept by every estimator on rows that are long and in tables that are large."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import is_classifier

import onlinear
from cases import long_rows
from commands import run_here
from laws.test_estimators import bits, each_alike, figures, reloaded
from listed import DROP_INS, LEARNERS, as_dicts, fresh, one_pass

pytestmark = [pytest.mark.compiles, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

ROWS = 40
CUTS = [0, 1, 2, 15, 16, 33, ROWS]


def drawn(features: int) -> tuple[scipy.sparse.csr_matrix, np.ndarray]:
    """Rows of up to 240 entries, and their scores by weights that nobody knows."""
    rng = np.random.default_rng(features)
    X = scipy.sparse.csr_matrix(long_rows(rng, ROWS, features))
    return X, X @ rng.normal(size=features) + rng.normal(size=ROWS)


SPARSE, SCORES = drawn(400)
DENSE, OF_DENSE = drawn(150)
TABLES = {
    "150 dense": (DENSE.toarray(), OF_DENSE),
    "400 sparse": (SPARSE, SCORES),
    "200 000 sparse": drawn(200_000),
}


def takes(model: Any, table: str) -> bool:
    """A matrix over 200 000 features is refused, which is tested elsewhere; in dual form there is no table."""
    return table != "200 000 sparse" or not (
        isinstance(model, onlinear.SecondOrderPerceptron) or hasattr(model, "vote")
    )


def targets(model: Any, scores: np.ndarray) -> np.ndarray:
    return np.where(scores > 0.0, "yes", "no") if is_classifier(model) else scores


def learned(model: Any, rows: Any, y: np.ndarray, cuts: Any = (0, ROWS), again: Any = lambda model: model) -> Any:
    """A fresh one that has learned the rows, cut there, and stopped and gone on by ``again``."""
    model, first = fresh(model), {"classes": np.unique(y)} if is_classifier(model) else {}
    for start, stop in pairwise(cuts):
        model = again(model).partial_fit(rows[start:stop], y[start:stop], **first)
        first = {}
    return model


@pytest.mark.parametrize(
    ("model", "table"), [(model, table) for model, table in product(LEARNERS, TABLES) if takes(model, table)], ids=repr
)
def test_chunks_resumes_and_a_pass_of_fit_give_the_same_bits(model: Any, table: str) -> None:
    rows, scores = TABLES[table]
    y = targets(model, scores)
    whole = learned(model, rows, y)
    assert bits(learned(model, rows, y, range(ROWS + 1))) == bits(whole)
    assert bits(learned(model, rows, y, CUTS, reloaded)) == bits(whole)
    assert figures(one_pass(model).fit(rows, y)) == figures(whole)


@each_alike
def test_rows_one_by_one_are_a_table(model: Any) -> None:
    """A first row with all names gives them the columns of the table: they are in the order of texts."""
    rows = scipy.sparse.vstack([np.ones((1, SPARSE.shape[1])), SPARSE[1:]], format="csr")
    dicts = [{f"{j:03d}": x for j, x in zip(row.indices[::-1], row.data[::-1].tolist(), strict=True)} for row in rows]
    y = targets(model, SCORES)
    alone, together = fresh(model), fresh(model)
    for row, own in zip(dicts, y.tolist(), strict=True):
        alone.learn_one(row, own)
    for start, stop in pairwise(CUTS):
        together.learn_many(dicts[start:stop], y[start:stop].tolist())
    assert figures(alone) == figures(together)
    table = fresh(model).partial_fit(as_dicts(model, rows), y)
    if isinstance(model, DROP_INS):  # whose table is dense: it is added up in other lanes
        np.testing.assert_allclose(alone.coef_, table.coef_, rtol=1e-9, atol=1e-12)
        assert alone.examples_ == table.examples_
    else:
        assert figures(alone) == figures(table)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (onlinear.OnlineClassifier(), []),
        (onlinear.OnlineClassifier(loss="hinge", rule="arow"), ["--loss", "hinge", "--rule", "arow"]),
        (onlinear.OnlineRegressor(loss="squared_error", l2=1e-3), ["--loss", "squared_error", "--l2", "1e-3"]),
    ],
    ids=["default", "arow", "regression"],
)
@pytest.mark.parametrize("width", ["400 sparse", "200 000 sparse"])
def test_a_file_is_a_table(model: Any, words: list[str], width: str, tmp_path: Path) -> None:
    rows, scores = TABLES[width]
    y = np.where(scores > 0.0, 1, -1) if is_classifier(model) else scores
    file, saved = tmp_path / "rows.svm", tmp_path / "model"
    with file.open("w") as out:
        for row, own in zip(rows, y.tolist(), strict=True):
            entries = [f"{j + 1}:{x!r}" for j, x in zip(row.indices.tolist(), row.data.tolist(), strict=True)]
            out.write(" ".join([repr(own), *entries]) + "\n")
    assert run_here("train", file, "--model", saved, "--quiet", *words) == (0, "", "")
    streamed, learned = onlinear.load(saved), fresh(model).partial_fit(rows, y)
    columns = learned.coef_.shape[-1]
    assert np.atleast_2d(streamed.coef_)[:, :columns].tolist() == np.atleast_2d(learned.coef_).tolist()
    assert not np.atleast_2d(streamed.coef_)[:, columns:].any()
    assert np.array_equal(streamed.intercept_, learned.intercept_)
    assert (streamed.examples_, streamed.loss_) == (learned.examples_, learned.loss_)
