"""From one format to another, a row at a time: see :mod:`onlinear.streams.conversion.directions`."""

from __future__ import annotations

#: those that can be written
FORMATS = ("svmlight", "vw", "csv", "tsv", "jsonl", "parquet", "arrow")
