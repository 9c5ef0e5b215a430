"""The state of features as plain arrays, taken from a file that may be damaged; strings among it as two arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from onlinear.errors import OnlinearError

Arrays: TypeAlias = dict[str, np.ndarray]


def vector(arrays: Mapping[str, np.ndarray], name: str, dtype: Any, length: int | None = None) -> np.ndarray:
    """One of the arrays, as long as it has to be."""
    found = arrays.get(name)
    if (
        found is None
        or found.dtype != dtype
        or found.ndim != 1
        or len(found) != (len(found) if length is None else length)
    ):
        raise damage_error(name)
    return found


def damage_error(name: str) -> OnlinearError:
    return OnlinearError(f"the {name} among the saved names and scales are damaged: save them again")


def pack_texts(arrays: dict[str, np.ndarray], name: str, texts: list[str]) -> None:
    """Strings as two arrays: their UTF-8 bytes one after the other, and where each ends.

    >>> arrays = {}
    >>> pack_texts(arrays, "names", ["size", "", "ä"])
    >>> arrays["names/ends"], bytes(arrays["names/text"]).decode()
    (array([4, 4, 6]), 'sizeä')
    >>> unpack_texts(arrays, "names")
    ['size', '', 'ä']
    """
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    arrays[f"{name}/text"] = np.frombuffer(b"".join(parts), dtype=np.uint8)
    arrays[f"{name}/ends"] = np.cumsum([len(part) for part in parts], dtype=np.int64)


def unpack_texts(arrays: Mapping[str, np.ndarray], name: str) -> list[str]:
    """The strings that :func:`pack_texts` made arrays of."""
    text, ends = arrays[f"{name}/text"], arrays[f"{name}/ends"]
    fine = text.dtype == np.uint8 and ends.dtype == np.int64 and text.ndim == ends.ndim == 1
    starts = np.append(0, ends)[:-1]
    if not fine or (starts > ends).any() or len(text) != (ends[-1] if len(ends) else 0):
        raise OnlinearError(f"the {name} do not end where it says they do")
    content = text.tobytes()
    pieces = zip(starts.tolist(), ends.tolist(), strict=True)
    try:
        return [content[start:end].decode("utf-8", "surrogatepass") for start, end in pieces]
    except UnicodeDecodeError:
        raise OnlinearError(f"the {name} are not UTF-8") from None
