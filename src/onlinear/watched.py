"""Targets that are watched: they write down how wrong each example was before it was learned."""

from __future__ import annotations

from typing import Any, NamedTuple

from onlinear.rows import Labels, Numbers, Signs, judge, target_of, target_size


class WatchedClasses(NamedTuple):
    """Signs or labels that write 1 to ``wrong`` where the first output's answer was wrong, else 0."""

    values: Any  # those of the targets, which row losses look at
    targets: Any
    wrong: Any

    def target_of(self, i: int, m: int) -> float:
        return target_of(self.targets, i, m)

    def size(self, target: float, largest: float) -> float:
        return target_size(self.targets, target, largest)

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        before = mistakes[0]
        judge(self.targets, i, scores, mistakes)
        self.wrong[i] = mistakes[0] - before


class WatchedNumbers(NamedTuple):
    """Numbers that write to ``wrong`` the relative error ``|s - y| / (|s| + |y|)`` of the first output's score.

    It lies between 0 and 1, whatever the unit of the targets.
    """

    values: Any
    wrong: Any

    def target_of(self, i: int, m: int) -> float:
        return self.values[i]

    def size(self, target: float, largest: float) -> float:
        return max(abs(target), largest)

    def judge(self, i: int, scores: Any, mistakes: Any) -> None:
        score, target = scores[0], self.values[i]
        both = abs(score) + abs(target)
        self.wrong[i] = min(abs(score / both - target / both), 1.0) if both > 0.0 else 0.0


def watched(targets: Numbers | Signs | Labels, wrong: Any) -> WatchedNumbers | WatchedClasses:
    """The same targets, which write down how wrong each example was."""
    if isinstance(targets, Numbers):
        return WatchedNumbers(targets.values, wrong)
    return WatchedClasses(targets.values, targets, wrong)
