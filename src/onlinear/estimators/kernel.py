"""Perceptrons that keep their mistakes: with a kernel, and with the votes of all their versions."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from onlinear.errors import Refused
from onlinear.estimators.checks import FloatInterval
from onlinear.estimators.dual import DualClassifier
from onlinear.estimators.passes import ORDERS
from onlinear.learning.dual.kernel import Kernel, linear_kernel
from onlinear.learning.dual.model import DualModel
from onlinear.learning.dual.perceptrons import Perceptrons
from onlinear.learning.dual.versions import VOTES, Versions

ANSWERS: dict[str, Any] = {
    "vote": [StrOptions(set(VOTES))],
    "budget": [Interval(Integral, 1, None, closed="left"), None],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "order": [StrOptions(set(ORDERS)), None],
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
        that is drawn from ``random_state``, the number of examples learned and the row itself; "pocket": the version
        that survived most rows in a row. It may be changed at any time with ``set_params``.
    budget : the most examples that are kept, shared out evenly among several classes, which then have to be known from
        the start; None keeps all. Shrinks and removes as the self-tuned Forgetron does (Dekel, Shalev-Shwartz &
        Singer 2008), whose guarantee :mod:`onlinear.learning.dual.forgetron` states. It is one on the mistakes made
        while learning, by the last version. Of older versions only what they have of the kept examples is left to vote.
    max_iter : most passes of ``fit``, which ends when a pass brings no update. A first pass alone is not enough for the
        versions to agree even where a kernel separates the rows, as RBF does those of XOR; ``partial_fit`` takes one.
    order : of the rows in a pass of ``fit``: "stream" as they come, "shuffle", or drawn with "replacement"; None takes
        them as they come if there is one pass, and shuffled if there may be several
    random_state : seed for that order, and for ``vote="random"``

    An example of importance ``a`` (``sample_weight``) it is wrong on is added ``a`` times; it still is one row that a
    version has survived, or not, as in the averages of :class:`AveragedPerceptron`. A budget takes steps of 1 only: its
    guarantee counts them.

    Any chunking of the rows gives the same bits, one by one included, with any number of threads: see
    :mod:`onlinear.data.products`. (Of a kernel of your own this is as true as it rounds each pair by itself.)
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
        order: str | None = None,
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
        order: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.vote = vote
        self.budget = budget
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        return linear_kernel(self.fit_intercept)


class PocketPerceptron(DualClassifier):
    """The perceptron that answers with its best version over time, kept in its pocket. Gallant 1990, Figure 2.

    That is the version with the longest run of rows that were all right, or of several the first. Where nothing
    separates the rows, the last version may be among the worst. With ``ratchet`` one that ran longer takes its place
    only if it also has more of all rows right, so that the pocket never becomes worse: ``fit`` alone knows all rows.

    Parameters
    ----------
    ratchet : whether the pocket changes only for a version that has more of all rows right. A stream has no such thing:
        what learns on after ``set_params(ratchet=False)`` answers with the longest run of all.
    fit_intercept : learn an intercept
    max_iter : most passes of ``fit``, which ends when a pass brings no update
    order : of the rows in a pass of ``fit``: "stream" as they come, "shuffle", or drawn with "replacement"
    random_state : seed for that order

    It learns as :class:`VotedPerceptron` does, and so costs as much. What ``learn_one`` answers, and ``mistakes_``
    counts, are the last version's.

    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0], [9.0]])
    >>> model = PocketPerceptron(ratchet=True).fit(X, [0, 0, 1, 1, 0])  # no threshold is right for all
    >>> model.score(X, [0, 0, 1, 1, 0])
    0.8
    """

    _parameter_constraints = {
        "ratchet": ["boolean"],
        "fit_intercept": ["boolean"],
        **{name: ANSWERS[name] for name in ("max_iter", "order", "random_state")},
    }
    vote = "pocket"
    budget = None

    def __init__(
        self,
        *,
        ratchet: bool = False,
        fit_intercept: bool = True,
        max_iter: int = 100,
        order: str | None = "shuffle",
        random_state: Any = 0,
    ) -> None:
        self.ratchet = ratchet
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        return linear_kernel(self.fit_intercept)

    def _sweep(self, model: DualModel, X: Any, codes: np.ndarray, importance: np.ndarray) -> None:
        super()._sweep(model, X, codes, importance)
        if self.ratchet:
            targets, machine = model.targets(codes), model.perceptrons
            for output, versions in enumerate(machine.versions):
                versions.chosen = self._best_version(machine, versions, X, targets[:, output], importance)

    def _best_version(
        self, machine: Perceptrons, versions: Versions, X: Any, targets: np.ndarray, importance: np.ndarray
    ) -> int | None:
        """The last version that, when it was in force, had both run longer and been right on more than all before."""
        updates, rows = versions.arrays(), machine.support.rows
        best, longest, most = None, 0, -1.0
        weights, intercept = np.zeros(rows.shape[1]), 0.0
        for place, survived in enumerate(updates.survived(machine.examples).tolist()):
            amount = updates.amounts[place]
            weights += amount * rows[updates.positions[place]]
            intercept += amount * self.fit_intercept
            if survived > longest:
                right = float(importance[targets * (X @ weights + intercept) > 0.0].sum())
                if right > most:
                    best, longest, most = place, survived, right
        return best

    def _check_stream(self) -> None:
        if self.ratchet:
            raise Refused("the ratchet looks at all rows, which a stream does not have: call fit, or say ratchet=False")
