"""``onlinear convert``: the rows of files in another format."""

from __future__ import annotations

from typing import Any

from onlinear.cli import arguments as cli
from onlinear.cli.commands import reading_in, with_some_read_options
from onlinear.cli.ending import ending, say


@with_some_read_options("format", "target", "weight", "header", "first_index")
def convert(
    files: cli.Files,
    output: cli.Converted,
    reading: Any = None,
    bad_lines: cli.BadLineWish = "fail",
    to: cli.To = None,
    force: cli.Force = False,
    quiet: cli.Quiet = False,
) -> None:
    """Convert files to another format, a row at a time.

    A table keeps its columns, and what their cells say; svmlight gets the names of its indices in OUTPUT.names.

    In vw and svmlight, classes are numbers in sorted order: -1 and 1 if the first 10,000 rows have two, or 1, 2, ...

    Of svmlight and vw, --target and --weight name the columns that label and importance get.
    """
    with ending():
        from onlinear.cli.badlines import FAIL, SKIP, BadLines
        from onlinear.streams.conversion import directions
        from onlinear.streams.options import ReadOptions

        options = directions.ConvertOptions(files, output, to, ReadOptions(**reading_in(reading)), force)
        with BadLines(bad_lines) as bad:
            said = directions.convert(options, bad.on_bad, [] if bad.wanted in (FAIL, SKIP) else [bad.wanted])
        if bad.count:
            said.append(bad.summary())
        for sentence in [] if quiet else said:
            say(sentence)
