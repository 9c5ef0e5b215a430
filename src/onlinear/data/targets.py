"""Targets: what every output of a bank is to learn from a row, with which importance, and what counts as a mistake.

Compiled loops call the methods through the free functions below: see :mod:`onlinear.kernels.compiler.overloads`.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Numbers(NamedTuple):
    """Regression targets: every output of the bank sees the same number, and nothing is a mistake."""

    values: Any

    def badness(self, i: int, answer: float) -> float:
        distance = answer - self.values[i]
        return distance * distance

    def missed(self, i: int, score: float) -> float:
        return 0.0

    def target_of(self, i: int, m: int) -> float:
        return self.values[i]

    def size(self, target: float, largest: float) -> float:
        return max(abs(target), largest)

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        pass


class Signs(NamedTuple):
    """Targets -1 and +1: every output of the bank sees the same sign. A tie answers -1, the first class."""

    values: Any

    def badness(self, i: int, answer: float) -> float:
        return missed(self, i, answer)

    def missed(self, i: int, score: float) -> float:
        return 1.0 if (score > 0.0) != (self.values[i] > 0.0) else 0.0

    def target_of(self, i: int, m: int) -> float:
        return self.values[i]

    def size(self, target: float, largest: float) -> float:
        return 1.0

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        # without a branch, which a processor could only guess; and without a call of missed: it made eight outputs of
        # AdaGrad 12 % slower
        for m in range(scores.shape[0]):
            mistakes[m] += 1.0 if (scores[m] > 0.0) != (self.values[i] > 0.0) else 0.0


class Labels(NamedTuple):
    """Classes 0, 1, ...: output m learns class ``first + m`` against the rest; ``classes`` outputs answer.

    With two classes ``first`` is 1 and one output answers by its sign; with one class none does. Outputs beyond
    ``classes`` stand for classes not yet seen: their label never comes.
    """

    values: Any
    first: int
    classes: int

    def label_of(self, i: int) -> int:
        return self.values[i]

    def target_of(self, i: int, m: int) -> float:
        return 1.0 if self.values[i] == self.first + m else -1.0

    def size(self, target: float, largest: float) -> float:
        return 1.0

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        answer = 0
        if self.classes == 1:
            answer = 1 if scores[0] > 0.0 else 0
        for m in range(1, self.classes):
            if scores[m] > scores[answer]:
                answer = m
        if answer != self.values[i]:
            mistakes[0] += 1.0


class Members(NamedTuple):
    """Targets for a bank of models that are compared, each of one output.

    A model learns a row ``learned[row, model]`` times over. What it answers is judged: a mistake counts 1, a number by
    its squared distance, and ``counted[row, model]`` times that is added to ``counts``. A fold that a model leaves out
    is counted and not learned, the other folds are learned and not counted; a row that a bootstrap replicate has not
    drawn is neither.
    """

    targets: Any
    learned: Any
    counted: Any
    counts: Any

    def target_of(self, i: int, m: int) -> float:
        return target_of(self.targets, i, m)

    def size(self, target: float, largest: float) -> float:
        return target_size(self.targets, target, largest)

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        for m in range(scores.shape[0]):
            self.counts[m] += self.counted[i, m] * badness(self.targets, i, scores[m])
            mistakes[m] += missed(self.targets, i, scores[m]) if self.learned[i, m] > 0 else 0.0

    def count_mistakes(self, i: int, scores: Any, mistakes: Any) -> None:
        for m in range(scores.shape[0]):
            mistakes[m] += missed(self.targets, i, scores[m]) if self.learned[i, m] > 0 else 0.0

    def share_of(self, i: int, m: int) -> float:
        return float(self.learned[i, m])


class ClassMembers(NamedTuple):
    """The same for models that have an output for each class; what is counted of one is found at its first output.

    ``targets`` are the labels for one model, ``width`` is the number of its outputs.
    """

    targets: Any
    width: int
    learned: Any
    counted: Any
    counts: Any

    def label_of(self, i: int) -> int:
        return label_of(self.targets, i)

    def target_of(self, i: int, m: int) -> float:
        return target_of(self.targets, i, m % self.width)

    def size(self, target: float, largest: float) -> float:
        return target_size(self.targets, target, largest)

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        for first in range(0, scores.shape[0], self.width):
            stop = first + self.width
            before = self.counts[first]
            judge(self.targets, i, scores[first:stop], self.counts[first:stop])
            wrong = self.counts[first] - before
            self.counts[first] = before + self.counted[i, first // self.width] * wrong
            mistakes[first] += wrong if share_of(self, i, first) > 0.0 else 0.0

    def count_mistakes(self, i: int, scores: Any, mistakes: Any) -> None:
        for first in range(0, scores.shape[0], self.width):
            stop = first + self.width
            if share_of(self, i, first) > 0.0:
                judge(self.targets, i, scores[first:stop], mistakes[first:stop])

    def share_of(self, i: int, m: int) -> float:
        return float(self.learned[i, m // self.width])


class Watched(NamedTuple):
    """Targets for which what the outputs answer is written down before any weight moves: ``scores[row, output]``."""

    targets: Any
    scores: Any

    def label_of(self, i: int) -> int:
        return label_of(self.targets, i)

    def target_of(self, i: int, m: int) -> float:
        return target_of(self.targets, i, m)

    def size(self, target: float, largest: float) -> float:
        return target_size(self.targets, target, largest)

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        for m in range(scores.shape[0]):
            self.scores[i, m] = scores[m]
        judge(self.targets, i, scores, mistakes)

    def count_mistakes(self, i: int, scores: Any, mistakes: Any) -> None:
        count_mistakes(self.targets, i, scores, mistakes)

    def share_of(self, i: int, m: int) -> float:
        return share_of(self.targets, i, m)


class Averaged(NamedTuple):
    """Targets for outputs that answer with averaged weights, and learn with others.

    ``answers`` is room for what they answer. A type of its own, so that loops without an average know nothing of it.
    """

    targets: Any
    answers: Any

    def take_answer(self, m: int, answer: float) -> None:
        self.answers[m] = answer

    def label_of(self, i: int) -> int:
        return label_of(self.targets, i)

    def target_of(self, i: int, m: int) -> float:
        return target_of(self.targets, i, m)

    def size(self, target: float, largest: float) -> float:
        return target_size(self.targets, target, largest)

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        judge(self.targets, i, scores, mistakes)

    def count_mistakes(self, i: int, scores: Any, mistakes: Any) -> None:
        count_mistakes(self.targets, i, scores, mistakes)

    def share_of(self, i: int, m: int) -> float:
        return share_of(self.targets, i, m)


def label_of(self: Any, i: int) -> int:
    """The class of the row, for a loss that sees all outputs at once."""
    return self.label_of(i)


def target_of(self: Any, i: int, m: int) -> float:
    return self.target_of(i, m)


def target_size(self: Any, target: float, largest: float) -> float:
    """The largest target so far, in absolute value; 1 for the targets of a classification."""
    return self.size(target, largest)


def judge(self: Any, i: int, scores: Any, mistakes: Any) -> None:
    """Count the mistakes of these answers, and whatever else is asked of them."""
    self.judge(i, scores, mistakes)


def count_mistakes(self: Any, i: int, scores: Any, mistakes: Any) -> None:
    """Count the mistakes of these scores, and nothing else."""
    if hasattr(self, "count_mistakes"):
        self.count_mistakes(i, scores, mistakes)
    else:
        judge_all(self, i, scores, mistakes)


def judge_all(self: Any, i: int, scores: Any, mistakes: Any) -> None:
    """:func:`judge` of targets that are asked for mistakes only."""
    judge(self, i, scores, mistakes)


def badness(self: Any, i: int, answer: float) -> float:
    """How bad an answer is: 1 for a mistake, or the squared distance."""
    return self.badness(i, answer)


def missed(self: Any, i: int, score: float) -> float:
    """1 for a mistake; numbers know none."""
    return self.missed(i, score)


def take_answer(self: Any, m: int, answer: float) -> None:
    """Take what output m answers; only outputs that average are asked for it."""
    self.take_answer(m, answer)


def no_answer(self: Any, m: int, answer: float) -> None:
    pass


def share_of(self: Any, i: int, m: int) -> float:
    """What output m takes of the row's importance."""
    if hasattr(self, "share_of"):
        return self.share_of(i, m)
    return all_of_it(self, i, m)


def all_of_it(self: Any, i: int, m: int) -> float:
    return 1.0
