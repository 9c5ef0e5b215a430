"""Formats by name: which one a source has, and what is to be known of it before it is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import PurePath
from typing import Any, Protocol

from onlinear.errors import OnlinearError, Refused
from onlinear.features.blocks import Block
from onlinear.features.naming import MOST_FEATURES, Naming
from onlinear.streams.options import ReadOptions
from onlinear.streams.sources import inner_name, source_label

EXTENSIONS = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".vw": "vw",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
#: module and class of each format, loaded when something of it is read; Arrow reads Parquet, too
FORMATS = {
    "arrow": "streams.arrow.ArrowTable",
    "csv": "streams.csv_text.CSVText",
    "jsonl": "streams.jsonlines.JSONLines",
    "parquet": "streams.arrow.ArrowTable",
    "svmlight": "streams.svmlight.Svmlight",
    "vw": "streams.vwtext.VWText",
}
#: what finds out how a source of a format with columns is to be read
INFERRED = {
    "arrow": "streams.arrow.infer_table",
    "csv": "streams.csv_inference.infer",
    "jsonl": "streams.jsonlines.infer_keys",
    "parquet": "streams.arrow.infer_table",
}

#: tables whose columns have types
BY_COLUMNS = ("parquet", "arrow")
#: those that have columns which can be looked at; the others have to be converted before
TABLES = ("csv", *BY_COLUMNS)


class Format(Protocol):
    """How a source is cut into pieces, and how each becomes rows."""

    @property
    def naming(self) -> Naming | None:
        """How names become columns; None where there are only numbers."""

    def numbers(self) -> list[str]:
        """The names of number columns, where it has columns."""

    def pieces(self, source: Any) -> Iterator[Any]: ...

    def parse(self, piece: Any, source: str, stop_at_bad: bool) -> Block: ...

    def adapted(self, sources: Sequence[Any], labelled: bool) -> Format:
        """The same format for other sources: their columns may come in another order, or there may be more of them.

        If they need not be ``labelled``, nobody looks at target and weight, which need not be there.
        """


def format_of(name: str, sources: Sequence[Any], options: ReadOptions) -> Format:
    """The format of that name, for these sources."""
    if name not in FORMATS:
        raise Refused(f"the format {name!r} is unknown: choose one of {', '.join(FORMATS)}")
    options.check_used(name)
    if options.frequent and name not in TABLES:
        raise Refused(f"only columns of a table have rare categories, and {name!r} is none: leave out frequent")
    if options.ranges and name not in TABLES:
        raise Refused(f"only columns of a table are cut into ranges, and {name!r} is none: leave out ranges")
    if name == "svmlight":
        features = MOST_FEATURES if options.features is None else options.features
        found: Format = class_of(name)(options.first_index, features)
    elif name == "vw":
        found = class_of(name)(options.naming)
    else:
        options.check_columns()
        found = import_name(INFERRED[name])(sources, options)
    return found


def class_of(name: str) -> Any:
    """The class of the format of that name."""
    return import_name(FORMATS[name])


def name_of(format: Format) -> str:
    """The name of a format; the first one, if it has several."""
    return next(name for name, path in FORMATS.items() if path == path_of(format))


def path_of(format: Format) -> str:
    return f"{type(format).__module__.removeprefix('onlinear.')}.{type(format).__name__}"


def import_name(path: str) -> Any:
    """The class or function at a path below the package, such as ``streams.vwtext.VWText``."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"onlinear.{module}"), name)


#: what the name of a target may look like that stands alone: one with other characters has lost its delimiter
NAME = re.compile(r"[\w .-]+")


def check_features(format: Any, source: Any, delimiter: str | None = None) -> None:
    """Refuse a table of one column that looks as if a wrong delimiter had not cut it.

    A target alone is learned by an intercept: one of numbers, of several columns, or of a plain name.
    """
    columns: Any = getattr(format, "columns", ())
    if len(columns) == 1 and columns[0].kind == "target" and format.target_kind != "number":
        if delimiter is None and getattr(format, "header", True) and NAME.fullmatch(columns[0].name):
            return
        name = source if isinstance(source, str) else type(source).__name__
        raise OnlinearError(f"{name}: has no column to learn from beside the target: is the delimiter right?")


def common_format(files: Sequence[str]) -> str:
    """The format that the extensions of all files stand for."""
    found = {EXTENSIONS.get(extension_of(file)) for file in files}
    if len(found) == 1 and None not in found:
        return next(iter(found))  # type: ignore[return-value]
    strange = [file for file in files if extension_of(file) not in EXTENSIONS]
    if strange:
        raise OnlinearError(
            f"{source_label(strange[0])}: its name does not say which format it has: name one of {', '.join(FORMATS)}"
        )
    raise OnlinearError(f"the files have several formats ({', '.join(sorted(map(str, found)))}): read them apart")


def format_alike(format: Format, sources: Sequence[Any]) -> Format:
    """The format for sources that may have another form than those a model has learned from.

    CSV, Parquet, Arrow and frames are all tables; what is none of the same columns is refused.
    """
    known, found = name_of(format), format
    for source in sources:
        name = EXTENSIONS.get(extension_of(source)) if isinstance(source, str) else "arrow"
        if name is None or FORMATS[name] == path_of(found):
            continue
        what = f"{source}: is {name} by its name" if isinstance(source, str) else f"a {type(source).__name__} is given"
        if not (name in TABLES and known in TABLES):
            raise Refused(f"{what}, and the model has learned from {known}: convert it first")
        if source is not sources[0]:
            raise Refused(
                f"{what}, and {sources[0]} is {name_of(found)}: files that are read at once have to be of one form, so "
                "read them apart"
            )
        found = import_name("streams.arrow.csv_for_columns" if name == "csv" else "streams.arrow.columns_for_csv")(
            format, sources
        )
    return (
        import_name("streams.arrow.with_delimiter_of")(found, sources) if known == "csv" and found is format else found
    )


def extension_of(file: str) -> str:
    return PurePath(inner_name(os.fspath(file))).suffix.lower()
