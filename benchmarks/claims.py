"""The table that a benchmark prints: a line for each claim, ours beside a peer's, and the floor it must reach."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import platform
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import onlinear

Cost = Callable[[], float]  # runs the work once; seconds, bytes or whatever the row counts, for one unit of it


class NotMeasured(Exception):
    """Why a row cannot be measured here."""


# Amounts


def times(ratio: float) -> str:
    if ratio > 999:
        return ">999x"
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x"


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def megabytes(count: float) -> str:
    return f"{count / 1e6:.1f} MB"


def percent(share: float) -> str:
    return f"{100.0 * share:.2f} %"


# Lines


class Row(NamedTuple):
    """One line: ours must be ``floor`` times as fast as the peer (below 1: may be slower)."""

    work: str
    against: str
    floor: float
    costs: Callable[[], tuple[Cost, Cost]]  # ours and the peer's, made ready
    repeat: int = 7
    shown: Callable[[float], str] = duration
    rehearsed: bool = True  # whether a first round only warms up

    @property
    def limit(self) -> str:
        return times(self.floor)

    def distance(self, ours: float, peer: float) -> str:
        return times(ratio(ours, peer))

    def holds(self, ours: float, peer: float) -> bool:
        return ratio(ours, peer) >= self.floor


class AtMost(NamedTuple):
    """One line: ours may cost ``extra`` more than the peer."""

    work: str
    against: str
    extra: float
    costs: Callable[[], tuple[Cost, Cost]]
    repeat: int = 10
    shown: Callable[[float], str] = duration
    rehearsed: bool = True

    @property
    def limit(self) -> str:
        return f"+{self.shown(self.extra)}"

    def distance(self, ours: float, peer: float) -> str:
        return f"+{self.shown(ours - peer)}"

    def holds(self, ours: float, peer: float) -> bool:
        return ours - peer <= self.extra


Line = Row | AtMost


def ratio(ours: float, peer: float) -> float:
    return peer / ours if ours else float("inf")


class Result(NamedTuple):
    row: Line
    ours: float = 0.0
    peer: float = 0.0
    absent: str = ""

    @property
    def passed(self) -> bool:
        return not self.absent and self.row.holds(self.ours, self.peer)

    def cells(self) -> tuple[str, ...]:
        row = self.row
        if self.absent:
            return (row.work, row.against, "-", "-", "-", row.limit, "?")
        peer = row.shown(self.peer) if self.peer else "-"
        distance, verdict = row.distance(self.ours, self.peer), "ok" if self.passed else "LOW"
        return (row.work, row.against, row.shown(self.ours), peer, distance, row.limit, verdict)


# Running


def measure(row: Line, repeat: int | None) -> Result:
    """Ours and the peer's in turn, the best of each."""
    try:
        ours, peer = row.costs()
        if row.rehearsed:
            ours(), peer()
        pairs = [(ours(), peer()) for _ in range(repeat or row.repeat)]
    except NotMeasured as reason:
        return Result(row, absent=str(reason))
    return Result(row, min(a for a, _ in pairs), min(b for _, b in pairs))


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one pass rarely converges, and both sides may say so
        yield


def run(chosen: Iterable[Line], repeat: int | None, markdown: bool) -> list[Result]:
    line = markdown_line if markdown else text_line
    print(*machine(), "", line(HEADINGS), sep="\n")
    if markdown:
        print("|---|---|--:|--:|--:|--:|---|")
    results = []
    for row in chosen:
        with quiet():
            results.append(measure(row, repeat))
        print(line(results[-1].cells()), flush=True)
    return results


# Printing


HEADINGS = ("work", "against", "ours", "peer", "ratio", "floor", "")
WIDTHS = (28, 12, 8, 8, 8, 6, 3)


def text_line(cells: Sequence[str]) -> str:
    left = [cells[0][: WIDTHS[0]].ljust(WIDTHS[0]), cells[1].ljust(WIDTHS[1])]
    right = [c.rjust(w) for c, w in zip(cells[2:], WIDTHS[2:], strict=True)]
    return " ".join(left + right)


def markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def machine() -> Iterator[str]:
    """Date, processor and versions."""
    names = ("numba", "numpy", "scikit-learn", "river", "vowpalwabbit", "pandas")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    yield f"{datetime.date.today()}, {cpu_model()}, {os.cpu_count()} cores"
    yield f"onlinear {onlinear.__version__}, Python {platform.python_version()}, best of several"
    yield versions


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


# The command line


def parser(says: str) -> argparse.ArgumentParser:
    """The options that every table has."""
    parser = argparse.ArgumentParser(description=says.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit 1 unless every floor is met")
    parser.add_argument("--only", metavar="TEXT", action="append", help="rows that contain TEXT")
    parser.add_argument("--data", type=Path, default=os.environ.get("ONLINEAR_DATA"))
    parser.add_argument("--repeat", type=int, help="rounds per row")
    parser.add_argument("--markdown", action="store_true", help="print the table for the README")
    parser.add_argument("--list", action="store_true", help="print the rows and measure nothing")
    return parser


def wanted(row: Line, only: list[str] | None) -> bool:
    name = f"{row.work} {row.against}".lower()
    return only is None or any(text.lower() in name for text in only)


def main(rows: Iterable[Line], notes: Iterable[str], options: argparse.Namespace) -> int:
    """Measure the rows that were asked for, and say which of them reach their floor."""
    chosen = [row for row in rows if wanted(row, options.only)]
    if options.list:
        print(*(f"{row.work} / {row.against}" for row in chosen), sep="\n")
        return 0
    results = run(chosen, options.repeat, options.markdown)
    print("", *notes, sep="\n")
    for reason in sorted({result.absent for result in results} - {""}):
        print(f"not measured: {reason}")
    failed = [result.row.work for result in results if not result.passed]
    print(f"{len(results) - len(failed)} of {len(results)} rows reach their floor")
    return 1 if options.check and failed else 0
