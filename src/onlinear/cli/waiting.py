"""What is said while a pipe lets a command wait for the rows that it has to see first."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from onlinear.cli.ending import say
from onlinear.streams.sources import Pipe, source_label

#: seconds between two questions whether it waits
STEP = 1.0

SENTENCE = (
    "Waiting for the first rows of {}: 10,000 of them, or its end, tell the types and classes. Rows are learned as "
    "they come if these are known: svmlight and vw with --classes or --task regression, any format with --resume MODEL."
)


@contextmanager
def saying_that_it_waits(files: Sequence[str]) -> Iterator[None]:
    """Within the block, say once that a pipe is waited for, if it is."""
    pipes = [file for file in files if isinstance(file, Pipe)]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(STEP):
            for pipe in pipes:
                if pipe.is_waited_for():
                    say(SENTENCE.format(source_label(pipe)))
                    return

    if pipes:
        threading.Thread(target=watch, name="onlinear-waiting", daemon=True).start()
    try:
        yield
    finally:
        over.set()
