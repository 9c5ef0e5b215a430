"""What the README and the page on Python show runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README, PYTHON = ((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/python.md"))
BLOCKS = re.findall(r"```python\n(.*?)```", README + PYTHON, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some save a model
    file = tmp_path / "shown.py"  # a user's class lives in a file
    file.write_text(BLOCKS[number], encoding="utf-8")
    exec(compile(BLOCKS[number], str(file), "exec"), {"__name__": f"shown_{number}"})
    printed = capsys.readouterr().out
    assert printed.count("\n") >= BLOCKS[number].count("print(")


def test_first_block_learns() -> None:
    shown: dict[str, object] = {"__name__": "shown"}
    exec(BLOCKS[0], shown)
    assert shown["model"].predict_one({"cash": 1}) == "spam"  # type: ignore[attr-defined]


def test_own_loss_and_rule_separate_the_points() -> None:
    shown: dict[str, object] = {"__name__": "shown"}
    exec(next(block for block in BLOCKS if "class SignDescent" in block), shown)
    assert shown["model"].predict([[0.1, 1.0], [0.9, 0.0]]).tolist() == ["a", "b"]  # type: ignore[attr-defined]


def test_it_is_short() -> None:
    assert README.count("\n") <= 150


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
