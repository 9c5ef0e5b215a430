"""Law 3: save, load, go on is never having stopped."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from cases import bits_of, cut
from covering import Case, bits_in_one_go, every_case_backwards
from onlinear.errors import Refused
from onlinear.files import load_learner, save_learner
from onlinear.learning.learner import Learner


def reloaded(learner: Learner) -> Learner:
    return pickle.loads(pickle.dumps(learner))


@every_case_backwards
def test_a_pickled_learner_goes_on_with_the_same_bits(case: Case) -> None:
    for settings in case.settings():
        stopped = case.learner(settings)
        batch = case.batch()
        for start, stop in ((0, 0), (0, 1), (1, 13), (13, 30)):
            stopped = reloaded(stopped)
            stopped.learn(cut(batch, start, stop))
        assert bits_of(stopped) == bits_in_one_go(case, settings)
        assert bits_of(reloaded(stopped)) == bits_of(stopped)


@every_case_backwards
def test_a_learner_goes_on_from_its_file_with_the_same_bits(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "learner"
    batch = case.batch()
    for settings in case.settings():
        stopped = case.learner(settings)
        for start, stop in ((0, 0), (0, 1), (1, 13), (13, 30)):
            save_learner(file, stopped)
            stopped = load_learner(file)
            stopped.learn(cut(batch, start, stop))
        assert bits_of(stopped) == bits_in_one_go(case, settings)


@every_case_backwards
def test_a_slim_file_has_the_same_weights_and_learns_nothing(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "learner"
    for settings in case.settings():
        learner = case.learner(settings)
        learner.learn(case.batch())
        save_learner(file, learner, slim=True)
        slim = load_learner(file)
        assert slim.weights().tobytes() == learner.weights().tobytes()
        assert slim.intercepts().tobytes() == learner.intercepts().tobytes()
        assert slim.marks() == learner.marks()
        with pytest.raises(Refused, match="was saved slim"):
            slim.learn(case.batch())


def test_a_loaded_learner_shares_nothing_with_the_saved_one() -> None:
    case = Case("log_loss", "normalised", "dense", "float64", False)
    learner = case.learner()
    learner.learn(case.batch())
    before = bits_of(learner)
    reloaded(learner).learn(case.batch())
    assert bits_of(learner) == before


GO_ON = """
import pickle, sys
from pathlib import Path
learner, batch = pickle.loads(Path(sys.argv[1]).read_bytes())
learner.learn(batch)
Path(sys.argv[1]).write_bytes(pickle.dumps(learner))
"""


@pytest.mark.parametrize("rule", ["normalised", "second_order"])
def test_another_process_goes_on(rule: str, tmp_path: Path) -> None:
    loss = "perceptron"
    case = Case(loss, rule, "sparse", "float64", False)
    straight, stopped = case.learner(), case.learner()
    straight.learn(case.batch())
    stopped.learn(cut(case.batch(), 0, 17))
    file = tmp_path / "learner"
    file.write_bytes(pickle.dumps((stopped, cut(case.batch(), 17, 30))))
    subprocess.run([sys.executable, "-c", GO_ON, str(file)], check=True)
    assert bits_of(pickle.loads(file.read_bytes())) == bits_of(straight)


GO_ON_FROM_FILE = """
import pickle, sys
from pathlib import Path
from onlinear.files import load_learner, save_learner
learner = load_learner(sys.argv[1])
learner.learn(pickle.loads(Path(sys.argv[2]).read_bytes()))
save_learner(sys.argv[1], learner)
"""


@pytest.mark.parametrize("rule", ["normalised", "second_order"])
def test_another_process_goes_on_from_a_file(rule: str, tmp_path: Path) -> None:
    case = Case("perceptron", rule, "sparse", "float64", False)
    straight, stopped = case.learner(), case.learner()
    straight.learn(case.batch())
    stopped.learn(cut(case.batch(), 0, 17))
    file, rest = tmp_path / "learner", tmp_path / "rest"
    save_learner(file, stopped)
    rest.write_bytes(pickle.dumps(cut(case.batch(), 17, 30)))
    subprocess.run([sys.executable, "-c", GO_ON_FROM_FILE, str(file), str(rest)], check=True)
    assert bits_of(load_learner(file)) == bits_of(straight)
