"""Learning and answering one dict row: the shortest way from a Python dict to the same loops.

A call from Python into compiled code costs more than the arithmetic of a short row, and most of that is unpacking
arguments: every tuple and array adds its share. So a call here takes few numbers only, one of them the address of an
array: ``place`` holds further addresses and sizes, and the address of ``numbers``, the fields of loss, rule and
options. The compiled code puts the pieces together again. It answers a score, or NaN: then the row was not learned, or,
for a caller who is alone with the learner, ``CODE`` of the small array tells more.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import carray, types

from onlinear.data.rows import LONG_SPARSE, SparseRows, cell_get, row_dot
from onlinear.data.targets import Averaged, Labels, Numbers
from onlinear.kernels.compiler.cpython import call_at, pointer
from onlinear.kernels.compiler.inlining import inlined, overload_of
from onlinear.kernels.compiler.loop import compile_loop
from onlinear.kernels.dicts.argument_block import (
    BIAS,
    BLOCKS,
    CHANGED,
    CLASSES,
    COLUMNS,
    COUNTERS_AT,
    FEATURES,
    FIRST,
    GATHERED,
    GATHERED_ROOM,
    GIVEN,
    KNOWN_READER,
    LOOKED,
    NUMBERS,
    OUTPUT_ROOM,
    OUTPUTS,
    PLACE,
    READER,
    ROOM,
    SCORES,
    SCRATCH_AT,
    SCRATCH_ROOM,
    SEQUENCE,
    SLOTS,
    SMALL,
    TABLE,
    VALUES,
)
from onlinear.kernels.learn.cells import apply_lazy_penalty, load_cell
from onlinear.kernels.learn.changes import note_change
from onlinear.kernels.learn.loops import interpreted_loop, kind_of
from onlinear.kernels.learn.state import (
    COUNT,
    COUNTERS,
    EXAMPLES,
    MASS,
    OWED,
    SCALE,
    SCORE,
    SCRATCH,
    LoopOptions,
    State,
    T,
)
from onlinear.system.locks import BUSY, GENERATION, VERSION

#: how many numbers the options are
OPTIONS = len(LoopOptions._fields)

# entries of the small array: where the row starts and stops, its order, label, importance, target
STOP, ORDER, LABEL, WEIGHTS, CODE = 1, 2, 3, 4, 6

#: codes beside those of :mod:`onlinear.kernels.dicts.name_index`: the row cannot be learned and was undone; a power of
#: two came
CANNOT = -3
MARK = 1
#: the address of no dict: the row was read before
READ = 0


@inlined
def state_at(place):
    """The learner's arrays, from their addresses."""
    outputs, slots = place[OUTPUTS], place[SLOTS]
    return State(
        carray(pointer(place[TABLE]), (place[FEATURES], place[OUTPUT_ROOM], slots), np.float64),
        carray(pointer(place[BIAS]), (outputs, slots), np.float64),
        carray(pointer(place[COUNTERS_AT]), (outputs, COUNTERS), np.float64),
        carray(pointer(place[GATHERED]), (outputs, slots, place[GATHERED_ROOM]), np.float64),
        carray(pointer(place[SCRATCH_AT]), (SCRATCH, place[SCRATCH_ROOM]), np.float64),
    )


@inlined
def rows_at(place, length):
    """One row of the given length in the scratch arrays."""
    small = carray(pointer(place[SMALL]), 8, np.int64)
    small[0], small[STOP], small[ORDER] = 0, length, 0
    return SparseRows(
        small[:2],
        carray(pointer(place[COLUMNS]), place[ROOM], np.uint32),
        carray(pointer(place[VALUES]), place[ROOM], np.float64),
    )


def make(cls, inner, numbers, start):
    """Build a named tuple from consecutive numbers; its only field may be another one, ``inner``."""
    raise NotImplementedError("compiled code only")


@overload_of(make)
def _make(cls, inner, numbers, start):
    def fields(count):
        return ", ".join(f"numbers[start + {k}]" for k in range(count))

    built = cls.instance_class
    if isinstance(inner, types.NoneType):
        text = f"built({fields(len(built._fields))})"
    else:
        text = f"built(nested({fields(len(inner.instance_class._fields))}))"
    scope = {"built": built, "nested": getattr(inner, "instance_class", None)}
    exec(f"def implementation(cls, inner, numbers, start): return {text}", scope)
    return scope["implementation"]


class Shape(NamedTuple):
    """Everything the compiled code of one row depends on."""

    loss: type
    rule: type
    inner: type | None  # the schedule, where the rule has one
    labels: bool
    averages: bool  # whether it answers with averaged weights

    @property
    def nested(self) -> tuple[Any, Any]:
        """The shapes of loss and rule, as :func:`onlinear.kernels.learn.bank.shape_of` gives them."""
        inner = flat(self.inner) if self.inner else None
        return flat(self.loss), (self.rule, inner) if inner else flat(self.rule)


def flat(cls: Any) -> tuple[Any, ...]:
    """The shape of a named tuple of numbers."""
    return cls, *[float] * len(cls._fields)


@cache
def learn_one_loop(shape: Shape) -> Any:
    """Compiled ``learn(place_at, x, target, importance) -> score of the first output``; all of them go to SCORES.

    Where answers are averaged, the scores are those of the average.
    """
    Loss, Rule, Inner = shape.loss, shape.rule, shape.inner
    learn_rows = interpreted_loop(shape.rule)
    plain_targets = label_of if shape.labels else number_of
    targets_of = averaged_targets(plain_targets) if shape.averages else plain_targets
    answer = averaged_answer if shape.averages else answer_before
    rule_at = len(Loss._fields)
    options_at = rule_at + len((Inner or Rule)._fields)

    def learn(place_at, x, target, importance):
        place = carray(pointer(place_at), PLACE, np.int64)
        numbers = carray(pointer(place[NUMBERS]), options_at + OPTIONS, np.float64)
        sequence = carray(pointer(place[SEQUENCE]), 2, np.int64)
        if sequence[GENERATION] != place[LOOKED]:
            return np.nan
        state = state_at(place)
        small = carray(pointer(place[SMALL]), 8, np.int64)
        examples = np.int64(state.counters[0, EXAMPLES]) + 1
        is_marked = examples & (examples - 1) == 0
        if is_marked and place[LOOKED] != BUSY:
            return np.nan  # figures are kept at 1, 2, 4, 8, ... examples, which takes more than one step
        length = place[GIVEN]
        if x != READ:
            length = call_at(place[READER], place_at, x)
            if length < 0:
                small[CODE] = length
                return np.nan
        rows = rows_at(place, length)
        weights = carray(pointer(place[SMALL] + 8 * WEIGHTS), 2, np.float64)
        weights[0], weights[1] = importance, target
        learned = learn_rows(
            make(Loss, None, numbers, 0),
            make(Rule, Inner, numbers, rule_at),
            make(LoopOptions, None, numbers, options_at),
            rows,
            targets_of(place, small, weights, target),
            weights[:1],
            small[ORDER : ORDER + 1],
            state,
        )
        if learned == 0:
            small[CODE] = CANNOT
            return np.nan
        sequence[VERSION] += 1
        note_change(rows.columns, length, carray(pointer(place[CHANGED]), place[BLOCKS], np.uint8))
        score = answer(place, state)
        if is_marked:
            small[CODE] = MARK
            return np.nan
        return score

    return compile_loop(learn, *shape.nested, shape.labels, shape.averages, nogil=False)


@inlined
def label_of(place, small, weights, target):
    small[LABEL] = np.int64(target)
    return Labels(small[LABEL : LABEL + 1], place[FIRST], place[CLASSES])


@inlined
def number_of(place, small, weights, target):
    return Numbers(weights[1:2])


def averaged_targets(plain_targets):
    @inlined
    def targets_of(place, small, weights, target):
        answers = carray(pointer(place[SCORES]), place[OUTPUTS], np.float64)
        return Averaged(plain_targets(place, small, weights, target), answers)

    return targets_of


@inlined
def averaged_answer(place, state):
    """The first output's score; all are in SCORES already."""
    return carray(pointer(place[SCORES]), 1, np.float64)[0]


@inlined
def answer_before(place, state):
    """The first output's score; all go to SCORES."""
    scores = carray(pointer(place[SCORES]), place[OUTPUTS], np.float64)
    for m in range(place[OUTPUTS]):
        scores[m] = state.counters[m, SCORE]
    return scores[0]


# ------------------------------------------------------------------ answering


@cache
def answer_one_loop(shape: Shape) -> Any:
    """Compiled ``answer(place_at, x) -> score of the first output``; all of them go to SCORES. Pure.

    NaN, too, where the arrays have moved or someone is in the midst of changing them: see :mod:`onlinear.system.locks`.
    """
    Loss, Rule, Inner = shape.loss, shape.rule, shape.inner
    weight_now = cell_weight if kind_of(shape.rule) == "cells" else uniform_weight
    rule_at = len(Loss._fields)
    options_at = rule_at + len((Inner or Rule)._fields)

    def answer(place_at, x):
        place = carray(pointer(place_at), PLACE, np.int64)
        numbers = carray(pointer(place[NUMBERS]), options_at + OPTIONS, np.float64)
        scores = carray(pointer(place[SCORES]), place[OUTPUTS], np.float64)
        sequence = carray(pointer(place[SEQUENCE]), 2, np.int64)
        if sequence[GENERATION] != place[LOOKED]:
            return np.nan
        length = call_at(place[KNOWN_READER], place_at, x)
        if length < 0:
            return np.nan
        rows = rows_at(place, length)
        state = state_at(place)
        rule = make(Rule, Inner, numbers, rule_at)
        options = make(LoopOptions, None, numbers, options_at)
        for m in range(place[OUTPUTS]):
            scores[m] = score_now(rule, options, rows, m, weight_now, state)
        return scores[0]

    return compile_loop(answer, *shape.nested, nogil=False)


@inlined
def score_now(rule, options, rows, m, weight_now, state):
    """The row's score with the weights as of now: penalties paid, averages formed, nothing changed."""
    counters = state.counters
    length = rows.starts[1]
    if options.average_from == 0.0 and options.last_touched_slot < 0.0:
        return row_dot(rows, 0, state.table, m) * counters[m, SCALE] + state.bias[m, 0]
    # added up in the order of sparse_dot
    even = length - length % 4 if length >= LONG_SPARSE else 0
    a0 = a1 = a2 = a3 = rest = 0.0
    for k in range(length):
        product = weight_now(rule, options, rows, rows.columns[k], m, state) * rows.values[k]
        lane = k % 4
        if k >= even:
            rest += product
        elif lane == 0:
            a0 += product
        elif lane == 1:
            a1 += product
        elif lane == 2:
            a2 += product
        else:
            a3 += product
    total = ((a0 + a2) + (a1 + a3)) + rest
    bias = state.bias[m, 0]
    if options.average_from > 0.0 and counters[m, COUNT] > 0.0:
        bias -= state.bias[m, int(options.mean_slot)] / counters[m, COUNT]
    return total + bias


@inlined
def uniform_weight(rule, options, rows, j, m, state):
    counters = state.counters
    v = cell_get(rows, state.table, j, m, 0)
    if options.average_from > 0.0 and counters[m, COUNT] > 0.0:
        spent = cell_get(rows, state.table, j, m, int(options.mean_slot))
        mass = 0.0 if options.eager > 0.0 else counters[m, MASS]
        return (mass * v - spent) / counters[m, COUNT]
    w = v * counters[m, SCALE]
    if options.l1 > 0.0:
        paid = cell_get(rows, state.table, j, m, int(options.last_touched_slot))
        if w > 0.0:
            w = max(0.0, w - (counters[m, OWED] + paid))
        elif w < 0.0:
            w = min(0.0, w + (counters[m, OWED] - paid))
    return w


@inlined
def cell_weight(rule, options, rows, j, m, state):
    counters = state.counters
    if options.average_from > 0.0 and counters[m, COUNT] > 0.0:
        spent = cell_get(rows, state.table, j, m, int(options.mean_slot))
        mass = 0.0 if options.eager > 0.0 else counters[m, COUNT]
        return (mass * cell_get(rows, state.table, j, m, 0) - spent) / counters[m, COUNT]
    cell = load_cell(rule, rows, state.table, j, m)
    if options.last_touched_slot >= 0.0 and options.forget == 0.0:
        skipped = counters[m, T] - cell_get(rows, state.table, j, m, int(options.last_touched_slot))
        return apply_lazy_penalty(rule, cell, skipped, options)[0]
    return cell[0]
