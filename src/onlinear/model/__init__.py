"""Model files: one file, no pickle. See :mod:`onlinear.model.container` for its layout."""

from onlinear.model.container import read_model, write_model
from onlinear.model.learners import learner_parts, load_learner, save_learner
from onlinear.model.values import Packer, Unpacker

__all__ = ["Packer", "Unpacker", "learner_parts", "load_learner", "read_model", "save_learner", "write_model"]
