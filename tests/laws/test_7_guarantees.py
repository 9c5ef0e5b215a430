"""Law 7: guarantees are output: computed for whatever learns classes, held to its bound, and rechecked by a stranger.

Every pair of the registry, interpreted, and every listed estimator, on separable and inseparable rows. What each
theorem says in detail is tested in tests/theory.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier

import onlinear
from cases import Data, batch_of, learner_for
from listed import CLASSIFIERS, LEARNERS, fresh
from onlinear import registry, replay, verify as verifier
from onlinear.errors import Refused
from onlinear.learning.classes import Classes
from onlinear.theory.certifying import certificates_for, learner_subjects
from onlinear.theory.examples import examples_of
from theory.drawn import draw, fitted
from theory.test_verify import rows_of

PAIRS = [pair for pair in registry.pairs() if pair[0] not in registry.REGRESSION]

#: what a theorem covers: the name of its bound on separable rows
BOUNDED = {
    ("perceptron", "perceptron"): "perceptron",
    ("perceptron", "sgd"): "perceptron",
    ("hinge", "perceptron"): "margin perceptron",
    ("hinge", "sgd"): "margin perceptron",
    ("multiclass_perceptron", "perceptron"): "multiclass perceptron",
    ("multiclass_perceptron", "sgd"): "multiclass perceptron",
    ("crammer_singer", "sgd"): "multiclass margin perceptron",
    "Perceptron": "perceptron",
    "AveragedPerceptron": "perceptron",
    "PocketPerceptron": "perceptron",
    "VotedPerceptron": "perceptron",
    "KernelPerceptron": "perceptron",
    "MarginPerceptron": "margin perceptron",
}
#: of those the ones that ask for no margin, in steps of one size: these are bounded on any rows
ON_ANY_ROWS = {
    ("perceptron", "perceptron"),
    ("multiclass_perceptron", "perceptron"),
    "Perceptron",
    "AveragedPerceptron",
    "PocketPerceptron",
    "VotedPerceptron",
    "KernelPerceptron",
}

each_kind_of_rows = pytest.mark.parametrize("flipped", [0, 4], ids=["separable", "inseparable"])


def check(found: dict[str, Any], learner: Any, rows: Any) -> None:
    """The bound of a theorem is computed and holds, and a stranger who reads the certificate believes it.

    Who learns the rows again in plain Python believes what it says of the run, too.
    """
    kinds = [BOUNDED[learner]] if found["separable"] and learner in BOUNDED else []
    kinds += ["Freund-Schapire", "hinge loss"] if learner in ON_ANY_ROWS else []
    bound = found["bound_kind"]
    assert bound in (kinds or [None])
    assert found["holds"] is (True if kinds else None)
    assert (found["bound"] is None) is (not kinds)
    if found["margin_upper"] is not None and found["margin_lower"] is not None:
        assert found["margin_lower"] <= found["margin_upper"]
    written = json.loads(json.dumps(found))
    said, word = verifier.verify(written, rows)
    if isinstance(found["replay"], dict):
        replay.replay(written, rows)
    assert any("separable" in sentence for sentence in said)
    assert any(f"The {bound} bound holds" in sentence for sentence in word) is bool(kinds)
    assert all(any(f" ({kind}" in sentence for sentence in said) for kind in kinds if "margin" not in kind)


def draw_clusters(seed: int, *, flipped: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes about three corners; ``flipped`` of the labels are wrong."""
    rng = np.random.default_rng(seed)
    y = np.arange(24) % 3
    X = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 3.0]])[y] + 0.3 * rng.normal(size=(24, 2))
    y[:flipped] = (y[:flipped] + 1) % 3
    return X, y.astype(np.float64)


@each_kind_of_rows
@pytest.mark.parametrize(("loss", "rule"), PAIRS)
def test_every_pair_of_the_registry(loss: str, rule: str, flipped: int) -> None:
    several = loss in registry.SEVERAL
    X, y = draw_clusters(1, flipped=flipped) if several else draw(1, flipped=flipped)
    data = Data(X, y, np.ones(len(y)), 3 if several else 0)
    learner = learner_for(loss, rule, data)
    for _ in range(2):
        learner.learn(batch_of(data, loss))
    classes = Classes.closed(np.unique(y))
    examples = examples_of(X, np.searchsorted(classes.sorted, y))
    found = certificates_for(learner_subjects(learner, classes), classes, examples, several)
    assert found["separable"] is (flipped == 0)
    assert found["updates"] <= found["examples"] == 2 * len(y)
    check(found, (loss, rule), rows_of(X, y))


@pytest.mark.compiles
@each_kind_of_rows
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_every_estimator(model: Any, flipped: int) -> None:
    X, y = draw(5, flipped=flipped)
    model = fitted(fresh(model), X, y)
    if getattr(model, "budget", None):
        with pytest.raises(Refused, match="with a budget examples are forgotten, and no such bound is known"):
            onlinear.certify(model, X, y)
        return
    found = onlinear.certify(model, X, y)
    # whether rows are separable in the space of a kernel is decided by a hypothesis that separates them, if at all
    assert found["separable"] is (flipped == 0) or (getattr(model, "kernel", "linear") != "linear")
    check(found, type(model).__name__, rows_of(X, y))


@pytest.mark.compiles
@pytest.mark.parametrize("model", [model for model in LEARNERS if not is_classifier(model)], ids=repr)
def test_numbers_have_no_classes_to_certify(model: Any) -> None:
    X, y = draw(5)
    with pytest.raises(Refused, match=f"{type(model).__name__} has learned no classes: certify a classifier"):
        onlinear.certify(fitted(fresh(model), X, y), X, y)
