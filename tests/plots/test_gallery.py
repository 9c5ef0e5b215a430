"""The gallery: docs/pictures.md shows each image that its script draws, and no other."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
MOST = {".png": 60_000, ".gif": 300_000}


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_the_images_of_the_script(script: ModuleType) -> None:
    shown = re.findall(r"!\[.+?\]\(images/pictures/(.+?)\)", (DOCS / "pictures.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(script.IMAGES)
    assert sorted(path.name for path in script.FOLDER.iterdir()) == sorted(shown)


def test_images_are_small(script: ModuleType) -> None:
    for image in script.FOLDER.iterdir():
        assert image.stat().st_size <= MOST[image.suffix], image.name


@pytest.mark.parametrize("name", ["losses.png", "update.png", "descent.png"])
def test_the_script_draws_them(script: ModuleType, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    script.write(name, script.IMAGES[name]())
    assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_every_display_has_an_image() -> None:
    from onlinear import plots

    page = (DOCS / "pictures.md").read_text(encoding="utf-8")
    assert all(f"`{name}." in page for name in plots.__all__)
