"""Adapting: a learner in time order, a detector that looks at its errors, and what is done at an alarm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onlinear.data.batch import Batch, check_columns, check_rows
from onlinear.data.targets import Numbers, Signs, Watched
from onlinear.drift import DETECTORS
from onlinear.drift.adwin import ADWIN
from onlinear.drift.curve import Curve
from onlinear.drift.page_hinkley import PageHinkley
from onlinear.drift.policies import POLICIES, check_policy
from onlinear.errors import Refused
from onlinear.features.blocks import part_of
from onlinear.learning.learner import Learner
from onlinear.streams.packing import Number, unpack_value

#: alarms are acted on after every so many examples of the learner's, counted from its first: blocks mean nothing
STRETCH = 32


class Alarm(NamedTuple):
    """After how many examples the learner was told, and how far the error had risen."""

    example: int
    rise: float


class Adapting:
    """Lets learners learn rows in the order of time, and act when a detector says that their error has risen.

    Each example is predicted before it is learned. The detector gets 1 for a wrong answer and 0 for a right one, of a
    regression the relative error ``|s - y| / (|s| + |y|)``. An error that falls is no alarm: the learner is learning.
    After an alarm the detector starts anew, since the errors to come are those of another learner.

    ``on_drift`` is ``"ignore"``, ``"reset"`` (start again from zero) or ``"faster"`` (keep the weights, forget what
    makes steps small): see :mod:`onlinear.drift.policies`.

    >>> import numpy as np
    >>> from onlinear import Learner, losses, rules
    >>> from onlinear.data.batch import Batch, rows_of
    >>> from onlinear.data.targets import Signs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 3))
    >>> y = np.where(X[:, 0] > 0.0, 1.0, -1.0) * np.repeat([1.0, -1.0], 2000)  # what was right becomes wrong
    >>> learner, adapting = Learner(losses.Logistic(), rules.AdaGrad(), features=3), Adapting("reset")
    >>> adapting.learn(learner, Batch(rows_of(X), Signs(y), np.ones(4000)))
    >>> [2000 < alarm.example < 2100 for alarm in adapting.alarms]
    [True]
    """

    def __init__(self, on_drift: str = "faster", detector: ADWIN | PageHinkley | None = None) -> None:
        if on_drift not in POLICIES:
            raise Refused(f"there is no policy {on_drift!r} for drift: choose one of {', '.join(POLICIES)}")
        self.on_drift = on_drift
        self.detector = detector or ADWIN()
        self.alarms: list[Alarm] = []
        self.curve = Curve()
        self._due = 0.0  # how far the error has risen, if there was an alarm that the learner is yet to be told of

    @property
    def error(self) -> float:
        """The progressive error: the mean over all examples, each predicted before it was learned."""
        return self.curve.mean

    @property
    def detector_name(self) -> str:
        return next(name for name, kind in DETECTORS.items() if type(self.detector) is kind)

    def learn(self, learner: Learner, batch: Batch, start: int = 0, stop: int | None = None) -> None:
        """Learn the rows of a batch, from one to another. A bad row refuses the batch before any weight moves."""
        check_policy(self.on_drift, learner)
        if not batch.sound:
            check_columns(batch.rows, learner.features)
            check_rows(batch.rows, batch.names)
        stop = len(batch) if stop is None else stop
        ends = start + ends_of_stretches(learner.examples, batch.importance[start:stop])
        for end in [*ends.tolist(), stop]:
            if start < end:
                self._learn_stretch(learner, batch, start, end)
            start = end

    def _learn_stretch(self, learner: Learner, batch: Batch, start: int, stop: int) -> None:
        importance, before = batch.importance[start:stop], learner.examples
        targets: Any = batch.targets
        targets, scores = targets._replace(values=targets.values[start:stop]), np.zeros((stop - start, learner.outputs))
        rows = part_of(batch.rows, start, stop)
        try:
            learner.learn(Batch(rows, Watched(targets, scores), importance, batch.names, sound=True))
        finally:  # of rows that could not all be learned, those before are
            self._look(errors_of(targets, scores)[importance > 0.0][: learner.examples - before].tolist())
        if self._due and learner.examples % STRETCH == 0:
            self._act(learner)

    def _look(self, errors: list[float]) -> None:
        self.curve.add(errors)
        for error in errors:
            if self.detector.update(error) and self.detector.rise > 0.0:
                self._due = max(self._due, self.detector.rise)

    def _act(self, learner: Learner) -> None:
        self.alarms.append(Alarm(learner.examples, self._due))
        self._due = 0.0
        self.detector = self.detector.anew()
        POLICIES[self.on_drift](learner)

    # -------------------------------------------------------------- to go on later

    def state(self) -> dict[str, Any]:
        """All there is to know, as plain JSON."""
        return {
            "on_drift": self.on_drift,
            "detector": self.detector_name,
            "detector_state": self.detector.state(),
            "alarms": [list(alarm) for alarm in self.alarms],
            "curve": self.curve.state(),
            "due": self._due,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Adapting:
        """The one of which :meth:`state` was asked: it goes on to the bit."""
        adapting = cls(state["on_drift"], DETECTORS[state["detector"]].from_state(state["detector_state"]))
        adapting.alarms = [Alarm(*alarm) for alarm in unpack_value(tuple[tuple[int, Number], ...], state["alarms"])]
        adapting.curve = Curve.from_state(state["curve"])
        adapting._due = unpack_value(Number, state["due"])
        return adapting


def errors_of(targets: Any, scores: np.ndarray) -> np.ndarray:
    """How wrong each score is: 1 or 0 of classes; of numbers ``|s - y| / (|s| + |y|)``, whatever their unit."""
    if isinstance(targets, Numbers):
        both = np.abs(scores[:, 0]) + np.abs(targets.values)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.minimum(np.abs(scores[:, 0] / both - targets.values / both), 1.0)
        return np.where(both > 0.0, relative, 0.0)
    if isinstance(targets, Signs):
        return ((scores[:, 0] > 0.0) != (targets.values > 0.0)).astype(float)
    if targets.classes == 1:
        return ((scores[:, 0] > 0.0) != (targets.values == 1)).astype(float)
    answers = scores[:, : max(targets.classes, 1)].argmax(axis=1)
    return (answers != targets.values).astype(float)


def ends_of_stretches(examples: int, importance: np.ndarray) -> np.ndarray:
    """Where stretches end among rows of this importance, after so many examples; rows of importance 0 are none.

    >>> ends_of_stretches(30, np.ones(40)).tolist(), ends_of_stretches(30, np.array([1.0, 0.0, 1.0, 0.0])).tolist()
    ([2, 34], [3])
    """
    counted = np.cumsum(importance > 0.0)
    last = counted[-1] if len(counted) else 0
    return np.searchsorted(counted, np.arange(STRETCH - examples % STRETCH, last + 1, STRETCH)) + 1
