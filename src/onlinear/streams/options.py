"""Reading options: all that a user may say of rows before they are read, in Python and on the command line.

Each field of :class:`ReadOptions` is one option: its name, its default, what the help says of it, and how what is given
is checked. ``open_stream``, ``race`` and ``profile_of`` take the fields as keyword arguments; ``train`` has a
command-line option for each, ``select``, ``convert`` and ``certify`` for those that mean something there. To add one:
a field here, and the code that obeys it.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, wraps
from numbers import Integral
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, cast, get_type_hints

from onlinear.errors import BadInput, OnlinearError, Refused
from onlinear.streams.columns import MISSING, bare

if TYPE_CHECKING:
    from onlinear.features.naming import Naming
    from onlinear.features.words import Words

Function = TypeVar("Function", bound=Callable[..., Any])

#: names are hashed to 2**BITS columns by default
BITS = 18

#: formats of rows that have columns, or keys
WITH_COLUMNS = ("csv", "jsonl", "parquet", "arrow")
WITH_NAMES = ("vw", *WITH_COLUMNS)
EVERY = ("svmlight", *WITH_NAMES, "array", "synthetic")

#: parts of reading that several options describe together
NAMING, WORDS = "how names become columns", "how texts are cut"


class Option(NamedTuple):
    """What there is to know of a reading option beside its name and default.

    ``help`` is for the command line, ``doc`` for Python. ``formats`` are those that it means something to. ``check``
    is called with what was given and the name, and returns what is kept. Without a ``kind`` there is no option on the
    command line; ``profiled`` ones are also those of ``profile_of`` and ``select``.
    """

    help: str
    doc: str
    formats: Collection[str] = EVERY
    check: Callable[[Any, str], Any] | None = None
    part: str = ""
    profiled: bool = False
    kind: Any = None
    repeated: bool = False
    names: tuple[str, ...] = ()  # on the command line; by default that of the field
    metavar: str | None = None
    min: int | None = None
    max: int | None = None
    choices: Collection[str] = ()
    #: what a word of the command line stands for
    value: Callable[[str], Any] = str


# ------------------------------------------------------------------ checks


def several(given: Any, role: str) -> tuple[Any, ...]:
    """The columns that a user names, by names or numbers: one of them alone is one, and not its letters.

    >>> several("town", "ignore"), several(["town", 3], "ignore")
    (('town',), ('town', 3))
    """
    if isinstance(given, str | Integral):
        return (given,)
    if isinstance(given, bytes) or not hasattr(given, "__iter__"):
        raise Refused(f"{role} is {given!r:.60}: give a list of names")
    return tuple(given)


def texts_of_cells(given: Any, role: str) -> tuple[str, ...]:
    """What stands in cells, as a user says it; one text alone is one, and not its letters."""
    words = several(given, role)
    for word in words:
        if not isinstance(word, str):
            raise Refused(f"{role} has {word!r:.60} among its texts: write what stands in the cells, in quotes")
    return words


def truth(given: Any, role: str) -> bool:
    """Whether something is so. A word or a number may mean the opposite: ``header=0`` of pandas is a header."""
    value = given.item() if hasattr(given, "item") else given  # one of NumPy's
    if not isinstance(value, bool):
        raise Refused(f"{role} is {given!r:.60}: choose True or False")
    return value


def truth_if_known(given: Any, role: str) -> bool | None:
    """The same, or None for what is to be found out."""
    return None if given is None else truth(given, role)


def whole_number(given: Any, role: str) -> Any:
    """A whole number of NumPy's, say, as Python has it; anything else is left to whatever reads it, and refuses it."""
    return int(given) if isinstance(given, Integral) and not isinstance(given, bool) else given


def pairs(given: Any, role: str) -> tuple[tuple[str, str], ...]:
    """The pairs to cross, as a user says them.

    >>> pairs([("town", "street")], "crosses")
    (('town', 'street'),)
    """
    found = list(given) if hasattr(given, "__iter__") and not isinstance(given, str | bytes) else [given]
    for pair in found:
        if isinstance(pair, str | bytes) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise Refused(f"{role} has {pair!r:.60} for a pair: give a list of pairs of names, as [('town', 'street')]")
    return tuple((first, second) for first, second in found)


def pair_in(word: str) -> tuple[str, ...]:
    """The pair that ``--cross`` names."""
    pair = tuple(word.split(","))
    if len(pair) != 2:
        raise Refused(f"--cross {word} names {len(pair)} columns or namespaces: name two, as in --cross a,b")
    return pair


def by_column(given: Any, role: str) -> dict[str, Any]:
    """What a user says of columns, by their names; nothing, if it is None."""
    if not isinstance(given, Mapping | None):
        raise Refused(f"{role} is {given!r:.60}: give a dict with the names of columns as its keys")
    return dict(given or {})


def frequent_categories(given: Any, role: str) -> dict[str, tuple[str, ...]]:
    """The categories of columns that are not rare."""
    found = by_column(given, role).items()
    return {name: tuple(map(bare, texts_of_cells(some, f"{role}[{name!r}]"))) for name, some in found}


def edges(given: Any, role: str) -> dict[str, tuple[float, ...]]:
    """The edges between the ranges of columns."""
    found = {}
    for name, some in by_column(given, role).items():
        try:
            found[name] = numbers_in(some)
        except (TypeError, ValueError, OverflowError):
            raise BadInput(f"the edges of {name!r} are {some!r:.60}: give numbers, each larger than the last") from None
    return found


def bounds(given: Any, role: str) -> dict[str, tuple[float, float]]:
    """The bounds of columns."""
    found = {}
    for name, pair in by_column(given, role).items():
        try:
            low, high = numbers_in(pair)
        except (TypeError, ValueError, OverflowError):
            raise BadInput(
                f"the bounds of {name!r} are {pair!r:.60}: give two numbers, the smaller one first"
            ) from None
        found[name] = low, high
    return found


def numbers_in(given: Any) -> tuple[float, ...]:
    """The numbers that a user gives, or Python's own error: of a text it would take the digits one by one."""
    if isinstance(given, str | bytes):
        raise TypeError
    return tuple(map(float, given))


# ------------------------------------------------------------------ the options

COLUMN: dict[str, Any] = {"kind": str, "metavar": "COLUMN"}
COLUMNS: dict[str, Any] = {**COLUMN, "repeated": True, "check": several, "formats": WITH_COLUMNS}
OF_WORDS: dict[str, Any] = {"part": WORDS, "formats": WITH_COLUMNS}
OF_NAMING: dict[str, Any] = {"part": NAMING, "formats": WITH_NAMES}

Columns = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ReadOptions:
    """What a user says of rows: see :func:`onlinear.open_stream`."""

    format: Annotated[
        str | None,
        Option(
            "Format of the files; by default by their extensions.",
            '"svmlight", "vw", "csv", "jsonl", "parquet" or "arrow"; by default by the extension',
            profiled=True,
            kind=str,
            metavar="NAME",
        ),
    ] = None
    target: Annotated[
        str | int | None,
        Option(
            "Column to learn, by name or number; by default the last one.",
            "column to learn, by name (which may be a number, as in pandas) or else by position (from 1, or from the "
            "end with -1); by default the last one, but of JSON lines it has to be named. For an array or a matrix, "
            "an array",
            (*WITH_COLUMNS, "array"),
            profiled=True,
            **COLUMN,
        ),
    ] = None
    weight: Annotated[
        str | int | None,
        Option(
            "Column with the importance of each row.",
            "column with the importance of each row; for an array or a matrix, an array",
            (*WITH_COLUMNS, "array"),
            profiled=True,
            **COLUMN,
        ),
    ] = None
    ignore: Annotated[
        Columns, Option("Column to leave out; may be repeated.", "columns to leave out", profiled=True, **COLUMNS)
    ] = ()
    categories: Annotated[
        Columns,
        Option(
            "Column whose numbers are only names; may be repeated.",
            "columns whose numbers are only names (postal codes)",
            profiled=True,
            names=("--category",),
            **COLUMNS,
        ),
    ] = ()
    numbers: Annotated[
        Columns,
        Option(
            "Column of numbers, where any other cell is a bad line; may be repeated.",
            "columns of CSV that hold numbers, so that any other cell is a bad line; by default one word among the "
            "first records makes a column one of categories",
            names=("--number",),
            **COLUMNS | {"formats": ("csv",)},
        ),
    ] = ()
    missing: Annotated[
        tuple[str, ...],
        Option(
            "Text that stands for nothing, instead of '', ?, NA.",
            "texts that stand for nothing; a number among them does so however it is written, and where cells are "
            "numbers themselves",
            WITH_COLUMNS,
            texts_of_cells,
            profiled=True,
            kind=str,
            repeated=True,
            metavar="TEXT",
        ),
    ] = MISSING
    header: Annotated[
        bool | None,
        Option(
            "Whether the first record of CSV has the names; by default inferred from the first rows.",
            "of CSV: whether the first record has the names; by default inferred from the first rows",
            ("csv",),
            truth_if_known,
            profiled=True,
            kind=bool,
            names=("--header/--no-header",),
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        Option(
            "What is between the cells of CSV; by default inferred from the first rows.",
            "of CSV: what is between cells; by default inferred from the first rows",
            ("csv",),
            profiled=True,
            kind=str,
            metavar="CHAR",
        ),
    ] = None
    quoted: Annotated[
        bool | None,
        Option(
            "",
            "of CSV: whether cells may stand in quotes; by default inferred from the first rows",
            ("csv",),
            truth_if_known,
        ),
    ] = None
    text: Annotated[
        Columns,
        Option(
            "Column to cut into words; may be repeated.",
            "columns whose cells are cut into words",
            profiled=True,
            **COLUMNS,
        ),
    ] = ()
    ngrams: Annotated[
        int,
        Option(
            "Runs of up to N words are features, too.",
            "runs of up to so many words of a text are features, too",
            check=whole_number,
            kind=int,
            min=1,
            max=5,
            metavar="N",
            **OF_WORDS,
        ),
    ] = 1
    lower: Annotated[
        bool,
        Option(
            "Words in lower case.",
            "whether words are taken in lower case",
            check=truth,
            kind=bool,
            names=("--lower/--keep-case",),
            **OF_WORDS,
        ),
    ] = True
    presence: Annotated[
        bool,
        Option(
            "1 for each word of a text, not its count.",
            "whether a word of a text counts 1 however often it is there",
            check=truth,
            kind=bool,
            names=("--presence",),
            **OF_WORDS,
        ),
    ] = False
    unit_length: Annotated[
        bool,
        Option(
            "Divide the words of a text by their length.",
            "whether the words of a text are divided by their length, so that long texts weigh no more than short ones",
            check=truth,
            kind=bool,
            names=("--unit-length",),
            **OF_WORDS,
        ),
    ] = False
    names: Annotated[
        str,
        Option(
            "hashed, or exact: a column for each name.",
            '"hashed" to 2**bits columns, or "exact": a column for each name',
            kind=str,
            metavar="NAME",
            choices=("hashed", "exact"),
            **OF_NAMING,
        ),
    ] = "hashed"
    bits: Annotated[
        int | None,
        Option(
            f"Hash names to 2^BITS columns; by default {BITS}.",
            f"of hashed names; by default {BITS}",
            check=whole_number,
            kind=int,
            min=1,
            max=30,
            metavar="N",
            **OF_NAMING,
        ),
    ] = None
    keep_names: Annotated[
        bool,
        Option(
            "Remember hashed names, to read weights by name.",
            "whether hashed names are remembered, too, so that weights can be read by name",
            check=truth,
            kind=bool,
            names=("--keep-names",),
            **OF_NAMING,
        ),
    ] = False
    crosses: Annotated[
        tuple[tuple[str, str], ...],
        Option(
            "Multiply the features of two columns or namespaces.",
            "pairs of columns or namespaces; each feature of one is multiplied with each of the other",
            check=pairs,
            kind=str,
            repeated=True,
            names=("--cross",),
            metavar="A,B",
            value=pair_in,
            **OF_NAMING,
        ),
    ] = ()
    frequent: Annotated[
        Mapping[str, tuple[str, ...]] | None,
        Option(
            "",
            "for columns of categories, those with a feature of their own; all others of ``town`` share "
            "``town=(rare)``, as those do that come first in a prediction",
            check=frequent_categories,
            **OF_NAMING,
        ),
    ] = None
    ranges: Annotated[
        Mapping[str, tuple[float, ...]] | None,
        Option(
            "",
            "for columns of numbers, edges in ascending order; a number also gives a feature for the range that it "
            "lies in, ``25<=age<37``, so that its effect may bend",
            check=edges,
            **OF_NAMING,
        ),
    ] = None
    features: Annotated[
        int | None,
        Option(
            "Most features, of svmlight or with exact names.",
            "how many features there are, at most, of svmlight or with exact names; by default 4,194,304",
            ("svmlight",),  # with exact names it belongs to the naming
            whole_number,
            kind=int,
            min=1,
            max=1 << 31,
            metavar="N",
        ),
    ] = None
    first_index: Annotated[
        int,
        Option(
            "Where the indices of svmlight start.",
            "of svmlight's indices, 1 or 0",
            ("svmlight",),
            whole_number,
            kind=int,
            min=0,
            max=1,
            metavar="0|1",
        ),
    ] = 1
    clip: Annotated[
        Mapping[str, tuple[float, float]] | None,
        Option("", "for columns of numbers, the bounds between which they are kept", check=bounds),
    ] = None
    scale: Annotated[
        str | None,
        Option(
            "unit (rows of length 1), max-abs, or standardise (the number columns of a table).",
            '"standardise" (the number columns of a table), "max-abs", or "unit" (each row by its length)',
            kind=str,
            metavar="NAME",
            choices=("standardise", "max-abs", "unit"),
        ),
    ] = None

    def __post_init__(self) -> None:
        for name, option in read_options().items():
            if option.check is not None:
                object.__setattr__(self, name, option.check(getattr(self, name), name))

    @property
    def naming(self) -> Naming:
        """How names become columns."""
        from onlinear.features.names import HashedNames
        from onlinear.features.naming import MOST_FEATURES, Naming

        known = tuple((self.frequent or {}).items())
        ranges = tuple((self.ranges or {}).items())
        if self.names == "hashed":
            bits = HashedNames(BITS if self.bits is None else self.bits).bits  # refuses too many
            return Naming(bits, self.keep_names, crosses=self.crosses, frequent=known, ranges=ranges)
        if self.names != "exact":
            raise Refused(f"names are {self.names!r}: choose 'hashed' or 'exact'")
        if self.bits is not None:
            raise Refused("exact names are not hashed: leave out bits, or choose hashed names")
        most = MOST_FEATURES if self.features is None else self.features
        return Naming(None, True, most, self.crosses, known, ranges)

    @property
    def words(self) -> Words:
        """How texts are cut."""
        from onlinear.features.words import Words

        return Words(self.ngrams, self.lower, self.presence, self.unit_length)

    def check_columns(self) -> None:
        """Refuse a target or a weight that is no column."""
        for role, column in (("target", self.target), ("weight", self.weight)):
            if column is not None and not isinstance(column, str | Integral | tuple):  # tuples are pandas' levels
                raise OnlinearError(f"the {role} of a table is one of its columns: give its name or its number")

    def check_used(self, format: str) -> None:
        """Refuse what would say nothing of a format."""
        said = {NAMING: self.naming != DEFAULTS.naming, WORDS: self.words != DEFAULTS.words}
        for name, option in read_options().items():
            given, default = getattr(self, name), getattr(DEFAULTS, name)
            is_said = said.get(option.part, type(given) is not type(default) or given != default)
            if name == "features" and self.names == "exact":
                continue  # a part of the naming
            if is_said and format not in option.formats:
                what = f"{option.part} ({', '.join(names_in(option.part))})" if option.part else name
                raise Refused(f"{what} says nothing of the format {format!r}: leave it away")


@cache
def read_options() -> dict[str, Option]:
    """All reading options by name."""
    hints = get_type_hints(ReadOptions, include_extras=True, localns={"Naming": Any, "Words": Any})
    return {each.name: hints[each.name].__metadata__[0] for each in fields(ReadOptions)}


#: nothing is said
DEFAULTS = ReadOptions()


def names_in(part: str) -> list[str]:
    """The options that describe a part of reading together."""
    return [name for name, option in read_options().items() if option.part == part]


# ------------------------------------------------------------------ functions that take them


def takes_read_options(*, profiled: bool = False) -> Callable[[Function], Function]:
    """Show the reading options, or those of a profile, in the signature and the documentation of a function.

    It has them as ``**options``, and where its parameters are described a line ``{options}``.
    """

    def decorate(function: Function) -> Function:
        names = [name for name, option in read_options().items() if option.profiled or not profiled]
        own = inspect.signature(function)
        taken = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        for each in fields(ReadOptions):
            if each.name in names and each.name not in own.parameters:
                taken.append(inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default))
        known = {each.name for each in taken}

        @wraps(function)
        def checked(*given: Any, **named: Any) -> Any:
            for name in named.keys() - known:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            return function(*given, **named)

        checked.__signature__ = own.replace(parameters=taken)  # type: ignore[attr-defined]
        if function.__doc__:
            checked.__doc__ = with_options(function.__doc__, "".join(describe_options(names)))
        return cast(Function, checked)

    return decorate


def with_options(text: str, options: str) -> str:
    """A docstring with the options where it says so, as far to the right, which from Python 3.13 on is not at all."""
    lines = [
        textwrap.indent(textwrap.dedent(options), line.removesuffix("{options}\n")) if "{options}" in line else line
        for line in text.splitlines(keepends=True)
    ]
    return "".join(lines)


def describe_options(names: Sequence[str]) -> Iterator[str]:
    """Options as a docstring describes them."""
    for name in names:
        yield (
            textwrap.fill(
                f"{name} : {read_options()[name].doc}",
                120,
                initial_indent=4 * " ",
                subsequent_indent=8 * " ",
                break_long_words=False,
            )
            + "\n"
        )
