"""What acting on drift is worth: the progressive error of learners that ignore it, start again, or become faster.

    python benchmarks/drift.py --check

Each run is one pass in the order of time, each example predicted before it is learned. elec2 (the prices of electricity
in New South Wales, 1996 to 1998) is read from ``--data`` or ``$ONLINEAR_DATA``; the other streams are drawn. With
``--check`` the script fails unless on elec2 becoming faster beats ignoring drift, for every rule that slows down.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from data import data_folder
from onlinear import losses, open_stream, registry, rules
from onlinear.drift import ADWIN, Adapting, PageHinkley
from onlinear.errors import Refused
from onlinear.learning.classes import classes_in
from onlinear.learning.configuration import Settings
from onlinear.learning.model import Model
from onlinear.streams.synthetic import Drifting, Noisy
from onlinear.workflow.run import Run

NORMALISED, ADAGRAD = registry.RULES["normalised"], registry.RULES["adagrad"]
RULES: dict[str, Any] = {
    "normalised, rate 0.8": NORMALISED(0.8),
    "normalised, rate 2": NORMALISED(2.0),
    "normalised, rate 5": NORMALISED(5.0),
    "adagrad, rate 0.1": ADAGRAD(0.1),
    "adagrad, rate 1": ADAGRAD(1.0),
    "sgd, rate 1/sqrt(t)": rules.SGD(rules.Power(1.0, 0.5)),
    "sgd, rate 0.1": rules.SGD(rules.Constant(0.1)),
    "sgd, rate 1": rules.SGD(rules.Constant(1.0)),
}


class Even:
    """A stand-in for a detector, which looks at nothing and alarms after every so many values."""

    rise = 1.0

    def __init__(self, every: int) -> None:
        self.every, self.seen = every, 0

    def update(self, value: float) -> bool:
        self.seen += 1
        return self.seen % self.every == 0

    def anew(self) -> Even:
        return Even(self.every)


class Way(NamedTuple):
    """What to do about drift; without a detector, as often as the way before, at even distances."""

    on_drift: str
    detector: ADWIN | PageHinkley | None = ADWIN()
    forget: float = 0.0


WAYS = {
    "static": Way("ignore"),
    "reset": Way("reset"),
    "faster": Way("faster"),
    "evenly": Way("faster", None),
    "delta 0.05": Way("faster", ADWIN(0.05)),
    "page-hinkley": Way("faster", PageHinkley()),
    "forget 0.01": Way("ignore", forget=0.01),
}


class Source(NamedTuple):
    """A stream by name, and what :func:`onlinear.open_stream` is told of it."""

    name: str
    rows: Any
    options: dict[str, Any]


def sources(folder: Path) -> Iterator[Source]:
    elec2 = str(folder / "elec2" / "elec2.csv")
    yield Source("elec2, columns as they come", elec2, {})
    yield Source("elec2, --scale standardise", elec2, {"scale": "standardise"})
    turning = Drifting(n=40_000, d=10, angle=math.pi / 5000, margin=0.05)
    yield Source("hidden vector turns, once around in 10,000 rows", turning, {})
    yield Source("nothing drifts, a tenth of the labels wrong", Noisy(n=40_000, d=10, noise=0.1), {})
    X, y = replaced()
    yield Source("hidden vector replaced every 4,000 rows, a tenth of the labels wrong", X, {"target": y})


def replaced(concepts: int = 10, rows: int = 4000, d: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose hidden vector is drawn anew now and then."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((concepts * rows, d))
    hidden = np.repeat(rng.standard_normal((concepts, d)), rows, axis=0)
    wrong = rng.random(len(X)) < 0.1
    return X, np.where(((X * hidden).sum(axis=1) > 0.0) != wrong, 1.0, -1.0)


def adapted(source: Source, rule: Any, way: Way, alarms: int) -> Adapting:
    """What came of a pass over a stream, with so many alarms if they are to come at even distances."""
    stream = open_stream(source.rows, **source.options)
    labels = np.concatenate([block.labels for block in stream.blocks(stop_at_bad=True)])
    settings = Settings(forget=way.forget)
    training = Model.create(losses.Logistic(), rule, settings, classes_in([labels]), stream.recipe.bits)
    detector: Any = way.detector or Even(len(labels) // (alarms + 1) + 1)
    training.adapting = Adapting(way.on_drift, detector.anew())
    for _ in Run(training, stream, 1).steps():
        pass
    return training.adapting


def table(source: Source) -> Iterator[tuple[str, dict[str, float]]]:
    """The lines of a table, each with its errors by way."""
    yield f"\n### {source.name}\n\n| rule | {' | '.join(WAYS)} |\n|---|{'---|' * len(WAYS)}", {}
    for name, rule in RULES.items():
        errors, cells, alarms = {}, [], 0
        for way, wanted in WAYS.items():
            try:
                found = adapted(source, rule, wanted, alarms)
            except Refused:  # becoming faster means nothing for it
                cells.append("-")
                continue
            errors[way], alarms = found.error, len(found.alarms)
            cells.append(f"{found.error:.2%} ({alarms})")
        yield f"| {name} | {' | '.join(cells)} |", errors


def detectors_spend() -> Iterator[str]:
    """How long detectors take by themselves."""
    for many in (45_312, 581_012):
        values = (np.random.default_rng(0).random(many) < 0.2).astype(float).tolist()
        for detector in (ADWIN(), PageHinkley()):
            began = time.perf_counter()
            detector.update_many(values)
            yield f"{type(detector).__name__}: {many:,} values in {time.perf_counter() - began:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the data sets; $ONLINEAR_DATA if not given")
    parser.add_argument("--check", action="store_true", help="fail unless becoming faster is worth it on elec2")
    wanted = parser.parse_args()
    worse = []
    for source in sources(data_folder(wanted.data)):
        for line, errors in table(source):
            print(line, flush=True)
            if source.name.startswith("elec2") and "faster" in errors and errors["faster"] >= errors["static"]:
                worse.append(f"{source.name}: {line}")
    print("", *detectors_spend(), sep="\n")
    if wanted.check and worse:
        raise SystemExit("\n".join(["becoming faster is not worth it:", *worse]))


if __name__ == "__main__":
    main()
