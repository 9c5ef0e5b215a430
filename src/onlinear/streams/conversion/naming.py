"""Names of features in formats that cannot say them all, and indices in those that have no names."""

from __future__ import annotations

import re

from onlinear.errors import TooManyNames
from onlinear.streams.svmlight import Svmlight

#: what a name in VW's text, or a line with a name, cannot have
NOT_IN_VW, NOT_IN_LINES = re.compile(r"[\x00-\x20:|]"), re.compile(r"[\r\n]")


class Mended:
    """Names without the characters that a format cannot have in them: each is an underscore instead."""

    def __init__(self, unfit: re.Pattern[str]) -> None:
        self.unfit = unfit
        self.known: dict[str, str] = {}
        self.count = 0
        self.example = ("", "")

    def __call__(self, name: str) -> str:
        if name and not self.unfit.search(name):
            return name
        fit = self.unfit.sub("_", name) or "_"
        self._note(name, fit)
        return fit

    def _note(self, name: str, fit: str) -> None:
        """Count a name once, as long as there is room to remember those that were counted."""
        if name in self.known:
            return
        self.count += 1
        self.example = self.example if self.count > 1 else (name, fit)
        if len(self.known) < Svmlight().most_features:
            self.known[name] = fit

    def messages(self) -> list[str]:
        """What was changed."""
        if not self.count:
            return []
        name, fit = self.example
        names = f"{self.count:,} name{' was' if self.count == 1 else 's were'}"
        return [f"{names} changed, as the format cannot say them: {name!r} is {fit!r} now."]


class Indices:
    """An index for each name, in the order in which they come; at most as many as can be read again."""

    def __init__(self, first_index: int) -> None:
        self.first_index = first_index
        self.known: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        index = self.known.get(name)
        if index is None:
            most = Svmlight().most_features
            if len(self.known) == most:
                raise TooManyNames(f"there are more than the {most:,} names that svmlight may have: convert to vw")
            index = self.known[name] = self.first_index + len(self.known)
        return index
