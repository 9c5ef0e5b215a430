"""What :mod:`onlinear.replay` is told to learn a run again in plain Python, and whether the run was so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from onlinear import replay, rules
from onlinear.data.batch import Batch, Rows, importance_of
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.targets import Signs
from onlinear.errors import Diverged
from onlinear.learning.learner import Learner
from onlinear.rules.schedules import Constant
from onlinear.theory.examples import ExactRows, Examples
from onlinear.theory.subjects import KINKS, StepGroup, Subject, subject_of

#: what a certificate says of how the run went: entries for the replay, or the word for why there are none
Replay = dict[str, Any] | str


class RowOrder(NamedTuple):
    """In which order a run went over its rows in each pass: see :func:`onlinear.replay.orders`."""

    name: str
    seed: int | None = None


STREAM = RowOrder("stream")


def rate_of(rule: Any) -> float | None:
    """The rate of a rule whose steps all have one."""
    if isinstance(rule, rules.PerceptronStep):
        return float(rule.rate)
    if isinstance(rule, rules.SGD) and isinstance(rule.schedule, int | float | Constant):
        return float(getattr(rule.schedule, "rate", rule.schedule))
    return None


def replay_of(steps: StepGroup, order: RowOrder, is_open: bool, examples: Examples) -> Replay:
    """What the replay of a run is told.

    Two classes that a learner was told answer a tie by the first; ``is_open`` if it has met them as they came.
    """
    setting, rate = steps.setting, rate_of(steps.rule)
    penalised = setting.l1 > 0.0 or setting.l2 > 0.0
    if rate is None or not rate > 0.0 or steps.stretch > 1 or type(steps.loss) not in KINKS or penalised:
        return "rule"
    if steps.learner.slim:
        return "slim"
    blocks = [*examples()]
    importance = np.concatenate([importance_in(block) for block in blocks])
    is_dense = isinstance(blocks[0].rows, DenseRows)
    return {
        "rate": rate,
        "margin": float(getattr(steps.loss, "margin", 0.0)),
        "average": int(np.ceil(setting.average)),
        "tie": int(-steps.turn),
        "columns": blocks[0].features if is_dense else None,
        "order": order.name,
        "seed": order.seed,
        "importance": None if (importance == 1.0).all() else importance.tolist(),
        "open": is_open,
    }


def importance_in(block: ExactRows) -> np.ndarray:
    return importance_of(block.importance, len(block.targets))


def order_of_fit(model: Any) -> RowOrder | None:
    """The order in which ``fit`` of an estimator goes over its rows; None if nobody can know it."""
    seed = getattr(model, "random_state", None)
    has_seed = isinstance(seed, int | np.integer)
    if hasattr(model, "shuffle"):
        if not model.shuffle:
            return STREAM
        return RowOrder("xorshift", model._shuffle_seed()) if has_seed else None
    name = getattr(model, "order", "stream")
    if name == "stream":
        return STREAM
    return RowOrder("shuffle", int(seed)) if name == "shuffle" and has_seed else None


def learned_alike(found: Subject, steps: StepGroup, order: RowOrder, is_open: bool, examples: Examples) -> bool:
    """Whether the rows, learned in this order as often as they were, make the same weights, counts and sums of steps.

    ``examples`` have the targets of one class against the rest. Mistakes of classes that came one after the other are
    counted otherwise, and not compared.
    """
    blocks = [*examples()] if order is STREAM else [joined([*examples()])]
    batches = [Batch(block.rows, Signs(steps.turn * block.targets), importance_in(block)) for block in blocks]
    length = sum(map(len, batches))
    alone = Learner(steps.loss, steps.rule, features=steps.learner.features, settings=steps.setting)
    turns: Iterator[Any] = replay.orders(order.name, order.seed, length)
    try:
        for _ in range(found.examples // length):
            turn = None if order is STREAM else np.array(next(turns))
            for batch in batches:
                alone.learn(batch, turn)
    except Diverged:
        return False
    again = subject_of(StepGroup(alone, [0], steps.turn, 1, steps.counts_mistakes))
    return figures_of(again, is_open) == figures_of(found, is_open)


def figures_of(subject: Subject, is_open: bool) -> tuple[Any, ...]:
    weights, last = subject.weights.written(), subject.last.written()
    mistakes = None if is_open else subject.mistakes
    return weights, last, subject.examples, subject.updates, mistakes, subject.run, subject.pull


def joined(blocks: list[ExactRows]) -> ExactRows:
    """All rows in one block."""
    first = blocks[0]
    targets = np.concatenate([block.targets for block in blocks])
    importance = np.concatenate([importance_in(block) for block in blocks])
    return ExactRows(joined_rows([block.rows for block in blocks]), first.features, targets, importance)


def joined_rows(parts: list[Rows]) -> Rows:
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, DenseRows):
        return DenseRows(np.concatenate([part.values for part in parts]))
    spans = [slice(part.starts[0], part.starts[-1]) for part in parts]
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(first.starts.dtype)
    columns, values = (
        np.concatenate([getattr(part, name)[span] for part, span in zip(parts, spans, strict=True)])
        for name in ("columns", "values")
    )
    return SparseRows(starts, columns, values)
