"""The whole job, ``onlinear select``, in a process of its own, and what peers come to on the same test rows."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np
from claims import AtMost, Cost, Line, NotMeasured, Row, percent
from processes import python

from data import covtype, write_text
from files import LOGISTIC, vw_process

#: seconds that a job may take, and the error that the one on adult may have
ADULT_SECONDS, COVTYPE_SECONDS, ADULT_ERROR = 60.0, 180.0, 0.152
TESTED = 0.2


class Job:
    """A selection on files: run once, when first asked for; its seconds are those of the whole process."""

    def __init__(self, *arguments: object) -> None:
        self.arguments = arguments

    @cached_property
    def outcome(self) -> tuple[float, float]:
        with tempfile.TemporaryDirectory() as folder:
            model = ("-m", Path(folder) / "chosen.onlinear")
            spent = python("-m", "onlinear", "select", *self.arguments, *model, "--json")
            return spent.seconds, float(json.loads(spent.output)["test"]["error"])

    def seconds(self) -> float:
        return self.outcome[0]

    def error(self) -> float:
        return self.outcome[1]


def adult(folder: Path | None, work: Path) -> Job:
    """The training file as it is; in the test file labels end with a dot, which goes."""
    if folder is None or not (folder / "adult" / "adult-test.csv").exists():
        raise NotMeasured("adult: set --data or $ONLINEAR_DATA")
    tested = work / "adult-test.csv"
    tested.write_text(re.sub(r"\.$", "", (folder / "adult" / "adult-test.csv").read_text(), flags=re.MULTILINE))
    return Job(folder / "adult" / "adult-train.csv", "--target", "-1", "--test", tested)


class Cover:
    """Forest cover, class 2 against the rest, in two parts drawn by a seed."""

    def __init__(self, folder: Path | None, work: Path) -> None:
        if folder is None or not (folder / "covtype").exists():
            raise NotMeasured("covtype: set --data or $ONLINEAR_DATA")
        self.work = work
        rows, self.targets = covtype(folder)
        self.rows = np.asarray(rows)
        order = np.random.default_rng(0).permutation(len(self.targets))
        count = round(TESTED * len(order))
        self.parts = {"test": order[:count], "train": order[count:]}

    @cached_property
    def job(self) -> Job:
        files = {}
        for name, which in self.parts.items():
            files[name] = self.work / f"covtype-{name}.csv"
            labels = np.where(self.targets[which] > 0, "two", "rest")
            with files[name].open("w") as file:
                file.write(",".join([*(f"c{k}" for k in range(self.rows.shape[1])), "kind"]) + "\n")
                for row, label in zip(self.rows[which].tolist(), labels, strict=True):
                    file.write(",".join(f"{x:g}" for x in row) + f",{label}\n")
        return Job(files["train"], "--target", "kind", "--test", files["test"])

    @cached_property
    def best_of_peers(self) -> float:
        return min(self.vw_error(), self.scikit_learn_error())

    def vw_error(self) -> float:
        """VW's default, logistic, one pass."""
        paths = {name: self.work / f"covtype-{name}.vw" for name in self.parts}
        for name, which in self.parts.items():
            write_text(paths[name], self.rows[which], self.targets[which], bar=" |", first=1)
        model, answers = self.work / "covtype.vwmodel", self.work / "covtype.answers"
        vw_process("-d", paths["train"], "-f", model, "--quiet", *LOGISTIC)
        vw_process("-d", paths["test"], "-t", "-i", model, "--quiet", "-p", answers)
        said = np.loadtxt(answers, usecols=0) > 0.0
        return float((said != (self.targets[self.parts["test"]] > 0)).mean())

    def scikit_learn_error(self) -> float:
        """Scaled logistic SGD, with scikit-learn's defaults."""
        from sklearn.linear_model import SGDClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        model = make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0))
        train, test = self.parts["train"], self.parts["test"]
        model.fit(self.rows[train], self.targets[train])
        return float((model.predict(self.rows[test]) != self.targets[test]).mean())


def allowed(job: Job, limit: float) -> tuple[Cost, Cost]:
    return job.seconds, lambda: limit


def job_rows(folder: Path | None, work: Path) -> Iterator[Line]:
    job = cache(partial(adult, folder, work))
    cover = cache(partial(Cover, folder, work))
    once = {"repeat": 1, "rehearsed": False}
    yield Row("select adult, whole process", "60 s", 1, lambda: allowed(job(), ADULT_SECONDS), **once)  # type: ignore[arg-type]
    yield AtMost(
        "select adult, test error", "15.2 %", 0.0, lambda: (job().error, lambda: ADULT_ERROR), 1, percent, False
    )
    yield Row("select covtype, whole", "180 s", 1, lambda: allowed(cover().job, COVTYPE_SECONDS), **once)  # type: ignore[arg-type]
    yield AtMost(
        "select covtype, test error",
        "best peer",
        0.0,
        lambda: (cover().job.error, lambda: cover().best_of_peers),
        1,
        percent,
        False,
    )
