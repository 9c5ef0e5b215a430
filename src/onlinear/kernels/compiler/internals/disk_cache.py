"""Machine code that is kept on disk, for the next process.

The plain way is to keep none: Numba's own cache lets two processes that fill it at once run each other's code.

A process that reads a small file takes 2.3 times as long without :class:`QuickCache` and :class:`LeanCode`
(benchmarks/kernel_pieces.py).
"""

from __future__ import annotations

import hashlib
import pickle
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite.binding import add_symbol, parse_assembly
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.ccallback import CFunc
from numba.core.runtime import _nrt_python

import onlinear
from onlinear.kernels.compiler.inlining import register_overloads
from onlinear.kernels.compiler.plain import PLAIN, is_plain

#: what compiled loops are made of beside rules and kernels
SOURCES = (
    *("data/masked", "data/rows", "data/targets", "data/whole_numbers", "errors", "features/names", "losses"),
    *("parameters", "powers", "system/locks"),
)
#: bytes of a checksum
CHECKSUM = 4


@cache
def source_digest() -> str:
    """A digest of every file that takes part in a compiled loop, and of what is taken the plain way.

    Numba's disk cache looks only at the file of the loop itself; the digest enters its key.
    """
    files = [file.read_bytes() for file in digested_files()]
    return hashlib.sha256(b"".join([*files, " ".join(sorted(PLAIN)).encode()])).hexdigest()


def digested_files() -> list[Path]:
    """The files that take part in a compiled loop: those of the kernels, and all that these import."""
    root = Path(onlinear.__file__).parent
    files = [root / f"{name}.py" for name in SOURCES]
    return files + sorted((root / "rules").glob("*.py")) + sorted((root / "kernels").rglob("*.py"))


class CacheFiles(IndexDataCacheFile):
    """Numba's disk cache, for processes that fill it at once.

    Numba numbers the files of a function in the order of its index: two processes that compile it for different types
    at the same time may take the same number, and one runs the other's code. Here a file is named after its key.

    A file begins with a checksum: after a power failure it may be empty, cut, or full of zeros, and as machine code
    that would end the process. One that is damaged is not there; it is written again.
    """

    def save(self, key: Any, data: Any) -> None:
        name = self._data_name(int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:8]))
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})

    def load(self, key: Any) -> Any:
        name = self._load_index().get(key)
        return None if name is None else unpickled(checked_content(self._data_path(name)))

    def _load_index(self) -> dict[Any, str]:
        version, stamped = unpickled(checked_content(self._index_path)) or (None, None)
        if version != self._version:
            return {}
        stamp, names = unpickled(stamped) or (None, {})
        return names if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        stamped = self._dump((self._source_stamp, overloads))
        self._write(self._index_path, self._dump((self._version, stamped)))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), self._dump(data))

    def _write(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(checksum_of(content))
            file.write(content)


def checksum_of(content: bytes) -> bytes:
    """Enough against accidents, and quick: a process that starts reads megabytes."""
    return zlib.crc32(content).to_bytes(CHECKSUM)


def checked_content(path: str) -> bytes | None:
    """What a file holds behind its checksum; None if it cannot be read, or is damaged."""
    try:
        with open(path, "rb") as file:
            checksum, content = file.read(CHECKSUM), file.read()
    except OSError:
        return None
    return content if checksum == checksum_of(content) else None


def unpickled(content: bytes | None) -> Any:
    """What was pickled; None if nothing was, or another version of ours did, with classes that this one has not."""
    try:
        return None if content is None else pickle.loads(content)
    except (AttributeError, ImportError, TypeError):
        return None


class LeanCode(CompileResultCacheImpl):
    """What Numba's disk cache writes of a compiled function, without what takes time to read and is not looked at.

    Those are the environments of the functions that were called within, which import their modules, Numba's own among
    them, and hold constants, if any; and the bitcode, which other compiled functions would have to inline it.
    """

    def reduce(self, compiled: Any) -> tuple[Any, ...]:
        (name, kind, (code, _)), *parts, environments = super().reduce(compiled)
        library = name, kind, (code, entrance(compiled.fndesc.llvm_cpython_wrapper_name))
        return library, *parts, tuple(environment for environment in environments if environment.consts)


def entrance(name: str) -> bytes:
    """Bitcode that says no more than that there is a function of this name."""
    bitcode: bytes = parse_assembly(f'define void @"{name}"() {{ unreachable }}').as_bitcode()
    return bitcode


class SpareCache(FunctionCache):
    """Numba's disk cache, which a process can do without: if the disk is full, say, the next one compiles again.

    Its key says of which sources the machine code is made.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            register_overloads()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return *super()._index_key(sig, codegen), source_digest()


class QuickCache(SpareCache):
    """Numba's disk cache, without the wait for what only compiling needs.

    Before it looks, Numba loads every implementation it has, a quarter of a second, and compiles its runtime, 20 ms.
    Machine code that is found has in it all it needs of them but the functions that are written in C.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        name_runtime()
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
            if found is not None:
                return found
        return super().load_overload(sig, target_context)


@cache
def name_runtime() -> None:
    """Let machine code find the functions of Numba's runtime by their names."""
    for name, address in _nrt_python.c_helpers.items():
        add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def disk_cached(compiled: Any) -> Any:
    """Let a compiled function keep its machine code on disk, for the next process."""
    if has_cache(compiled) and not is_plain("lean_cache"):
        compiled._cache.__class__ = QuickCache
        compiled._cache._impl.__class__ = LeanCode
    return compiled


def disk_cached_callback(function: Callable[..., Any], signature: Any) -> Any:
    """A C callback, compiled; its machine code is on disk, for the next process."""
    compiled = CFunc(function, (signature.args, signature.return_type), {}, {})
    has_cache(compiled)
    compiled.compile()
    return compiled


def has_cache(compiled: Any) -> bool:
    """Let a compiled function have files in the disk cache; whether there is a folder for them."""
    try:
        compiled.enable_caching()
    except (OSError, RuntimeError):  # Numba's word for: no folder can be written to
        register_overloads()
        return False
    compiled._cache.__class__ = SpareCache
    compiled._cache._cache_file.__class__ = CacheFiles
    return True
