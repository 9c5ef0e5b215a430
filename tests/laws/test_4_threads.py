"""Law 4 beside other threads: every answer is one that was right after a whole example.

A thread may lose its turn between any two of Python's instructions. So a call is made again and again, and each time
one instruction later another call comes in between; locks keep it out as they would keep out another thread.
"""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onlinear
from onlinear.data.batch import Batch, rows_of
from onlinear.data.targets import Labels
from onlinear.learning.learner import Learner
from onlinear.selection import grid
from onlinear.system.locks import estimator_lock

PACKAGE = str(Path(onlinear.__file__).parent)
Call = Callable[[Any], Any]

ASKED = {"a": 1.5, "colour": "red", "b": -0.5}
OTHER = {"a": -2.0, "colour": "blue", "c": 1.0}
NEW = {"a": -1.0, **{f"n{k}": 1.0 + k for k in range(40)}}


def is_locked(model: Any) -> bool:
    """Whether the caller holds a lock that would keep another thread out."""
    whole, learner = vars(model).get("_lock"), getattr(model, "_learner", None)
    return (whole is not None and whole._is_owned()) or (learner is not None and learner.lock._is_owned())


def is_shut(model: Any) -> bool:
    """Whether the caller keeps out even those who learn a usual row, which the lock of the whole estimator does not."""
    return bool(model._learner.lock._is_owned())


def call_between(model: Any, call: Call, other: Call, moment: int, is_out: Call = is_locked) -> tuple[Any, int]:
    """What a call answers if another comes in as soon as ``moment`` instructions are done, and how many then were.

    None are if it could not come in any more: ``is_out`` while it could not.
    """
    passed, came = 0, 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal passed, came
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and not came:
            passed += 1
            if passed > moment and not is_out(model):
                came = passed
                sys.settrace(before)
                other(model)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return call(model), came
    finally:
        sys.settrace(before)


def answers_beside(model: Any, call: Call, other: Call, is_out: Call = is_locked) -> Iterator[Any]:
    """What the call answers with another one before each of its instructions."""
    moment = -1
    while moment:
        fresh = copy.deepcopy(model)
        call(fresh)
        answer, moment = call_between(fresh, call, other, max(moment, 0), is_out)
        yield answer


def bits(answer: Any) -> Any:
    """An answer in a form in which equal means equal to the bit."""
    if isinstance(answer, np.ndarray):
        return answer.shape, answer.tolist()
    if isinstance(answer, tuple):
        return tuple(bits(part) for part in answer)
    return sorted(answer.items(), key=repr) if isinstance(answer, dict) else answer


def check_answers(model: Any, call: Call, other: Call, bits: Call = bits) -> None:
    """The answer is the one of before the other call, or of after it."""
    before, after = copy.deepcopy(model), copy.deepcopy(model)
    call(before), call(after)
    other(after)
    right = [bits(call(before)), bits(call(after))]
    found = [bits(answer) for answer in answers_beside(model, call, other)]
    assert len(found) > 3
    assert [answer for answer in found if answer not in right] == []


def learned(model: Any, labels: Any) -> Any:
    rng = np.random.default_rng(0)
    for k in range(30):
        x = {"a": rng.normal(), "b": rng.normal(), "c": 1.0, "colour": "red" if k % 3 else "blue"}
        model.learn_one(x, labels[k % len(labels)])
    return model


MODELS = {
    "two": lambda: learned(onlinear.OnlineClassifier(), ["no", "yes"]),
    "three": lambda: learned(onlinear.OnlineClassifier(), ["b", "c", "a"]),
    "hashed": lambda: learned(onlinear.OnlineClassifier(bits=8), ["b", "c", "a"]),
    "numbers": lambda: learned(onlinear.OnlineRegressor(), [1.0, -2.0, 5.0]),
    "kernel": lambda: learned(onlinear.KernelPerceptron("rbf", gamma=0.5), ["b", "c", "a"]),
}


def target_of(model: Any, place: int) -> Any:
    return model.classes_[place].item() if hasattr(model, "classes_") else float(place)


def numbers_in(snapshot: Any) -> Any:
    return snapshot.weights, snapshot.intercepts


READS: dict[str, Call] = {
    "predict_one": lambda model: model.predict_one(ASKED),
    "an odd row": lambda model: model.predict_one({**ASKED, ("a", 1): np.float16(1.0)}),
    "predict_proba_one": lambda model: model.predict_proba_one(ASKED),
    "snapshot": lambda model: numbers_in(model.snapshot()),
}
WRITES: dict[str, Call] = {
    "another asks": lambda model: model.predict_one(OTHER),
    "learns names": lambda model: model.learn_one(NEW, target_of(model, 1)),
    "learns many": lambda model: model.learn_many([OTHER, NEW], [target_of(model, 0), target_of(model, 1)]),
}


def reads_of(model: Any) -> list[Call]:
    return [read for name, read in READS.items() if name == "an odd row" or hasattr(model, name)]


@pytest.mark.compiles
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kind", MODELS)
def test_an_answer_is_of_a_whole_example(kind: str, write: str) -> None:
    model = MODELS[kind]()
    for read in reads_of(model):
        check_answers(model, read, WRITES[write])


@pytest.mark.compiles
@pytest.mark.parametrize("kind", ["two", "three", "kernel"])
def test_an_answer_while_a_class_appears(kind: str) -> None:
    model = MODELS[kind]()
    for read in reads_of(model):
        check_answers(model, read, lambda model: model.learn_one(OTHER, "aa"))


@pytest.mark.compiles
@pytest.mark.parametrize("kind", MODELS)
def test_the_scores_that_learning_answers(kind: str) -> None:
    """They are those of a model that learns the two rows one after the other, in either order."""
    model = MODELS[kind]()

    def one(model: Any) -> Any:
        return model.learn_one(ASKED, target_of(model, 0))

    others: list[Call] = [lambda model: model.learn_one(OTHER, target_of(model, 1))]
    if hasattr(model, "classes_"):
        others.append(lambda model: model.learn_one(OTHER, "aa"))
    for other in others:
        first, second = copy.deepcopy(model), copy.deepcopy(model)
        one(first), one(second)
        right = [bits(one(first))]
        other(second)
        right.append(bits(one(second)))
        found = [bits(answer) for answer in answers_beside(model, one, other)]
        assert [answer for answer in found if answer not in right] == []


def state_of(model: Any) -> Any:
    return model.examples_, model.predict_one(ASKED), model.predict_one(OTHER), str(model.feature_names_)


@pytest.mark.compiles
@pytest.mark.parametrize("kind", ["three", "numbers"])
def test_a_pickle_is_of_a_whole_example(kind: str) -> None:
    for label in (0, 1):

        def learn(model: Any, label: int = label) -> None:
            model.learn_one(NEW, "aa" if label and kind == "three" else target_of(model, 0))

        # most pickles are the same bytes, and are asked once
        check_answers(MODELS[kind](), pickle.dumps, learn, cache(lambda pickled: state_of(pickle.loads(pickled))))


@pytest.mark.compiles
def test_a_pickle_of_a_search_is_of_a_whole_call() -> None:
    search = onlinear.OnlineSearch(grid(loss="log_loss", rule=["adagrad", "normalised"]))
    search.partial_fit(ROWS[:20], np.resize([0, 1], 20), classes=[0, 1])

    def state(pickled: bytes) -> Any:
        found = pickle.loads(pickled)
        return repr(found.results_), [bits(lane.learner.weights()) for lane in found._race._lanes]

    check_answers(search, pickle.dumps, lambda search: search.partial_fit(ROWS[20:22], [1, 1]), cache(state))


FIGURES = ("examples_", "mistakes_", "updates_", "loss_", "history_", "updates_per_pass_", "mistakes_per_pass_")


def read_figures(model: Any, names: tuple[str, ...] = FIGURES) -> Any:
    """Each figure that there is, to the bit, or the kind of error: a model may have learned nothing yet."""
    found = {}
    for name in names:
        try:
            found[name] = bits(getattr(model, name))
        except AttributeError as error:
            found[name] = str(error)
    return found


def check_figures(model: Any, other: Call, is_out: Call = is_locked) -> None:
    """Each figure is the one of before the other call, or of after it."""
    after = copy.deepcopy(model)
    other(after)
    right = [read_figures(model), read_figures(after)]
    for name in FIGURES:
        found = list(answers_beside(model, lambda model, name=name: read_figures(model, (name,)), other, is_out))
        assert len(found) > 3
        wrong = [each for each in found if each[name] not in (right[0][name], right[1][name])]
        assert wrong == []


def usual_row(model: Any) -> None:
    """An example that one compiled call learns: its names and its label are known."""
    model.learn_one(OTHER, target_of(model, 0))


@pytest.mark.compiles
@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_figures_are_of_a_whole_example(kind: str) -> None:
    model = MODELS[kind]()
    usual_row(model)  # the next example brings a mark
    check_figures(model, WRITES["learns many"])
    if kind != "numbers":
        check_figures(model, lambda model: model.learn_one(OTHER, "aa"))


@pytest.mark.compiles
@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_no_compiled_call_comes_between_figures(kind: str) -> None:
    model = MODELS[kind]()
    model.predict_one(ASKED)
    check_figures(model, usual_row, is_shut)


@pytest.mark.compiles
@pytest.mark.parametrize("kind", ["two", "kernel"])
def test_figures_wait_for_whoever_learns(kind: str) -> None:
    """Within a first example, or while a class appears, there are counts of which only a part is new."""
    model = MODELS[kind]()
    names = [name for name in FIGURES if hasattr(model, name)]
    read: list[str] = []
    threads = [
        threading.Thread(target=lambda name=name: read.append((getattr(model, name), name)[1])) for name in names
    ]
    with estimator_lock(model):
        for thread in threads:
            thread.start()
        threads[0].join(0.2)
        assert read == []
    for thread in threads:
        thread.join()
    assert sorted(read) == sorted(names)


ROWS = np.random.default_rng(1).normal(size=(40, 3))


def fitted(model: Any, labels: Any) -> Any:
    return model.partial_fit(ROWS[:30], np.resize(labels, 30))


ARRAY_READS: dict[str, Call] = {
    "predict": lambda model: model.predict(ROWS[30:]),
    "decision_function": lambda model: model.decision_function(ROWS[30:]),
    "predict_proba": lambda model: model.predict_proba(ROWS[30:]),
    "snapshot": lambda model: numbers_in(model.snapshot()),
    "predict_one": lambda model: model.predict_one({0: 1.0, 2: -2.0}),
}


@pytest.mark.compiles
@pytest.mark.parametrize("read", ARRAY_READS)
def test_arrays(read: str) -> None:
    for labels in ([0, 1], [0, 2, 1]):
        model = fitted(onlinear.OnlineClassifier(), labels)
        for label in (1, -1):  # a known one, and a new one that comes before all others
            check_answers(model, ARRAY_READS[read], lambda model, y=label: model.partial_fit(ROWS[:2], [y, 0]))


@pytest.mark.compiles
def test_arrays_of_a_regressor() -> None:
    model = fitted(onlinear.OnlineRegressor(), [1.0, -2.0])
    check_answers(model, ARRAY_READS["predict"], lambda model: model.partial_fit(ROWS[:2], [3.0, 9.0]))


def test_a_class_that_came_with_arrays_is_known_to_dicts() -> None:
    arrays, dicts = (fitted(onlinear.OnlineClassifier(), ["b", "c"]) for _ in range(2))
    dicts.predict_one({0: 1.0})  # the way of dicts is there
    for model in (arrays, dicts):
        model.partial_fit(ROWS[30:], ["a"] * 10)
    assert dicts.predict_one({0: 1.0, 1: 0.5}) == arrays.predict_one({0: 1.0, 1: 0.5})
    scores = [model.learn_one({0: 1.0, 2: 1.0}, "b") for model in (arrays, dicts)]
    assert scores[0].tolist() == scores[1].tolist()
    assert len(scores[0]) == 3


def test_weights_of_a_learner_are_read_under_its_lock() -> None:
    learner = Learner(onlinear.losses.Logistic(), onlinear.rules.SGD(), features=3, outputs=2, compiled=False)
    learner.learn(Batch(rows_of(ROWS[:4]), Labels(np.array([0, 1, 0, 1]), 0, 2), np.ones(4)))
    done, found = threading.Event(), []

    def read() -> None:
        found.append(learner.weights())
        done.set()

    with learner.lock:
        thread = threading.Thread(target=read)
        thread.start()
        assert not done.wait(0.2)
    thread.join()
    np.testing.assert_array_equal(found[0], learner.weights())


@pytest.mark.compiles
@pytest.mark.parametrize("kind", MODELS)
def test_four_threads_ask_while_one_learns(kind: str) -> None:
    """The switch interval is so short that threads change places all the time."""
    model = MODELS[kind]()
    rows = [{"a": 3.0 * k - 5.0, "colour": "red" if k % 2 else "blue", f"own{k}": 2.0} for k in range(4)]
    stream = [({**rows[k % 4], f"name{k}": 1.0}, target_of(model, k % 3 % 2)) for k in range(80)]
    ask = model.predict_proba_one if hasattr(model, "predict_proba_one") else model.predict_one
    replayed = copy.deepcopy(model)
    right: list[list[Any]] = [[] for _ in rows]
    for x, y in [(None, None), *stream]:
        if x is not None:
            replayed.learn_one(x, y)
        answer = replayed.predict_proba_one if hasattr(model, "predict_proba_one") else replayed.predict_one
        for place, row in enumerate(rows):
            right[place].append(bits(answer(row)))
    wrong: list[Any] = []
    enough = threading.Event()

    def read(place: int) -> None:
        while not enough.is_set():
            found = bits(ask(rows[place]))
            if found not in right[place]:
                wrong.append((place, found))

    threads = [threading.Thread(target=read, args=(place,)) for place in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for x, y in stream:
            model.learn_one(x, y)
    finally:
        enough.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert wrong == []
