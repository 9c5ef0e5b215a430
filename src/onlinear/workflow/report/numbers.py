"""Numbers as people write them: ``15.0 %``, ``48 500``, ``1.23 × 10⁻¹²``; what is missing is a dash.

Spaces inside a number do not break. :func:`plain` turns the same text into that of a terminal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
_THIN, _STIFF, _TIMES = "\u202f", "\u00a0", "\N{MULTIPLICATION SIGN}"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_PLAIN = str.maketrans({_THIN: " ", _STIFF: " ", MINUS: "-", NONE: "-", "“": '"', "”": '"', "…": "..."})
_LARGEST = 1e300


def finite(value: Any) -> float | None:
    """A number that can be drawn and written, or None: JSON written by others has NaN and infinities, too."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return float(max(-_LARGEST, min(_LARGEST, value))) if abs(value) != math.inf else None


def count(value: Any) -> str:
    """A whole number, all its digits.

    >>> plain(count(32561)), plain(count(1994)), count(None)
    ('32 561', '1994', '–')
    """
    known = finite(value)
    if known is None:
        return NONE
    return _group_thousands(f"{round(known)}") if abs(known) < 1e15 else number(known)


def number(value: Any, digits: int = 3) -> str:
    """A measured number, to three significant digits.

    >>> [plain(number(x)) for x in (48512.3, 0.012345, -2, 1.234e-12, 5e12)]
    ['48 500', '0.0123', '-2.00', '1.23e-12', '5.00e12']
    """
    known = finite(value)
    if known is None:
        return NONE
    if known == 0.0:
        return "0"
    mantissa, exponent = f"{known:.{digits - 1}e}".split("e")
    power = int(exponent)
    if -4 < power < 7:
        rounded = float(f"{mantissa}e{power}")
        return _group_thousands(f"{rounded:.{max(0, digits - 1 - power)}f}")
    return f"{_with_sign(mantissa)}{_STIFF}{_TIMES}{_STIFF}10{str(power).translate(_RAISED)}"


def value(given: Any, digits: int = 3) -> str:
    """A number out of the data: a whole one is kept whole, a short one short.

    >>> plain(value(90.0)), plain(value(0.456789)), plain(value(41325.5)), plain(value(0.1))
    ('90', '0.457', '41 300', '0.1')
    """
    known = finite(given)
    if known is not None and known.is_integer() and abs(known) < 1e7:
        return count(known)
    written = number(known, digits)
    return written.rstrip("0").rstrip(".") if "." in written and _TIMES not in written else written


def digits_apart(one: float, other: float) -> int:
    """How many significant digits two numbers need to be told apart, and by about how much.

    >>> digits_apart(2002.34, 1999.67), digits_apart(1.0, 3.0)
    (5, 3)
    """
    apart, largest = abs(one - other), max(abs(one), abs(other))
    if apart == 0.0:
        return 3
    return min(15, max(3, math.floor(math.log10(largest)) - math.floor(math.log10(apart)) + 2))


def format_weight(given: Any) -> str:
    """A weight: its sign is always written.

    >>> plain(format_weight(1.2)), plain(format_weight(-0.05))
    ('+1.20', '-0.0500')
    """
    known = finite(given)
    return ("+" if known is not None and known > 0.0 else "") + number(known)


def share(given: Any) -> str:
    """A share in per cent, to three significant digits, and never rounded to all or nothing.

    >>> [plain(share(x)) for x in (0.15, 0.0412, 1.0, 0.0, 1e-9, 0.99999)]
    ['15.0 %', '4.12 %', '100 %', '0 %', 'less than 0.001 %', 'more than 99.9 %']
    """
    known = finite(given)
    if known is None:
        return NONE
    if 0.0 < known < 1e-5:
        return f"less than 0.001{_STIFF}%"
    if 0.9995 <= known < 1.0:
        return f"more than 99.9{_STIFF}%"
    per_cent = "100" if known == 1.0 else number(100.0 * known)
    return f"{per_cent}{_STIFF}%"


def level(given: Any) -> str:
    """The level of an interval, as short as it can be written.

    >>> plain(level(0.95)), plain(level(0.999))
    ('95 %', '99.9 %')
    """
    known = finite(given)
    return NONE if known is None else f"{100.0 * known:.6g}{_STIFF}%"


def score(given: Any, by: str) -> str:
    """What a race is decided by: an error is a share, a root mean squared error a number."""
    return share(given) if by == "error" else number(given)


def format_interval(pair: Sequence[Any] | None, by: str) -> str:
    """An interval, or a dash.

    >>> plain(format_interval([0.141, 0.159], "error")), format_interval(None, "error")
    ('14.1 % to 15.9 %', '–')
    """
    if not pair or len(pair) != 2 or finite(pair[0]) is None or finite(pair[1]) is None:
        return NONE
    return f"{score(pair[0], by)} to {score(pair[1], by)}"


def seconds(given: Any) -> str:
    """A time.

    >>> [plain(seconds(x)) for x in (0.0123, 12.34, 754, 7300)]
    ['0.012 s', '12.3 s', '12 min 34 s', '2 h 1 min']
    """
    known = finite(given)
    if known is None or known < 60.0 or known >= 1e9:
        return NONE if known is None else f"{number(known, 3 if known >= 1.0 else 2)}{_STIFF}s"
    minutes, rest = divmod(round(known), 60)
    if minutes < 60:
        return f"{minutes}{_STIFF}min {rest}{_STIFF}s"
    return f"{minutes // 60}{_STIFF}h {minutes % 60}{_STIFF}min"


def many(amount: Any, one: str, several: str = "") -> str:
    """A count with its noun.

    >>> many(1, "row"), many(3, "class", "classes"), many(0, "row")
    ('1 row', '3 classes', 'no rows')
    """
    noun = one if amount == 1 else several or f"{one}s"
    return f"no {noun}" if amount == 0 else f"{count(amount)} {noun}"


def plain(text: str) -> str:
    """The same in characters that any terminal and any file can hold."""
    text = re.sub(rf"\s{_TIMES}\s10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: "e" + found[1].translate(_LOWERED), text)
    return text.translate(_PLAIN)


def _with_sign(digits: str) -> str:
    return digits.replace("-", MINUS)


def _group_thousands(digits: str) -> str:
    """Thousands apart, from five digits on, as in print."""
    whole, point, rest = _with_sign(digits).partition(".")
    sign, whole = (MINUS, whole[1:]) if whole.startswith(MINUS) else ("", whole)
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", _THIN)
    return sign + whole + point + rest
