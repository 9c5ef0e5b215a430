"""Classifiers in dual form as model files: their parameters and attributes around the model."""

from __future__ import annotations

from typing import Any

import numpy as np

import onlinear
from onlinear.features.state import pack_texts
from onlinear.files.container import Arrays, Header
from onlinear.files.dual import PLAIN, check_seen, expect, pack_dual, unpack_dual
from onlinear.files.names import names_now, unpack_texts
from onlinear.files.values import Packer, Unpacker


def dual_parts(estimator: Any, holds: Header) -> tuple[Header, Arrays]:
    """Header and arrays of a classifier in dual form; ``holds`` names its class."""
    packer, model = Packer(), estimator._model
    parameters = estimator.get_params(deep=False)
    packed = {name: packer.pack(value, f"the parameter {name}") for name, value in parameters.items()}
    header: Header = {**holds, "parameters": packed}
    if model is None:
        return {"onlinear": onlinear.__version__, **header}, packer.arrays
    named = hasattr(estimator, "feature_names_in_")
    check_seen(model, named or model.names is not None)
    state = {name: getattr(estimator, name) for name in PLAIN if name in vars(estimator)}
    header = pack_dual(packer, model, header, state, None if model.names is None else names_now(model.names))
    if named:
        pack_texts(packer.arrays, "columns", estimator.feature_names_in_.tolist())
    return header, packer.arrays


def restore_dual(unpacker: Unpacker, cls: Any, header: Header) -> Any:
    """The classifier of which :func:`dual_parts` made header and arrays."""
    unknown = sorted(header["parameters"].keys() - set(cls._get_param_names()))
    expect(not unknown, f"a parameter {unknown[:1]}")
    estimator = cls(**{name: unpacker.unpack(value) for name, value in header["parameters"].items()})
    if "perceptrons" not in header:
        return estimator
    estimator._validate_params()
    columns = unpack_texts(unpacker.arrays, "columns") if "columns/ends" in unpacker.arrays else None
    if columns is not None:
        estimator.feature_names_in_ = np.array(columns, dtype=object)
    named = None if columns is None else len(columns)
    estimator._model = unpack_dual(unpacker, header, "kernel", estimator.vote, named)
    vars(estimator).update({name: header["state"][name] for name in PLAIN if name in header["state"]})
    return estimator
