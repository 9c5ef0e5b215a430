"""Pictures of learners, in the manner of scikit-learn's displays; Matplotlib draws them (``onlinear[plot]``).

A display is made of plain arrays, most easily by one of its ``from_...`` methods, and ``plot()`` draws it:

>>> from onlinear import Perceptron
>>> from onlinear.plots import MistakeBoundDisplay
>>> from onlinear.streams.synthetic import Separable
>>> stream = Separable(n=300, d=2, margin=0.1)
>>> X, y = next(stream.arrays(300))
>>> shown = MistakeBoundDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, u=stream.u, plot=False)
>>> bool((shown.updates <= shown.bound).all())
True
"""

from onlinear.plots.boundary import BoundaryDisplay
from onlinear.plots.descent import DescentDisplay
from onlinear.plots.loss_curve import LossCurveDisplay
from onlinear.plots.losses import LossesDisplay
from onlinear.plots.margin_box import MarginBoxDisplay
from onlinear.plots.mistake_bound import MistakeBoundDisplay
from onlinear.plots.orders import OrdersDisplay
from onlinear.plots.oscillation import OscillationDisplay
from onlinear.plots.path import BoundaryPathDisplay
from onlinear.plots.proof import ProofDisplay
from onlinear.plots.race import RaceDisplay
from onlinear.plots.trace import TraceDisplay
from onlinear.plots.update import UpdateDisplay

__all__ = [
    "BoundaryDisplay",
    "BoundaryPathDisplay",
    "DescentDisplay",
    "LossCurveDisplay",
    "LossesDisplay",
    "MarginBoxDisplay",
    "MistakeBoundDisplay",
    "OrdersDisplay",
    "OscillationDisplay",
    "ProofDisplay",
    "RaceDisplay",
    "TraceDisplay",
    "UpdateDisplay",
]
