"""The hashes of many names at once: see :func:`onlinear.features.names.hash_name`."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np

from onlinear.kernels.compiler.uncounted import bare
from onlinear.kernels.loops import kept, named, source_digest
from onlinear.kernels.text.decimals import address_of
from onlinear.kernels.text.name_hash import OFFSET, hashed, mixed


@cache
def hash_names() -> Any:
    """The compiled loop: names lie one behind the other in ``buffer``, where each one ``ends``."""
    digest = source_digest()

    def loop(buffer, ends, hashes):
        _ = digest
        ends, hashes = bare(ends), bare(hashes)
        text, start = address_of(buffer), np.int64(0)
        for k in range(len(ends)):
            hashes[k] = mixed(hashed(text, start, ends[k], OFFSET))
            start = ends[k]

    return kept(numba.njit(nogil=True)(named(loop, hash_names)))
