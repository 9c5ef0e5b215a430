"""Run: a training on its way through the passes of a stream, which can stop after any row and go on later."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.whole_numbers import are_numbers, as_objects
from onlinear.errors import BadInput, BadLine
from onlinear.features.blocks import Block, numbered
from onlinear.files.trained import AnyModel
from onlinear.kernels.text.row_keys import key_rows
from onlinear.learning.progress import Totals
from onlinear.streams.shuffling import shuffled
from onlinear.streams.stream import Stream, good_parts


class Figures(NamedTuple):
    """What the first pass came to: every example was predicted before it was learned."""

    examples: int
    mistakes: int
    loss: float
    importance: float


class PassEnd(NamedTuple):
    """The sums at the end of a pass, of all that the model has learned."""

    examples: int
    mistakes: int
    loss: float
    importance: float
    updates: int


class PassFigures(NamedTuple):
    """What one pass came to: of the first one each example was new, later ones are training."""

    number: int
    examples: int
    updates: int
    mistakes: int
    loss: float


NOTHING = Totals()
#: more passes than these are not made because a file says so
MOST_PASSES = 1000


@dataclass(slots=True)
class Progress:
    """How far a run has come; bad lines and features are those of the first pass."""

    number: int = 1  # of the pass
    rows: int = 0  # good ones of this pass that are done
    passed: int = 0  # bad lines of this pass that are done
    bad_lines: int = 0
    features: int = 0
    first: Totals | None = None  # after the first pass
    before: Totals = NOTHING  # what an earlier run had learned
    digest: str = ""  # of the rows of this pass that are done, where a run goes on
    whole: str = ""  # the digest of all rows, after the first pass
    ends: list[PassEnd] = field(default_factory=list)  # the sums before the first pass, and after each


class Run:
    """Passes of a training over a stream. Whoever calls :meth:`steps` may save it between any two of them."""

    def __init__(
        self,
        training: AnyModel,
        stream: Stream,
        passes: int,
        *,
        progress: Progress | None = None,
        every: int = 0,
        begun: Iterator[Block] | None = None,
        seed: int | None = None,
    ) -> None:
        """``begun`` are the blocks of the first pass, if someone has begun to read them; a ``seed`` shuffles rows."""
        self.training = training
        self.stream = stream
        self.recipe = stream.recipe
        self.passes = passes
        self.progress = progress or Progress()
        self.every = every
        self.seed = seed
        self._begun = begun
        self._digest = RowDigest()  # of the rows of this pass in the order in which they are learned
        self._read = RowDigest()  # the same as they stand in the files, where that is another order
        self._skip = self.progress.rows  # done before this run: to be read again, not learned
        if self.progress.number == 1 and not self._skip:
            self.progress.ends = [self._sums()]
            self.recipe.begin()

    def progress_now(self) -> Progress:
        """How far the run has come, to go on from there."""
        return self.progress if self._skip else replace(self.progress, digest=self._digest.hexdigest())

    @property
    def done(self) -> bool:
        return self.progress.number > self.passes or self.is_at_rest

    @property
    def is_at_rest(self) -> bool:
        """Whether the last pass brought no update, so that another one would change nothing."""
        ends = self.progress.ends[-2:]
        return len(ends) == 2 and ends[0].updates == ends[1].updates and self.training.rests_without_updates

    def per_pass(self) -> list[PassFigures]:
        """The figures of each pass that has ended; of a run that an older version began, of the later ones."""
        ends = self.progress.ends
        numbers = range(self.progress.number - len(ends) + 1, self.progress.number)
        return [figures_between(*each) for each in zip(numbers, ends[:-1], ends[1:], strict=True)]

    def figures(self) -> Figures:
        """Those of the first pass, so far if it goes on."""
        now, before = self.progress.first or self.training.totals(), self.progress.before
        importance = now.importance - before.importance
        loss = (now.loss - before.loss) / importance if importance > 0.0 else 0.0
        return Figures(now.examples - before.examples, now.mistakes - before.mistakes, loss, importance)

    def _sums(self) -> PassEnd:
        return PassEnd(*self.training.totals(), self.training.updates_in_all())

    def steps(self, whole: Callable[[], AbstractContextManager[None]] = nullcontext) -> Iterator[bool]:
        """Learn, a part of a block at a time; True after every so many rows of a pass.

        What must not be interrupted, if the run is to go on later, is done within ``whole()``.
        """
        if not self.done:
            self._check_first_pass()
        while not self.done:
            for block in self.remaining():
                for part in self._parts(block):
                    with whole():
                        self._learn(part)
                    yield self._is_due(part)
            with whole():
                self._end_pass()

    def _check_first_pass(self) -> None:
        """Read all rows, if a later pass goes on, and refuse those that are not the first pass's.

        At its end that is found out, too, but by then checkpoints have taken the place of the one that was good.
        """
        if self.progress.number == 1:
            return
        found = RowDigest()
        for block in self.stream.blocks():
            found.take(block, len(block))
            self.stream.report(block.bad, quiet=True)
        if found.hexdigest() != self.progress.whole:
            raise changed_files(self.stream, "the rows are not those of the first pass")

    def remaining(self) -> Iterator[Block]:
        """The blocks of this pass without the rows that are done, which have to be those that were learned."""
        passed = (
            0 if self.stream.stops_at_bad else self.progress.passed
        )  # the blocks end with a bad line that ends the run
        blocks, self._begun = self._begun or self.stream.blocks(), None
        for block in self._in_order(blocks):
            if self._skip or passed:
                done, block = block.split(min(self._skip, len(block)))
                if self._skip:
                    self._pass_over(done)
                block.bad = done.bad[passed:] + block.bad  # a bad line may have ended the run
                passed = 0 if len(block) else max(passed - len(done.bad), 0)
            if not self._skip:
                yield block
        if self._skip:
            there = self.progress.rows - self._skip
            self._skip = self.progress.rows
            raise changed_files(
                self.stream, f"there are {there:,} of the {self.progress.rows:,} rows that were learned"
            )

    def _pass_over(self, done: Block) -> None:
        """Take rows for done, the last of which have to end what was learned."""
        self._digest.take(done, len(done))
        self._skip -= len(done)
        if self._skip:
            self.stream.report(done.bad, quiet=True)
        else:
            self._check_same(self._digest, self.progress.digest, f"the first {self.progress.rows:,} rows")

    def _in_order(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """The blocks of a pass in the order in which they are learned, their rows numbered as they stand."""
        blocks = numbered(blocks)
        return blocks if self.seed is None else shuffled(self._digested(blocks), self.seed, self.progress.number - 1)

    def _digested(self, blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            self._read.take(block, len(block))
            yield block

    def _check_same(self, found: RowDigest, digest: str, what: str) -> None:
        """Refuse rows that are not what they were."""
        if found.hexdigest() != digest:
            self._skip = self.progress.rows  # what is known of the rows is what the checkpoint says
            raise changed_files(self.stream, f"{what} are not those that were learned")

    def _parts(self, block: Block) -> Iterator[Block]:
        """The block, cut where a checkpoint is due."""
        while self.every and len(block) > (left := self.every - self.progress.rows % self.every):
            part, block = block.split(left)
            yield part
        yield block

    def _is_due(self, part: Block) -> bool:
        return bool(self.every and len(part) and self.progress.rows % self.every == 0)

    def _learn(self, block: Block) -> None:
        done = self.progress.rows
        try:
            for part, bad in good_parts(block, self.training.find_refused):
                self._learn_part(part)
                if bad:
                    self._report(bad[:1], passes=0)
                    self.progress.rows += 1  # the refused row is done once somebody was told
                    self._report(bad[1:])
        finally:
            self._digest.take(block, self.progress.rows - done)

    def _learn_part(self, part: Block) -> None:
        learned = part
        if len(part):
            learned = self.recipe.learn(part, self.stream.stops_at_bad)
            self.training.learn(learned)
        self.progress.rows += len(part)
        if self.progress.number == 1:
            self.progress.features += entries_in(learned)
        read = {id(line) for line, _ in part.bad}
        for bad in learned.bad:
            self._report([bad], passes=id(bad[0]) in read)

    def _report(self, bad: list[tuple[BadLine, bytes]], *, passes: int = 1) -> None:
        """Tell of bad lines, each of which is done when somebody was told: a log may be full.

        A line that was no row when it was read ``passes``; others are found again among the rows.
        """
        is_first = self.progress.number == 1
        for each in bad:
            self.stream.report([each], quiet=not is_first)
            self.progress.bad_lines += is_first
            self.progress.passed += passes

    def _end_pass(self) -> None:
        whole = self._digest if self.seed is None else self._read
        if self.progress.number == 1:
            self.progress.first = self.training.totals()
            self.progress.whole = whole.hexdigest()
        else:
            self._check_same(whole, self.progress.whole, "the rows")
        self._digest, self._read = RowDigest(), RowDigest()
        self.progress.ends.append(self._sums())
        self.progress.number += 1
        self.progress.rows = self.progress.passed = 0
        if not self.done:
            self.training.start_pass()


def figures_between(number: int, start: PassEnd, end: PassEnd) -> PassFigures:
    """What a pass came to that has begun and ended with these sums."""
    importance = end.importance - start.importance
    loss = (end.loss - start.loss) / importance if importance > 0.0 else 0.0
    examples, updates = end.examples - start.examples, end.updates - start.updates
    return PassFigures(number, examples, updates, end.mistakes - start.mistakes, loss)


def changed_files(stream: Stream, how: str) -> BadInput:
    """The refusal of files that are not what they were."""
    names = ", ".join(stream.files[:3]) + ", ..." * (len(stream.files) > 3)
    return BadInput(
        f"{names}: changed since the model began to learn from it: {how}; give the files as they were, or train anew"
    )


def entries_in(block: Block) -> int:
    """How many features the rows of a block have together."""
    rows = block.rows
    return int(rows.starts[-1] - rows.starts[0]) if isinstance(rows, SparseRows) else int(np.prod(rows.values.shape))


WORD_END, ESCAPE = "\x1f", "\\"
#: what a digest begins with; those of older versions, which looked at less, have nothing there
VERSION = "2-"


class RowDigest:
    """A digest of all that is learned from rows: label, importance, and of each feature its column, value and place.

    Of each row there is a key, in which every entry is mixed for itself (:mod:`onlinear.kernels.text.row_keys`), and
    the digest is of the keys in order: quick enough for every row, and no edit is undone by another. The blocks in
    which rows come mean nothing.
    """

    def __init__(self) -> None:
        self._keys, self._words = hashlib.sha256(), hashlib.sha256()

    def take(self, block: Block, rows: int) -> None:
        """Count in the first rows of a block as it was read, before its recipe."""
        if not rows:
            return
        labels = block.labels[:rows]
        if labels.dtype.kind == "O" and are_numbers(labels):
            exact = [label for label in labels.tolist() if type(label) is int]
            self._words.update(words_of(as_objects(exact)).encode())
        elif labels.dtype.kind == "O":
            self._words.update(words_of(labels).encode("utf-8", "surrogatepass"))
            labels = np.zeros(rows)
        keys = np.empty(rows, np.uint64)
        key_rows(*entries_of(block, rows), bits_of(labels), bits_of(block.importance[:rows]), keys)
        self._keys.update(keys.astype("<u8", copy=False).tobytes())

    def hexdigest(self) -> str:
        """The digest of all rows so far."""
        return VERSION + hashlib.sha256(self._keys.digest() + self._words.digest()).hexdigest()


def bits_of(numbers: np.ndarray) -> np.ndarray:
    """The bits of numbers in double precision."""
    return np.ascontiguousarray(numbers, np.float64).view(np.uint64)


def words_of(labels: np.ndarray) -> str:
    """Labels as one text, an end behind each; one within a label is written otherwise."""
    words = labels.tolist()
    try:
        joined = WORD_END.join([*words, ""])
    except TypeError:  # there is one that is no word
        words = list(map(str, words))
        joined = WORD_END.join([*words, ""])
    if ESCAPE in joined or joined.count(WORD_END) > len(words):
        escaped = [word.replace(ESCAPE, 2 * ESCAPE).replace(WORD_END, f"{ESCAPE}e") for word in words]
        return WORD_END.join([*escaped, ""])
    return joined


def entries_of(block: Block, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the first rows start; and columns, or the hashes of names, and the bits of values of all their features."""
    if block.named is not None:
        starts, columns, values = block.named.starts, block.named.hashes, block.named.values
    elif isinstance(block.rows, DenseRows):
        values = block.rows.values[:rows]
        starts = np.arange(rows + 1, dtype=np.int64) * values.shape[1]
        return starts, np.zeros(values.size, np.uint32), bits_of(values).reshape(-1)  # the place is the column
    else:
        starts, columns, values = block.rows
    entries = slice(int(starts[0]), int(starts[rows]))
    return starts[: rows + 1].astype(np.int64) - int(starts[0]), columns[entries], bits_of(values[entries])
