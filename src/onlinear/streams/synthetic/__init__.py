"""Streams that test a learner: the same rows in every pass, known by a seed, with a truth that can be looked up.

>>> from onlinear import Perceptron
>>> from onlinear.streams.synthetic import Separable
>>> stream = Separable(n=2000, d=5, margin=0.1, seed=7)
>>> model = Perceptron(fit_intercept=False)
>>> for X, y in stream.arrays(block=100):
...     model = model.partial_fit(X, y, classes=[-1, 1])
>>> model.updates_ <= stream.bound
True

:class:`Separable`, :class:`Noisy`, :class:`LogisticLabels`, :class:`Drifting`, :class:`Dependent` and
:class:`TightExample` are streams: iterate over blocks with ``X`` and ``y``, or over ``arrays(block)``, or give them to
:func:`onlinear.open_stream`. An :class:`Adversary` looks at the weights before it shows the next row.
"""

from onlinear.streams.synthetic.adversary import Adversary, TightExample
from onlinear.streams.synthetic.changing import Dependent, Drifting
from onlinear.streams.synthetic.known import LogisticLabels, Risks
from onlinear.streams.synthetic.separable import Noisy, Separable

__all__ = [
    "Adversary",
    "Dependent",
    "Drifting",
    "LogisticLabels",
    "Noisy",
    "Risks",
    "Separable",
    "TightExample",
]
