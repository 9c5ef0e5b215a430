"""Who may know the insides of Numba, and that machine code on disk is made of the sources at hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import onlinear
from onlinear.kernels.compiler.internals.disk_cache import digested_files

PACKAGE = Path(onlinear.__file__).parent
COMPILER = PACKAGE / "kernels" / "compiler"
#: what Numba promises: https://numba.readthedocs.io/en/stable/extending/high-level.html
PROMISED = {"njit", "typeof", "types", "carray", "config", "version_info"}
EXTENDING = {"overload", "register_jitable"}


def imports_of(path: Path) -> Iterator[tuple[str, str]]:
    """The modules a file imports, each with a name that is taken from it, or with none."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports by dots"
            yield from ((node.module or "", alias.name) for alias in node.names)


def is_promised(module: str, name: str) -> bool:
    if module.split(".")[0] not in ("numba", "llvmlite"):
        return True
    return (module == "numba" and name in PROMISED | {""}) or (module == "numba.extending" and name in EXTENDING)


SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if COMPILER / "internals" not in path.parents)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_the_insides_of_numba_are_known_in_one_folder(path: Path) -> None:
    found = {(module, name) for module, name in imports_of(path) if not is_promised(module, name)}
    if path == COMPILER / "inlining.py":
        found -= {("numba.extending", "intrinsic")}  # llvm_for, which modules of that folder call
    assert not found
    assert "numba.core" not in path.read_text(encoding="utf-8")  # nor by way of numba itself


def files_of(module: str, name: str) -> Iterator[Path]:
    """The file of a module, or of the module that a name of a package is; the package itself only looks names up."""
    parts = module.split(".")
    if parts[0] == "onlinear":
        base = PACKAGE.joinpath(*parts[1:])
        found = (base.with_suffix(".py"), base / f"{name}.py", base / "__init__.py")
        yield from (path for path in found if path.is_file() and path != PACKAGE / "__init__.py")


def says_something(path: Path) -> bool:
    """Whether a file is more than a docstring."""
    return len(ast.parse(path.read_text(encoding="utf-8")).body) > 1


def test_the_digest_is_of_all_that_compiled_loops_are_made_of() -> None:
    """A file that is missing would leave old machine code in place after an edit of it; one too many, none at all."""
    waiting = [*(PACKAGE / "kernels").rglob("*.py"), *(PACKAGE / "rules").glob("*.py")]
    closure: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in closure:
            closure.add(path)
            waiting += [file for module, name in imports_of(path) for file in files_of(module, name)]
    assert {*filter(says_something, digested_files())} == {*filter(says_something, closure)}
