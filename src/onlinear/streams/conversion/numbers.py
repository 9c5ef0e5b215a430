"""Numbers as text, in the shortest form that reads back to the same double; and numbers for the names of classes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import Decimal

from onlinear.errors import OnlinearError

#: whole numbers below are written without a fraction
MOST_WHOLE = 2**53
#: so many digits come back from double precision, whatever they are
SURE_DIGITS = 15


def plain_number(value: float) -> float | int:
    """A number as people write it: whole ones as such, but for the zero that is negative.

    >>> plain_number(39.0), plain_number(0.1), plain_number(-0.0), plain_number(1e300), plain_number(10**18 + 7)
    (39, 0.1, -0.0, 1e+300, 1000000000000000007)
    """
    if isinstance(value, int):
        return int(value)  # as which truth values are numbers
    is_whole = value.is_integer() and abs(value) < MOST_WHOLE and (value != 0.0 or math.copysign(1.0, value) > 0.0)
    return int(value) if is_whole else value


def text_of(value: float | Decimal) -> str:
    return format(value, "f") if isinstance(value, Decimal) else repr(plain_number(value))


def keeps_digits(written: str, value: float) -> bool:
    """Whether a number in double precision is the one that was written, to as many digits as were written.

    >>> keeps_digits("1.50", 1.5), keeps_digits("0.10000000000000000555", 0.1)
    (True, True)
    >>> keeps_digits("0.12345678901234567890", 0.12345678901234567890), keeps_digits("1e-400", 0.0)
    (False, False)
    """
    if repr(value) == written or (len(written) <= SURE_DIGITS and "e" not in written and "E" not in written):
        return True
    if not value:
        return re.search("[1-9]", re.split("[eE]", written)[0]) is None
    exact = Decimal(written)
    digits = exact.as_tuple().digits
    return Decimal(f"{value:.{len(digits) - 1}e}") == exact


class ClassNumbers:
    """Numbers for labels, in formats that know nothing else.

    Numbers are their own. Names of classes are numbered in sorted order, as a model orders them: two are -1 and 1, more
    are 1, 2, ...; one that is not among the first labels is the next, but there is no third of two.
    """

    def __init__(self, first: Iterable[float | str]) -> None:
        names = sorted({label for label in first if isinstance(label, str)})
        self.two = len(names) == 2
        numbers = (-1, 1) if self.two else range(1, len(names) + 1)
        self.numbers: dict[str, int] = dict(zip(names, numbers, strict=True))

    def text(self, label: float | str) -> str:
        if not isinstance(label, str):
            return text_of(label)
        if label not in self.numbers:
            if self.two:
                names = " and ".join(map(repr, self.numbers))
                raise OnlinearError(
                    f"the class {label!r} comes after so many rows of {names} that they are -1 and 1 by now: "
                    "move a row of it to the top"
                )
            self.numbers[label] = len(self.numbers) + 1
        return str(self.numbers[label])

    def messages(self) -> list[str]:
        """What became of the names."""
        named = ", ".join(f"{name} is {number}" for name, number in self.numbers.items())
        return [f"The classes are numbers now: {named}."] if named else []
