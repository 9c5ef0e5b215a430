"""The hashes of many names at once: see :func:`onlinear.features.names.hash_name`."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import numpy as np

from onlinear.kernels.compiler.loop import compiled_loop
from onlinear.kernels.text.bits import address_of
from onlinear.kernels.text.name_hash import OFFSET, hashed, mixed


@compiled_loop
def hash_names(buffer, ends, hashes):
    """Names lie one behind the other in ``buffer``, where each one ``ends``."""
    text, start = address_of(buffer), np.int64(0)
    for k in range(len(ends)):
        hashes[k] = mixed(hashed(text, start, ends[k], OFFSET))
        start = ends[k]
