"""Arrow and Parquet files whose bytes lie: each is refused with its name, and none is followed out of its buffers."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from onlinear import profile_of
from onlinear.errors import BadSource, OnlinearError
from onlinear.streams.arrow_cells import decimals_of
from onlinear.streams.conversion.directions import ConvertOptions, convert
from onlinear.streams.stream import open_stream

TOWNS = ["Bern", "Thun", "Zug", "Olten"]
CODES = [1, 0, 1, 2]
MUTATIONS = 400


def table_of_texts() -> pa.Table:
    words = pa.DictionaryArray.from_arrays(pa.array(CODES, pa.int32()), ["u", "v", "w"])
    columns = {"age": [1.0, 2.0, None, 4.0], "town": TOWNS, "code": words, "y": [0, 1, 0, 1]}
    return pa.table(columns)


def bytes_in(table: pa.Table, kind: Callable[..., Any]) -> bytes:
    out = io.BytesIO()
    with kind(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def offsets(*ends: int) -> bytes:
    return np.array([0, *ends], np.int32).tobytes()


TRUE_OFFSETS = offsets(4, 8, 11, 16)
TRUE_CODES = np.array(CODES, np.int32).tobytes()
CRAFTED = [
    (TRUE_OFFSETS, offsets(4, 8, 11, 1 << 30), "town", "damaged"),  # far away: a segmentation fault
    (TRUE_OFFSETS, offsets(4, 8, 11, 100), "town", "damaged"),  # into the columns behind it
    (TRUE_OFFSETS, offsets(4, 8, -1, 16), "town", "damaged"),
    (TRUE_OFFSETS, offsets(8, 4, 11, 16), "town", "damaged"),
    (b"BernThunZugOlten", b"Bern\xff\xfeunZugOlten", "town", "not UTF-8"),
    (TRUE_CODES, np.array([1, 0, 3, 2], np.int32).tobytes(), "code", "damaged"),
    (TRUE_CODES, np.array([1, 0, -1, 2], np.int32).tobytes(), "code", "damaged"),
    (TRUE_CODES, np.array([1, 0, 1 << 30, 2], np.int32).tobytes(), "code", "damaged"),
]


@pytest.mark.parametrize("kind", [ipc.new_file, ipc.new_stream])
@pytest.mark.parametrize(("true", "crafted", "column", "reason"), CRAFTED)
def test_cells_that_lie_outside_of_their_column(
    tmp_path: Path, kind: Callable[..., Any], true: bytes, crafted: bytes, column: str, reason: str
) -> None:
    data = bytes_in(table_of_texts(), kind)
    assert data.count(true) == 1
    path = tmp_path / "rows.arrow"
    path.write_bytes(data.replace(true, crafted))
    message = rf"rows.arrow: column '{column}' .*{reason}.* in rows 1 to 4"
    with pytest.raises(BadSource, match=message):
        list(open_stream(path))
    with pytest.raises(BadSource, match=message):
        list(open_stream(path, text=["town"]))
    with pytest.raises(BadSource, match=message):
        profile_of(path)
    with pytest.raises(BadSource, match=message):
        convert(ConvertOptions([str(path)], str(tmp_path / "rows.csv")))


@pytest.mark.parametrize(("true", "crafted", "column", "reason"), CRAFTED)
def test_a_table_that_others_read_from_a_crafted_file(
    tmp_path: Path, true: bytes, crafted: bytes, column: str, reason: str
) -> None:
    path = tmp_path / "rows.arrow"
    path.write_bytes(bytes_in(table_of_texts(), ipc.new_file).replace(true, crafted))
    with ipc.open_file(path) as file:
        table = file.read_all()
    with pytest.raises(BadSource, match=rf"Table: column '{column}' .*{reason}.* in rows 1 to 4"):
        list(open_stream(table))


def test_a_view_behind_a_null_is_not_followed() -> None:
    towns = pa.array(["a town with a long name", None, "Bern"], pa.string_view())
    validity, views, names = towns.buffers()
    wild = np.frombuffer(views, np.int32).copy()
    wild[4:8] = [-(1 << 31), 0, 0, 0]
    crafted = pa.Array.from_buffers(pa.string_view(), 3, [validity, pa.py_buffer(wild), names])
    for options in ({}, {"text": ["t"]}):
        read = [block.X for block in open_stream(pa.table({"t": crafted, "y": [0, 1, 0]}), **options)]
        meant = [block.X for block in open_stream(pa.table({"t": towns.to_pylist(), "y": [0, 1, 0]}), **options)]
        assert [(rows.indices.tolist(), rows.data.tolist()) for rows in read] == [
            (rows.indices.tolist(), rows.data.tolist()) for rows in meant
        ]


def test_names_of_columns_that_are_not_utf_8(tmp_path: Path) -> None:
    parquet.write_table(table_of_texts(), tmp_path / "rows.parquet", store_schema=False)
    (tmp_path / "rows.arrow").write_bytes(bytes_in(table_of_texts(), ipc.new_file))
    for name in ("rows.parquet", "rows.arrow"):
        path = tmp_path / name
        path.write_bytes(path.read_bytes().replace(b"town", b"t\xffwn"))
        with pytest.raises(BadSource, match=rf"{name}: the name .*t\\xffwn.* of a column is not UTF-8: rename it"):
            open_stream(path)
        with pytest.raises(BadSource, match=rf"{name}: the name .* of a column is not UTF-8"):
            profile_of(path)


def mutated(data: bytes, numbers: random.Random) -> bytes:
    """The bytes with a few bits, or a few whole numbers, changed."""
    changed = bytearray(data)
    for _ in range(numbers.choice((1, 1, 2, 4))):
        place = numbers.randrange(len(changed))
        if numbers.random() < 0.5:
            changed[place] ^= 1 << numbers.randrange(8)
        else:
            size = numbers.choice((4, 8))
            place -= place % size
            number = numbers.choice((-1, 0, 100, 1 << 20, (1 << 31) - 1))
            changed[place : place + size] = number.to_bytes(size, "little", signed=True)
    return bytes(changed)


@pytest.mark.parametrize("name", ["file.arrow", "stream.arrow", "rows.parquet"])
def test_a_damaged_file_is_read_or_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    path, out = tmp_path / name, io.BytesIO()
    parquet.write_table(table_of_texts(), out, compression="none")
    kinds = {"file.arrow": ipc.new_file, "stream.arrow": ipc.new_stream}
    data = out.getvalue() if name == "rows.parquet" else bytes_in(table_of_texts(), kinds[name])
    for seed in range(MUTATIONS):
        path.write_bytes(mutated(data, random.Random(seed)))
        with suppress(OnlinearError):
            for block in open_stream(path, target="y", bits=6):
                assert np.isfinite(block.X.data).all()


# ------------------------------------------------------------------ decimals


def decimals(kind: Any, spare: int = 0) -> Any:
    """The numbers 0 to 3 without regard to the scale, and so many bytes behind them."""
    content = b"".join(number.to_bytes(kind.byte_width, "little") for number in range(4))
    cells = pa.Array.from_buffers(kind, 4, [None, pa.py_buffer(content + bytes(spare))])
    cells.validate(full=True)
    return cells


@pytest.mark.parametrize("spare", [0, 1, 8, 16, 60])
@pytest.mark.parametrize("kind", [pa.decimal128(20, 1), pa.decimal256(50, 1)])
def test_a_buffer_may_have_bytes_behind_its_decimals(kind: Any, spare: int) -> None:
    cells = decimals(kind, spare)
    for part, expected in ((cells, [0.0, 0.1, 0.2, 0.3]), (cells[1:3], [0.1, 0.2])):
        assert decimals_of(part).tolist() == expected
    assert decimals_of(cells[:0]).tolist() == []
    assert decimals_of(pa.Array.from_buffers(kind, 0, [None, None])).tolist() == []


@pytest.mark.parametrize("scale", [-(1 << 31), -400, 400, (1 << 31) - 1])
def test_decimals_that_have_no_text_are_refused(tmp_path: Path, scale: int) -> None:
    cells = decimals(pa.decimal128(5, scale))
    of_words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), cells)
    for column in (cells, of_words):
        table = pa.table({"d": column, "x": [1.0, 2.0, 3.0, 4.0], "y": ["p", "q", "p", "q"]})
        (tmp_path / "rows.arrow").write_bytes(bytes_in(table, ipc.new_file))
        for source in (table, tmp_path / "rows.arrow"):
            wishes: list[dict[str, Any]] = [{"target": "y"}, {"target": "y", "text": ["d"]}, {"target": "d"}]
            for wish in [*wishes, {"target": "y", "categories": ["d"]}]:
                with pytest.raises(OnlinearError, match=r"column 'd' is of the type .*decimal128\(5, "):
                    list(open_stream(source, **wish))
            with pytest.raises(OnlinearError, match=r"column 'd' is of the type"):
                profile_of(source, target="y")
            assert len(list(open_stream(source, target="y", ignore=["d"]))) == 1
