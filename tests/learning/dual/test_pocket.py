"""The pocket: the version that was right longest, beside one that is written down as Gallant has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear import BadInput, BadModel, KernelPerceptron, PocketPerceptron, Refused, VotedPerceptron, load
from onlinear.files.container import read_model, write_model


def gallant(X: np.ndarray, y: np.ndarray, passes: int, ratchet: bool) -> np.ndarray:
    """Weights and intercept in the pocket; a row that is wrong or undecided begins a run with its update."""
    rows = np.column_stack([X, np.ones(len(X))])
    weights, pocket = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    run, longest, most = 0, 0, -1
    for _ in range(passes):
        updated = False
        for x, target in zip(rows, y, strict=True):
            if target * (weights @ x) <= 0.0:
                weights, run, updated = weights + target * x, 0, True
            run += 1
            if run > longest:
                right = int((y * (rows @ weights) > 0.0).sum())
                if not ratchet or right > most or np.array_equal(weights, pocket):
                    pocket, longest, most = weights, run, right
        if not updated:
            break
    return pocket


def mixed_up(seed: int, rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Small whole numbers, so that sums are exact, with labels of which some are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(rows, 2)).astype(float)
    y = np.where(X @ [2.0, -1.0] > 0.5, 1, -1)
    return X, np.where(rng.random(rows) < 0.1, -y, y)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_the_pocket_is_gallants(seed: int, passes: int, ratchet: bool) -> None:
    X, y = mixed_up(seed)
    if len(set(y.tolist())) < 2:
        return
    model = PocketPerceptron(ratchet=ratchet, max_iter=passes, order="stream").fit(X, y)
    pocket = gallant(X, y, passes, ratchet)
    np.testing.assert_allclose(model.decision_function(X), X @ pocket[:2] + pocket[2], atol=1e-9)


def test_on_classes_that_nothing_separates_the_pocket_beats_the_last_version() -> None:
    scores: list[tuple[float, float, float]] = []
    for seed in range(20):
        X, y = mixed_up(seed, rows=150)
        models: list[Any] = [PocketPerceptron(ratchet=True, random_state=seed), PocketPerceptron(random_state=seed)]
        models.append(KernelPerceptron("poly", degree=1, vote="last", max_iter=100, order="shuffle", random_state=seed))
        scores.append(tuple(model.fit(X, y).score(X, y) for model in models))
    ratchet, pocket, last = np.mean(scores, axis=0)
    assert ratchet > pocket > last


def test_separable_classes_leave_the_separating_version_in_the_pocket() -> None:
    X, y = mixed_up(3)
    y = np.where(X @ [2.0, -1.0] > 0.5, 1, -1)
    for ratchet in (False, True):
        model = PocketPerceptron(ratchet=ratchet).fit(X, y)
        assert model.converged_
    assert model.score(X, y) == 1.0


def test_several_classes_have_a_pocket_each() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=150)
    X = rng.normal(size=(150, 2)) + np.array([[0.0, 3.0], [3.0, -1.0], [-3.0, -1.0]])[y]
    model = PocketPerceptron(ratchet=True).fit(X, y)
    for place, label in enumerate(model.classes_):
        alone = PocketPerceptron(ratchet=True).fit(X, y == label)
        np.testing.assert_allclose(model.decision_function(X)[:, place], alone.decision_function(X), rtol=1e-12)
    assert model.score(X, y) > 0.9


def test_others_answer_by_the_pocket_too() -> None:
    X, y = mixed_up(5)
    pocket = PocketPerceptron(max_iter=3, order="stream").fit(X, y)
    voted = VotedPerceptron(vote="pocket", max_iter=3, order="stream").fit(X, y)
    np.testing.assert_array_equal(voted.decision_function(X), pocket.decision_function(X))


def test_a_ratchet_needs_all_rows() -> None:
    X, y = mixed_up(0)
    for learn in (lambda m: m.partial_fit(X, y), lambda m: m.learn_one({"a": 1.0}, 1), lambda m: m.learn_many([], [])):
        with pytest.raises(Refused, match="the ratchet looks at all rows, which a stream does not have"):
            learn(PocketPerceptron(ratchet=True))


def test_what_a_ratchet_has_chosen_makes_room_for_what_a_stream_brings() -> None:
    X, y = mixed_up(2)
    model = PocketPerceptron(ratchet=True, max_iter=3).fit(X, y).set_params(ratchet=False)
    plain = PocketPerceptron(max_iter=3).fit(X, y)
    chosen = model.decision_function(X)
    assert not np.array_equal(chosen, plain.decision_function(X))
    model.partial_fit(X[:2], y[:2], sample_weight=[0.0, 0.0])
    with pytest.raises(BadInput, match="NaN"):
        model.partial_fit(X[:2], [1.0, np.nan])
    assert model.decision_function(X).tobytes() == chosen.tobytes()
    for learner in (model, plain):
        learner.partial_fit(np.repeat(X, 5, axis=0), np.repeat(-y, 5))
    assert model.decision_function(X).tobytes() == plain.decision_function(X).tobytes()
    assert model.score(X, -y) > 0.5


def test_what_is_in_the_pocket_is_saved(tmp_path: Path) -> None:
    X, y = mixed_up(1)
    model = PocketPerceptron(ratchet=True, max_iter=5).fit(X, y)
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").decision_function(X).tobytes() == model.decision_function(X).tobytes()
    header, arrays = read_model(tmp_path / "m")
    for wrong in (-1, 1.5, header["perceptrons"]["outputs"][0]["updates"], None):
        header["perceptrons"]["outputs"][0]["chosen"] = wrong
        write_model(tmp_path / "m", header, arrays)
        with pytest.raises(BadModel):
            load(tmp_path / "m")
