"""The classes of a classifier in a model file: labels with their types, and their order."""

from __future__ import annotations

import re

import numpy as np

from onlinear.errors import BadModel, NotSaved
from onlinear.files.container import Header
from onlinear.files.values import Packer, Unpacker
from onlinear.learning.classes import Classes

LABEL_DTYPE = re.compile(r"[<>|][biuf][1248]|[<>]U\d{1,9}|\|O")
#: the most memory that an array of labels may ask for
MOST_LABELS = 1 << 26


def pack_classes(packer: Packer, classes: Classes) -> Header:
    kind = classes.sorted.dtype.str
    if not LABEL_DTYPE.fullmatch(kind) or classes.sorted.nbytes > MOST_LABELS:
        raise NotSaved(f"labels of the dtype {classes.sorted.dtype} have no form here: use strings, numbers or bools")
    labels = [packer.pack(label, f"the label {label!r:.60}") for label in classes.labels]
    return {"open": classes.open, "dtype": kind, "order": classes.order.tolist(), "labels": labels}


def unpack_classes(unpacker: Unpacker, header: Header) -> Classes:
    labels, order, is_open = [unpacker.unpack(label) for label in header["labels"]], header["order"], header["open"]
    classes = Classes(open=is_open)
    classes.labels, classes.codes = labels, {label: code for code, label in enumerate(labels)}
    if type(is_open) is not bool or sorted(order) != list(range(len(labels))) or len(classes.codes) < len(labels):
        raise BadModel("the model's classes are not in order, or one is there twice: it is not one that we wrote")
    if any(label != label for label in labels):
        raise BadModel("a class of the model is NaN: it is not one that we wrote")
    if not LABEL_DTYPE.fullmatch(header["dtype"]):
        raise BadModel(f"the model's labels are of {header['dtype']!r:.60}: it is not one that we wrote")
    kind = np.dtype(header["dtype"])
    if len(labels) * kind.itemsize > MOST_LABELS:
        raise BadModel(f"the model's labels ask for more than {MOST_LABELS} bytes: it is not one that we wrote")
    classes.order = np.array(order, dtype=np.int64)
    classes.sorted = np.empty(len(labels), dtype=kind)
    for place, code in enumerate(order):
        classes.sorted[place] = labels[code]
    if classes.sorted.tolist() != [labels[code] for code in order]:
        raise BadModel(f"the model's labels do not fit into {kind}: it is not one that we wrote")
    return classes
