"""Lines of CSV, and of tab-separated text: quoted where a reader would otherwise take them for something else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from onlinear.errors import OnlinearError
from onlinear.streams.columns import MISSING, Column, is_number
from onlinear.streams.conversion.numbers import text_of
from onlinear.streams.texts import is_missing

#: a line end, a quote, blanks around, the mark of UTF-8, and whatever may be taken for the delimiter
QUOTED = re.compile(r'[\r\n",;|\t]|^[ \ufeff]| $')


class CSVLines:
    """The records of a table; a text in a column of texts is noted, as columns of CSV say nothing of their kind."""

    def __init__(self, columns: Sequence[Column], delimiter: str, header: bool) -> None:
        self.columns = columns
        self.delimiter = delimiter
        self.header = header
        #: columns of texts which all look like numbers so far
        self.doubtful = {place: False for place, column in enumerate(columns) if column.kind == "category"}
        if header:
            check_names(columns)

    def lines(self, rows: Iterable[list[Any]]) -> Iterator[str]:
        if self.header:
            yield self._line([column.name for column in self.columns])
        for cells in rows:
            self._judge(cells)
            yield self._line(cells)

    def _line(self, cells: Sequence[Any]) -> str:
        line = self.delimiter.join(map(cell_text, cells))
        return f"{line}\n" if line else '""\n'  # an empty line would be none

    def _judge(self, cells: Sequence[Any]) -> None:
        """Note which columns of texts have a number; those with anything else are settled."""
        for place in [place for place in self.doubtful if cells[place] is not None]:
            if is_number(cells[place]):
                self.doubtful[place] = True
            elif not is_missing(cells[place], MISSING):
                del self.doubtful[place]

    def messages(self) -> list[str]:
        """What will be read as something else."""
        texts = [self.columns[place].name for place, is_certain in self.doubtful.items() if is_certain]
        said = [f"The texts of the column {name!r} all look like numbers, and will be read as such." for name in texts]
        for what, is_such in (("a number", is_number), ("a missing cell", lambda name: is_missing(name, MISSING))):
            names = [column.name for column in self.columns if self.header and is_such(column.name)]
            if names:
                said.append(
                    f"The column {names[0]!r} is called like {what}: whoever reads the file has to know of the header."
                )
        return said


def cell_text(cell: float | Decimal | str | None) -> str:
    """A cell, in quotes if it needs them.

    >>> cell_text(0.5), cell_text(None), cell_text("Bern"), cell_text('6" pipe'), cell_text(" x")
    ('0.5', '', 'Bern', '"6"" pipe"', '" x"')
    """
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return text_of(cell)
    if "\0" in cell:
        raise OnlinearError(f"the text {cell!r:.40} has a zero byte in it, which CSV cannot say: convert to jsonl")
    return '"' + cell.replace('"', '""') + '"' if QUOTED.search(cell) else cell


def check_names(columns: Sequence[Column]) -> None:
    for name, _ in columns:
        if not name or name != name.strip(" \t\r"):
            raise OnlinearError(f"a column of CSV cannot be called {name!r}: rename it, or convert to jsonl")
