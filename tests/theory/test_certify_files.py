"""``onlinear certify`` on files: separable or not, each class's own counts, models and the rows they learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import run_here
from onlinear import verify as verifier

XOR = {
    "xor.csv": "0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n",
    "xor.svm": "-1\n+1 2:1\n+1 1:1\n-1 1:1 2:1\n",
    "xor.vw": "-1 | a:0\n1 | b\n1 | a\n-1 | a b\n",
}
#: a point with two labels
TWICE = "1 1:0.1 2:0.7\n-1 1:0.1 2:0.7\n1 1:3\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def certificate(*words: str) -> Any:
    ended = run_here("certify", *words, "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


@pytest.mark.parametrize(("name", "text"), [*XOR.items(), ("twice.svm", TWICE)])
def test_what_is_not_separable_is_said_to_be(folder: Path, name: str, text: str) -> None:
    """The table's room for columns is no dimension: 1,024 of an svmlight file, 2^18 of a CSV file."""
    (folder / name).write_text(text)
    said = run_here("certify", name, "--output", "cert.json", "--export", "rows.svm")
    assert (said.code, said.out.splitlines()[0][:27]) == (0, "The rows are not separable:")
    found = json.loads((folder / "cert.json").read_text())
    assert found["separable"] is False
    assert len(found["witness"]["rows"]) >= 2
    assert verifier.main(["cert.json", "rows.svm"]) == 0
