"""Records, such as formats, as plain JSON, so that a model file can say how its rows were read."""

from __future__ import annotations

import dataclasses
import types
from typing import TYPE_CHECKING, Any, TypeGuard, Union, get_args, get_origin, get_type_hints

from onlinear.errors import OnlinearError

if TYPE_CHECKING:
    pass

#: a number of plain JSON
Number = int | float
#: whole numbers are of 64 bits, as in arrays: JSON has any, and those beyond the floats could not be reckoned with
MOST_WHOLE = 1 << 63
#: records that have more fields now than when models were first saved: so many they had then
FIRST_FIELDS = {"ArrowTable": 5, "CSVText": 7, "JSONLines": 9, "Naming": 4}
#: what fields mean that are missing, if it is not their default
MEANT_THEN: dict[str, dict[str, Any]] = {
    "ArrowTable": {"trimmed": False, "valued": False},
    "CSVText": {"trimmed": False, "valued": False},
    "JSONLines": {"valued": False},
}


def pack_value(value: Any) -> Any:
    """A record (a named tuple or a dataclass) as a dict, a tuple or a set as a list, anything else as it is.

    >>> from onlinear.streams.svmlight import Svmlight
    >>> pack_value(Svmlight(first_index=0))
    {'first_index': 0, 'most_features': 4194304}
    """
    if is_record(type(value)):
        return {name: pack_value(getattr(value, name)) for name in fields_of(type(value))}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [pack_value(item) for item in value]
    return value


def unpack_value(kind: Any, value: Any) -> Any:
    """The value of a type that :func:`packed` was given; anything else is refused.

    >>> unpack_value(tuple[int, ...], [1, 2])
    (1, 2)
    """
    if is_record(kind):
        return unpacked_record(kind, value)
    if get_origin(kind) is tuple:
        inner = get_args(kind)
        if type(value) is list and (inner[-1] is ... or len(inner) == len(value)):
            kinds = [inner[0]] * len(value) if inner[-1] is ... else inner
            return tuple(unpack_value(each, item) for each, item in zip(kinds, value, strict=True))
    elif get_origin(kind) is frozenset:
        if type(value) is list:
            return frozenset(unpack_value(get_args(kind)[0], item) for item in value)
    elif type(value) in allowed_types(kind) and (type(value) is not int or is_number(value)):
        return value
    raise OnlinearError(f"the model holds {value!r:.60} where {kind} should be: it is not one that we wrote")


def unpacked_record(kind: Any, value: Any) -> Any:
    """A record; its last fields may be missing if older versions did not know them."""
    hints = get_type_hints(kind)
    fields = fields_of(kind)
    if type(value) is not dict or list(value) != fields[: len(value)] or len(value) < required_of(kind):
        raise OnlinearError(f"the model holds {value!r:.60} where the fields {fields} should be")
    found = {name: unpack_value(hints[name], value[name]) for name in value}
    return kind(**MEANT_THEN.get(kind.__name__, {}) | found)


def is_number(value: Any) -> bool:
    """Whether a value from JSON is a number to reckon with.

    >>> is_number(0.5), is_number(10**400), is_number(True)
    (True, False, False)
    """
    return type(value) is float or (type(value) is int and -MOST_WHOLE <= value < MOST_WHOLE)


def allowed_types(kind: Any) -> tuple[Any, ...]:
    """The plain types behind an annotation such as ``int | None``."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def is_record(kind: Any) -> TypeGuard[type]:
    return isinstance(kind, type) and (hasattr(kind, "_fields") or dataclasses.is_dataclass(kind))


def fields_of(kind: Any) -> list[str]:
    return list(kind._fields) if hasattr(kind, "_fields") else [field.name for field in dataclasses.fields(kind)]


def required_of(kind: Any) -> int:
    """How many fields have to be there."""
    return FIRST_FIELDS.get(kind.__name__, len(fields_of(kind)))
