"""Classifiers in dual form through files: everything comes back, and learning goes on to the bit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_matrix

import onlinear
from onlinear import BadModel, KernelPerceptron, NotSaved, VotedPerceptron
from onlinear.files import read_model, write_model
from onlinear.learning.dual.versions import VOTES

RNG = np.random.default_rng(8)
ROWS = RNG.normal(size=(200, 4))
LABELS = np.array(["x", "y", "z"])[np.digitize(ROWS[:, 0] * ROWS[:, 1], [-0.3, 0.3])]

MODELS: dict[str, Callable[[], Any]] = {
    "new": KernelPerceptron,
    "fit": lambda: KernelPerceptron("rbf", gamma=0.4).fit(ROWS[:90], LABELS[:90]),
    "passes": lambda: KernelPerceptron(degree=3, max_iter=3, order="shuffle").fit(ROWS[:90], LABELS[:90]),
    "float32": lambda: KernelPerceptron().fit(ROWS[:90].astype(np.float32), LABELS[:90]),
    "open": lambda: KernelPerceptron().partial_fit(ROWS[:90], LABELS[:90]),
    "two": lambda: VotedPerceptron().fit(ROWS[:90], LABELS[:90] == "x"),
    "frame": lambda: VotedPerceptron().fit(pandas.DataFrame(ROWS[:90], columns=list("abcd")), LABELS[:90]),
    "budget": lambda: KernelPerceptron("rbf", budget=12).partial_fit(ROWS[:90], LABELS[:90], classes=["x", "y", "z"]),
}


def dump(model: Any) -> bytes:
    """All there is, but for what lies in free places."""
    state = model.__getstate__()
    machine = state.pop("_perceptrons", None)
    if machine is None:
        return pickle.dumps(sorted(state))
    support = machine.support
    kept = support.rows[: support.size].tobytes(), support.coefficients[: support.size].tobytes()
    lists = [(v.positions, v.amounts, v.times, v.made, v.debt) for v in machine.versions]
    steps = [(step.place, step.position, step.amounts.tolist(), step.drops) for step in machine.steps]
    figures = machine.kernel, machine.budget, machine.examples, machine.importance, machine.radius2, machine.square
    plain = {name: value for name, value in sorted(state.items()) if name not in ("_classes", "_names")}
    classes = model._classes.labels, model.classes_.tolist(), model._classes.open
    names = None if model._names is None else model._names.names()
    return repr((kept, lists, steps, figures, machine.block.tobytes(), plain, classes, names)).encode()


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_goes_on_to_the_bit(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    model.save(tmp_path / "model")
    again = onlinear.load(tmp_path / "model")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert dump(again) == dump(model)
    labels = LABELS[90:] == "x" if name == "two" else LABELS[90:]
    rows = pandas.DataFrame(ROWS[90:], columns=list("abcd")) if name == "frame" else ROWS[90:]
    for one in (model, again):
        one.partial_fit(rows, labels)
    assert dump(again) == dump(model)
    for vote in VOTES:
        answers = [one.set_params(vote=vote).decision_function(rows) for one in (model, again)]
        assert np.array_equal(*answers)


def test_dicts_go_on(tmp_path: Path) -> None:
    model = KernelPerceptron()
    rows = [{"size": x, ("pair", k % 3): 1.0, "colour": "red"} for k, x in enumerate(ROWS[:, 0].tolist())]
    for row, label in zip(rows[:80], LABELS[:80].tolist(), strict=True):
        model.learn_one(row, label)
    model.save(tmp_path / "model")
    again = onlinear.load(tmp_path / "model")
    for row, label in zip(rows[80:], LABELS[80:].tolist(), strict=True):
        assert np.array_equal(model.learn_one(row, label), again.learn_one(row, label))
    assert dump(again) == dump(model)


def test_a_kernel_of_ones_own_is_refused(tmp_path: Path) -> None:
    model = KernelPerceptron(lambda X, Z: X @ Z.T).fit(ROWS, LABELS)
    with pytest.raises(NotSaved):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


DAMAGE: dict[str, Callable[[Any, Any], object]] = {
    "a position": lambda header, arrays: arrays.update(positions=arrays["positions"] + 10_000),
    "the width": lambda header, arrays: arrays.update(rows=arrays["rows"][:, :2]),
    "the kernel": lambda header, arrays: header["perceptrons"]["kernel"].update(name=["os"]),
    "an attribute": lambda header, arrays: header["state"].update(predict=1),
    "a class": lambda header, arrays: header["classes"]["labels"].pop(),
    "a step": lambda header, arrays: header["perceptrons"]["steps"][0].__setitem__(0, 99),
    "outputs": lambda header, arrays: header["perceptrons"]["outputs"].pop(),
    "missing rows": lambda header, arrays: arrays.pop("rows"),
    "classes that are closed": lambda header, arrays: header["classes"].update(open=False),
    "other features": lambda header, arrays: header["state"].update(n_features_in_=20),
    "no features": lambda header, arrays: header["state"].pop("n_features_in_"),
    "no state": lambda header, arrays: header.update(state={}),
    "fewer than no passes": lambda header, arrays: header["state"].update(n_iter_=-1),
    "a text that was seen": lambda header, arrays: header.update(seen=["x", 1]),
    "a class that was seen, and is not": lambda header, arrays: header.update(seen=[99]),
    "an infinite amount": lambda header, arrays: arrays["amounts"].__setitem__(0, np.inf),
    "an infinite coefficient": lambda header, arrays: arrays["coefficients"].__setitem__((0, 0), np.nan),
    "an infinite row": lambda header, arrays: arrays["rows"].__setitem__((0, 0), np.inf),
    "updates in disorder": lambda header, arrays: arrays.update(times=arrays["times"][::-1].copy()),
    "updates to come": lambda header, arrays: arrays.update(times=arrays["times"] + 10_000),
    "updates that nobody made": lambda header, arrays: header["perceptrons"]["outputs"][0].update(made=0),
    "a debt that no budget leads to": lambda header, arrays: header["perceptrons"]["outputs"][0].update(debt=1 << 31),
    "a share of no budget": lambda header, arrays: header["perceptrons"].update(share=3),
    "a negative gamma": lambda header, arrays: header["perceptrons"]["kernel"].update(gamma=-1.0),
    "no examples": lambda header, arrays: header["perceptrons"].update(examples=0),
    "a sum beyond the floats": lambda header, arrays: header["perceptrons"].update(square=10**400),
    "a radius beyond the floats": lambda header, arrays: header["perceptrons"].update(radius2=10**400),
    "too many updates": lambda header, arrays: header["perceptrons"]["outputs"][0].update(made=10**400),
    "too many examples": lambda header, arrays: header["perceptrons"].update(examples=1 << 70),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_what_we_did_not_write_is_refused(name: str, tmp_path: Path) -> None:
    MODELS["open"]().save(tmp_path / "model")
    header, arrays = read_model(tmp_path / "model")
    header = {key: value for key, value in header.items() if key != "arrays"}
    DAMAGE[name](header, arrays)
    write_model(tmp_path / "model", header, arrays)
    with pytest.raises(BadModel):
        onlinear.load(tmp_path / "model")


def test_columns_that_were_learned_as_dicts_too(tmp_path: Path) -> None:
    model = MODELS["open"]()
    model.learn_one({1: 2.0, 3: -1.0}, "x")
    model.save(tmp_path / "model")
    again = onlinear.load(tmp_path / "model")
    for one in (model, again):
        one.partial_fit(ROWS[90:], LABELS[90:])
        one.learn_one({0: 1.0}, "y")
    assert dump(again) == dump(model)


def test_nothing_but_rows_without_importance(tmp_path: Path) -> None:
    model = KernelPerceptron()
    model.learn_one({"a": 1.0}, "p", importance=0.0)
    model.save(tmp_path / "model")
    again = onlinear.load(tmp_path / "model")
    assert again.predict_one({"a": 1.0}) is None
    assert again.learn_one({"a": 1.0}, "p") == model.learn_one({"a": 1.0}, "p")
    wide = csr_matrix((2, 1 << 20))
    unseen = KernelPerceptron().partial_fit(wide, [0, 1], classes=[0, 1], sample_weight=[0.0, 0.0])
    with pytest.raises(NotSaved, match="no row has been learned"):
        unseen.save(tmp_path / "model")


def without_rows(header: Any, arrays: Any, width: int) -> None:
    """As if nothing had been learned of so many columns."""
    outputs = len(header["perceptrons"]["outputs"])
    arrays |= {"rows": np.zeros((0, width)), "block": np.zeros((0, width)), "coefficients": np.zeros((0, outputs))}
    arrays |= {name: arrays[name][:0] for name in ("positions", "amounts", "times")}
    header["perceptrons"] |= {"steps": [], "examples": 0, "importance": 0.0}
    for output in header["perceptrons"]["outputs"]:
        output.update(updates=0, made=0)


def with_room(header: Any, arrays: Any, width: int) -> None:
    for name in ("rows", "block"):
        arrays[name] = np.pad(arrays[name], ((0, 0), (0, width - arrays[name].shape[1])))


def many_rows_of_nothing(header: Any, arrays: Any) -> None:
    arrays |= {"rows": np.zeros((1 << 40, 0)), "block": np.zeros((64, 0))}


#: widths that nothing in a small file stands for, and rows that take no bytes
WIDE: dict[str, Callable[[Any, Any], object]] = {
    "no rows": lambda header, arrays: without_rows(header, arrays, 1 << 23),
    "more room than names ever have": lambda header, arrays: with_room(header, arrays, 1 << 10),
    "a block without rows": lambda header, arrays: arrays.update(block=arrays["block"][:0]),
    "rows without columns": many_rows_of_nothing,
}


@pytest.mark.parametrize("name", WIDE)
def test_no_file_asks_for_more_room_than_its_names_have(name: str, tmp_path: Path) -> None:
    model = KernelPerceptron()
    for k in range(64):
        model.learn_one({"a": 1.0, "b": k % 5}, "pq"[k % 2])
    model.save(tmp_path / "model")
    header, arrays = read_model(tmp_path / "model")
    WIDE[name](header, arrays)
    write_model(tmp_path / "model", header, arrays)
    with pytest.raises(BadModel):
        onlinear.load(tmp_path / "model")


@pytest.mark.parametrize("name", sorted(WIDE.keys() - {"more room than names ever have"}))
def test_no_file_asks_for_more_columns_than_it_has(name: str, tmp_path: Path) -> None:
    KernelPerceptron().partial_fit(ROWS[:64], LABELS[:64]).save(tmp_path / "model")
    header, arrays = read_model(tmp_path / "model")
    WIDE[name](header, arrays)
    header["state"]["n_features_in_"] = arrays["rows"].shape[1]
    write_model(tmp_path / "model", header, arrays)
    with pytest.raises(BadModel):
        onlinear.load(tmp_path / "model")


@pytest.mark.parametrize("rows", [64, 150, 192])
@pytest.mark.parametrize("part", ["coefficients", "square", "radius2"])
def test_no_file_answers_by_one_hypothesis_and_learns_by_another(part: str, rows: int, tmp_path: Path) -> None:
    model = KernelPerceptron("linear").fit(ROWS[:rows], LABELS[:rows] == "x")
    model.save(tmp_path / "model")
    header, arrays = read_model(tmp_path / "model")
    if part == "coefficients":
        arrays[part] = -arrays[part]
    else:
        header["perceptrons"][part] *= 0.5
    write_model(tmp_path / "model", header, arrays)
    with pytest.raises(BadModel, match=r"not those of its updates|rows of other lengths"):
        onlinear.load(tmp_path / "model")
