"""One-pass model selection: configurations that learn the same rows side by side, and are compared honestly.

:func:`onlinear.race` compares configurations; here they are made, one by one or as a grid.

>>> from onlinear.selection import grid
>>> len(grid(loss="hinge", rule=["adagrad", "normalised"], l2=[0.0, 1e-4, 1e-2]))
6
"""

from onlinear.learning.configuration import Configuration
from onlinear.selection.configurations import configuration, grid, sample_configurations, usual
from onlinear.selection.intervals import wilson

__all__ = ["Configuration", "configuration", "grid", "sample_configurations", "usual", "wilson"]
