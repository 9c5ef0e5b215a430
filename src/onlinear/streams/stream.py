"""Stream: examples from files or memory, a pass for each iteration."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from onlinear.errors import BadLine, BadLineKind, BadSource, Refused
from onlinear.features.blocks import Block, numbered
from onlinear.streams.arrays import Arrays, Generated, matrix_of
from onlinear.streams.formats import (
    BY_COLUMNS,
    Format,
    check_features,
    common_format,
    format_alike,
    format_of,
    import_name,
)
from onlinear.streams.options import DEFAULTS, ReadOptions, takes_read_options
from onlinear.streams.recipe import Recipe
from onlinear.streams.sources import (
    expand,
    is_frame,
    is_matrix,
    is_pipe,
    refuse_pipes,
    source_label,
    total_bytes,
    with_looks,
)
from onlinear.system.signals import check

if TYPE_CHECKING:
    from onlinear.features.scaling import ClipBounds

#: how many threads read ahead of the learner
THREADS = 2
#: called with each bad line and its text
OnBad = Callable[[BadLine, bytes], None]


#: the first row of a block whose label is refused, and why; None if none is
Refusal = Callable[[Block], tuple[int, str] | None]


def check_on_bad(on_bad: Any) -> None:
    """Refuse what cannot be called with a bad line."""
    if on_bad is not None and not callable(on_bad):
        raise Refused(
            f"on_bad is {on_bad!r:.60}, and it is called with every bad row: give a function of (line, text), such as "
            "lambda line, text: None to leave them out"
        )


class Stream:
    """Examples from sources, in order. Each iteration is a pass: blocks of rows, whose size means nothing.

    A source is the name of a file, or something in memory. The first bad line ends the stream with a
    :class:`onlinear.BadLine`, after all rows before it; with ``on_bad`` bad lines are handed there and left out.
    """

    def __init__(
        self,
        sources: Sequence[Any],
        format: Format,
        on_bad: OnBad | None = None,
        *,
        recipe: Recipe | None = None,
        features: int | None = None,
    ) -> None:
        check_on_bad(on_bad)
        self.sources = list(sources)
        self.format = format
        self.on_bad = on_bad
        self.recipe = recipe or Recipe(format)
        self.features = features
        self.read = 0  # bytes on disk of this pass so far
        self._begun = False

    @property
    def files(self) -> list[str]:
        """Those sources that are files."""
        return [source for source in self.sources if isinstance(source, str)]

    @property
    def total_bytes(self) -> int | None:
        """The size of all files on disk; None if there is another source, as standard input."""
        return total_bytes(self.files) if len(self.files) == len(self.sources) else None

    @property
    def is_live(self) -> bool:
        """Whether rows may come while they are read, as from a pipe."""
        return any(map(is_pipe, self.files))

    def check_passes(self, passes: int) -> None:
        """Refuse more than one pass over what can be read only once."""
        if passes > 1:
            refuse_pipes(self.files, "a second pass")

    @property
    def stops_at_bad(self) -> bool:
        """Whether the first bad line ends the stream."""
        return self.on_bad is None

    def report(self, bad: Iterable[tuple[BadLine, bytes]], *, quiet: bool = False) -> None:
        """Raise the first of some bad lines, or hand them all on: here, and nowhere else.

        Those of a pass that is ``quiet`` were handed on in one before.
        """
        for line, text in bad:
            if self.on_bad is None:
                raise line
            if not quiet:
                self.on_bad(line, text)

    def __iter__(self) -> Iterator[Block]:
        return self._pass(self._finished)

    def before_recipe(self) -> Iterator[Block]:
        """A pass of blocks as they are read: names have no columns yet if they are to be remembered."""
        return self._pass(lambda block: block)

    def as_known(self, refused: Refusal | None = None) -> Iterator[Block]:
        """A pass of blocks as the recipe knows them. Nothing is learned; what is bad to the recipe is bad, too.

        So is a row whose label is ``refused``.
        """
        return self._pass(lambda block: self.recipe.apply(block, self.stops_at_bad), refused)

    def as_learned(self) -> Iterator[Block]:
        """The same of the rows that were learned, in the order of the files, with the numbers of rows."""
        return self._pass(lambda block: self.recipe.apply(block, self.stops_at_bad, again=True), counts=True)

    def learned_by(self, recipe: Recipe, refused: Refusal, *, quiet: bool) -> Iterator[Block]:
        """A pass of blocks as a recipe learns them, less rows whose label is refused."""
        return self._pass(lambda block: recipe.learn(block, self.stops_at_bad), refused, quiet)

    def _pass(
        self,
        finish: Callable[[Block], Block],
        refused: Refusal | None = None,
        quiet: bool = False,
        counts: bool = False,
    ) -> Iterator[Block]:
        for block in numbered(self.blocks()) if counts else self.blocks():
            for part, bad in [(block, [])] if refused is None else good_parts(block, refused):
                if len(part):
                    part = finish(part)
                if len(part):
                    yield part
                self.report([*part.bad, *bad], quiet=quiet)

    def _finished(self, block: Block) -> Block:
        block = self.recipe.learn(block, self.stops_at_bad)
        block.columns = self._columns()
        return block

    def _columns(self) -> int:
        """How many columns there may be; 0 if nobody knows."""
        return self.features or (0 if self.recipe.bits is None else 1 << self.recipe.bits)

    def blocks(self, stop_at_bad: bool | None = None) -> Iterator[Block]:
        """A pass before its recipe, its bad lines in the blocks; ``stop_at_bad`` ends it with the first one's block.

        One behind which there are no records is no line to be left out, and raised.
        """
        if stop_at_bad is None:
            stop_at_bad = self.stops_at_bad
        if self._begun:
            self.check_passes(2)
        self._begun = True
        before = 0
        for source in self.sources:
            for block in self._blocks(source, stop_at_bad):
                self.read = before + block.read
                last = block.bad[-1][0] if block.bad else None
                if last is not None and last.kind is BadLineKind.NO_RECORDS and not stop_at_bad:
                    block.bad.pop()
                    yield block
                    raise last
                yield block
                if last is not None and stop_at_bad:
                    return
            before = self.read

    def _blocks(self, source: Any, stop_at_bad: bool) -> Iterator[Block]:
        name = source_label(source) if isinstance(source, str) else type(source).__name__

        def parse(piece: Any) -> Block:
            return self.format.parse(piece, name, stop_at_bad)

        return in_order(parse, self.format.pieces(source), THREADS)


@takes_read_options()
def open_stream(source: Any, format: str | None = None, *, on_bad: OnBad | None = None, **options: Any) -> Stream:
    """Examples from files or memory: re-iterable, constant in memory.

    Each iteration is a pass of blocks: ``block.X``, ``block.y`` and ``block.importance`` are for ``partial_fit``.

    Parameters
    ----------
    source : a file, a glob, ``-`` for standard input, or a list of them, of which ``.gz``, ``.bz2``, ``.xz`` and
        ``.zst`` are decompressed; a frame of pandas or polars, a table of Arrow; an array or a sparse matrix; a stream
        of :mod:`onlinear.streams.synthetic`. Standard input and pipes with a name can be passed over once
    on_bad : called with every bad line instead of ending the stream there
    {options}
    """
    return stream_of(source, ReadOptions(format, **options), on_bad)


def good_parts(block: Block, refused: Refusal) -> Iterator[tuple[Block, list[tuple[BadLine, bytes]]]]:
    """The rows of a block between those that are refused, and the bad lines behind each part that it does not have."""
    while (found := refused(block) if len(block) else None) is not None:
        row, reason = found
        part, rest = block.split(row)
        last, block = rest.split(1)
        yield part, [(rest.origin.label_error(0, reason), rest.origin.text(0)), *last.bad]
    yield block, []


def stream_of(source: Any, options: ReadOptions, on_bad: OnBad | None = None) -> Stream:
    """Examples from files or memory, read as the options say."""
    if options.clip and (is_matrix(source) or isinstance(source, Generated)):
        raise Refused("clip says between which bounds columns of a table are kept: an array has no names for them")
    if is_matrix(source):
        options.check_used("array")
        matrix = matrix_of(source, options.target, options.weight)
        return Stream([matrix], Arrays(), on_bad, recipe=Recipe(Arrays(), options.scale))
    if isinstance(source, Generated):
        options.check_used("synthetic")
        return Stream([source], Arrays(), on_bad, recipe=Recipe(Arrays(), options.scale))
    sources, name = sources_of(source, options.format)
    if name in BY_COLUMNS:
        options = import_name("streams.arrow.beside_index")(sources, options)
    found = format_of(name, sources, options)
    check_features(found, sources[0], options.delimiter)
    if options.words != DEFAULTS.words and not options.text:
        raise Refused("ngrams, lower, presence and unit_length say how texts are cut: name columns that are texts")
    recipe = Recipe(found, options.scale, bounds_in(options))
    return Stream(sources, found, on_bad, recipe=recipe, features=options.features)


def bounds_in(options: ReadOptions) -> list[ClipBounds]:
    """The bounds of columns; what clips them is loaded for those who do."""
    if not options.clip:
        return []

    return [ClipBounds(name, *pair) for name, pair in options.clip.items()]


def open_alike(
    source: Any, format: Format, *, labelled: bool = True, on_bad: OnBad | None = None, recipe: Recipe | None = None
) -> Stream:
    """Examples from other sources of a format that is known, as that of a stream before.

    Columns of a table are found by their names, in CSV files as in Parquet, Arrow and frames. If the examples need not
    be ``labelled``, their labels are NaN, and neither target nor weight need be there.
    """
    if is_matrix(source):
        if not isinstance(format, Arrays):
            raise Refused(
                "the model has learned from files or a frame, and an array has no names: give a file or a frame"
            )
        return Stream([matrix_of(source, None, None)], format, on_bad, recipe=recipe)
    sources = [source] if is_frame(source) else named_files(source)
    adapted = format_alike(format, sources).adapted(sources, labelled)
    return Stream(sources, adapted, on_bad, recipe=recipe)


def sources_of(source: Any, format: str | None) -> tuple[list[Any], str]:
    """What is to be read, and the name of its format."""
    if is_frame(source):
        return [source], "arrow"
    files = named_files(source)
    return list(files), format or common_format(files)


def named_files(source: Any) -> list[str]:
    """The files behind names, of which there is at least one."""
    files = with_looks(expand(source))
    if not files:
        raise BadSource("there is nothing to read: name at least one file")
    return files


Given = TypeVar("Given")
Made = TypeVar("Made")
#: seconds that threads have to end when nobody wants their results; longer, they wait for a pipe, perhaps for ever
PATIENCE = 2.0
#: seconds between two questions whether a signal has come, while nothing does
STEP = 0.1


def in_order(work: Callable[[Given], Made], things: Iterable[Given], threads: int) -> Iterator[Made]:
    """``map(work, things)``, done by other threads, at most two results for each ahead of the consumer.

    The threads take the things themselves, one at a time. An error of ``work`` or of ``things`` is raised where its
    result would have come, after all those before it. A process that is forked meanwhile has no such threads, and is
    refused what comes next.

    >>> list(in_order(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    ahead = _Ahead(work, iter(things), threads)
    workers = [threading.Thread(target=ahead.run, name="onlinear-reader", daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        yield from ahead.results()
    finally:
        if ahead.is_at_home():
            ahead.stop()
            close = getattr(things, "close", None)
            if have_ended(workers) and close is not None:
                close()


def have_ended(workers: Sequence[threading.Thread]) -> bool:
    """Whether threads end in time."""
    deadline = time.monotonic() + PATIENCE
    for worker in workers:
        worker.join(max(deadline - time.monotonic(), 0.0))
    return not any(worker.is_alive() for worker in workers)


class _Ahead(Generic[Given, Made]):
    """What the threads share: the things, the results by number, and how many of each there are."""

    def __init__(self, work: Callable[[Given], Made], things: Iterator[Given], threads: int) -> None:
        self.work = work
        self.things = things
        self.taking = threading.Lock()  # things are taken one at a time, each with the next number
        self.changed = threading.Condition()
        # How many may be taken that the consumer has not got. With fewer, whoever has a core of its own waits for those
        # that share one.
        self.room = 2 * threads + 1
        self.taken = self.given = 0
        self.end: int | None = None  # the number that will never come
        self.made: dict[int, Made | _Failure] = {}
        self.process = os.getpid()

    def run(self) -> None:
        while True:
            with self.taking:
                if not self._may_take():
                    return
                number = self.taken
                try:
                    thing = next(self.things)
                except StopIteration:
                    self._ends(number)
                    return
                except BaseException as error:
                    self._ends(number + 1)
                    self._hand_over(number, _Failure(error))
                    return
                self.taken += 1
            self._hand_over(number, self._made_of(thing))

    def _may_take(self) -> bool:
        """Wait until there is room; False if nothing more is to be taken."""
        with self.changed:
            self.changed.wait_for(lambda: self.end is not None or self.taken < self.given + self.room)
            return self.end is None

    def _made_of(self, thing: Given) -> Made | _Failure:
        try:
            return self.work(thing)
        except BaseException as error:
            return _Failure(error)

    def _hand_over(self, number: int, made: Made | _Failure) -> None:
        with self.changed:
            self.made[number] = made
            self.changed.notify_all()

    def _ends(self, number: int) -> None:
        with self.changed:
            self.end = number if self.end is None else min(self.end, number)
            self.changed.notify_all()

    def stop(self) -> None:
        """Let the threads end after what they are doing."""
        self._ends(0)

    def is_at_home(self) -> bool:
        """Whether this is the process that has the threads, and not one that was forked from it."""
        return os.getpid() == self.process

    def results(self) -> Iterator[Made]:
        while True:
            check()
            if not self.is_at_home():
                raise BadSource("this process was forked amid reading, and only its parent can go on: begin again")
            with self.changed:
                while not self.changed.wait_for(lambda: self.given in self.made or self.end == self.given, STEP):
                    check()
                if self.given not in self.made:
                    return
                made = self.made.pop(self.given)
                self.given += 1
                self.changed.notify_all()
            if isinstance(made, _Failure):
                raise made.error
            yield made


class _Failure:
    """An error in place of a result."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
