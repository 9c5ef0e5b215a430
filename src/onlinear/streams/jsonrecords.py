"""The objects in the lines of a text, read by Python's own reader, which is held to the letter of JSON."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from onlinear.errors import BadLineKind
from onlinear.streams.csv_text import NOT_UTF_8
from onlinear.streams.text_lines import Chunk
from onlinear.streams.texts import shorten_value

NOT_FINITE = "{value} of {key!r} is not a finite number: mend it, or write null"
TWICE = "the key {key!r} is there twice: rename one of them, or leave it out"
JOINED = "the key {key!r} is there twice, within an object and without: rename one of them, or leave it out"
NO_OBJECT = "a line is one object, {{...}}, and this one is {value}: write each record on a line of its own"
NOT_JSON = "this is not JSON ({problem}): write each record as one object on a line of its own"
SURROGATE = "there is half of a surrogate pair in this line, which is no character: mend it"
NO_CONSTANT = "{value} is not a finite number, and no JSON: mend it, or write null"
TOO_DEEP = "objects lie more than {most} deep within each other: flatten them"
TOO_LONG = "there is a number with thousands of digits in this line: is it one?"

#: objects within objects; how deep Python's own reader goes depends on its version and on who calls
MOST_NESTED = 100


class Wrong(Exception):
    """What is wrong with a record, and where: at a key, or at a byte of its line."""

    def __init__(
        self, reason: str, key: str | None = None, byte: int = 0, kind: BadLineKind = BadLineKind.UNREADABLE
    ) -> None:
        self.reason, self.key, self.byte, self.kind = reason, key, byte, kind


def lines_of(chunk: Chunk) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, without their ends, each with its place."""
    place = 0
    for line in chunk.text.tobytes().split(b"\n"):
        if line.strip():
            yield place, line.removesuffix(b"\r")
        place += len(line) + 1


def record_in(line: bytes, decoder: json.JSONDecoder | None = None) -> dict[str, Any]:
    """The object in a line, or what is wrong with it."""
    try:
        record = (decoder or DECODER).decode(line.decode())
        if b"\\u" in line:
            json.dumps(record, ensure_ascii=False).encode()  # refuses half of a surrogate pair
    except UnicodeDecodeError as error:
        raise Wrong(NOT_UTF_8, byte=error.start) from None
    except UnicodeEncodeError:
        raise Wrong(SURROGATE, byte=line.index(b"\\u")) from None
    except json.JSONDecodeError as error:
        raise Wrong(NOT_JSON.format(problem=error.msg), byte=len(error.doc[: error.pos].encode())) from None
    except ValueError:
        raise Wrong(TOO_LONG) from None
    except RecursionError:
        raise Wrong(TOO_DEEP.format(most=MOST_NESTED)) from None
    braces = line.count(b"{")
    if braces > MOST_NESTED and nesting_of(record) > MOST_NESTED:
        raise Wrong(TOO_DEEP.format(most=MOST_NESTED))
    if type(record) is not dict:
        raise Wrong(NO_OBJECT.format(value=shorten_value(record)))
    if braces > 1:
        check_joined(record)
    return record


def check_joined(record: dict[str, Any]) -> None:
    """Refuse two keys that are the same when those of objects within are joined with a dot."""
    for key, count in Counter(joined_keys(record)).items():
        if count > 1:
            raise Wrong(JOINED.format(key=key), key)


def joined_keys(record: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """The keys of all values that are no objects.

    >>> list(joined_keys({"a": {"b": 1}, "a.b": 2}))
    ['a.b', 'a.b']
    """
    for name, value in record.items():
        if type(value) is dict:
            yield from joined_keys(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def nesting_of(record: Any) -> int:
    """How deep objects lie within each other.

    >>> nesting_of({"a": {"b": 1}, "c": 2})
    2
    """
    level, depth = [record], 0
    while level := [value for value in level if type(value) is dict]:
        level = [value for inner in level for value in inner.values()]
        depth += 1
    return depth


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, of which a key may be there once."""
    record = dict(pairs)
    if len(record) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        key = next(key for key, count in counts.items() if count > 1)
        raise Wrong(TWICE.format(key=key), key)
    return record


def refused(constant: str) -> NoReturn:
    """NaN and infinity, which Python's reader would let pass."""
    raise Wrong(NO_CONSTANT.format(value=constant))


def decoder_of(number_in: Callable[[str], Any] | None = None) -> json.JSONDecoder:
    """A reader of JSON, in which numbers with a point or an exponent may become something else than floats."""
    return json.JSONDecoder(object_pairs_hook=once, parse_constant=refused, parse_float=number_in)


DECODER = decoder_of()


def byte_of(line: bytes, wrong: Wrong) -> int:
    """Where in a line something is wrong: at the key, if it can be found there."""
    if wrong.key is None:
        return wrong.byte
    key = json.dumps(wrong.key.rpartition(".")[2], ensure_ascii=False).encode("utf-8", "surrogatepass")
    found = re.search(re.escape(key) + rb"\s*:", line)
    return found.start() if found else 0


def finite(value: Any, key: str | None) -> float:
    """A value that has to be a number, beyond which there are none."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Wrong(NOT_FINITE.format(value=shorten_value(value), key=key), key)
    return number


def without_numbers(record: dict[str, Any], missing: Sequence[float]) -> dict[str, Any]:
    """An object in which each number is null that equals one of those which stand for nothing.

    >>> without_numbers({"a": -9, "b": {"c": -9.0, "d": 1}, "e": True}, (-9, 1))
    {'a': None, 'b': {'c': None, 'd': None}, 'e': True}
    """
    return {
        key: without_numbers(value, missing)
        if type(value) is dict
        else (None if type(value) in (int, float) and value in missing else value)
        for key, value in record.items()
    }


def value_at(record: dict[str, Any], key: str) -> Any:
    """The value of a key, which is no feature then; a dot leads into objects. None if there is none.

    >>> record = {"a": {"b": 1}}
    >>> value_at(record, "a.b"), record
    (1, {'a': {}})
    """
    if key in record:
        return record.pop(key)
    head, _, tail = key.partition(".")
    inner = record.get(head)
    return value_at(inner, tail) if tail and type(inner) is dict else None


def has(record: dict[str, Any], key: str) -> bool:
    head, _, tail = key.partition(".")
    inner = record.get(head)
    return key in record or (bool(tail) and type(inner) is dict and has(inner, tail))
