"""``onlinear predict``: what a model says about the rows of files."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from onlinear.cli import arguments as cli
from onlinear.cli.ending import ending, say
from onlinear.errors import Refused
from onlinear.system.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator


def predict(
    model: cli.ModelFile,
    files: cli.Files,
    scores: cli.Scores = False,
    probabilities: cli.Probabilities = False,
    output: cli.Output = "-",
    output_format: cli.OutputFormat = None,
    bad_lines: cli.BadLineWish = "fail",
) -> None:
    """Predict the rows of files, one line of output for each.

    Labels are not needed. A bad line that is skipped gives an empty prediction, so that lines stay side by side.
    """
    with ending():
        from onlinear.cli.badlines import BadLines
        from onlinear.cli.printing import Printer
        from onlinear.files.trained import open_model
        from onlinear.streams.stream import open_alike

        trained = open_model(model)
        predictor = trained.training.snapshot()
        if probabilities and not predictor.has_probabilities:
            raise Refused("the model has no probabilities: leave out --probabilities, or train with the loss log_loss")
        stream = open_alike(files, trained.recipe.format, labelled=False)
        with BadLines(bad_lines) as bad, open_output(output) as out:
            on_bad = bad.on_bad
            printer = Printer(predictor, out, format_of(output, output_format), scores, probabilities)
            for block in stream.blocks(stop_at_bad=on_bad is None):
                block = trained.recipe.apply(block, stop_at_bad=on_bad is None) if len(block) else block
                if len(block) or block.bad:
                    printer.take(block, block.bad if on_bad else [])
                if stream.is_live:
                    out.flush()  # whoever writes to the pipe may wait for the answers
                for line, text in block.bad:
                    if on_bad is None:
                        raise line
                    on_bad(line, text)
        if bad.count:
            say(bad.summary())


def format_of(output: str, wanted: str | None) -> str:
    """The format of the output: as said, or by its extension, or CSV."""
    return wanted or ("jsonl" if output.endswith((".jsonl", ".ndjson")) else "csv")


@contextmanager
def open_output(output: str) -> Iterator[IO[str]]:
    """The file to write to, or standard output."""
    if output == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    with replacing(output) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.detach()
