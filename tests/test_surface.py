"""What a user sees of the package, what importing it costs, and which way its imports point."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import onlinear

PACKAGE = Path(onlinear.__file__).parent
HEAVY = ("numpy", "numba", "sklearn", "scipy")

# Each layer may import itself and those before it: docs/architecture.md lists them, one a line.
ARCHITECTURE = Path(__file__).parents[1] / "docs" / "architecture.md"
# Some must not know what comes before them: reading knows nothing of learning.
ONLY = {
    "features": {"data", "errors", "features", "kernels"},
    "streams": {"data", "errors", "features", "kernels", "streams", "system"},
}


def layers_in(page: str) -> list[set[str]]:
    """The layers that the page lists in its block of them, each a line of names."""
    block = re.search(r"```layers\n(.*?)```", page, re.DOTALL)
    assert block is not None
    return [set(line.split()) for line in block[1].splitlines()]


RANKS = {name: rank for rank, layer in enumerate(layers_in(ARCHITECTURE.read_text(encoding="utf-8"))) for name in layer}
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.name[0] != "_")


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def part(path: Path) -> str:
    """The module or folder directly under the package that ``path`` belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(source: str, package: str) -> Iterator[str]:
    """The full names a file imports, wherever in it; ``package`` resolves relative imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def imports_of(path: Path) -> list[str]:
    package = ".".join(["onlinear", *path.relative_to(PACKAGE).parts[:-1]])
    return list(imported(path.read_text(encoding="utf-8"), package))


def parts_used(names: list[str]) -> set[str]:
    """The parts of the package behind imported names, also by way of a public name."""
    used = set()
    for name in names:
        if name.startswith("onlinear."):
            first = name.split(".")[1]
            used.add(onlinear._HOMES.get(first, name).split(".")[1])
    return used - {"__version__"}


def violations(own: str, used: set[str]) -> set[str]:
    allowed = ONLY.get(own) or {name for name, rank in RANKS.items() if rank <= RANKS[own]}
    return used - allowed


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def loaded_by(code: str) -> set[str]:
    return set(json.loads(run(f"{code}\nimport json, sys; print(json.dumps(list(sys.modules)))")))


def test_all_is_what_dir_shows() -> None:
    assert dir(onlinear) == sorted(onlinear.__all__)
    assert len(set(onlinear.__all__)) == len(onlinear.__all__)


@pytest.mark.parametrize("name", onlinear.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(onlinear, name) is not None


def test_star_import_gives_all_of_them() -> None:
    names: dict[str, object] = {}
    exec("from onlinear import *", names)
    assert set(names) - {"__builtins__"} == set(onlinear.__all__)


def test_type_checkers_see_the_table() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.asname: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("onlinear")
        for alias in node.names
    }
    for name, module in seen.items():
        home = f"onlinear.{name}" if module == "onlinear" else module
        assert onlinear._HOMES.get(name) == home
    assert set(seen) == set(onlinear._HOMES)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Perceptorn"):
        _ = onlinear.Perceptorn


@pytest.mark.parametrize("code", ["import onlinear", "import onlinear.cli", "import onlinear.workflow.report"])
def test_import_is_light(code: str) -> None:
    assert loaded_by(code).isdisjoint(HEAVY)


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_imports_point_one_way(path: Path) -> None:
    assert part(path) in RANKS, f"give {part(path)} a place among the layers of docs/architecture.md"
    assert violations(part(path), parts_used(imports_of(path))) == set()


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_only_kernels_import_numba(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports_of(path)}
    assert "numba" not in roots or part(path) == "kernels"


def test_the_layering_test_can_fail() -> None:
    names = list(imported("from ..estimators import SGDClassifier", "onlinear.kernels"))
    assert names == ["onlinear.estimators.SGDClassifier"]
    assert violations("kernels", parts_used(names)) == {"estimators"}
    assert violations("features", {"learning", "data"}) == {"learning"}
    assert violations("losses", parts_used(["onlinear.Perceptron"])) == {"estimators"}
