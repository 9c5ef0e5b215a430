"""Chunks against the bytes they came from; every compression, every kind of damage, every refusal with its sentence."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import random
import re
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from hypothesis import given, strategies as st

import onlinear
from onlinear import BadSource
from onlinear.errors import OnlinearError
from onlinear.streams import decompression, text_lines
from onlinear.streams.decompression import open_bytes
from onlinear.streams.sources import COMPRESSIONS, expand, inner_name, total_bytes
from onlinear.streams.text_lines import chunks, last_line_end

SHORT = b"+1 3:0.5 17:2\n-1 4:1e-3 18:7\n" * 40 + b"+1 5:2.25\n" * 30
# hard to compress: more than one step in and out of each decompressor, some blocks of bzip2 and zstd
LONG = b"".join(b"%d %d:%d\n" % (i % 2, i % 97, i * i * i * 7919 % 1_000_003) for i in range(25_000))


def xxh64(data: bytes) -> int:
    """The checksum that zstd uses, after its specification (seed 0)."""
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5, most = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5, 2**64 - 1

    def turned(x: int, by: int) -> int:
        return (x << by | (x & most) >> 64 - by) & most

    def mixed(lane: int, word: int) -> int:
        return turned(lane + word * p2 & most, 31) * p1 & most

    lanes = [p1 + p2 & most, p2, 0, -p1 & most]
    words = [int.from_bytes(data[k : k + 8], "little") for k in range(0, len(data) // 8 * 8, 8)]
    striped = len(words) // 4 * 4 if len(data) >= 32 else 0
    for k in range(striped):
        lanes[k % 4] = mixed(lanes[k % 4], words[k])
    total = p5
    if striped:
        total = sum(map(turned, lanes, (1, 7, 12, 18))) & most
        for lane in lanes:
            total = (total ^ mixed(0, lane)) * p1 + p4 & most
    total = total + len(data) & most
    for word in words[striped:]:
        total = turned(total ^ mixed(0, word), 27) * p1 + p4 & most
    rest = data[len(words) * 8 :]
    if len(rest) >= 4:
        total = turned(total ^ int.from_bytes(rest[:4], "little") * p1 & most, 23) * p2 + p3 & most
        rest = rest[4:]
    for byte in rest:
        total = turned(total ^ byte * p5 & most, 11) * p1 & most
    total = (total ^ total >> 33) * p2 & most
    total = (total ^ total >> 29) * p3 & most
    return total ^ total >> 32


def zstd(data: bytes) -> bytes:
    """A zstd frame with a checksum, as the command line tool writes it: PyArrow leaves it out."""
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    frame = bytearray(sink.getvalue().to_pybytes())
    frame[4] |= 1 << 2
    return bytes(frame) + (xxh64(data) & 0xFFFFFFFF).to_bytes(4, "little")


COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": lambda data: bz2.compress(data, 1),
    ".xz": lzma.compress,
    ".zst": zstd,
}
DECODERS = {
    ".gz": lambda: zlib.decompressobj(wbits=31),
    ".bz2": bz2.BZ2Decompressor,
    ".xz": lzma.LZMADecompressor,
}
every_compression = pytest.mark.parametrize("extension", COMPRESS)
text = st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"\0", b'"', b"bc", b"\xff\xfe", b"\xef\xbb\xbf"])).map(
    b"".join
)
text = text.map(lambda data: data.lstrip(b"\xff\xfe\xef\xbb\xbf"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for the examples of a hypothesis test, too."""
    return tmp_path_factory.mktemp("sources")


def write(path, data):
    path.write_bytes(data)
    return path


def joined(found):
    return b"".join(chunk.text.tobytes() for chunk in found)


def until_damage(path, **options):
    """The text that came, and the sentence that came after it, if one did."""
    found, sentence = b"", None
    try:
        for chunk in chunks(path, **options):
            found += chunk.text.tobytes()
        assert not found or chunk.last
    except BadSource as error:
        assert not found or not chunk.last
        sentence = str(error)
    return found, sentence


def whole_lines(data):
    return data[: data.rfind(b"\n") + 1]


# What a chunk is


@given(st.binary(max_size=60) | text, st.integers(1, 70))
def test_chunks_join_to_the_file(folder, data, size):
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        data = b"0" + data
    found = list(chunks(write(folder / "any", data), size))
    assert joined(found) == data
    assert [chunk.last for chunk in found] == [False] * (len(found) - 1) + [True] * bool(found)
    before = b""
    for chunk in found:
        assert chunk.offset == len(before)
        assert chunk.first_line == before.count(b"\n") + 1
        assert 0 < chunk.offset + len(chunk.text) <= chunk.read <= len(data)
        before += chunk.text.tobytes()
        assert chunk.last or before.endswith(b"\n")


@given(st.lists(st.integers(0, 12), max_size=30), st.integers(1, 16))
def test_a_chunk_is_no_larger_than_asked_unless_a_line_is(folder, lengths, size):
    longest = max(lengths, default=0) + 1
    for chunk in chunks(write(folder / "some", b"".join(b"x" * length + b"\n" for length in lengths)), size):
        assert len(chunk.text) <= (max(size, 3) if longest <= size else 2 * longest)


def test_a_chunk_is_cheap_to_compile_for_and_its_own(tmp_path):
    found = list(chunks(write(tmp_path / "a", LONG), 1000))
    for chunk in found:
        assert chunk.text.dtype == np.uint8
        assert chunk.text.flags.c_contiguous
        assert chunk.text.flags.writeable
    assert len({chunk.text.__array_interface__["data"][0] for chunk in found}) == len(found)
    for chunk in chunks(tmp_path / "a", 1000):
        expected = LONG[chunk.offset : chunk.offset + len(chunk.text)]
        assert chunk.text.tobytes() == expected
        chunk.text[:] = ord("\n")  # the next line numbers do not depend on what the consumer does to it
        assert chunk.first_line == LONG.count(b"\n", 0, chunk.offset) + 1


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (b"", []),
        (b"\n", [b"\n"]),
        (b"\n\n\n\n", [b"\n\n\n", b"\n"]),
        (b"a\r\nb\r\n", [b"a\r\n", b"b\r\n"]),
        (b"a\rb\rc\nd\n", [b"a\rb\rc\nd\n"]),
        (b"a\nb", [b"a\nb"]),
        (b"a\nbcd", [b"a\n", b"bcd"]),
    ],
)
def test_small_files(tmp_path, data, texts):
    found = list(chunks(write(tmp_path / "a", data), 3))
    assert [chunk.text.tobytes() for chunk in found] == texts


def test_a_file_that_ends_with_its_chunk_has_a_last_one(tmp_path):
    found = list(chunks(write(tmp_path / "a", b"123\n567\n"), 4))
    assert [(chunk.text.tobytes(), chunk.last) for chunk in found] == [(b"123\n", False), (b"567\n", True)]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 100])
def test_a_byte_order_mark_is_dropped(tmp_path, size):
    found = list(chunks(write(tmp_path / "a", b"\xef\xbb\xbf1 2:3\n\xef\xbb\xbf\n"), size))
    assert joined(found) == b"1 2:3\n\xef\xbb\xbf\n"
    assert (found[0].offset, found[0].first_line) == (3, 1)
    assert list(chunks(write(tmp_path / "b", b"\xef\xbb\xbf"), size)) == []
    assert joined(chunks(write(tmp_path / "c", b"\xef\xbb"), size)) == b"\xef\xbb"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_utf_16_is_refused(tmp_path, codec):
    path = write(tmp_path / "a", "\ufeff1 2:3\n".encode(codec))
    with pytest.raises(BadSource, match=r"a: is UTF-16 text, by its first two bytes: save it as UTF-8"):
        next(chunks(path))


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (gzip.compress(b"1\n", mtime=0), "is gzip data by its first bytes: rename it to end in .gz, or decompress it"),
        (bz2.compress(b"1\n"), "is bzip2 data by its first bytes: rename it to end in .bz2"),
        (lzma.compress(b"1\n"), "is xz data by its first bytes: rename it to end in .xz"),
        (b"\x28\xb5\x2f\xfd\x04\x58", "is zstd data by its first bytes: rename it to end in .zst"),
        (b"PK\x03\x04\x14\0\x06\0", "is no text, but by its first bytes a zip archive, as workbooks of Excel are: "),
        (b"PAR1\x15\x04", "is no text, but by its first bytes a Parquet file: rename it to end in .parquet"),
        (b"ARROW1\0\0\xff", "is no text, but by its first bytes an Arrow file: rename it to end in .arrow"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path, head, what):
    """Also within a file that is compressed, and named so."""
    with pytest.raises(BadSource, match=rf"a\.csv: {re.escape(what)}"):
        next(chunks(write(tmp_path / "a.csv", head)))
    with pytest.raises(BadSource, match=rf"a\.csv\.gz: {re.escape(what)}"):
        next(chunks(write(tmp_path / "a.csv.gz", gzip.compress(head))))


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("text", [b"PAR1,PAR2\n1,2\n", b"BZh91AY\n", b"BZ", b"PK\n", b"ARROW1", b"\xef\xbb\xbfPK", b""])
def test_a_text_that_begins_almost_so_is_read(tmp_path, text, size):
    assert joined(chunks(write(tmp_path / "a", text), size)) == text.removeprefix(b"\xef\xbb\xbf")


def test_chunks_of_nothing_are_refused(tmp_path):
    with pytest.raises(OnlinearError, match="chunks of 0 bytes: give at least 1"):
        next(chunks(write(tmp_path / "a", b"1\n"), 0))


# Long lines and other ends


def test_a_line_of_100_mb(tmp_path):
    path = write(tmp_path / "a", b"")
    os.truncate(path, 100_000_000)  # zeros, none of them on disk
    with path.open("ab") as file:
        file.write(b"\nb\n")
    found = list(chunks(path))
    assert [len(chunk.text) for chunk in found] == [100_000_003]
    assert found[0].text[-3:].tobytes() == b"\nb\n"


class Watched:
    """Where lines end, and how often how much was looked at."""

    def __init__(self):
        self.calls = self.looked_at = 0

    def __call__(self, text, shown):
        assert 10 not in text[:shown]
        self.calls += 1
        self.looked_at += len(text) - shown
        return last_line_end(text, shown)


def test_a_long_line_is_searched_once(tmp_path):
    watched = Watched()
    data = b"a\n" + b"x" * 1_000_000 + b"\n" + b"b\n" * 1000
    assert joined(chunks(write(tmp_path / "a", data), 100, watched)) == data
    assert watched.looked_at <= len(data)
    assert watched.calls < 100


@given(st.lists(st.integers(0, 200_000), max_size=4), st.integers(0, 100))
def test_the_last_line_end(gaps, shown):
    data = np.zeros(sum(gaps) + len(gaps) + shown, np.uint8)
    position = shown
    for gap in gaps[:-1]:
        position += gap
        data[position] = 10
        position += 1
    assert last_line_end(data, shown) == (position if len(gaps) > 1 else 0)


@pytest.mark.parametrize("size", [10, 1000, 1001, 1002, 5000])
def test_a_line_longer_than_most_is_refused(tmp_path, monkeypatch, size):
    monkeypatch.setattr(text_lines, "MOST_LINE", 1000)
    fits = b"a\n" + b"x" * 1000 + b"\nb\n"
    assert joined(chunks(write(tmp_path / "a", fits), size)) == fits
    path = write(tmp_path / "b", b"a\nb\n" + b"x" * 9000 + b"\nc\n")
    data, sentence = until_damage(path, size=size)
    assert data == b"a\nb\n"
    assert (
        sentence == f"{path}: line 3 has more than 1,000 bytes: end each example with a newline, and close every quote"
    )


class OutsideQuotes:
    """Where the last record of a CSV file ends: at the last LF that is not between quotes."""

    def __init__(self):
        self.quoted = False

    def __call__(self, text, shown):
        end = 0
        for k, byte in enumerate(text[shown:].tolist(), shown + 1):
            self.quoted ^= byte == ord('"')
            if byte == 10 and not self.quoted:
                end = k
        return end


@given(text, st.integers(1, 30))
def test_records_may_have_newlines_in_quotes(folder, data, size):
    found = list(chunks(write(folder / "csv", data), size, OutsideQuotes()))
    assert joined(found) == data
    for chunk in found[:-1]:
        assert chunk.text.tobytes().endswith(b"\n")
        assert chunk.text.tobytes().count(b'"') % 2 == 0
    for chunk in found:
        assert chunk.first_line == data[: chunk.offset].count(b"\n") + 1


# Compression


@every_compression
@pytest.mark.parametrize("size", [1000, 1 << 16, 4 << 20])
def test_decompressed(tmp_path, extension, size):
    path = write(tmp_path / f"a.svm{extension}", COMPRESS[extension](LONG))
    found = list(chunks(path, size))
    assert joined(found) == LONG
    assert found[-1].read == path.stat().st_size
    assert [chunk.read for chunk in found] == sorted(chunk.read for chunk in found)


@every_compression
@given(parts=st.lists(text, min_size=1, max_size=4), size=st.integers(1, 30))
def test_one_after_another(folder, extension, parts, size):
    path = write(folder / f"a{extension.upper()}", b"".join(map(COMPRESS[extension], parts)))
    expected = b"".join(parts).removeprefix(b"\xef\xbb\xbf")
    if not expected.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert joined(chunks(path, size)) == expected


@pytest.mark.parametrize("extension", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("zeros", [4, 512, 200_000])
def test_zeros_between_and_after_members(tmp_path, extension, zeros):
    member = COMPRESS[extension](SHORT) + bytes(zeros)
    assert joined(chunks(write(tmp_path / f"a{extension}", member * 2))) == SHORT * 2


def test_parallel_zstd_begins_with_a_frame_to_skip(tmp_path, monkeypatch):
    data = bytes.fromhex("502a4d18 04000000 00000000") + zstd(SHORT)
    assert joined(chunks(write(tmp_path / "a.zst", data))) == SHORT
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert joined(chunks("-")) == SHORT


def test_a_bomb_needs_no_memory(tmp_path):
    path = write(tmp_path / "a.gz", gzip.compress(b"1 2:3\n" * (8 << 20)))
    tracemalloc.start()
    assert sum(len(chunk.text) for chunk in chunks(path, 1 << 20)) == 6 * (8 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("train.svm.gz", "train.svm"),
        ("a/train.csv.BZ2", "a/train.csv"),
        (Path("b.xz"), "b"),
        ("c.jsonl.zst", "c.jsonl"),
        ("d.txt", "d.txt"),
        ("-", "-"),
        (".gz", ".gz"),
    ],
)
def test_the_inner_name(path, name):
    assert inner_name(path) == name


def test_a_source_is_a_file(tmp_path):
    with open_bytes(write(tmp_path / "a.gz", gzip.compress(SHORT))) as source:
        assert source.readable()
        assert source.read(14) == b"+1 3:0.5 17:2\n"
        assert io.BufferedReader(source).readline() == b"-1 4:1e-3 18:7\n"
    assert source.closed


def test_pyarrow_is_loaded_for_zstd_only(tmp_path):
    gz, zst = write(tmp_path / "a.gz", gzip.compress(SHORT)), write(tmp_path / "a.zst", zstd(SHORT))
    code = f"""if True:
        import sys
        from onlinear.streams.text_lines import chunks
        for path in ({str(gz)!r}, {str(zst)!r}):
            list(chunks(path))
            print("pyarrow" in sys.modules)"""
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ended.stdout.split() == ["False", "True"]


# Damage


class Dripping:
    """A file that PyArrow gets byte by byte."""

    closed = False

    def __init__(self, data):
        self.left = iter(data)

    def read(self, size):
        return bytes([byte]) if (byte := next(self.left, None)) is not None else b""

    def close(self):
        pass


def slowly(extension, data):
    """All that can be decompressed of the first member: one byte in, single bytes out until none comes."""
    found = bytearray()
    try:
        if extension == ".zst":
            stream = pyarrow.CompressedInputStream(pyarrow.PythonFile(Dripping(data), mode="r"), "zstd")
            while byte := stream.read(1):
                found += byte
        else:
            decoder = DECODERS[extension]()
            for byte in data:
                fed = bytes([byte])
                while not decoder.eof and (came := decoder.decompress(fed, 1)):
                    found += came
                    fed = getattr(decoder, "unconsumed_tail", b"")
    except (OSError, zlib.error, lzma.LZMAError):
        pass
    return bytes(found)


@every_compression
def test_truncated_anywhere(tmp_path, extension):
    data = COMPRESS[extension](SHORT)
    for length in range(len(data)):
        path = write(tmp_path / f"a{extension}", data[:length])
        came = slowly(extension, data[:length])
        assert SHORT.startswith(came)
        delivered, sentence = until_damage(path, size=random.Random(length).randint(1, 3000))
        assert delivered == whole_lines(came)
        kind = COMPRESSIONS[extension]
        assert sentence == (
            f"{path}: damaged {kind} data after {len(came):,} bytes of text (it ends too early): "
            "copy or download the file again, or compress it anew"
        )


@every_compression
@pytest.mark.parametrize("size", [1000, 70_000, 4 << 20])
def test_truncated_after_much(tmp_path, extension, size):
    data = COMPRESS[extension](LONG)
    for length in random.Random(size).sample(range(len(data)), 3):
        delivered, sentence = until_damage(write(tmp_path / f"a{extension}", data[:length]), size=size)
        came = slowly(extension, data[:length])
        assert delivered == whole_lines(came)
        assert f"after {len(came):,} bytes of text (it ends too early)" in sentence


@every_compression
def test_a_flipped_bit_is_found(tmp_path, extension):
    data = COMPRESS[extension](SHORT)
    found = 0
    for k in range(len(data)):
        for bit in (0, 3, 7):
            damaged = bytearray(data)
            damaged[k] ^= 1 << bit
            path = write(tmp_path / f"a{extension}", damaged)
            delivered, sentence = until_damage(path, size=random.Random(k).randint(1, 3000))
            if sentence is None:
                assert delivered == SHORT  # gzip's header has a date, for instance, that nobody reads
            else:
                assert sentence.startswith(f"{path}: damaged {COMPRESSIONS[extension]} data after ")
                assert delivered == whole_lines(slowly(extension, bytes(damaged)))
                found += 1
    assert found > 2.5 * (len(data) - 12)


@every_compression
@pytest.mark.parametrize("size", [1000, 70_000, 4 << 20])
def test_all_before_the_damage_is_delivered(tmp_path, extension, size):
    data = COMPRESS[extension](LONG)
    for place in random.Random(size).sample(range(len(data) // 2, len(data) - 1000), 3):
        damaged = bytearray(data)
        damaged[place : place + 1000] = b"\xff" * 1000
        delivered, sentence = until_damage(write(tmp_path / f"a{extension}", damaged), size=size)
        came = slowly(extension, bytes(damaged))
        assert delivered == whole_lines(came)
        assert sentence is not None
        assert delivered[:90_000] == LONG[:90_000]  # the blocks before the one with the damage


@every_compression
@pytest.mark.parametrize("size", [100, 4 << 20])
def test_what_follows_the_last_member_must_be_one(tmp_path, extension, size):
    first = COMPRESS[extension](SHORT)
    bad = bytearray(COMPRESS[extension](SHORT))
    bad[1] ^= 0xFF
    for rest in (b"garbage, and more than a header of it", bytes(bad), b"x"):
        delivered, sentence = until_damage(write(tmp_path / f"a{extension}", first * 3 + rest), size=size)
        assert delivered == SHORT * 3
        assert f"after {3 * len(SHORT):,} bytes of text" in sentence


@every_compression
def test_text_that_only_claims_to_be_compressed(tmp_path, extension):
    delivered, sentence = until_damage(write(tmp_path / f"a{extension}", SHORT))
    assert delivered == b""
    assert f"damaged {COMPRESSIONS[extension]} data after 0 bytes of text" in sentence


@every_compression
def test_damage_stays(tmp_path, extension):
    path = write(tmp_path / f"a{extension}", COMPRESS[extension](SHORT) + b"garbage, and more than a header of it")
    with open_bytes(path) as source:
        assert b"".join(iter(lambda: source.read(len(SHORT) - source.given), b"")) == SHORT
        for _ in range(2):
            with pytest.raises(BadSource, match="damaged"):
                source.read(1)


# What goes wrong below


class Failing(io.FileIO):
    """A file on a disk with a bad sector."""

    good = 0

    def readinto(self, buffer):
        left = self.good - self.tell()
        if left <= 0:
            raise OSError(errno.EIO, "Input/output error")
        return super().readinto(memoryview(buffer)[:left])


@pytest.mark.parametrize("extension", ["", *COMPRESS])
@pytest.mark.parametrize("size", [1000, 4 << 20])
@pytest.mark.parametrize("share", [0, 0.001, 0.7])
def test_a_device_error_has_its_place(tmp_path, monkeypatch, extension, size, share):
    data = COMPRESS.get(extension, bytes)(LONG)
    monkeypatch.setattr(Failing, "good", int(share * len(data)))
    monkeypatch.setattr(decompression, "_opened", Failing)
    path = write(tmp_path / f"a{extension}", data)
    delivered, sentence = until_damage(path, size=size)
    came = data[: Failing.good]
    assert delivered == whole_lines(came if extension == "" else slowly(extension, came))
    assert sentence == (
        f"{path}: cannot be read on after {Failing.good:,} bytes (Input/output error): check the disk or the connection"
    )


def open_files(path):
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:
            continue  # the one that listed them
    return found.count(str(path))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="asks Linux which files are open")
@pytest.mark.parametrize("extension", ["", *COMPRESS])
def test_files_are_closed(tmp_path, extension):
    data = COMPRESS.get(extension, bytes)(LONG)
    path = write(tmp_path / f"a{extension}", data)

    early = chunks(path, 1000)
    next(early)
    assert open_files(path) == 1
    early.close()
    assert open_files(path) == 0

    thrown_into = chunks(path, 1000)
    next(thrown_into)
    with pytest.raises(KeyboardInterrupt):
        thrown_into.throw(KeyboardInterrupt())
    assert open_files(path) == 0

    list(chunks(path))
    assert open_files(path) == 0

    write(path, data[:-9] if extension else b"\xff\xfe")
    assert until_damage(path)[1] is not None
    assert open_files(path) == 0


# Standard input and pipes

SHOW = """if True:
    import sys
    from onlinear.errors import BadSource
    from onlinear.streams.sources import expand, total_bytes
    from onlinear.streams.text_lines import chunks
    assert expand(["-"]) == ["-"] and total_bytes(["-"]) is None
    try:
        for chunk in chunks("-", 5000):
            sys.stdout.buffer.write(chunk.text)
    except BadSource as error:
        print(error, file=sys.stderr)"""


def shown(**options):
    done = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, check=True, **options)
    return done.stdout, done.stderr.decode()


@pytest.mark.parametrize("extension", ["", *COMPRESS])
def test_standard_input(tmp_path, extension):
    data = COMPRESS.get(extension, bytes)(LONG)
    assert shown(input=data) == (LONG, "")
    with write(tmp_path / "a", data).open("rb") as file:
        assert shown(stdin=file) == (LONG, "")


def test_standard_input_with_nothing_in_it():
    assert shown(input=b"") == (b"", "")
    assert shown(input=b"\x1f") == (b"\x1f", "")


def test_standard_input_is_read_from_where_it_is(tmp_path):
    damaged = bytearray(gzip.compress(SHORT))
    damaged[-5] ^= 1  # in the checksum: all text is right, but must be read once more
    path = write(tmp_path / "a", b"header\n" + damaged)
    with path.open("rb", buffering=0) as file:
        file.seek(7)
        delivered, sentence = shown(stdin=file)
    assert delivered == SHORT
    assert sentence.startswith(f"standard input: damaged gzip data after {len(SHORT):,} bytes of text (")


@pytest.mark.parametrize("extension", ["", *COMPRESS])
def test_how_much_of_standard_input_was_read(monkeypatch, extension):
    data = COMPRESS.get(extension, bytes)(SHORT)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    *_, last = chunks("-", 100)
    assert last.read == len(data)


@every_compression
def test_a_truncated_pipe(extension):
    data = COMPRESS[extension](LONG)[:-9]
    delivered, sentence = shown(input=data)
    assert delivered == whole_lines(slowly(extension, data))
    assert sentence.startswith(f"standard input: damaged {COMPRESSIONS[extension]} data after ")


def test_standard_input_that_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr(Failing, "good", 0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Failing(write(tmp_path / "a", SHORT)))))
    with pytest.raises(BadSource, match=r"^standard input: cannot be read on after 0 bytes \(Input/output error\)"):
        next(chunks("-"))
    sys.stdin.close()


def test_an_open_file_is_no_list_of_names(tmp_path):
    """Its lines would be taken for names, and patterns of names."""
    path = tmp_path / "rows.svm"
    path.write_text("*\n")
    with open(path, encoding="utf-8") as file:
        for wrong in (file, io.BytesIO(b"*\n"), io.StringIO("*\n"), sys.stdin):
            with pytest.raises(BadSource, match="is an open file: give its name, or - for standard input"):
                expand(wrong)
        with pytest.raises(BadSource, match="is an open file"):
            onlinear.open_stream(file)
        assert file.read() == "*\n"  # nothing was read


@pytest.mark.parametrize("stdin", [None, io.StringIO("1 2:3\n")])
def test_no_standard_input(monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(BadSource, match=r"standard input \(-\) is closed: name a file, or pipe something in"):
        next(chunks("-"))


@pytest.mark.parametrize("extension", ["", ".gz", ".zst"])
def test_a_slow_pipe_that_does_not_block(monkeypatch, extension):
    data = COMPRESS.get(extension, bytes)(SHORT)
    end, start = os.pipe()
    os.set_blocking(end, False)

    def drip():
        for piece in (data[:1], data[1:3], data[3:20], data[20:]):
            time.sleep(0.01)
            os.write(start, piece)
        os.close(start)

    writer = threading.Thread(target=drip)
    with open(end) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        writer.start()
        assert joined(chunks("-", 100)) == SHORT
        assert not stdin.closed
    writer.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
@pytest.mark.parametrize("name", ["pipe", "pipe.gz"])
def test_a_named_pipe(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)
    assert expand([path]) == [str(path)]  # without waiting for a writer
    assert total_bytes([path]) is None
    writer = threading.Thread(target=path.write_bytes, args=[gzip.compress(SHORT)])
    writer.start()
    assert joined(chunks(path)) == SHORT
    writer.join()


# Which files


def test_files_as_given_and_globs_sorted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("b.svm", "a.svm", "c.svm", "x[1].svm", "x1.svm", "deep/d.txt", "deep/er/e.txt"):
        write(tmp_path / name, b"1\n")
    assert expand(["c.svm", "[ab].svm", "-", Path("a.svm")]) == ["c.svm", "a.svm", "b.svm", "-", "a.svm"]
    assert expand(["x[1].svm"]) == ["x[1].svm"]
    assert expand(["?.svm"]) == ["a.svm", "b.svm", "c.svm"]
    assert expand(["deep/**/*.txt"]) == ["deep/d.txt", "deep/er/e.txt"]
    assert expand("a.svm") == expand(Path("a.svm")) == ["a.svm"]
    assert expand([]) == []
    os.remove("x[1].svm")
    assert expand(["x[1].svm"]) == ["x1.svm"]
    write(tmp_path / "-", b"1\n")
    assert expand(["?", "./-"]) == ["./-", "./-"]  # files, not standard input


@pytest.mark.parametrize(
    ("paths", "sentence"),
    [
        (["a", "missing"], "missing: no such file: check the name, and the folder you are in"),
        (["*.csv"], "*.csv: no file matches: check the pattern, and the folder you are in"),
        (["deep"], f"deep: is a directory: name the files in it, for instance {os.path.join('deep', '*')}"),
        (["d*"], f"deep: is a directory: name the files in it, for instance {os.path.join('deep', '*')}"),
        (["-", "a", "-"], "standard input (-) can be read only once: name it once"),
        (["a/b"], "a/b: cannot be opened (Not a directory): check the name"),
        (["a\0b"], r"'a\x00b': there is a null character in the name: check it"),
    ],
)
def test_refused_before_anything_is_read(tmp_path, monkeypatch, paths, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    write(tmp_path / "a", b"1\n")
    with pytest.raises(BadSource) as refusal:
        expand(paths)
    assert str(refusal.value) == sentence
    if paths[-1] != "-" and "*" not in paths[-1]:
        for reader in (lambda path: next(chunks(path)), lambda path: total_bytes([path])):
            with pytest.raises(BadSource) as refusal:
                reader(paths[-1])
            assert str(refusal.value) == sentence


def test_a_file_without_permission(tmp_path, monkeypatch):
    path = write(tmp_path / "a", b"1\n")
    sentence = r"a: may not be read by you: ask its owner, or change its mode \(chmod \+r\)"
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda name, mode: False)  # root may read anything
        with pytest.raises(BadSource, match=sentence):
            expand([path])

    def forbidden(*args, **options):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(decompression, "open", forbidden, raising=False)
    with pytest.raises(BadSource, match=sentence):
        next(chunks(path))


def test_the_size_of_all_files(tmp_path):
    paths = [write(tmp_path / "a", b"12345"), write(tmp_path / "b.gz", gzip.compress(SHORT))]
    assert total_bytes(paths) == 5 + paths[1].stat().st_size
    assert total_bytes([*paths, "-"]) is None
    assert total_bytes([]) == 0
