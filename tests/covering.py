"""Which cases the laws are tried on: every pair of the registry interpreted, and a covering set of them compiled.

Some of the covering set come once more with wide rows, and are compiled already: dense and sparse rows that are
added up in lanes, and a table that is too large to be close to the processor.

Compiling every pair for every kind of row and dtype would take half an hour. The covering set, chosen greedily from the
registry, has each loss with two rules and each rule with two losses (as far as the table allows), each rule on
dense and on sparse rows and in both dtypes, and each kind of row with each dtype twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from cases import PLAIN, Bits, Data, batch_of, bits_of, data_for, learner_for, rule_of
from onlinear import registry
from onlinear.data.batch import Batch
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner
from onlinear.rules.matrix import MOST_FEATURES

KINDS = ("dense", "sparse")
DTYPES = ("float64", "float32")
#: how many features a wide case has: dense rows are long from 128 on, sparse ones from 64 entries on, and a table is
#: large from 2^17 numbers on
WIDTHS = {"dense": (150,), "sparse": (400, 200_000)}


class Case(NamedTuple):
    """What the laws are tried on."""

    loss: str
    rule: str
    kind: str
    dtype: str
    compiled: bool
    features: int = 11

    def data(self, **more: Any) -> Data:
        return drawn_once(self, **more)

    def learner(self, settings: Any = PLAIN, **more: Any) -> Learner:
        return learner_for(self.loss, self.rule, self.data(), settings, compiled=self.compiled, **more)

    def batch(self, data: Data | None = None) -> Batch:
        return batch_once(self) if data is None else batch_of(data, self.loss, self.kind, np.dtype(self.dtype))

    def settings(self) -> list[Settings]:
        """Every option that the rule takes, alone and with the average."""
        found = [Settings(), Settings(average=4.0, intercept=False)]
        if self.rule in registry.PENALISED:
            found += [Settings(l1=0.02, l2=0.1), Settings(l2=0.1, average=1.0), Settings(l1=0.02, average=3.0)]
        if self.rule in registry.FORGETTING:
            found += [Settings(forget=0.05)]
        return found

    def __str__(self) -> str:
        how = "compiled" if self.compiled else "interpreted"
        width = "" if self.features == 11 else f"-{self.features}"
        return f"{self.loss}-{self.rule}-{self.kind}-{self.dtype}-{how}{width}"


@cache
def drawn_once(case: Case, **more: Any) -> Data:
    """Rows that the case's type of numbers holds."""
    data = data_for(case.loss, **{"features": case.features, **more})
    return data._replace(X=data.X.astype(case.dtype).astype(np.float64))


@cache
def batch_once(case: Case) -> Batch:
    """Its rows as a batch, which nobody writes to."""
    return batch_of(case.data(), case.loss, case.kind, np.dtype(case.dtype))


@cache
def bits_in_one_go(case: Case, settings: Settings) -> Bits:
    """What every other way of learning the same rows must come to."""
    learner = case.learner(settings)
    learner.learn(case.batch())
    return bits_of(learner)


def met_by(case: Case) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The demands a case helps to meet, each with what must differ the second time."""
    yield ("loss", case.loss), case.rule
    yield ("rule", case.rule), case.loss
    yield ("kinds of rows", case.rule), case.kind
    yield ("dtypes", case.rule), case.dtype
    yield ("kind and dtype", case.kind, case.dtype), (case.loss, case.rule)


def demands_on_width(case: Case) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each rule with each width, and each loss with some."""
    yield ("width", case.rule, str(case.features)), None
    yield ("loss", case.loss), None


def covering_set() -> list[Case]:
    """Of all pairs, kinds of rows and dtypes."""
    every_pair = product(registry.pairs(), KINDS, DTYPES)
    return chosen_from([Case(*pair, kind, dtype, True) for pair, kind, dtype in every_pair], met_by)


def wide_set() -> list[Case]:
    """Of the covering set, so that nothing else is compiled; a matrix over 200 000 features there is not."""
    wide = [case._replace(features=features) for case in COVERING for features in WIDTHS[case.kind]]
    possible = [case for case in wide if case.features <= MOST_FEATURES or not hasattr(rule_of(case.rule), "growth")]
    return chosen_from(possible, demands_on_width)


def chosen_from(choices: list[Case], met_by: Any) -> list[Case]:
    """The case that meets most unmet demands, again and again until none are left; the first of equals."""
    possible: dict[tuple[str, ...], set[Any]] = {}
    for case in choices:
        for demand, differing in met_by(case):
            possible.setdefault(demand, set()).add(differing)
    got: dict[tuple[str, ...], set[Any]] = {demand: set() for demand in possible}

    def gain(case: Case) -> int:
        return sum(
            differing not in got[demand] and len(got[demand]) < min(2, len(possible[demand]))
            for demand, differing in met_by(case)
        )

    chosen: list[Case] = []
    while True:
        best = max(choices, key=gain)
        if gain(best) == 0:
            return chosen
        chosen.append(best)
        for demand, differing in met_by(best):
            got[demand].add(differing)


INTERPRETED = [Case(loss, rule, kind, "float64", False) for (loss, rule), kind in product(registry.pairs(), KINDS)]
COVERING = covering_set()
WIDE = wide_set()
COMPILED_NARROW = [pytest.param(case, marks=pytest.mark.compiles) for case in COVERING]
COMPILED = [*COMPILED_NARROW, *(pytest.param(case, marks=pytest.mark.compiles) for case in WIDE)]

every_case = pytest.mark.parametrize("case", [*INTERPRETED, *COMPILED], ids=str)
#: for one of the files with many cases: workers that went through all of them side by side would compile each one twice
every_case_backwards = pytest.mark.parametrize("case", [*INTERPRETED, *reversed(COMPILED)], ids=str)
every_narrow_case = pytest.mark.parametrize("case", [*INTERPRETED, *COMPILED_NARROW], ids=str)
compiled_case = pytest.mark.parametrize("case", COMPILED, ids=str)
