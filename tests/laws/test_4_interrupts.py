"""Law 4 and Ctrl-C: a model that was interrupted is as it was before the call, or as it is after it.

Python looks for signals between any two of its instructions. So a call is made again and again, and each time one comes
some instructions later.
"""

from __future__ import annotations

import copy
import errno
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import onlinear
from onlinear.errors import NotSaved
from onlinear.estimators import linear
from onlinear.selection import grid
from onlinear.system import locks
from onlinear.system.atomic import replacing
from onlinear.system.interrupts import NUMBERS, uninterrupted

pytestmark = [pytest.mark.compiles]

PACKAGE = str(Path(onlinear.__file__).parent)
Call = Callable[[Any], Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))
WORDS = np.array(["a", "b", "c"])[RNG.integers(0, 3, 40)]
ROWS = [{f"n{(k * j) % 17}": 1.0 + j for j in range(4)} for k in range(40)]


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """As in a terminal: shells let what they run in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_at(moment: int, call: Call, model: Any, number: int = signal.SIGINT, within: str = PACKAGE) -> int:
    """Make a call with a Ctrl-C after so many instructions ``within`` files; how many there were if it came to none."""
    passed, sent = 0, False

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal passed, sent
        if not frame.f_code.co_filename.startswith(within):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and not sent:
            passed += 1
            if passed > moment:
                sent = True
                sys.settrace(before)
                signal.raise_signal(number)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call(model)
    except KeyboardInterrupt:
        assert sent
    finally:
        sys.settrace(before)
    return 0 if sent else passed


def interrupted_models(model: Any, call: Call, moments: int = 30, within: str = PACKAGE) -> Iterator[Any]:
    """The model after a call that was interrupted, at so many moments between its beginning and its end."""
    instructions = interrupt_at(sys.maxsize, call, copy.deepcopy(model), within=within)
    for moment in sorted({k * instructions // moments for k in range(moments)}):
        fresh = copy.deepcopy(model)
        if not interrupt_at(moment, call, fresh, within=within):
            yield fresh


def state(model: Any) -> Any:
    """All that can be asked of a model, to the bit."""
    names = ("examples_", "mistakes_", "updates_", "loss_", "history_", "updates_per_pass_", "feature_names_")
    figures = {name: repr(getattr(model, name, None)) for name in names}
    if hasattr(model, "n_features_in_"):
        asked = (
            model.decision_function(X).tolist() if hasattr(model, "decision_function") else model.predict(X).tolist()
        )
    else:
        asked = [repr(model.learn_one(x, "a", importance=0.0)) for x in ROWS[:8]]
    return figures, asked, model.classes_.tolist() if hasattr(model, "classes_") else None


def by_dicts(model: Any, labels: str = "ab") -> Any:
    for k in range(31):
        model.learn_one(ROWS[k], labels[k % len(labels)])
    return model


def by_rows(model: Any) -> Any:
    return model.partial_fit(X[:31], WORDS[:31])


class Case(NamedTuple):
    model: Callable[[], Any]
    call: Call


NEW = {f"new{k}": 1.0 for k in range(30)}  # for which the table has to grow
CASES = {
    "a mark": Case(lambda: by_dicts(onlinear.OnlineClassifier()), lambda m: m.learn_one(ROWS[31], "a")),
    "a usual row": Case(
        lambda: by_dicts(onlinear.OnlineClassifier()).learn_many(ROWS[31:34], list("aba")),
        lambda m: m.learn_one(ROWS[35], "b"),
    ),
    "a third class": Case(lambda: by_dicts(onlinear.OnlineClassifier()), lambda m: m.learn_one(ROWS[31], "c")),
    "a fourth class": Case(
        lambda: by_dicts(onlinear.OnlineClassifier(bits=8), "abc"), lambda m: m.learn_one(ROWS[31], "d")
    ),
    "new names": Case(lambda: by_dicts(onlinear.OnlineClassifier()), lambda m: m.learn_one(NEW, "a")),
    "many dicts": Case(
        lambda: by_dicts(onlinear.OnlineClassifier()), lambda m: m.learn_many([*ROWS[31:], NEW], list("abcabcabab"))
    ),
    "many rows": Case(
        lambda: by_rows(onlinear.OnlineClassifier()), lambda m: m.partial_fit(X[31:], ["a", "b", "d"] * 3)
    ),
    "one row": Case(lambda: by_rows(onlinear.SGDClassifier()), lambda m: m.partial_fit(X[33:34], ["b"])),
    "averaged": Case(lambda: by_rows(onlinear.AveragedPerceptron()), lambda m: m.partial_fit(X[31:], WORDS[31:])),
    "matrix": Case(lambda: by_rows(onlinear.SecondOrderPerceptron()), lambda m: m.partial_fit(X[31:], WORDS[31:])),
    "voted": Case(lambda: by_rows(onlinear.VotedPerceptron()), lambda m: m.partial_fit(X[31:], WORDS[31:])),
    "kernel dict": Case(lambda: by_dicts(onlinear.KernelPerceptron("rbf", gamma=0.5)), lambda m: m.learn_one(NEW, "c")),
    "fit again": Case(lambda: by_rows(onlinear.Perceptron(max_iter=3)), lambda m: m.fit(-X, WORDS)),
    "epochs": Case(lambda: by_rows(onlinear.SGDClassifier(max_iter=3, random_state=0)), lambda m: m.fit(-X, WORDS)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_an_interrupted_model_is_whole(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "FIRST_FEATURES", 32)
    case = CASES[name]
    model = case.model()
    after = copy.deepcopy(model)
    case.call(after)
    right = [state(model), state(after)]
    assert right[0] != right[1]
    count = 0
    for fresh in interrupted_models(model, case.call):
        count += 1
        assert state(fresh) in right
        assert state(pickle.loads(pickle.dumps(fresh))) in right
        if right.index(state(fresh)) == 0:
            case.call(fresh)
            assert state(fresh) == right[1]
    assert count > 3
    fresh.save(tmp_path / "m")
    assert state(onlinear.load(tmp_path / "m")) == right[1]


@pytest.mark.filterwarnings("ignore")
def test_one_row_is_whole_if_it_is_interrupted_as_it_begins_or_ends() -> None:
    """It is learned without a block within which signals wait, which would take a tenth longer."""
    model, call = CASES["one row"].model(), CASES["one row"].call
    after = copy.deepcopy(model)
    call(after)
    right = [state(model), state(after)]
    for fresh in interrupted_models(model, call, moments=400, within=locks.__file__):
        assert state(fresh) in right
        if state(fresh) == right[0]:
            call(fresh)
            assert state(fresh) == right[1]


@pytest.mark.filterwarnings("ignore")
def test_an_interrupted_search_is_whole() -> None:
    def make() -> Any:
        search = onlinear.OnlineSearch(grid(loss="log_loss", rule=["adagrad", "normalised"], average=[False, True]))
        return search.partial_fit(X[:31], WORDS[:31], classes=["a", "b", "c"])

    def standings(search: Any) -> Any:
        return repr(search.results_.frame().to_dict()), search.decision_function(X).tolist()

    before, after = make(), make()
    after.partial_fit(X[31:], WORDS[31:])
    right = [standings(before), standings(after)]
    for fresh in interrupted_models(before, lambda m: m.partial_fit(X[31:], WORDS[31:]), 12):
        assert standings(fresh) in right


# ------------------------------------------------------------------ the mechanism


def work(done: list[str], *, signals: int, lets_through: bool = False, number: int | None = None) -> None:
    with uninterrupted, uninterrupted:
        for k in range(signals):
            signal.raise_signal(signal.SIGINT)
            done.append(f"signal {k}")
        if number is not None:
            signal.raise_signal(number)
        if lets_through:
            uninterrupted.let_through()
        done.append("whole")
    done.append("never")


def test_a_signal_waits_and_comes_at_the_end() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        work(done, signals=1)
    assert done == ["signal 0", "whole"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_does_not_wait() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        work(done, signals=2)
    assert done == ["signal 0"]


def test_long_work_lets_signals_through_where_it_is_whole() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        work(done, signals=1, lets_through=True)
    assert done == ["signal 0"]


def test_other_handlers_get_their_signals_too() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        with uninterrupted:
            signal.raise_signal(signal.SIGTERM)
            assert came == []
        assert came == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_are_never_interrupted_and_take_no_signals() -> None:
    found: list[Any] = []

    def work() -> None:
        with uninterrupted:
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


def test_every_signal_gets_to_its_handler_and_every_handler_comes_back() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    handlers = [signal.getsignal(number) for number in NUMBERS]
    try:
        with pytest.raises(KeyboardInterrupt):
            work([], signals=1, number=signal.SIGTERM)
        assert came == [signal.SIGTERM]
        assert [signal.getsignal(number) for number in NUMBERS] == handlers
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_time_limit_at_any_moment_leaves_the_handlers_as_they_were() -> None:
    def limit(number: int, frame: Any) -> None:
        raise TimeoutError

    def block(_: Any) -> None:
        with uninterrupted:
            pass

    before = signal.signal(signal.SIGALRM, limit)
    handlers = [signal.getsignal(number) for number in NUMBERS]
    instructions = interrupt_at(sys.maxsize, block, None)
    try:
        for moment in range(instructions):
            for number, raised in ((signal.SIGALRM, TimeoutError), (signal.SIGINT, KeyboardInterrupt)):
                with suppress(raised):
                    interrupt_at(moment, block, None, number)
                assert [signal.getsignal(each) for each in NUMBERS] == handlers
                with pytest.raises(KeyboardInterrupt):
                    work([], signals=1)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_output_that_is_interrupted_is_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "output"

    def write(content: bytes) -> None:
        with replacing(path) as file:
            file.write(content)

    write(b"old")
    instructions = interrupt_at(sys.maxsize, write, b"old")
    for moment in range(0, instructions, 7):
        assert not interrupt_at(moment, write, b"new")
        assert (os.listdir(tmp_path), path.read_bytes() in (b"old", b"new")) == (["output"], True), moment


def test_an_output_that_cannot_be_begun_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no")

    path = tmp_path / "output"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "chmod", refuse)
    with pytest.raises(NotSaved), replacing(path):
        pass
    assert (os.listdir(tmp_path), path.read_bytes()) == (["output"], b"old")
