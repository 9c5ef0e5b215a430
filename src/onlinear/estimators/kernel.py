"""Perceptrons that keep their mistakes: with a kernel, and with the votes of all their versions."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from onlinear.estimators.checks import FloatInterval
from onlinear.estimators.dual import DualClassifier
from onlinear.estimators.passes import ORDERS
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.versions import VOTES

ANSWERS: dict[str, Any] = {
    "vote": [StrOptions(set(VOTES))],
    "budget": [Interval(Integral, 1, None, closed="left"), None],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "order": [StrOptions(set(ORDERS))],
    "random_state": ["random_state"],
}


class KernelPerceptron(DualClassifier):
    """The perceptron with a kernel, which answers with the votes of all its versions. Freund & Schapire 1999.

    It keeps the examples it was wrong on (``y score <= 0``) and scores with ``sum of y_k K(x_k, x)`` over them. Several
    classes are learned one against the rest, over the same kept examples; a row belongs to the class with the highest
    score, which is not divided by the norm of the hypothesis.

    Parameters
    ----------
    kernel : "linear" ``x.z``, "poly" ``(gamma x.z + coef0)^degree``, "rbf" ``exp(-gamma |x - z|^2)``, or a function of
        two tables of rows that answers the matrix of their kernels
    degree, gamma, coef0 : of that kernel
    vote : who answers. "vote": all versions, each with a vote of 1 or -1 for every row it survived, over their number;
        "average": the mean of their scores, weighed alike; "last": the last; "random": the version in force at a moment
        that is drawn from ``random_state``, the number of examples learned and the row itself. It may be changed at
        any time with ``set_params``.
    budget : the most examples that are kept, shared out evenly among several classes, which then have to be known from
        the start; None keeps all. Shrinks and removes as the self-tuned Forgetron does (Dekel, Shalev-Shwartz &
        Singer 2008), whose guarantee :mod:`onlinear.learning.dual.forgetron` states. It is one on the mistakes made
        while learning, by the last version. Of older versions only what they have of the kept examples is left to vote.
    max_iter : most passes of ``fit``, which ends when a pass brings no update. A first pass alone is not enough for the
        versions to agree even where a kernel separates the rows, as RBF does those of XOR; ``partial_fit`` takes one.
    order : of the rows in a pass of ``fit``: "stream" as they come, "shuffle", or drawn with "replacement"
    random_state : seed for that order, and for ``vote="random"``

    An example of importance ``a`` (``sample_weight``) it is wrong on is added ``a`` times; it still is one row that a
    version has survived, or not, as in the averages of :class:`AveragedPerceptron`. A budget takes steps of 1 only: its
    guarantee counts them.

    Any chunking of the rows gives the same bits, one by one included, with any number of threads: see
    :mod:`onlinear.learning.dual.products`. (Of a kernel of your own this is as true as it rounds each pair by itself.)
    Kept examples are dense, in the precision of the first rows, with RBF and kernels of your own in float64.

    >>> import numpy as np
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), ["no", "yes", "yes", "no"]
    >>> model = KernelPerceptron("rbf").fit(X, y)
    >>> model.converged_, model.predict(X).tolist()
    (True, ['no', 'yes', 'yes', 'no'])
    """

    _parameter_constraints = {
        "kernel": [StrOptions({"linear", "poly", "rbf"}), callable],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "gamma": [FloatInterval(Real, 0, None, closed="neither")],
        "coef0": [FloatInterval(Real, 0, None, closed="left")],
        **ANSWERS,
    }

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "poly",
        *,
        degree: int = 2,
        gamma: float = 1.0,
        coef0: float = 1.0,
        vote: str = "vote",
        budget: int | None = None,
        max_iter: int = 10,
        order: str = "stream",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.vote = vote
        self.budget = budget
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, int(self.degree), float(self.gamma), float(self.coef0))


class VotedPerceptron(DualClassifier):
    """The perceptron whose versions vote, each as often as it survived a row. Freund & Schapire 1999, Figure 1.

    :class:`KernelPerceptron` with the linear kernel; ``fit_intercept`` adds a feature that is always 1. See there for
    the other parameters; ``fit`` takes one pass unless ``max_iter`` says more.

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> model = VotedPerceptron().fit(X, [0, 0, 1, 1])
    >>> model.decision_function([[-1.0, 0.0], [3.0, 1.0]])
    array([-1.,  1.])
    """

    _parameter_constraints = {"fit_intercept": ["boolean"], **ANSWERS}

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        vote: str = "vote",
        budget: int | None = None,
        max_iter: int = 1,
        order: str = "stream",
        random_state: Any = 0,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.vote = vote
        self.budget = budget
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        return Kernel("poly", degree=1, gamma=1.0, coef0=1.0) if self.fit_intercept else Kernel("linear")
