"""What a learning loop changes, and what it is told besides loss and rule."""

from __future__ import annotations

from typing import Any, NamedTuple

# columns of the counters: numbers kept for every output
T = 0  # examples learned from
SCALE = 1  # the weights are SCALE times what the table holds (lazy L2)
OWED = 2  # L1 penalty that every weight should have paid so far
MASS = 3  # weight of the examples averaged so far, in units of the table
COUNT = 4  # examples averaged so far
WEIGHT = 5  # importance seen by ``prepare``
SPREAD = 6  # what ``prepare`` answered, summed over examples
NORM = 7  # squared length of the weights, kept where a stopping rule asks for it
OBJECTIVE = 8  # sum of loss and penalty over the present pass
LOSS = 9  # sum of importance times the loss of what was answered: with the average, where there is one
UPDATES = 10  # examples whose slope was not zero
MISTAKES = 11  # wrong answers: of the average, where there is one
PACE = 12  # examples as the schedule counts them (forgetting makes it forget)
ACTIVE = 13  # 0 where an output has stopped
NEGATIVE = 14  # factor on the importance of negative targets
POSITIVE = 15  # factor on the importance of positive targets
EXAMPLES = 16  # examples scored (the first output counts)
IMPORTANCE = 17  # importance of all examples scored (the first output counts)
SIZE = 18  # the largest |target| of a regression, 1 of a classification
FLUSHED = 19  # the scale at which the average was last written down
PULL = 20  # of a uniform rule, like the next two: the steps' sizes summed, shrunk as the weights are
PULLED = 21  # the same, summed over the examples averaged so far
SQUARES = 22  # the squares of the steps' sizes
RADIUS = 23  # the largest squared length of a row (the first output counts), where the rule asks for it
UNAVERAGED_LOSS = 24  # where weights are averaged, like the next: what LOSS would be without
UNAVERAGED_MISTAKES = 25
# 26 and 27 are free
SCORE = 28  # of the row at hand, like the next three; of the weights that learn, not of their average
VALUE = 29
SLOPE = 30
STEP = 31  # of a uniform rule; with cells, where they are
COUNTERS = 32  # whole cache lines, and what changes with every row at the end of one

#: a smaller scale is written into the table
LEAST_SCALE = 1e-9

# rows of the scratch
SUMS = 0  # of a uniform rule's bank, like the next two, [output, slot]: the row times the weights; of averages, too
AMOUNTS = 1  # how far the row's weights move
FACTORS = 2  # how many times over
REACH = 0  # what ``prepare`` answers first, for each entry
WIDTH = 1  # what it answers second
BEFORE = 2  # the weights before they move
KEPT = 3  # intercepts and counters before the row
ENTRIES = 4  # the values of the row
SCORES = 5  # of a bank, like the next two: scores, values and slopes of the row at hand, side by side
VALUES = 6
SLOPES = 7
SCRATCH = 8


class State(NamedTuple):
    """The arrays of a learner. Few, because compiled functions hand each on in a dozen pieces."""

    table: Any  # weight and what the rule keeps beside it, facing the rows: see :mod:`onlinear.data.rows`
    bias: Any  # [output, slot]: the same for the intercept
    counters: Any  # [output, COUNTERS]: an output's numbers share few cache lines, at fixed distances
    gathered: Any  # [output, slot, entry]: the cells of the sparse row at hand, for a rule that has them
    scratch: Any  # [SCRATCH, entry]: see above


class LoneState(NamedTuple):
    """The same for a learner with one output: that there is one is compiled into the loop, a fifth of its time."""

    table: Any
    bias: Any
    counters: Any
    gathered: Any
    scratch: Any


class MatrixState(NamedTuple):
    """The arrays of a learner with a matrix rule."""

    table: Any
    bias: Any
    counters: Any
    matrix: Any  # [output, feature, feature]
    dense: Any  # [2, feature]: scratch


class LoopOptions(NamedTuple):
    """How to learn, beside loss and rule."""

    alpha: float = 1.0  # strength of the penalty ``alpha (l1 |w| + l2 w^2 / 2)``
    l1: float = 0.0
    l2: float = 0.0
    forget: float = 0.0  # share of what was gathered that is forgotten with each example
    average_from: float = 0.0  # first example of the average; 0: no average
    eager: float = 0.0  # 1 where average or penalty have no lazy form
    intercept: float = 1.0  # 1 to learn an intercept
    intercept_rate: float = 1.0  # factor on its steps
    intercept_norm: float = 1.0  # what it adds to the squared length of a row
    track: float = 0.0  # 1 to keep NORM and add the penalty to OBJECTIVE
    last_touched_slot: float = -1.0  # slot of the L1 penalty that the weight has paid, or of when it last paid
    mean_slot: float = -1.0  # slot of the average
