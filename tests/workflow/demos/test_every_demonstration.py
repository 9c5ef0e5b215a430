"""What is true of each demonstration: it fits a terminal, is JSON, comes again with its seed, and is drawn whole."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from commands import run_here
from onlinear.workflow import demos
from onlinear.workflow.demos import DEMONSTRATIONS, demonstration

pytestmark = pytest.mark.compiles

#: modules of the package that are no demonstrations of the list
OTHERS = {"__init__", "breast_cancer", "pictures", "seeds", "telling"}
#: whose numbers may be the same whatever the seed draws
SAME_FOR_ALL_SEEDS = {"tight", "xor"}


def without_seconds(found: Any) -> Any:
    """A result without its times, which no two runs share."""
    if isinstance(found, dict):
        return {name: without_seconds(each) for name, each in found.items() if "seconds" not in name}
    return [without_seconds(each) for each in found] if isinstance(found, list | tuple) else found


def refuse(name: str) -> None:
    pytest.fail(f"{name} is no JSON")


def test_the_list_names_all_modules() -> None:
    folder = Path(str(demos.__file__)).parent
    assert {path.stem for path in folder.glob("*.py")} - OTHERS == set(DEMONSTRATIONS)


@pytest.mark.parametrize("name", DEMONSTRATIONS)
def test_its_lines_fit_any_terminal(name: str) -> None:
    ended = run_here("demo", name, "--seed", 3)
    assert (ended.code, ended.err) == (0, "")
    printed = ended.out.splitlines()
    assert printed[0] == demonstration(name).TITLE
    assert max(map(len, printed)) <= 80, max(printed, key=len)
    assert ended.out.isascii()
    assert not any(line != line.rstrip() for line in printed)


@pytest.mark.parametrize("name", DEMONSTRATIONS)
def test_its_json_is_strict_and_its_seed_brings_it_again(name: str) -> None:
    first, again, other = (run_here("demo", name, "--json", "--seed", seed) for seed in (1, 1, 2))
    found = json.loads(first.out, parse_constant=refuse)
    assert (found["demonstration"], found["seed"]) == (name, 1)
    assert without_seconds(found) == without_seconds(json.loads(again.out))
    if name not in SAME_FOR_ALL_SEEDS:
        assert without_seconds({**json.loads(other.out), "seed": 1}) != without_seconds(found)


@pytest.mark.parametrize("name", DEMONSTRATIONS)
def test_its_picture_is_a_slide(name: str, tmp_path: Path) -> None:
    seed = 2**40  # of which an estimator alone would say that it is too large
    ended = run_here("demo", name, "--json", "--seed", seed, "--plot", tmp_path / "slide.png")
    assert (ended.code, ended.err) == (0, "")
    picture = (tmp_path / "slide.png").read_bytes()
    assert (picture[:4], picture[-8:-4]) == (b"\x89PNG", b"IEND")
    assert struct.unpack(">II", picture[16:24]) == (1920, 1080)
    assert [path.name for path in tmp_path.iterdir()] == ["slide.png"]


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_slides_are_of_other_kinds_too(kind: str, tmp_path: Path) -> None:
    assert run_here("demo", "proof", "--plot", tmp_path / f"slide.{kind}").code == 0
    picture = (tmp_path / f"slide.{kind}").read_bytes()
    begins, ends = {"svg": (b"<?xml", b"</svg>"), "pdf": (b"%PDF", b"%%EOF")}[kind]
    assert (picture[: len(begins)], picture.rstrip()[-len(ends) :]) == (begins, ends)


def test_without_a_name_the_list_comes_first_and_then_the_stream() -> None:
    ended = run_here("demo")
    printed = ended.out.splitlines()
    assert [line.split()[0] for line in printed[1 : 1 + len(DEMONSTRATIONS)]] == list(DEMONSTRATIONS)
    assert max(map(len, printed)) <= 80
    assert printed[len(DEMONSTRATIONS) + 2].startswith("Breast cancer as a stream")
    assert printed[-1] == "Each example was predicted before it was learned."
    found = json.loads(run_here("demo", "--json").out, parse_constant=refuse)
    assert (found["demonstrations"], found["examples"]) == (DEMONSTRATIONS, 569)


@pytest.mark.parametrize(
    ("name", "said"), [("perceptrno", "did you mean perceptron?"), ("MNIST", "choose one of perceptron, ")]
)
def test_a_demonstration_that_is_not_there(name: str, said: str, tmp_path: Path) -> None:
    ended = run_here("demo", name, "--plot", tmp_path / "slide.png")
    assert (ended.code, ended.out, said in ended.err) == (2, "", True)
    assert list(tmp_path.iterdir()) == []


def test_a_picture_that_cannot_be_written_stops_it_before_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onlinear.workflow.demos.tight.compute", lambda _: pytest.fail("it ran"))
    assert run_here("demo", "tight", "--plot", tmp_path / "nowhere" / "slide.png").code == 3
    assert run_here("demo", "tight", "--plot", tmp_path / "slide.txt").code == 2
    assert list(tmp_path.iterdir()) == []
