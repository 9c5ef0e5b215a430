"""Recipe: how files become the rows that a model has learned; saved in the model, so that answers need no options."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onlinear.errors import BadModel
from onlinear.streams.blocks import Block
from onlinear.streams.csvtext import CSVText
from onlinear.streams.recipes import packed, unpacked
from onlinear.streams.sources import expand
from onlinear.streams.stream import FORMATS, Format, Stream


class Recipe(NamedTuple):
    """The format of the files."""

    format: Format

    def stream(self, files: list[str], *, labelled: bool) -> Stream:
        """Other files, read as those that the model has learned from."""
        format = self.format
        if not labelled and isinstance(format, CSVText):
            format = format.unlabelled()
        return Stream(expand(files), format)

    def apply(self, block: Block) -> Block:
        """The rows as the model knows them."""
        return block

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """JSON and arrays for a model file."""
        name = next(name for name, cls in FORMATS.items() if cls is type(self.format))
        return {"format": {name: packed(self.format)}}, {}

    @classmethod
    def restored(cls, header: Any, arrays: dict[str, np.ndarray]) -> Recipe:
        """The recipe that :meth:`parts` came from."""
        ((name, fields),) = header["format"].items()
        if name not in FORMATS:
            raise BadModel(f"the model was trained on the format {name!r:.60}, which this version does not have")
        return cls(unpacked(FORMATS[name], fields))
