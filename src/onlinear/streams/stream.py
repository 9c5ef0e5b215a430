"""Stream: examples from files or memory, a pass for each iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

from onlinear.errors import NO_RECORDS, BadLine, BadSource, Refused
from onlinear.features.blocks import Block
from onlinear.features.clipping import bounds_of
from onlinear.features.columns import MISSING, by_column, missing_words, several
from onlinear.features.crosses import pairs_of
from onlinear.features.names import HashedNames
from onlinear.features.naming import MOST_FEATURES, Naming
from onlinear.features.ranges import ranges_of
from onlinear.features.words import Words
from onlinear.streams.ahead import in_order
from onlinear.streams.arrays import Arrays, is_matrix, matrix_of
from onlinear.streams.blanks import bare
from onlinear.streams.formats import Format, Options, check_features, check_used, common_format, format_alike, format_of
from onlinear.streams.generated import Generated
from onlinear.streams.pipes import is_pipe, refuse_pipes, source_label, with_looks
from onlinear.streams.recipe import Recipe
from onlinear.streams.sources import expand, total_bytes
from onlinear.streams.tables import is_frame

#: how many threads read ahead of the learner
THREADS = 2

#: names are hashed to 2**BITS columns, unless told
BITS = 18

#: called with each bad line and its text
OnBad = Callable[[BadLine, bytes], None]


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

    def __iter__(self) -> Iterator[Block]:
        return self._pass(self._finished)

    def before_recipe(self) -> Iterator[Block]:
        """A pass of blocks as they are read: names have no columns yet if they are to be remembered."""
        return self._pass(lambda block: block)

    def as_known(self) -> Iterator[Block]:
        """A pass of blocks as the recipe knows them. Nothing is learned; what is bad to the recipe is bad, too."""
        return self._pass(lambda block: self.recipe.apply(block, stop_at_bad=self.on_bad is None))

    def _pass(self, finish: Callable[[Block], Block]) -> Iterator[Block]:
        for block in self.blocks(stop_at_bad=self.on_bad is None):
            if len(block):
                block = finish(block)
            if len(block):
                yield block
            for line, text in block.bad:
                if self.on_bad is None:
                    raise line
                self.on_bad(line, text)

    def _finished(self, block: Block) -> Block:
        block = self.recipe.learn(block, stop_at_bad=self.on_bad is None)
        block.columns = self._columns()
        return block

    def _columns(self) -> int:
        """How many columns there may be; 0 if nobody knows."""
        return self.features or (0 if self.recipe.bits is None else 1 << self.recipe.bits)

    def blocks(self, stop_at_bad: bool) -> Iterator[Block]:
        """A pass before its recipe, its bad lines in the blocks; ``stop_at_bad`` ends it with the first one's block.

        One behind which there are no records is no line to be left out, and raised.
        """
        if self._begun:
            self.check_passes(2)
        self._begun = True
        before = 0
        for source in self.sources:
            for block in self._blocks(source, stop_at_bad):
                self.read = before + block.read
                last = block.bad[-1][0] if block.bad else None
                if last is not None and last.kind == NO_RECORDS and not stop_at_bad:
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


def open_stream(
    source: Any,
    format: str | None = None,
    *,
    target: Any = None,
    weight: Any = None,
    ignore: str | int | Sequence[str | int] = (),
    categories: str | int | Sequence[str | int] = (),
    text: str | int | Sequence[str | int] = (),
    numbers: str | int | Sequence[str | int] = (),
    ngrams: int = 1,
    lower: bool = True,
    presence: bool = False,
    unit_length: bool = False,
    header: bool | None = None,
    delimiter: str | None = None,
    quoted: bool | None = None,
    missing: str | Sequence[str] = MISSING,
    names: str = "hashed",
    bits: int | None = None,
    keep_names: bool = False,
    crosses: Sequence[tuple[str, str]] = (),
    frequent: Mapping[str, str | Sequence[str]] | None = None,
    ranges: Mapping[str, Sequence[float]] | None = None,
    clip: Mapping[str, tuple[float, float]] | None = None,
    scale: str | None = None,
    first_index: int = 1,
    features: int | None = None,
    on_bad: OnBad | None = None,
) -> Stream:
    """Examples from files or memory: re-iterable, constant in memory.

    Each iteration is a pass of blocks: ``block.X``, ``block.y`` and ``block.importance`` are for ``partial_fit``.

    Parameters
    ----------
    source : a file, a glob, ``-`` for standard input, or a list of them, of which ``.gz``, ``.bz2``, ``.xz`` and
        ``.zst`` are decompressed; a frame of pandas or polars, a table of Arrow; an array or a sparse matrix; a stream
        of :mod:`onlinear.streams.synthetic`. Standard input and pipes with a name can be passed over once
    format : "svmlight", "vw", "csv", "jsonl", "parquet" or "arrow"; by default told from the extension
    target, weight : columns of a table, by name (which may be a number, as in pandas) or else by position (from 1,
        or from the end with -1); the target is the last one if you do not say, but of JSON lines it has to be named.
        For an array or a matrix, arrays
    ignore, categories : columns to leave out, and those whose numbers are only names (postal codes)
    text : columns whose cells are cut into words, and runs of up to ``ngrams`` words; in lower case if ``lower``, with
        counts, or 1 for ``presence``; with ``unit_length`` long texts weigh no more than short ones
    numbers : columns of CSV that hold numbers, so that any other cell is a bad line; else one word among the first
        records makes a column one of categories
    header, delimiter, quoted : of CSV: whether the first record has the names, what is between cells, and whether these
        may stand in quotes; told by a look
    missing : texts that stand for nothing
    names : "hashed" to 2**bits columns (18 bits unless told), or "exact": a column for each name
    keep_names : remember hashed names, too, so that weights can be read by name
    crosses : pairs of columns or namespaces; each feature of one is multiplied with each of the other
    frequent : for columns of categories, those with a feature of their own; all others of ``town`` share
        ``town=(rare)``, as those do that come first in a prediction
    ranges : for columns of numbers, edges in ascending order; a number also gives a feature for the range that it lies
        in, ``25<=age<37``, so that its effect may bend
    clip : for columns of numbers, the bounds between which they are kept
    scale : "standardise" (the number columns of a table) or "max-abs", by what was seen so far
    first_index : of svmlight's indices, 1 or 0
    features : how many features there are, at most, of svmlight or with exact names (4,194,304 unless told)
    on_bad : called with every bad line instead of ending the stream there
    """
    first_index, features = plain(first_index), plain(features)
    options = Options(
        target,
        weight,
        several(ignore, "ignore"),
        several(categories, "categories"),
        header,
        delimiter,
        missing_words(missing),
        first_index,
        naming_of(
            names, bits, keep_names, crosses, features, by_column(frequent, "frequent"), by_column(ranges, "ranges")
        ),
        several(text, "text"),
        Words(ngrams, lower, presence, unit_length),
        None if names == "exact" else features,
        quoted,
        several(numbers, "numbers"),
    )
    if clip and (is_matrix(source) or isinstance(source, Generated)):
        raise Refused("clip says between which bounds columns of a table are kept: an array has no names for them")
    if is_matrix(source):
        check_used("array", options)
        return Stream([matrix_of(source, target, weight)], Arrays(), on_bad, recipe=Recipe(Arrays(), scale))
    if isinstance(source, Generated):
        check_used("synthetic", options)
        return Stream([source], Arrays(), on_bad, recipe=Recipe(Arrays(), scale))
    sources, name = sources_of(source, format)
    found = format_of(name, sources, options)
    check_features(found, sources[0])
    if options.words != Words() and not options.text:
        raise Refused("ngrams, lower, presence and unit_length say how texts are cut: name columns that are texts")
    recipe = Recipe(found, scale, bounds_of(by_column(clip, "clip")))
    return Stream(sources, found, on_bad, recipe=recipe, features=features)


def plain(number: Any) -> Any:
    """A whole number of NumPy's, say, as Python has it; anything else is left to who refuses it."""
    return int(number) if isinstance(number, Integral) and not isinstance(number, bool) else number


def naming_of(
    names: str,
    bits: int | None,
    keep: bool,
    crosses: Sequence[tuple[str, str]],
    features: int | None,
    frequent: Mapping[str, Any],
    ranges: Mapping[str, Sequence[float]],
) -> Naming:
    """How names become columns."""
    pairs, edges = pairs_of(crosses), ranges_of(ranges)
    known = tuple(
        (column, tuple(map(bare, several(categories, f"frequent[{column!r}]"))))
        for column, categories in frequent.items()
    )
    if names == "hashed":
        bits = HashedNames(BITS if bits is None else bits).bits  # refuses too many
        return Naming(bits, keep, crosses=pairs, frequent=known, ranges=edges)
    if names != "exact":
        raise Refused(f"names are {names!r}: choose 'hashed' or 'exact'")
    if bits is not None:
        raise Refused("exact names are not hashed: leave out bits, or choose hashed names")
    most = MOST_FEATURES if features is None else features
    return Naming(None, True, most, pairs, known, edges)


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
