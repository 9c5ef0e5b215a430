"""Each line of the page of the lecture, in Python and on the command line, gives what stands below it."""

from __future__ import annotations

import doctest
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from commands import Ended, run_here
from onlinear.streams import synthetic
from onlinear.theory.certificates import replace_and_seal

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "lecture.md").read_text(encoding="utf-8")
PRELUDE, *SECTIONS = re.split(r"^## ", PAGE, flags=re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: what stands below a command that is refused
REFUSED = ("NOT verified", "Error:")


def blocks_in(text: str) -> list[tuple[str, str]]:
    """The kind of each block of code, and its lines."""
    return re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the page names."""
    monkeypatch.chdir(tmp_path)
    noisy = synthetic.Noisy(n=300, d=3, flips=20, seed=2)
    write_rows("xor.svm", np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1, 1, 1, -1]))
    write_rows("rows.svm", *next(synthetic.Separable(n=200, d=3, margin=0.05, seed=1).arrays(200)))
    write_rows("noisy.svm", *next(noisy.arrays(300)))
    write_rows("tight.svm", np.eye(4), np.ones(4))
    Path("u.txt").write_text(" ".join(map(repr, noisy.u.tolist())))
    Path("mean.csv").write_text("y\n1.5\n2.5\n5\n")
    iris, species = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[species]
    Path("iris.csv").write_text("".join(f"{','.join(map(str, x))},{y}\n" for x, y in zip(iris, names, strict=True)))
    Path("people.csv").write_text("age,wage,town,y\n" + "".join(map(person, range(200))))
    return tmp_path


def write_rows(name: str, X: np.ndarray, y: np.ndarray) -> None:
    with Path(name).open("w") as file:
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            file.write(f"{int(label)} " + " ".join(f"{j}:{x!r}" for j, x in enumerate(row, 1) if x) + "\n")


def person(i: int) -> str:
    """Every tenth has no age, one earns far more than the others, and nearly all live where their answer is yes."""
    age, wage = "" if i % 10 == 0 else str(30 + i % 17), 9_000_000 if i == 7 else 3000 + 13 * (i % 31)
    lives = (i * i + i // 3) % 2
    return f"{age},{wage},{('Bern', 'Ulm')[lives]},{('yes', 'no')[lives if i % 9 else 1 - lives]}\n"


def run_python(text: str, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, "lecture.md", str(DOCS / "lecture.md"), None)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    assert runner.run(test, out=said.append, clear_globs=False).failed == 0, "".join(said)
    names.update(test.globs)


def run_console(text: str) -> None:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, wanted = part.partition("\n")
        program, *words = shlex.split(line)
        assert program == "onlinear"
        if "forged.json" in words:
            forge("rows.json", "forged.json")
        check(run_here(*words), line, wanted)


def check(ended: Ended, line: str, wanted: str) -> None:
    found = f"{ended.out}{ended.err}"
    assert doctest.OutputChecker().check_output(wanted, found, FLAGS), f"{line}\n{found}"
    assert (ended.code != 0) is any(word in wanted for word in REFUSED)


def forge(certificate: str, forged: str) -> None:
    found = json.loads(Path(certificate).read_text())
    Path(forged).write_text(json.dumps(replace_and_seal(found, mistakes=found["mistakes"] - 1)))


@pytest.mark.compiles
@pytest.mark.parametrize("section", SECTIONS, ids=[section.partition("\n")[0] for section in SECTIONS])
def test_each_line_gives_what_the_page_says(section: str, folder: Path) -> None:
    names: dict[str, Any] = {}
    found = blocks_in(section)
    assert found
    for kind, text in [*blocks_in(PRELUDE), *found]:
        if kind == "python":
            run_python(text, names)
        else:
            run_console(text)


def test_all_code_is_run_and_links_lead_somewhere() -> None:
    assert {kind for kind, _ in blocks_in(PAGE)} == {"python", "console"}
    assert PAGE.count("```") == 2 * len(blocks_in(PAGE))
    links = re.findall(r"\]\(([^)#:]+)\)", PAGE)
    assert links
    assert [link for link in links if not (DOCS / link).exists()] == []


def test_a_line_that_gives_something_else_is_seen(folder: Path) -> None:
    with pytest.raises(AssertionError):
        run_python(">>> 1 + 1\n3\n", {})
    with pytest.raises(AssertionError):
        run_console("$ onlinear demo xr\nnothing\n")
