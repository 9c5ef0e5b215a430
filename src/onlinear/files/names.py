"""Feature names as arrays: one long text and where each name ends in it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from onlinear.errors import BadModel, OnlinearError
from onlinear.features import state
from onlinear.features.names import MOST_BITS, ExactNames, HashedNames, Names
from onlinear.features.state import pack_texts
from onlinear.files.values import Packer, Unpacker


class NamesNow(NamedTuple):
    """The names at one moment: what may be looked at while others learn."""

    bits: int  # 0 for exact names
    names: list[Hashable]
    cap: int | None
    splits: list[tuple[str, str]]  # names with a "=" of their own, and their string values
    texts: frozenset[str] = frozenset()  # names that have no numbers
    numbers: frozenset[str] = frozenset()  # names that have no texts


def names_now(names: Names) -> NamesNow:
    """What there is to save of the names. The caller is alone with them."""
    if isinstance(names, HashedNames):
        return NamesNow(names.bits, [], None, [], names.texts, names.numbers)
    heads = [head for head in names.categories if "=" in str(head)]
    splits = [(str(head), tail) for head in heads for tail in names.categories[head]]
    return NamesNow(0, names.names(), names.cap, splits, names.texts, names.numbers)


def pack_names(packer: Packer, now: NamesNow) -> dict[str, Any]:
    """The header's part of the names; the names themselves go to the packer's arrays."""
    kinds = {kind: sorted(names) for kind, names in (("texts", now.texts), ("numbers", now.numbers)) if names}
    if now.bits:
        return {"kind": "hashed", "bits": now.bits, **kinds}
    are_text = [type(name) is str for name in now.names]
    pack_texts(packer.arrays, "names", [text_of(packer, name) for name in now.names])
    if not all(are_text):
        packer.arrays["names/plain"] = np.array(are_text, dtype=np.uint8)
    if now.splits:
        pack_texts(packer.arrays, "names/splits", [part for split in now.splits for part in split])
    return {"kind": "exact", "count": len(now.names), "cap": now.cap, **kinds}


def text_of(packer: Packer, name: Any) -> str:
    return name if type(name) is str else json.dumps(packer.pack(name, f"the feature name {name!r:.60}"))


def unpack_names(unpacker: Unpacker, header: dict[str, Any]) -> Names:
    names = unpack_positions(unpacker, header)
    names.texts, names.numbers = names_under(header, "texts"), names_under(header, "numbers")
    return names


def names_under(header: dict[str, Any], kind: str) -> frozenset[str]:
    """The names that have nothing but texts, or numbers."""
    found = header.get(kind, [])
    if type(found) is not list or not all(type(name) is str for name in found):
        raise BadModel(f"the model's names of {kind} are {found!r:.80}: it is not one that we wrote")
    return frozenset(found)


def unpack_positions(unpacker: Unpacker, header: dict[str, Any]) -> Names:
    if header["kind"] == "hashed":
        if type(header["bits"]) is not int or not 1 <= header["bits"] <= MOST_BITS:
            raise BadModel(f"the model's names are hashed to {header['bits']!r:.80} bits: it is not one that we wrote")
        return HashedNames(header["bits"])
    if header["kind"] != "exact" or not (header["cap"] is None or type(header["cap"]) is int):
        raise BadModel(f"the model's names are {header!r:.80}: it is not one that we wrote")
    try:
        names = ExactNames(exact_names(unpacker), header["cap"])
    except OnlinearError as error:
        raise BadModel(f"the model's names are none that we wrote: {error}") from None
    if "names/splits/ends" in unpacker.arrays:
        parts = unpack_texts(unpacker.arrays, "names/splits")
        for head, tail in zip(parts[::2], parts[1::2], strict=True):
            names.categories.setdefault(head, {})[tail] = names.positions[f"{head}={tail}"]
    return names


def exact_names(unpacker: Unpacker) -> list[Hashable]:
    found: list[Any] = unpack_texts(unpacker.arrays, "names")
    if "names/plain" not in unpacker.arrays:
        return found
    are_text = unpacker.arrays["names/plain"].tolist()
    pairs = zip(found, are_text, strict=True)
    return [text if plain else unpacker.unpack(json.loads(text)) for text, plain in pairs]


def unpack_texts(arrays: Mapping[str, np.ndarray], name: str) -> list[str]:
    """The strings of a model file."""
    try:
        return state.unpack_texts(arrays, name)
    except OnlinearError as error:
        raise BadModel(f"the model's {str(error).removeprefix('the ')}: it is not one that we wrote") from None
