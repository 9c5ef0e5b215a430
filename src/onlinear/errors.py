"""What can go wrong, as a tree; every message says what, where, and what to do about it.

ValueError
└── OnlinearError        anything this package refuses
    ├── BadInput         NaN, infinity, a wrong shape, a negative importance, an unknown label
    │   └── BadRow       a dict row that cannot be read: not a dict, a missing or infinite value
    ├── TooManyNames     a row with more new feature names than the cap leaves room for
    ├── Refused          a rule that does not take the loss, the penalty or the option
    └── Diverged         a weight would have left the range of floating point numbers
"""

from __future__ import annotations


class OnlinearError(ValueError):
    """Anything this package refuses."""


class BadInput(OnlinearError):
    """Data that cannot be learned from; nothing was learned from its batch."""


class BadRow(BadInput):
    """A row that cannot be read."""


class TooManyNames(OnlinearError):
    """A row that needs more feature names than the cap allows."""


class Refused(OnlinearError):
    """A combination of loss, rule and options that does not exist."""


class Diverged(OnlinearError):
    """Learning left the range of floating point numbers; the example that did it was undone."""
