"""The container: every byte of a file counts, a lie is found before it costs memory, and a save is whole or none."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import stat
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

import onlinear
from cases import bits_of
from covering import Case
from onlinear import losses, rules
from onlinear.errors import BadModel, NotSaved, OnlinearError
from onlinear.files import (
    Packer,
    Unpacker,
    container,
    learner_parts,
    load_learner,
    read_model,
    save_learner,
    write_model,
)
from onlinear.kernels.learn.state import LOSS, MISTAKES, SCORE, UNAVERAGED_LOSS, UNAVERAGED_MISTAKES
from onlinear.learning.configuration import Settings
from onlinear.learning.growth import negate_output
from onlinear.learning.learner import Learner
from onlinear.system import atomic

ARRAYS = {
    "floats": np.array([[1.5, -0.0, np.nan], [np.inf, 5e-324, 0.1]]),
    "bytes": np.arange(7, dtype=np.uint8),
    "nothing": np.zeros((0, 3)),
    "number": np.array(-(2**62)),
}
HEADER = {"holds": "numbers", "nested": {"a": [1, {"b": None}], "ünïcödé": "…"}, "empty": {}}


def same_arrays(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> bool:
    def said(array: np.ndarray) -> Any:
        return array.dtype, array.shape, array.tobytes()

    return {name: said(each) for name, each in found.items()} == {name: said(each) for name, each in wanted.items()}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.onlinear"
    write_model(path, HEADER, ARRAYS)
    return path


# ------------------------------------------------------------------ there and back


def test_header_and_arrays_come_back(file: Path) -> None:
    header, arrays = read_model(file)
    assert header == HEADER
    assert same_arrays(arrays, ARRAYS)
    assert all(array.flags.writeable and array.flags.owndata for array in arrays.values())


@pytest.mark.parametrize("dtype", container.DTYPES)
def test_every_dtype_comes_back(dtype: str, tmp_path: Path) -> None:
    arrays = {"ours": np.arange(6).reshape(2, 3).astype(dtype), "reversed": np.arange(6).astype(dtype)[::-2]}
    write_model(tmp_path / "model", {}, arrays)
    assert same_arrays(read_model(tmp_path / "model")[1], arrays)


def test_numbers_are_little_endian(tmp_path: Path) -> None:
    write_model(tmp_path / "model", {}, {"big": np.array([1], dtype=">i4")})
    assert (tmp_path / "model").read_bytes().endswith(b"\1\0\0\0" + bytes(60))
    assert read_model(tmp_path / "model")[1]["big"].tolist() == [1]


def test_the_header_is_for_people(file: Path) -> None:
    lines = file.read_bytes().split(b"\n")
    assert lines[0] == b"onlinear model 1"
    assert b'  "holds": "numbers",' in lines
    start = len(lines[0]) + len(lines[1]) + 2
    body = file.read_bytes()[start : start + int(lines[1].split()[1])]
    assert json.loads(body)["nested"] == HEADER["nested"]


def test_arrays_are_aligned(file: Path) -> None:
    content = file.read_bytes()
    assert content.index(ARRAYS["floats"].tobytes()) % 64 == 0
    assert content.index(ARRAYS["bytes"].tobytes()) % 64 == 0


@pytest.mark.parametrize("dtype", ["O", "U3", "complex128", "bool", "float16", "M8[s]"])
def test_other_dtypes_are_refused(dtype: str, tmp_path: Path) -> None:
    with pytest.raises(NotSaved, match="the array 'odd' is of"):
        write_model(tmp_path / "model", {}, {"odd": np.zeros(2, dtype=dtype)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("header", [{"a": {1, 2}}, {"a": float("nan")}, {1: "a"}, {"a": "\ud800"}, {"arrays": []}])
def test_a_header_that_json_cannot_say_is_refused(header: Any, tmp_path: Path) -> None:
    with pytest.raises(NotSaved, match="was not saved"):
        write_model(tmp_path / "model", header, {})
    assert not list(tmp_path.iterdir())


def test_a_header_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotSaved, match="16777216 is the most"):
        write_model(tmp_path / "model", {"a": "x" * (1 << 24)}, {})


# ------------------------------------------------------------------ damaged


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    file = tmp_path / "model.onlinear"
    write_model(file, {"a": 1}, {"b": np.arange(3.0)})
    content = bytearray(file.read_bytes())
    for place in range(8 * len(content)):
        content[place // 8] ^= 1 << place % 8
        file.write_bytes(content)
        with pytest.raises(BadModel, match=r"model\.onlinear"):
            read_model(file)
        content[place // 8] ^= 1 << place % 8
    file.write_bytes(content)
    read_model(file)


def test_every_truncation_and_every_addition_is_found(file: Path) -> None:
    content = file.read_bytes()
    for length in range(len(content)):
        file.write_bytes(content[:length])
        with pytest.raises(BadModel, match=r"damaged|empty"):
            read_model(file)
    for more in (b"\0", bytes(64), content):
        file.write_bytes(content + more)
        with pytest.raises(BadModel, match="damaged"):
            read_model(file)


@given(content=st.binary(max_size=200), kept=st.integers(0, 110))
def test_nothing_but_a_refusal_comes_of_noise(content: bytes, kept: int, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "noise"
    write_model(path, HEADER, ARRAYS)
    path.write_bytes(path.read_bytes()[:kept] + content)
    with pytest.raises(BadModel):
        read_model(path)


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("model", "onlinear model 1")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"1 1:0.5\n", "is no onlinear model"),
        (zipped(), "is no onlinear model"),
        (pickle.dumps({"a": 1}), "is no onlinear model"),
        (b"onlinear mod", "ends within its first line"),
        (b"onlinear model 2\nwhatever comes next", "format 2, and this version of onlinear reads up to 1: install"),
        (b"onlinear model 12345678\n", "format 12345678"),
        (b"onlinear model 0\n", "does not name a format"),
        (b"onlinear model 01\n", "does not name a format"),
        (b"onlinear model 1\nheader", "ends within its second line"),
        (b"onlinear model 1\n" + b"x" * 200, "second line"),
    ],
)
def test_foreign_files(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(BadModel, match=said) as told:
        read_model(path)
    assert str(path) in str(told.value)
    assert isinstance(told.value, OnlinearError)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="cannot be read: no such file or directory; check the path"):
        read_model(tmp_path / "missing")
    with pytest.raises(BadModel, match="is no file"):
        read_model(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadModel, match="is no file"):  # and does not wait for a writer
        read_model(tmp_path / "pipe")


# ------------------------------------------------------------------ lies, with digests that are right


def forge(path: Path, body: bytes, content: bytes = b"", length: int | None = None) -> Path:
    length = len(body) if length is None else length
    head = f"onlinear model 1\nheader {length:010} bytes, sha256 {hashlib.sha256(body).hexdigest()}\n".encode() + body
    path.write_bytes(head + bytes(-len(head) % 64) + content)
    return path


CONTENT = np.arange(8.0).tobytes()


def entry(**changed: Any) -> dict[str, Any]:
    honest = {"name": "a", "dtype": "float64", "shape": [8], "offset": 0, "sha256": hashlib.sha256(CONTENT).hexdigest()}
    return {**honest, **changed}


def test_the_forger_can_be_honest(tmp_path: Path) -> None:
    path = forge(tmp_path / "model", json.dumps({"arrays": [entry()]}).encode(), CONTENT)
    assert read_model(path)[1]["a"].tolist() == list(range(8))


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([entry(shape=[1 << 40])], "should take"),
        ([entry(shape=[1 << 62])], "shape"),
        ([entry(shape=[1 << 31, 1 << 31, 1 << 31])], "shape"),
        ([entry(shape=[0, 1 << 62])], "shape"),
        ([entry(shape=[-8])], "shape"),
        ([entry(shape=[-1, -8])], "shape"),
        ([entry(shape=[8.0])], "shape"),
        ([entry(shape=[True] * 8)], "shape"),
        ([entry(shape=[1] * 40 + [8])], "shape"),
        ([entry(shape=8)], "describes an array"),
        ([entry(shape=[7])], "digest"),
        ([entry(shape=[9])], "should take"),
        ([entry(shape=[])], "digest"),
        ([entry(offset=64)], "begin at 64, not at 0"),
        ([entry(offset=-64)], "begin at -64"),
        ([entry(offset=1 << 70)], "begin at"),
        ([entry(offset=0.0)], "describes an array"),
        ([entry(), entry(name="b")], "begin at 0, not at 64"),
        ([entry(), entry(offset=64)], "same name"),
        ([entry(), entry(name="b", offset=64)], "should take 128 bytes, and there are 64"),
        ([entry(dtype="object")], "'object'"),
        ([entry(dtype="O")], "'O'"),
        ([entry(dtype="float64,object")], "'float64,object'"),
        ([entry(dtype=["float64"])], "describes an array"),
        ([entry(sha256="0" * 64)], "digest"),
        ([entry(sha256=entry()["sha256"].upper())], "digest"),
        ([entry(name=1)], "describes an array"),
        ([entry(more=1)], "describes an array"),
        ([{}], "describes an array"),
        ([1], "describes an array"),
        ({}, "lists no arrays"),
        (None, "lists no arrays"),
        ([], "should take 0 bytes, and there are 64"),
    ],
)
def test_a_lying_list_of_arrays(entries: Any, said: str, tmp_path: Path) -> None:
    path = forge(tmp_path / "model", json.dumps({"arrays": entries}).encode(), CONTENT)
    tracemalloc.start()
    with pytest.raises(BadModel, match=said):
        read_model(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"arrays": [], "a": NaN}',
        b'{"arrays": [], "a": -Infinity}',
        b'{"arrays": [], "a": 1, "a": 2}',
        b'{"arrays": [], "deep": {"a": 1, "a": 2}}',
        b'{"arrays": [], "a": ' + b"9" * 10_000 + b"}",
        b'{"arrays": []',
        b'{"arrays": []} {}',
        b'{"arrays": [], "a": "\xff"}',
        b'\xef\xbb\xbf{"arrays": []}',
        b"[]",
        b"",
    ],
    ids=lambda body: repr(body[:30]),
)
def test_a_header_that_is_not_ours(body: bytes, tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="damaged"):
        read_model(forge(tmp_path / "model", body))


@pytest.mark.parametrize("length", [9_999_999_999, (1 << 24) + 1, 5])
def test_a_lying_length_of_the_header(length: int, tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="damaged"):
        read_model(forge(tmp_path / "model", b'{"arrays": []}', length=length))


# ------------------------------------------------------------------ whole or not at all


class FullDisk(io.FileIO):
    """A file that cannot grow beyond so many bytes."""

    room = 0

    def write(self, content: Any) -> int:
        if self.tell() + len(content) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(content) or 0


@pytest.mark.parametrize("room", [0, 100, 700, 900])
def test_a_full_disk_leaves_the_old_file(room: int, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.read_bytes()
    monkeypatch.setattr(FullDisk, "room", room)
    monkeypatch.setattr(atomic, "open", lambda *how, buffering: FullDisk(*how), raising=False)
    with pytest.raises(NotSaved, match="no space left on device; make room, or save it elsewhere") as told:
        write_model(file, {"new": True}, ARRAYS)
    assert told.value.__cause__.errno == errno.ENOSPC  # type: ignore[union-attr]
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert file.read_bytes() == before


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_a_save_that_stops_late_leaves_the_old_file(
    failing: str, error: BaseException, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises((NotSaved, KeyboardInterrupt)):
        write_model(file, {}, ARRAYS)
    monkeypatch.undo()
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert file.read_bytes() == before


LIMITED = """
import resource, sys
import numpy as np
from onlinear.errors import NotSaved
from onlinear.files import write_model
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    write_model(sys.argv[1], {}, {"large": np.ones(10_000)})
except NotSaved as error:
    print(error)
"""


def test_a_file_that_may_not_grow(file: Path) -> None:
    """A real error of the operating system, in the middle of a write."""
    before = file.read_bytes()
    ran = subprocess.run([sys.executable, "-c", LIMITED, str(file)], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == (
        f"{file} was not saved: file too large; make room, or save it elsewhere (what was there before is untouched)"
    )
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert file.read_bytes() == before


ENDLESS = """
import sys
import numpy as np
from onlinear.files import write_model
number = 0
while True:
    number += 1
    write_model(sys.argv[1], {"number": number}, {"numbers": np.full(500_000, float(number))})
    print(number, flush=True)
"""


def test_a_killed_save_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    for wait in range(1, 4):
        saving = subprocess.Popen([sys.executable, "-c", ENDLESS, str(path)], stdout=subprocess.PIPE)
        assert saving.stdout is not None
        for _ in range(wait):
            saving.stdout.readline()
        saving.kill()
        saving.wait()
        saving.stdout.close()
        header, arrays = read_model(path)
        assert (arrays["numbers"] == header["number"]).all()


def test_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotSaved, match="no such file or directory; make the folder first"):
        write_model(tmp_path / "missing" / "model", {}, {})
    with pytest.raises(NotSaved, match="it is not a file; save it elsewhere"):
        write_model(tmp_path, {}, {})

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(atomic, "open", refuse, raising=False)
    with pytest.raises(NotSaved, match="permission denied; choose a folder that you may write to"):
        write_model(tmp_path / "model", {}, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(NotSaved, match="choose a folder that you may write to"):
            write_model(tmp_path / "model", {}, {})
    finally:
        tmp_path.chmod(0o700)


def test_a_link_is_followed_and_the_mode_stays(file: Path) -> None:
    link = file.with_name("latest")
    link.symlink_to(file.name)
    file.chmod(0o600)
    write_model(link, {"new": True}, {})
    assert link.is_symlink()
    assert read_model(file)[0] == {"new": True}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


# ------------------------------------------------------------------ values


class Colour(NamedTuple):
    red: float
    name: str = "a"


PLAIN = [
    None,
    True,
    1,
    -(10**40),
    0.1,
    -0.0,
    float("inf"),
    float("-inf"),
    "",
    "ünï…😀",
    "\ud83d\ude00",
    "\udc80x",
    [],
    [1, [2.0, "x"]],
    (),
    (1, (True, None)),
    {},
    {"a": 1, 2: "b", (1, "x"): {"tuple": [1]}, None: True},
    np.float32(0.1),
    np.float64(0.1),
    np.int8(-3),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.str_("x"),
    losses.Hinge(0.3),
    rules.SGD(rules.Power(0.3, 0.4)),
    Colour(1.0, "b"),
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_values_come_back_with_their_types(value: Any) -> None:
    packer = Packer()
    packed = json.loads(json.dumps(packer.pack(value, "it")).encode())
    found = Unpacker(packer.arrays, [Colour]).unpack(packed)
    assert repr(found) == repr(value)
    assert type(found) is type(value)
    assert found == value


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.floats(width=32).map(np.float32),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=10,
)


@given(value=VALUES)
def test_any_value_comes_back(value: Any) -> None:
    packed = json.loads(json.dumps(Packer().pack(value, "it"), allow_nan=False))
    assert repr(Unpacker({}).unpack(packed)) == repr(value)


@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, 1j, b"bytes", lambda: 0, np.array(["a"]), np.float128(1), int, 1 << 5000],
    ids=lambda value: f"{type(value).__name__}",
)
def test_what_has_no_form_is_refused(value: Any) -> None:
    for holding in (value, [value], {"a": (1, value)}):
        with pytest.raises(NotSaved, match="the parameter alpha holds"):
            Packer().pack(holding, "the parameter alpha")


def test_random_states_come_back() -> None:
    states: list[Any] = [np.random.RandomState(3), np.random.default_rng(4), np.random.Generator(np.random.MT19937(5))]
    for state in states:
        state.normal(size=3)
        packer = Packer()
        found = Unpacker(packer.arrays).unpack(packer.pack(state, "random_state"))
        assert type(found) is type(state)
        np.testing.assert_array_equal(found.normal(size=700), state.normal(size=700))
    for odd in (np.random.Generator(np.random.Philox(3)), np.random.RandomState(np.random.PCG64(3))):
        with pytest.raises(NotSaved, match=r"random_state is .* whose state has no form here: use MT19937"):
            Packer().pack(odd, "random_state")


@pytest.mark.parametrize("position", [-1, 625, 1 << 40, 1.0])
def test_a_random_state_that_would_be_read_out_of_bounds(position: Any) -> None:
    packer = Packer()
    packed = packer.pack(np.random.RandomState(0), "random_state")
    for _, pair in [("state", item) for item in packed["random_state"]["dict"] if item[0] == "state"]:
        pair[1]["dict"] = [[key, position if key == "pos" else value] for key, value in pair[1]["dict"]]
    with pytest.raises(BadModel, match="random state"):
        Unpacker(packer.arrays).unpack(packed)


def test_a_users_class_is_found_by_its_name_among_those_given() -> None:
    packed = Packer().pack(Colour(0.5), "it")
    assert packed == {"own": [__name__, "Colour", {"red": 0.5, "name": "a"}]}
    with pytest.raises(
        BadModel, match=r"needs your own class Colour .*: pass it, as in load\(path, classes=\[Colour\]\)"
    ):
        Unpacker({}).unpack(packed)
    elsewhere: Any = type("Colour", (Colour,), {})
    elsewhere.__module__ = "elsewhere"
    assert type(Unpacker({}, [elsewhere]).unpack(packed)) is elsewhere  # a script is a module of another name
    assert type(Unpacker({}, [elsewhere, Colour]).unpack(packed)) is Colour
    packed["own"][0] = "__main__"
    with pytest.raises(BadModel, match="two of that name were given"):
        Unpacker({}, [elsewhere, Colour]).unpack(packed)
    with pytest.raises(BadModel, match="which is no class: pass the classes themselves"):
        Unpacker({}, [Colour(0.5)])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "packed",
    [
        {"own": ["os", "system", {}]},
        {"own": ["builtins", "eval", {}]},
        {"import": "os"},
        {"loss": ["hinge", {}]},
        {"loss": ["hinge", {"margin": "1"}]},
        {"loss": ["hinge", {"margin": 1.0, "more": 1.0}]},
        {"loss": ["__class__", {}]},
        {"float": "1e999"},
        {"tuple": [], "list": []},
        {},
    ],
)
def test_values_that_we_did_not_write(packed: Any) -> None:
    with pytest.raises(BadModel):
        Unpacker({}).unpack(packed)


# ------------------------------------------------------------------ learners


def learned(rule: str = "normalised", kind: str = "sparse", **settings: Any) -> Learner:
    case = Case("perceptron" if rule == "second_order" else "log_loss", rule, kind, "float64", False)
    learner = case.learner(Settings(**settings))
    learner.learn(case.batch())
    return learner


def test_a_learner_alone(tmp_path: Path) -> None:
    learner = learned()
    save_learner(tmp_path / "learner", learner)
    again = load_learner(tmp_path / "learner")
    assert bits_of(again) == bits_of(learner)
    assert again.__getstate__().keys() == learner.__getstate__().keys()
    assert again.table.layout is learner.table.layout
    assert again.counters.first_pass_examples == learner.counters.first_pass_examples
    for name in ("losses", "rules", "settings", "compiled", "kind", "version"):
        assert getattr(again, name) == getattr(learner, name)
        assert type(again.rules[0]) is type(learner.rules[0])
    with pytest.raises(BadModel, match=r"learner alone: load it with onlinear\.files\.load_learner"):
        onlinear.load(tmp_path / "learner")


def test_a_bank(tmp_path: Path) -> None:
    banked = Learner(
        [losses.Hinge(float(m)) for m in range(3)],
        rules.SGD(),
        features=5,
        outputs=3,
        settings=[Settings(l2=0.1 * m, average=float(m)) for m in range(3)],
        compiled=False,
    )
    save_learner(tmp_path / "bank", banked)
    again = load_learner(tmp_path / "bank")
    assert (again.losses, again.rules, again.settings) == (banked.losses, banked.rules, banked.settings)
    assert bits_of(again) == bits_of(banked)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_room_that_nothing_was_learned_in_is_not_stored(kind: str, tmp_path: Path) -> None:
    learner = learned(kind=kind)
    learner.grow(10_000)
    negate_output(learner, 0)  # minus zeros
    header, arrays = learner_parts(learner)
    assert arrays["learner/table"].size * 4 == learner.table.cells.size
    save_learner(tmp_path / "learner", learner)
    again = load_learner(tmp_path / "learner")
    assert again.table.cells.flags.c_contiguous
    assert bits_of(again) == bits_of(learner)
    assert header["learner"]["features"] == 10_000


@pytest.mark.parametrize(
    "change",
    [
        {"features": 100},
        {"features": 10},
        {"features": -1},
        {"features": 11.0},
        {"outputs": 2},
        {"outputs": 0},
        {"facing": "dense"},
        {"facing": "sideways"},
        {"form": "slim"},
        {"form": "wide"},
        {"losses": []},
        {"losses": [{"loss": ["softmax", {}]}, {"loss": ["hinge", {"margin": 1.0}]}]},
        {"rules": [{"rule": ["sgd", {"schedule": {"schedule": ["constant", {"rate": 0.1}]}}]}]},
        {"rules": [{"rule": ["second_order", {"a": 1.0}]}]},
        {"rules": [{"loss": ["hinge", {"margin": 1.0}]}]},
        {"rules": [1.0]},
        {"settings": [{"average": 1.0}]},
        {"settings": [{"l1": "1"}]},
        {"settings": [{"l3": 1.0}]},
        {"settings": []},
        {"compiled": 1},
        {"version": 1 << 70},
        {"first_pass_examples": None},
    ],
    ids=str,
)
def test_a_learner_that_does_not_fit_together(change: dict[str, Any], tmp_path: Path) -> None:
    header, arrays = learner_parts(learned())
    header["learner"].update(change)
    write_model(tmp_path / "learner", header, arrays)
    with pytest.raises(BadModel, match="learner cannot be loaded"):
        load_learner(tmp_path / "learner")


@pytest.mark.parametrize("name", ["table", "bias", "clock", "history"])
@pytest.mark.parametrize("change", ["missing", "longer", "flat", "float32"])
def test_a_learner_with_an_array_of_another_shape(name: str, change: str, tmp_path: Path) -> None:
    header, arrays = learner_parts(learned())
    array = arrays.pop(f"learner/{name}")
    changed = {"longer": np.concatenate([array, array]), "flat": array.ravel(), "float32": array.astype(np.float32)}
    if change in changed:
        arrays[f"learner/{name}"] = changed[change]
    write_model(tmp_path / "learner", header, arrays)
    with pytest.raises(BadModel, match="learner cannot be loaded"):
        load_learner(tmp_path / "learner")


@pytest.mark.parametrize("average", [0.0, 1.0])
def test_a_clock_from_before_averaged_answers_were_counted(average: float, tmp_path: Path) -> None:
    """It had counted losses and mistakes of the weights that learn, which then are all there is to tell."""
    learner = learned("sgd", average=average)
    header, arrays = learner_parts(learner)
    clock = arrays["learner/clock"]
    arrays["learner/clock"] = np.concatenate([clock[:, :UNAVERAGED_LOSS], clock[:, SCORE:]], axis=1)
    write_model(tmp_path / "learner", header, arrays)
    wanted = clock.copy()
    wanted[:, [UNAVERAGED_LOSS, UNAVERAGED_MISTAKES]] = clock[:, [LOSS, MISTAKES]] if average else 0.0
    np.testing.assert_array_equal(load_learner(tmp_path / "learner").counters.array, wanted)


@pytest.mark.parametrize("examples", [0.0, 1e6, -1.0, np.nan, np.inf, 1e300])
def test_counts_and_history_must_agree(examples: float, tmp_path: Path) -> None:
    """Or the learner would look for its next mark in the past, for ever."""
    header, arrays = learner_parts(learned())
    arrays["learner/clock"][0, 16] = examples
    write_model(tmp_path / "learner", header, arrays)
    with pytest.raises(BadModel):
        load_learner(tmp_path / "learner")
