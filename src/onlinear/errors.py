"""What can go wrong, as a tree; every message says what, where, and what to do about it.

ValueError
└── OnlinearError        anything this package refuses
    ├── BadInput         NaN, infinity, a wrong shape, a negative importance, an unknown label
    │   ├── BadRow       a dict row that cannot be read: not a dict, a missing or infinite value
    │   └── BadLine      a line of a file that cannot be read, with file, line and column
    ├── BadSource        a file that cannot be read: missing, a directory, no permission, damaged
    ├── TooManyNames     a row with more new feature names than the cap leaves room for
    ├── Refused          a rule that does not take the loss, the penalty or the option
    ├── Diverged         a weight would have left the range of floating point numbers
    ├── BoundFailed      a bound that is proven, and yet does not hold: a bug, in the learner or in the proof
    ├── BadModel         a model file that is damaged, foreign, newer, or needs a class that was not given
    └── NotSaved         a model or another output that could not be saved; the file that was there is untouched
"""

from __future__ import annotations

from enum import Enum


class BadLineKind(Enum):
    """What is wrong with a bad line, where that matters to a program."""

    #: it cannot be read, or learned from
    UNREADABLE = "unreadable"
    #: it has no label, and all else may be well
    NO_LABEL = "no label"
    #: a file cannot be cut into records there: nothing behind it can be read
    NO_RECORDS = "no records"


class OnlinearError(ValueError):
    """Anything this package refuses."""


class BadInput(OnlinearError):
    """Data that cannot be learned from; nothing was learned from its batch."""


class BadRow(BadInput):
    """A row that cannot be read."""


class BadLine(BadInput):
    """A line of a file that cannot be read; what came before it was learned.

    The ``kind`` is for programs, the ``reason`` for people: nothing is decided by its wording.
    """

    def __init__(
        self, source: str, line: int, column: int, reason: str, kind: BadLineKind = BadLineKind.UNREADABLE
    ) -> None:
        super().__init__(source, line, column, reason, kind)
        self.source, self.line, self.column, self.reason, self.kind = source, line, column, reason, kind

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}: {self.reason}"


class BadSource(OnlinearError):
    """A file, or standard input, that cannot be read; what came before the bad place was."""


class TooManyNames(OnlinearError):
    """A row that needs more feature names than the cap allows."""


class Refused(OnlinearError):
    """A combination of loss, rule and options that does not exist."""


class Diverged(OnlinearError):
    """Learning left the range of floating point numbers; the example that did it was undone."""


class BoundFailed(OnlinearError):
    """A proven bound does not hold of a run."""


class BadModel(OnlinearError):
    """A model file that cannot be loaded."""


class NotSaved(OnlinearError):
    """A model or another output that could not be saved; the file that was there before is untouched."""
