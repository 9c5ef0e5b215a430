"""Model files with repaired digests whose header or arrays lie: refused when they are loaded, or they work.

Digests keep out damage, not malice: whoever changes a file can seal it again. So what a file says is checked against
itself, and no model leads its user, or a compiled loop, out of an array later on.
"""

from __future__ import annotations

import copy
import hashlib
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import onlinear
from commands import run_here
from onlinear.errors import BadModel, OnlinearError
from onlinear.features.names import hash_name
from onlinear.features.naming import Naming
from onlinear.features.state import pack_texts, unpack_texts
from onlinear.files import trained as trained_files
from onlinear.files.container import Arrays, Header, read_model, write_model
from onlinear.streams.arrow import ArrowTable
from onlinear.streams.columns import Column
from onlinear.streams.packing import pack_value, unpack_value
from onlinear.streams.stream import open_alike

CASES = 60  # of each model
ODD: list[Any] = [
    *(None, True, -1, 0, 1, 24, 1 << 31, 1 << 62, 1 << 70, 1e308, -1.5, "", "x", [], {}, [None], [0], {"a": 1}),
    *({"float": "nan"}, {"tuple": []}, {"dict": []}, {"numpy": ["float64", 1.0]}, {"array": "learner/bias"}),
]
NUMBERS = [np.nan, np.inf, -1.0, 0.0, 1e308, 2.0**40]
Place = tuple[Any, ...]


# ------------------------------------------------------------------ models


def table(folder: Path) -> Path:
    rows = [f"{(k * 7 % 11) / 3},{['Bern', 'Thun', 'Zug'][k % 3]},{k % 2}" for k in range(30)]
    (folder / "rows.csv").write_text("\n".join(["age,town,y", *rows]))
    return folder / "rows.csv"


def trained(*words: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        ended = run_here("train", table(folder), "--target", "y", "--quiet", "--model", folder / "model", *words)
        assert ended.code == 0, ended

    return write


def fitted(model: Any) -> Callable[[Path], None]:
    X = np.random.default_rng(0).normal(size=(30, 4))
    return lambda folder: model.fit(X, X[:, 0] > 0.0).save(folder / "model")


def of_dicts(folder: Path) -> None:
    model = onlinear.OnlineClassifier()
    for k in range(10):
        model.learn_one({"a": 1.0, "b": k, "t": f"x{k % 3}"}, "pq"[k % 2])
    model.save(folder / "model")


MODELS: dict[str, Callable[[Path], None]] = {
    "hashed and scaled": trained("--bits", "8", "--scale", "standardise"),
    "exact names": trained("--names", "exact", "--scale", "max-abs"),
    "watching for drift": trained("--bits", "6", "--on-drift", "reset"),
    "arrays": fitted(onlinear.OnlineClassifier()),
    "dicts": of_dicts,
    "in dual form": fitted(onlinear.KernelPerceptron(budget=5)),
}


# ------------------------------------------------------------------ what is changed


def places_in(value: Any, place: Place = ()) -> Iterator[Place]:
    yield from [place] if place else []
    inner = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in inner:
        yield from places_in(value[key], (*place, key))


def at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def changed_header(header: Header, draw: random.Random) -> Header:
    """The header with one value gone, odd, another of its own, or a little off."""
    header = copy.deepcopy(header)
    places = list(places_in(header))
    place = draw.choice(places)
    parent, key = at(header, place[:-1]), place[-1]
    old = parent[key]
    kind = draw.randrange(5)
    if kind == 0:
        del parent[key]
    elif kind == 1:
        parent[key] = copy.deepcopy(at(header, draw.choice(places)))
    elif kind == 2 and type(old) in (int, float):
        parent[key] = draw.choice((-old, old + 1, old * 2, old - 1, old + 0.5))
    elif kind == 3 and isinstance(old, list):
        parent[key] = draw.choice((old + old[:1], old[1:], old[::-1]))
    else:
        parent[key] = copy.deepcopy(draw.choice(ODD))
    return header


def changed_array(array: np.ndarray, draw: random.Random) -> np.ndarray:
    """The array in another shape or type, or with other numbers in it."""
    shapes = [array[:-1], np.concatenate([array, array]), array.reshape(-1), array.T.copy(), array[:0]]
    kind = draw.randrange(4)
    if kind == 0 or not array.size:
        return draw.choice(shapes)
    with np.errstate(all="ignore"):
        if kind == 1:
            return array.astype(draw.choice(("float64", "float32", "int64", "int32", "uint8")))
        array = array.copy()
        for place in draw.sample(range(array.size), draw.choice((1, array.size))):
            array.reshape(-1)[place] = np.float64(draw.choice(NUMBERS)).astype(array.dtype)
    return array


def crafted(header: Header, arrays: Arrays, draw: random.Random) -> tuple[Header, Arrays]:
    if draw.random() < 0.6:
        return changed_header(header, draw), arrays
    name = draw.choice(sorted(arrays))
    return header, arrays | {name: changed_array(arrays[name], draw)}


# ------------------------------------------------------------------ and what is done with it


def use(path: Path, rows: Path | None) -> None:
    """Load, look, predict, learn and save; whatever is refused with a sentence is fine."""
    with suppress(OnlinearError):
        use_estimator(onlinear.load(path), path.with_name("again"))
    if rows is not None:
        with suppress(OnlinearError):
            use_training(path, rows)


def use_estimator(model: Any, again: Path) -> None:
    columns = getattr(model, "n_features_in_", None)
    X = np.ones((2, 4 if columns is None else columns))
    answer = model.predict if columns is not None else lambda rows: model.predict_one({"a": 1.0, "t": "x1"})
    for name in ("coef_", "history_", "loss_", "mistakes_", "mistakes_per_pass_", "examples_"):
        with suppress(OnlinearError):
            getattr(model, name, None)
    with suppress(OnlinearError):
        answer(X)
    with suppress(OnlinearError):
        label = model.classes_[0]
        model.partial_fit(X, [label] * 2) if columns is not None else model.learn_one({"a": 1.0, "new": 2.0}, label)
        answer(X)
    model.save(again)


def use_training(path: Path, rows: Path) -> None:
    trained = trained_files.open_model(path)
    with suppress(OnlinearError):
        onlinear.predict(path, rows)
    with suppress(OnlinearError):
        for block in open_alike(rows, trained.recipe.format, recipe=trained.recipe):
            trained.training.learn(block)
    trained.training.totals(), trained.training.history()
    run_here("inspect", path)
    trained_files.save(path.with_name("again"), trained)


@pytest.mark.compiles
@pytest.mark.filterwarnings("ignore")  # overflow of numbers that no learner would hold
@pytest.mark.parametrize("name", MODELS)
def test_a_crafted_model_is_refused_or_works(tmp_path: Path, name: str) -> None:
    MODELS[name](tmp_path)
    header, arrays = read_model(tmp_path / "model")
    rows = tmp_path / "rows.csv" if "recipe" in header else None
    for seed in range(CASES):
        write_model(tmp_path / "crafted", *crafted(header, arrays, random.Random(f"{name} {seed}")))
        use(tmp_path / "crafted", rows)


# ------------------------------------------------------------------ each check by itself


def set_at(*place: Any, value: Any) -> Callable[[Header, Arrays], None]:
    def change(header: Header, arrays: Arrays) -> None:
        at(header, place[:-1])[place[-1]] = value

    return change


def put(name: str, where: Any, number: float) -> Callable[[Header, Arrays], None]:
    def change(header: Header, arrays: Arrays) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][where] = number

    return change


def many_outputs(header: Header, arrays: Arrays) -> None:
    """So many that they would take gigabytes, with clocks that take no bytes."""
    header["learner"]["outputs"], arrays["learner/clock"] = 20_000_000, np.zeros((20_000_000, 0))


FORMAT = ("recipe", "format", "csv", "naming")
LIES: dict[str, tuple[Callable[[Header, Arrays], None], str]] = {
    "bits": (set_at(*FORMAT, "bits", value=24), "its recipe has names hashed to 24 bits, and its table 64 columns"),
    "weight": (put("learner/table", (0, 0, 0), np.nan), "a weight that is no finite number"),
    "intercept": (put("learner/bias", (0, 0), np.inf), "a weight that is no finite number"),
    "state of a weight": (put("learner/table", (0, 0, 1), np.nan), "a weight that is no finite number"),
    "state of the intercept": (put("learner/bias", (0, 1), np.nan), "a weight that is no finite number"),
    "scale": (put("learner/clock", (0, 1), 0.0), "weights without a scale"),
    "count": (put("learner/clock", (0, 11), -1.0), "counts that are no numbers of examples"),
    "importance": (put("learner/clock", (0, 17), np.nan), "counts that are no numbers of examples"),
    "history": (put("learner/history", (0, 0, 1), np.inf), "a history that counts no examples"),
    "importance so far": (put("learner/history", (0, 0, 2), -1.0), "a history that counts no examples"),
    "clocks": (many_outputs, "20000000 outputs"),
    "version": (set_at("learner", "version", value=-1), "the version -1"),
    "figures": (set_at("figures", "examples", value="many"), "the model's figures are"),
    "updates": (set_at("figures", "updates", value=[1, "many"]), "the model's figures are"),
    "a loss": (set_at("figures", "loss", value=10**400), "the model's figures are"),
    "mistakes": (set_at("figures", "mistakes", value=10**400), "the model's figures are"),
    "a setting": (set_at("learner", "settings", 0, "intercept", value=10**400), "the setting intercept=1"),
    "passes": (set_at("state", "_pass_starts", value=[3]), r"the model's passes began at \[3\]"),
    "classes": (set_at("classes", "open", value=True), "outputs"),
    "a class": (set_at("classes", "labels", value=["a", {"float": "nan"}]), "a class of the model is NaN"),
}


@pytest.mark.compiles
@pytest.mark.parametrize("lie", LIES)
def test_what_a_model_says_is_checked_when_it_is_loaded(tmp_path: Path, lie: str) -> None:
    trained("--bits", "6")(tmp_path)
    header, arrays = read_model(tmp_path / "model")
    change, reason = LIES[lie]
    change(header, arrays)
    write_model(tmp_path / "crafted", header, arrays)
    for load in (trained_files.open_model, onlinear.load):
        with pytest.raises(BadModel, match=rf"crafted cannot be loaded: .*{reason}"):
            load(tmp_path / "crafted")
    assert run_here("certify", tmp_path / "rows.csv", "--model", tmp_path / "crafted").code != 0


def cut_labels(header: Header, arrays: Arrays) -> None:
    header["classes"]["dtype"] = "<U4"


def more_columns_than_there_are(header: Header, arrays: Arrays) -> None:
    header["columns"] = 3
    pack_texts(arrays, "columns", ["a", "b", "c"])


def counted(count: Any) -> Callable[[Header, Arrays], None]:
    return set_at("state", "_counts", value={"dict": [["spam1", count], ["spam2", 2]]})


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (cut_labels, "the model's labels do not fit into <U4"),
        (more_columns_than_there_are, "names do not fit its columns"),
        *((counted(count), "the model has counted its classes as") for count in ("many", [], -3, 0.5, 1 << 64)),
    ],
)
def test_what_an_estimator_says_is_checked_when_it_is_loaded(
    tmp_path: Path, change: Callable[[Header, Arrays], None], reason: str
) -> None:
    X = pandas.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 0.0, 1.0, 0.0]})
    onlinear.OnlineClassifier(class_weight="balanced").fit(X, ["spam1", "spam2"] * 2).save(tmp_path / "model")
    header, arrays = read_model(tmp_path / "model")
    change(header, arrays)
    write_model(tmp_path / "crafted", header, arrays)
    with pytest.raises(BadModel, match=reason):
        onlinear.load(tmp_path / "crafted")


def reversed_for_dicts(header: Header, arrays: Arrays) -> None:
    pack_texts(arrays, "names", unpack_texts(arrays, "names")[::-1])


def more_names_than_columns(header: Header, arrays: Arrays) -> None:
    names = [*unpack_texts(arrays, "names"), *(f"z{k}" for k in range(1000))]
    pack_texts(arrays, "names", names)
    pack_texts(arrays, "recipe/vocabulary/names", names)
    arrays["recipe/vocabulary/hashes"] = np.array([hash_name(name) for name in names], np.uint64)
    arrays["recipe/vocabulary/counts"] = np.ones(len(names), np.int64)


def half_of_the_columns(header: Header, arrays: Arrays) -> None:
    header["learner"]["features"] = 2
    arrays["learner/table"] = arrays["learner/table"][:2]


def no_names_for_dicts(header: Header, arrays: Arrays) -> None:
    del header["names"]
    header["state"]["n_features_in_"] = header["learner"]["features"]


@pytest.mark.compiles
@pytest.mark.parametrize(
    "change",
    [
        reversed_for_dicts,
        more_names_than_columns,
        half_of_the_columns,
        no_names_for_dicts,
        lambda header, arrays: arrays.update({"names/plain": np.ones(len(arrays["names/ends"]), np.uint8)}),
    ],
)
def test_files_and_dicts_have_the_same_names(tmp_path: Path, change: Callable[[Header, Arrays], None]) -> None:
    trained("--names", "exact")(tmp_path)
    header, arrays = read_model(tmp_path / "model")
    change(header, arrays)
    write_model(tmp_path / "crafted", header, arrays)
    for load in (trained_files.open_model, onlinear.load):
        with pytest.raises(BadModel, match="crafted cannot be loaded: its recipe has other names than its table"):
            load(tmp_path / "crafted")


@pytest.mark.compiles
def test_columns_with_numbers_have_no_names(tmp_path: Path) -> None:
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 2:1\n")
    assert run_here("train", tmp_path / "rows.svm", "--quiet", "--model", tmp_path / "model").code == 0
    header, arrays = read_model(tmp_path / "model")
    header["names"] = {"kind": "exact", "count": 2, "cap": None}
    pack_texts(arrays, "names", ["2", "1"])
    for name in ("n_features_in_", "_quick_features"):
        header["state"].pop(name)
    header["state"]["_quick_features"] = -1
    write_model(tmp_path / "crafted", header, arrays)
    for load in (trained_files.open_model, onlinear.load):
        with pytest.raises(BadModel, match="its recipe has other names than its table"):
            load(tmp_path / "crafted")


@pytest.mark.compiles
@pytest.mark.parametrize(
    "words", [[], ["--probabilities"], ["-o", "answers.csv"], ["--probabilities", "-o", "answers.csv"]]
)
def test_a_class_that_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    trained("--bits", "6")(tmp_path)
    header, arrays = read_model("model")
    header["classes"]["labels"] = [{"text": "\ud800".encode("utf-8", "surrogatepass").hex()}, "q"]
    header["classes"]["dtype"] = "|O"
    write_model("crafted", header, arrays)
    ended = run_here("predict", "crafted", "rows.csv", *words)
    assert (ended.code, ended.out) == (2, "")
    assert "has the class '\\ud800', with half of a surrogate pair" in ended.err
    assert not Path("answers.csv").exists()
    ended = run_here("predict", "crafted", "rows.csv", "--output-format", "jsonl", *words)
    assert ended.code == 0, ended


# ------------------------------------------------------------------ the formats of a recipe

#: a text of each format that has rows of two classes
TEXTS = {
    "svmlight": "".join(f"{k % 2 or -1} 1:{k} 2:1\n" for k in range(12)),
    "vw": "".join(f"{k % 2 or -1} |a n:{k} |b w{k % 3}\n" for k in range(12)),
    "csv": "n,w,y\n" + "".join(f"{k},w{k % 3},{'pq'[k % 2]}\n" for k in range(12)),
    "jsonl": "".join(f'{{"n": {k}, "w": "w{k % 3}", "y": "{"pq"[k % 2]}"}}\n' for k in range(12)),
}
WHOLE = [-(1 << 63), 1 - (1 << 32), -1, 1 << 31, 1 << 62, 1 << 63, 1 << 70, True, 0.5, None, "1"]
#: fields of each format with what none of them can be
FIELDS: dict[str, list[tuple[tuple[str, ...], list[Any]]]] = {
    "svmlight": [(("first_index",), [*WHOLE, 2]), (("most_features",), [*(n for n in WHOLE if n != 1 << 31), 0])],
    **{
        name: [
            (("naming", "bits"), [0, -1, 31, 1 << 62, 1 << 70, True, "8"]),
            (("naming", "cap"), [*(n for n in WHOLE if n != 1 << 31), 0]),
            (("naming", "keep"), [None, 1, "yes"]),
        ]
        for name in ("vw", "csv", "jsonl")
    },
}
FIELDS["vw"] += [(("naming", "ranges"), [[["n", [1.0]]]]), (("naming", "frequent"), [[["a", ["w1"]]]])]
FIELDS["jsonl"] += [(("naming", "ranges"), [[["n", [1.0]]]]), (("target_kind",), ["", "text", 1])]
FIELDS["csv"] += [(("target_kind",), ["", "text", 1]), (("words", "ngrams"), [0, 6, -1, 1 << 40])]


@pytest.mark.compiles
@pytest.mark.parametrize("name", FIELDS)
def test_no_field_of_a_format_is_believed(tmp_path: Path, name: str) -> None:
    rows = tmp_path / f"rows.{name}"
    rows.write_text(TEXTS[name])
    hashed = [] if name == "svmlight" else ["--bits", "5", "--target", "y"][: 2 if name == "vw" else 4]
    words = ["--format", name, *hashed, "--quiet", "--model", tmp_path / "model"]
    assert run_here("train", rows, *words).code == 0
    header, arrays = read_model(tmp_path / "model")
    for place, values in FIELDS[name]:
        for value in values:
            lying = copy.deepcopy(header)
            set_at("recipe", "format", name, *place, value=value)(lying, arrays)
            write_model(tmp_path / "crafted", with_bits(lying), arrays)
            for load in (trained_files.open_model, onlinear.load):
                with pytest.raises(BadModel):
                    load(tmp_path / "crafted")


def with_bits(header: Header) -> Header:
    """The header with all its bits as the recipe has them, so that nothing but their number is amiss."""
    ((_, format),) = header["recipe"]["format"].items()
    bits = format.get("naming", {}).get("bits")
    if bits is not None:
        header["names"]["bits"] = header["parameters"]["bits"] = bits
    return header


@pytest.mark.compiles
def test_a_table_of_one_column_is_no_hashed_one(tmp_path: Path) -> None:
    rows = tmp_path / "rows.vw"
    rows.write_text(TEXTS["vw"])
    assert run_here("train", rows, "--bits", "5", "--quiet", "--model", tmp_path / "model").code == 0
    header, arrays = read_model(tmp_path / "model")
    header["recipe"]["format"]["vw"]["naming"]["bits"] = 0
    header["learner"]["features"] = 1
    arrays["learner/table"] = arrays["learner/table"][:1]
    write_model(tmp_path / "crafted", with_bits(header), arrays)
    ended = run_here("train", rows, "--resume", tmp_path / "crafted", "--quiet")
    assert ended.code != 0
    assert "bits is 0: choose 1 to 30" in ended.err


@pytest.mark.compiles
def test_only_columns_with_names_are_clipped(tmp_path: Path) -> None:
    rows = tmp_path / "rows.svm"
    rows.write_text(TEXTS["svmlight"])
    assert run_here("train", rows, "--quiet", "--model", tmp_path / "model").code == 0
    header, arrays = read_model(tmp_path / "model")
    header["recipe"]["clipping"] = [{"name": "1", "low": 0.0, "high": 1.0}]
    write_model(tmp_path / "crafted", header, arrays)
    with pytest.raises(BadModel, match="leave out clip"):
        trained_files.open_model(tmp_path / "crafted")
    with pytest.raises(OnlinearError, match="leave out clip"):
        onlinear.open_stream(rows, clip={"1": (0.0, 1.0)})


@pytest.mark.parametrize(
    "said", [{"features": n} for n in (0, -3, 10**12, 2.5, True)] + [{"first_index": n} for n in (-1, 2, 10**30, "1")]
)
def test_what_no_svmlight_can_have_is_refused_when_it_is_opened(tmp_path: Path, said: dict[str, Any]) -> None:
    (tmp_path / "rows.svm").write_text(TEXTS["svmlight"])
    with pytest.raises(OnlinearError, match="choose"):
        onlinear.open_stream(tmp_path / "rows.svm", **said)


@pytest.mark.parametrize("bits", [0, 31, 1 << 70])
def test_a_format_of_tables_checks_its_bits_too(bits: int) -> None:
    fields = {"columns": [{"name": "y", "kind": "target"}], "naming": pack_value(Naming(8)) | {"bits": bits}}
    with pytest.raises(OnlinearError, match=r"choose 1 to 30|that we wrote"):
        unpack_value(ArrowTable, pack_value(ArrowTable((Column("y", "target"),))) | fields)


@pytest.mark.compiles
@pytest.mark.parametrize("name", ["rule", "l1", "average", "fit_intercept"])
def test_a_slim_model_that_does_not_say_how_it_learned(tmp_path: Path, name: str) -> None:
    trained("--bits", "6", "--slim")(tmp_path)
    header, arrays = read_model(tmp_path / "model")
    for value in (None, "x", [], {"a": 1}):
        lying = copy.deepcopy(header)
        lying["parameters"][name] = value
        if value is None:
            del lying["parameters"][name]
        write_model(tmp_path / "crafted", lying, arrays)
        ended = run_here("inspect", tmp_path / "crafted")
        assert ended.code == 3, ended  # as any model file that cannot be read


def test_a_number_in_a_header_is_finite(tmp_path: Path) -> None:
    write_model(tmp_path / "model", {"holds": 1e300}, {})
    content = (tmp_path / "model").read_bytes().replace(b"1e+300", b"1e+999")
    head, _, body = content.partition(b"bytes, sha256 ")
    header = body[65 : 65 + int(head.split()[-1])]
    sealed = head + b"bytes, sha256 " + hashlib.sha256(header).hexdigest().encode() + body[64:]
    (tmp_path / "model").write_bytes(sealed)
    with pytest.raises(BadModel, match="beyond the range of floating point"):
        read_model(tmp_path / "model")
