"""Whole commands over files, beside Vowpal Wabbit, scikit-learn and pandas: speed, memory and error, all in one run.

    python benchmarks/files.py --check --data FOLDER

Each row runs processes from start to end in turn, several times, and keeps the best of each; files are in the memory of
the operating system, and what Numba compiles is in its cache on disk. The files are drawn, the same each time, into
``--work`` (a temporary folder unless you say; there they are used again). Rows of real data read ``--data`` or
``$ONLINEAR_DATA``, in the order of their files.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import claims
from claims import AtMost, Cost, Line, NotMeasured, Row, megabytes, percent
from generated import write_sparse, write_table, write_words
from processes import Spent, python, read_through

from data import VW_BITS, data_folder, load, write_text

MEGABYTE = 1_000_000
CLAIMED = 1_000  # megabytes
MEMORY_LIMIT = 400 * MEGABYTE
HELP_LIMIT = 0.4
LOGISTIC = ("--loss_function", "logistic")
PEERS = Path(__file__).with_name("peers.py")
REAL = ("a9a", "covtype", "news20")

Learn = Callable[[Path, Path], Spent]  # a process that learns from the file, and saves to the other


# The processes


def ours(path: Path, model: Path) -> Spent:
    return python("-m", "onlinear", "train", path, "--model", model, "--quiet")


def vw(path: Path, model: Path) -> Spent:
    return vw_process("-d", path, "-f", model, "--quiet", *LOGISTIC)


def vw_process(*arguments: object) -> Spent:
    if find_spec("vowpalwabbit") is None:
        raise NotMeasured("Vowpal Wabbit: pip install '.[bench]'")
    return python("-m", "vowpalwabbit", "--no_stdin", *arguments)


def scikit_learn(path: Path, model: Path) -> Spent:
    return python(PEERS, "svmlight", path, model)


def pandas(path: Path, model: Path) -> Spent:
    if find_spec("pandas") is None:
        raise NotMeasured("pandas: pip install '.[bench]'")
    return python(PEERS, "csv", path, model)


# The files


class Files:
    """The drawn files, each made when it is first wanted."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder, self.megabytes = folder, megabytes

    @property
    def svmlight(self) -> Path:
        return self._sparse()[0]

    @property
    def sparse_vw(self) -> Path:
        return self._sparse()[1]

    def _sparse(self) -> tuple[Path, Path]:
        paths = self._named("rows.svm"), self._named("rows.vw")
        if not all(path.exists() for path in paths):
            write_sparse(*paths, self.megabytes * MEGABYTE)
        return paths

    @property
    def words(self) -> Path:
        return self._half("words.vw", write_words)

    @property
    def table(self) -> Path:
        return self._half("table.csv", write_table)

    def _half(self, name: str, write: Callable[[Path, int], None]) -> Path:
        path = self._named(name)
        if not path.exists():
            write(path, self.megabytes * MEGABYTE // 2)
        return path

    @property
    def fourfold(self) -> Path:
        """The svmlight file four times over."""
        path, size = self._named("fourfold.svm"), 4 * self.svmlight.stat().st_size
        if path.exists() and path.stat().st_size == size:
            return path
        if shutil.disk_usage(self.folder).free < size:
            raise NotMeasured(f"memory: no room for {megabytes(size)} in {self.folder}")
        with open(path, "wb") as out:
            for _ in range(4):
                with open(self.svmlight, "rb") as rows:
                    shutil.copyfileobj(rows, out, 1 << 24)
        return path

    @property
    def model(self) -> Path:
        """Where processes save to; nobody reads it."""
        return self.folder / "model"

    def _named(self, name: str) -> Path:
        return self.folder / f"{self.megabytes}-{name}"


def warmed(path: Path) -> Path:
    """The file, read once, after a small one like it had us compile what it takes."""
    with tempfile.TemporaryDirectory() as folder, open(path, "rb") as rows:
        small = Path(folder, f"small{path.suffix}")
        small.write_bytes(b"".join(rows.readlines(MEGABYTE)))
        ours(small, Path(folder, "model"))
    read_through(path)
    return path


# The rows


def speed_costs(files: Files, path: Callable[[], Path], learn: Learn, theirs: Callable[[], Path]) -> tuple[Cost, Cost]:
    mine, peers = warmed(path()), theirs()
    read_through(peers)
    return lambda: ours(mine, files.model).seconds, lambda: learn(peers, files.model).seconds


def speed_rows(files: Files) -> Iterator[Row]:
    def costs(path: str, learn: Learn, theirs: str | None = None) -> Callable[[], tuple[Cost, Cost]]:
        return lambda: speed_costs(files, partial(getattr, files, path), learn, partial(getattr, files, theirs or path))

    size, half = size_text(files.megabytes), size_text(files.megabytes / 2)
    yield Row(f"{size} svmlight to a model", "VW", 2.5, costs("svmlight", vw, "sparse_vw"), 9, rehearsed=False)
    once = costs("svmlight", scikit_learn)
    yield Row(f"{size} svmlight to a model", "scikit-learn", 15, once, 1, rehearsed=False)
    yield Row(f"{half} VW text to a model", "VW", 1.8, costs("words", vw), 9, rehearsed=False)
    yield Row(f"{half} CSV to a model", "pandas, scikit-learn", 3, costs("table", pandas), 3, rehearsed=False)


def memory_rows(files: Files) -> Iterator[Line]:
    @cache
    def peak(name: str) -> float:
        return ours(warmed(getattr(files, name)), files.model).peak

    sizes = [size_text(files.megabytes * factor) for factor in (1, 4)]
    both = partial(peak, "fourfold"), partial(peak, "svmlight")
    work = f"peak memory, {sizes[1]} svmlight"
    yield Row(work, f"{sizes[0]} svmlight", 1 / 1.1, lambda: both, 1, megabytes, rehearsed=False)
    yield AtMost(work, "-", MEMORY_LIMIT, lambda: (both[0], nothing), 1, megabytes, rehearsed=False)


def error_rows(files: Files, data: Path | None) -> Iterator[Row]:
    for name in REAL:
        costs = partial(error_costs, files.folder, data, name)
        yield Row(f"progressive error, {name}", "VW", 1, costs, 1, percent, rehearsed=False)


def error_costs(folder: Path, data: Path | None, name: str) -> tuple[Cost, Cost]:
    """Our error and VW's on the same rows, in the order of their file."""
    if data is None:
        raise NotMeasured("real data: set --data or $ONLINEAR_DATA")
    real = load(name, data_folder(data))
    several = len(real.classes) > 2
    labels = real.targets + 1 if several else real.targets
    mine, theirs = folder / f"{name}.svm", folder / f"{name}.vw"
    write_text(mine, real.rows, labels, first=1)
    write_text(theirs, real.rows, labels, bar=" |", first=1)
    task = ("--oaa", len(real.classes)) if several else ("--binary",)
    return partial(our_error, mine), partial(vw_error, theirs, task)


def our_error(path: Path) -> float:
    return float(json.loads(python("-m", "onlinear", "train", path, "--json").output)["progressive_error"])


def vw_error(path: Path, task: Sequence[object]) -> float:
    said = vw_process("-d", path, "-b", VW_BITS, *LOGISTIC, *task).said
    found = re.search(r"^average loss = (\S+)", said, re.MULTILINE)
    if found is None:
        raise SystemExit(f"VW did not say its average loss:\n{said[-2000:]}")
    return float(found[1])


def help_seconds() -> float:
    return python("-m", "onlinear", "--help").seconds


def nothing() -> float:
    return 0.0


def rows(files: Files, data: Path | None) -> Iterator[Line]:
    yield from speed_rows(files)
    yield from memory_rows(files)
    yield from error_rows(files, data)
    yield AtMost("onlinear --help", "-", HELP_LIMIT, lambda: (help_seconds, nothing))


# Running


def size_text(megabytes: float) -> str:
    return f"{megabytes / 1000:g} GB" if megabytes >= 1000 else f"{megabytes:g} MB"


def notes(size: int) -> Iterator[str]:
    yield "svmlight: 68 of 47,236 features a row; VW reads the same rows as its own text. Whole processes, one pass"
    yield "scikit-learn: load_svmlight_file, then fit, once; pandas: read_csv in chunks, categories hashed, partial_fit"
    yield f"the {size_text(4 * size)} file is the {size_text(size)} file four times"
    if size != CLAIMED:
        yield f"the claim is for {size_text(CLAIMED)}: this run is a trial"


def arguments() -> argparse.Namespace:
    parser = claims.parser(str(__doc__))
    parser.set_defaults(markdown=True)
    parser.add_argument("--size-mb", type=int, default=CLAIMED, metavar="N", help="of the largest drawn file")
    parser.add_argument("--work", type=Path, help="folder for the files, which stay there")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.work or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        files = Files(folder, options.size_mb)
        return claims.main(rows(files, options.data), notes(options.size_mb), options)


if __name__ == "__main__":
    sys.exit(main())
