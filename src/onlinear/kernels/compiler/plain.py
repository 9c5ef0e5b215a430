"""Whether this is a Numba whose insides are known; if not, compiled code is made by what Numba promises alone.

The modules of ``internals`` lean on the insides of one minor release: the passes of its compiler, its disk cache, code
written in LLVM, CPython's objects. Each of these pieces takes the place of a plain way with the same results, to the
bit, made by ``numba.njit``, ``overload`` and ``register_jitable``. With any other release the plain ways are taken, and
compiled code is not kept on disk. They are taken as well where the environment says so: ``ONLINEAR_PLAIN_NUMBA=1``, or
the names of some pieces, by which ``benchmarks/kernel_pieces.py`` measures what each gains.
"""

from __future__ import annotations

import os

import numba

#: the release whose insides are known; pyproject.toml asks for it
KNOWN = (0, 68)
VARIABLE = "ONLINEAR_PLAIN_NUMBA"
#: pieces that are modules of ``internals``, imported before a loop is compiled: they overload their plain ways
OVERLOADING = (
    "bank_simd",
    "byte_marks",
    "dense_dot",
    "gather",
    "hash_simd",
    "powers",
    "prefetch",
    "rank_simd",
    "score_simd",
    "svmlight_simd",
    "text_bytes",
    "uncounted",
)
PIECES = frozenset({*OVERLOADING, "compiler_lock", "dicts", "disk_cache", "inlining", "lean_cache"})


def find_plain_pieces(release: tuple[int, int], wanted: str) -> frozenset[str]:
    """The pieces that are taken the plain way, with this release of Numba and what the environment wants."""
    if release != KNOWN or wanted == "1":
        return PIECES
    names = frozenset(wanted.replace(",", " ").split()) - {"0"}
    if names - PIECES:
        raise ValueError(
            f"{VARIABLE}={wanted}: there is no piece {', '.join(sorted(names - PIECES))}: "
            f"set it to 1, or to some of {', '.join(sorted(PIECES))}"
        )
    return names


PLAIN = find_plain_pieces(numba.version_info.short, os.environ.get(VARIABLE, ""))


def is_plain(piece: str) -> bool:
    """Whether a piece is taken the plain way."""
    if piece not in PIECES:
        raise ValueError(f"there is no piece {piece}")
    return piece in PLAIN
