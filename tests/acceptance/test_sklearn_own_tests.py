"""scikit-learn's own tests of Perceptron and SGD, run with our classes in place of theirs.

The installed test files are run as they are, in a process of their own, by a plugin that replaces the classes in
``sklearn.linear_model`` before the files are imported. A test we fail on purpose stands in ``DEVIATIONS`` with the
reason; if it passes after all, that is an error too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn.linear_model

TESTS = Path(sklearn.linear_model.__file__).parent / "tests"

#: what is not ours to pass
OUT_OF_SCOPE = ("OneClassSVM", "oneclass", "ocsvm", "one_class")

#: scikit-learn's test -> why we differ
DEVIATIONS = {
    "test_multi_thread_multi_class_and_early_stopping": (
        "counts epochs, which follow their validation score: it leaves out the scale of L2-penalised weights"
    ),
    "test_partial_fit_exception": "partial_fit needs no classes: new ones may appear at any time",
    "test_partial_fit_weight_class_balanced": "partial_fit takes 'balanced' by the counts so far",
    "test_sgd_early_stopping_with_partial_fit": "early stopping acts at the end of a pass: a stream has none",
    "test_validation_mask_correctly_subsets": "patches a private class of scikit-learn's implementation",
}

PLUGIN = """
import gc, json, os
import onlinear
import sklearn.linear_model as theirs

gc.set_threshold(100_000, 20, 20)  # as in tests/conftest.py

for name in ("Perceptron", "SGDClassifier", "SGDRegressor"):
    setattr(theirs, name, getattr(onlinear, name))

outcomes = {}

def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcomes[report.nodeid.split("::", 1)[1]] = report.outcome

def pytest_sessionfinish():
    with open(os.environ["OUTCOMES"], "w") as file:
        json.dump(outcomes, file)
"""


def run(file: str, folder: Path) -> dict[str, str]:
    """The outcome of every test of an installed file."""
    (folder / "ours_for_theirs.py").write_text(PLUGIN)
    outcomes = folder / "outcomes.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "ours_for_theirs"]
    command += ["-p", "no:cacheprovider", "-p", "sklearn.conftest"]
    command += ["-o", "addopts=", "-c", str(folder / "pytest.ini"), "--rootdir", str(TESTS)]
    command += ["--confcutdir", str(TESTS), str(TESTS / file)]
    (folder / "pytest.ini").write_text("[pytest]\n")
    environment = {**os.environ, "OUTCOMES": str(outcomes), "PYTHONPATH": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    assert outcomes.exists(), done.stdout + done.stderr
    print(done.stdout[-20000:])
    return json.loads(outcomes.read_text())


def base(test: str) -> str:
    return test.split("[")[0]


def test_perceptron_passes_all(tmp_path: Path) -> None:
    outcomes = run("test_perceptron.py", tmp_path)
    assert len(outcomes) >= 5
    assert {test for test, outcome in outcomes.items() if outcome != "passed"} == set()


def test_sgd_passes_all_but_the_deviations(tmp_path: Path) -> None:
    outcomes = run("test_sgd.py", tmp_path)
    ours = {test: outcome for test, outcome in outcomes.items() if not any(word in test for word in OUT_OF_SCOPE)}
    assert len(ours) >= 200
    failed = {test for test, outcome in ours.items() if outcome == "failed"}
    assert {test for test in failed if base(test) not in DEVIATIONS} == set()
    assert {base(test) for test in ours if test not in failed} & set(DEVIATIONS) == set()


@pytest.mark.parametrize("reason", DEVIATIONS.values())
def test_every_deviation_has_a_reason(reason: str) -> None:
    assert len(reason.split()) > 4
