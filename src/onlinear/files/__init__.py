"""Model files: one file, no pickle. See :mod:`onlinear.files.container` for its layout."""

from onlinear.files.container import read_model, write_model
from onlinear.files.learners import learner_parts, load_learner, save_learner
from onlinear.files.values import Packer, Unpacker

__all__ = ["Packer", "Unpacker", "learner_parts", "load_learner", "read_model", "save_learner", "write_model"]
