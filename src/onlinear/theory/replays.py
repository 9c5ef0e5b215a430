"""What :mod:`onlinear.replay` is told to learn a run again in plain Python, and whether the run was so."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, repeat
from typing import Any, NamedTuple

import numpy as np

from onlinear import replay, rules
from onlinear.data.batch import Batch, Rows, importance_of
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.targets import Signs
from onlinear.errors import Diverged
from onlinear.learning.classes import Classes
from onlinear.learning.learner import Learner
from onlinear.learning.model import Model
from onlinear.theory.examples import ExactRows, Examples
from onlinear.theory.subjects import KINKS, StepGroup, Subject, steps_of, subject_of

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
    if isinstance(rule, rules.SGD) and isinstance(rule.schedule, rules.Constant):
        return float(rule.schedule.rate)
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
    columns, importance = None, []
    for block in examples():
        columns = columns_in(block)
        importance.append(importance_in(block))
    numbers = np.concatenate(importance)
    return {
        "rate": rate,
        "margin": float(getattr(steps.loss, "margin", 0.0)),
        "average": int(np.ceil(setting.average)),
        "tie": int(-steps.turn),
        "columns": columns,
        "order": order.name,
        "seed": order.seed,
        "importance": None if (numbers == 1.0).all() else numbers.tolist(),
        "open": is_open,
    }


def columns_in(block: ExactRows) -> int | None:
    """How many columns dense rows have."""
    return block.features if isinstance(block.rows, DenseRows) else None


def importance_in(block: ExactRows) -> np.ndarray:
    return importance_of(block.importance, len(block.targets))


def order_of_fit(model: Any) -> RowOrder | None:
    """The order in which ``fit`` of an estimator goes over its rows; None if nobody can know it."""
    seed: Any = getattr(model, "random_state", None)
    has_seed = isinstance(seed, int | np.integer)
    if hasattr(model, "shuffle"):
        if not model.shuffle:
            return STREAM
        return RowOrder("xorshift", model._shuffle_seed()) if has_seed else None
    name = getattr(model, "order", "stream")
    if name == "stream":
        return STREAM
    return RowOrder("shuffle", int(seed)) if name == "shuffle" and has_seed else None


def is_long(examples: Examples, count: int) -> bool:
    """Whether a replay of so many examples of these rows takes too long to be begun."""
    rows, entries, columns = 0, 0, None
    for block in examples():
        rows, entries = rows + len(block.targets), entries + block.entries().nnz
        columns = columns_in(block)
    return replay.steps_over(rows, entries, columns) * count > replay.MOST_STEPS * rows


def learned_alike(found: Subject, steps: StepGroup, order: RowOrder, is_open: bool, examples: Examples) -> bool:
    """Whether the rows, learned in this order as often as they were, make the same weights, counts and sums of steps.

    ``examples`` have the targets of one class against the rest. A model that ``is_open`` never came by ``fit``, which
    alone knows other orders than that of the stream.
    """
    passes, rest = divmod(found.examples, sum(len(block.targets) for block in examples()))
    if rest:
        return False
    try:
        if is_open:
            again = subject_of(learned_as_they_come(steps, examples, passes))
        elif order is STREAM:
            again = subject_of(learned_in_order(steps, order, examples, passes))
        else:  # across blocks
            whole = joined([*examples()])
            again = subject_of(learned_in_order(steps, order, lambda: [whole], passes))
    except Diverged:
        return False
    return numbers_in(again) == numbers_in(found)


def numbers_in(subject: Subject) -> tuple[Any, ...]:
    """What a certificate says of a run."""
    weights, last = subject.weights.written(), subject.last.written()
    counts = subject.examples, subject.updates, subject.mistakes
    return weights, last, counts, subject.run, subject.pull


def learned_in_order(steps: StepGroup, order: RowOrder, examples: Examples, passes: int) -> StepGroup:
    """The steps of an output alone, whose targets were known from the start."""
    alone = Learner(steps.loss, steps.rule, features=steps.learner.features, settings=steps.setting)
    turns = repeat(None) if order is STREAM else permutations(order, examples)
    for turn in islice(turns, passes):
        for block in examples():
            alone.learn(Batch(block.rows, Signs(steps.turn * block.targets), importance_in(block)), turn)
    return StepGroup(alone, [0], steps.turn, 1, steps.counts_mistakes)


def permutations(order: RowOrder, examples: Examples) -> Iterator[np.ndarray]:
    """For each pass the order of the rows, which are one block."""
    (block,) = examples()
    return map(np.array, replay.orders(order.name, order.seed, len(block.targets)))


def learned_as_they_come(steps: StepGroup, examples: Examples, passes: int) -> StepGroup:
    """The steps of a model that meets its classes, one or two, as they come."""
    model = Model.create(steps.loss, steps.rule, steps.setting, Classes(open=True), columns=steps.learner.features)
    for _ in range(passes):
        for block in examples():
            model.learn_rows(block.rows, block.targets, importance_in(block))
    assert model.classes is not None
    return steps_of(model.learner, model.classes, len(model.classes) - 1)


def joined(blocks: list[ExactRows]) -> ExactRows:
    """All rows in one block."""
    if len(blocks) == 1:
        return blocks[0]
    targets = np.concatenate([block.targets for block in blocks])
    importance = np.concatenate([importance_in(block) for block in blocks])
    return ExactRows(joined_rows([block.rows for block in blocks]), blocks[0].features, targets, importance)


def joined_rows(parts: list[Any]) -> Rows:
    first = parts[0]
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
