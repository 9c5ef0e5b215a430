"""The parts of a table: the rows that are learned and those that are tested, as the model sees them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from onlinear.errors import BadInput
from onlinear.learning.classes import Classes
from onlinear.selection.race import RaceTask
from onlinear.selection.splits import Split, split_rows
from onlinear.streams.recipe import Recipe
from onlinear.streams.sources import expand
from onlinear.streams.stream import open_alike
from onlinear.workflow.ledger import digest_of_test
from onlinear.workflow.profile.choice import Choice
from onlinear.workflow.profile.table import Profile, profile_of
from onlinear.workflow.rows import (
    RowsInMemory,
    check_labels,
    classes_of,
    pass_over_unlabelled,
    read_labelled_rows,
    scale_rows,
)
from onlinear.workflow.seen import RepeatedRows, seen_rows
from onlinear.workflow.select_options import SelectOptions, profiled_options


@dataclass(slots=True)
class Parts:
    """The rows to learn and to test, as the model sees them, with their targets: numbers, or codes of classes."""

    train: RowsInMemory
    test: RowsInMemory
    targets: np.ndarray
    wanted: np.ndarray
    groups: np.ndarray | None
    classes: Classes | None
    recipe: Recipe
    features: int
    digests: tuple[str, str]  # of the test rows, as they stand in their files, and by their values
    split: Split
    divided: int  # groups with rows on both sides: there are some where the split goes by time
    seen: RepeatedRows

    @property
    def task(self) -> RaceTask:
        return RaceTask(0 if self.classes is None else len(self.classes))

    @property
    def unit(self) -> float:
        """How large slopes are: as the numbers of a regression spread, 1 for classes."""
        return 1.0 if self.classes is not None else float(self.targets.std()) or 1.0

    @property
    def units(self) -> int:
        """How many there are to divide into folds: groups, or rows."""
        return len(self.train) if self.groups is None else len(np.unique(self.groups))


def look(asked: SelectOptions) -> Profile:
    return profile_of(
        asked.files,
        time=asked.time,
        group=asked.group,
        task=asked.task,
        seed=asked.seed,
        **{name: getattr(asked.reading, name) for name in profiled_options()},
    )


def rows_with_target(profile: Profile) -> np.ndarray:
    """Which rows of a table have a target."""
    if profile.target.codes is not None:
        return profile.target.codes >= 0
    assert profile.target.numbers is not None
    return ~np.isnan(profile.target.numbers)


def parts_of(asked: SelectOptions, profile: Profile, choice: Choice) -> Parts:
    """The rows, read, split and scaled by those that are learned."""
    stream = choice.open(on_bad=pass_over_unlabelled)
    there = rows_with_target(profile)
    rows = read_labelled_rows(stream, there, learns=True)
    classes = classes_of(rows.labels) if profile.target.task == "classification" else None
    codes = None if classes is None else classes.codes_of(rows.labels)
    groups = None if profile.groups is None else profile.groups[there]
    times = None if profile.times is None else profile.times[there]
    if asked.in_order:
        times = np.arange(len(rows))
    if asked.test_files:
        split = Split("test file", order_of(len(rows), times, asked.seed), np.arange(0), "the rows of the test file")
        check_apart(asked)
        test = tested_file(asked, stream.recipe)
        digest = digest_of_test(sha256_of(asked.test_files), test.numbers)
        if times is not None:
            split = split._replace(kind="time")
    else:
        split = split_rows(len(rows), share=asked.test_share, seed=asked.seed, codes=codes, times=times, groups=groups)
        test = rows.part(split.test)
        digest = digest_of_test(profile.sha256, test.numbers)
    train = rows.part(split.train)
    seen = seen_rows(train, test, profile.sources, asked.test_files, stream.format)
    if asked.test_files:
        check_unseen(asked, seen)
    train = scale_rows(stream.recipe, train, learns=True)
    test = scale_rows(stream.recipe, test, learns=False)
    if classes is None:
        train, test = train.with_numbers(), test.with_numbers()
        targets, wanted = train.labels, test.labels
    else:
        targets = classes.codes_of(train.labels)
        wanted = check_labels(test.labels, classes, "the test file")
    check_classes(targets, classes)
    features = 1 << stream.recipe.bits if stream.recipe.bits is not None else len(stream.recipe.exact_names or ())
    learned_groups = None if groups is None else groups[split.train]
    divided = 0 if groups is None else len(np.intersect1d(groups[split.train], groups[split.test]))
    return Parts(
        train,
        test,
        targets,
        wanted,
        learned_groups,
        classes,
        stream.recipe,
        features,
        (digest, seen.digest),
        split,
        divided,
        seen,
    )


def order_of(rows: int, times: np.ndarray | None, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(rows) if times is None else np.argsort(times, kind="stable")


def check_classes(targets: np.ndarray, classes: Classes | None) -> None:
    if classes is not None and len(np.unique(targets)) < 2:
        raise BadInput("the rows to learn are of one class only: test fewer rows, or split them otherwise")


def check_apart(asked: SelectOptions) -> None:
    """Refuse to test on a file that is learned from, by whatever name."""
    learned = {sha256_of([file]) for file in expand(asked.files)}
    for file in expand(asked.test_files):
        if sha256_of([file]) in learned:
            raise BadInput(f"{file}: holds the rows that are learned, so it is no test: name another file, or none")


def check_unseen(asked: SelectOptions, seen: RepeatedRows) -> None:
    """Refuse to test on nothing but learned rows, in whatever form; unless rows repeat anyway, as of few cells."""
    if seen.rows == seen.tested and not seen.repetitive:
        rows = "the only row is" if seen.rows == 1 else f"all {seen.rows:,} rows are"
        raise BadInput(
            f"{asked.test_files[0]}: {rows} the same as rows that are learned, so it is no test: "
            "name another file, or none"
        )


def tested_file(asked: SelectOptions, recipe: Recipe) -> RowsInMemory:
    """The rows of the test files, whose columns are found by their names."""
    return read_labelled_rows(
        open_alike(asked.test_files, recipe.format, on_bad=pass_over_unlabelled, recipe=recipe), None, learns=False
    )


def sha256_of(files: list[str]) -> str:
    digest = hashlib.sha256()
    for file in expand(files):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()
