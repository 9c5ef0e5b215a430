"""Online linear learners: predict each example, then learn from it.

>>> import onlinear
>>> model = onlinear.Perceptron()

Every public name is found on first use, so ``import onlinear`` costs next to nothing: NumPy,
Numba and scikit-learn are loaded when the first of them is needed.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # type checkers take it for True; `typing` itself is too slow to import
if TYPE_CHECKING:
    from onlinear import (
        descent as descent,
        drift as drift,
        losses as losses,
        measures as measures,
        rules as rules,
        selection as selection,
        theory as theory,
    )
    from onlinear.errors import (
        BadInput as BadInput,
        BadLine as BadLine,
        BadModel as BadModel,
        BadRow as BadRow,
        BadSource as BadSource,
        BoundFailed as BoundFailed,
        Diverged as Diverged,
        NotSaved as NotSaved,
        OnlinearError as OnlinearError,
        Refused as Refused,
        TooManyNames as TooManyNames,
    )
    from onlinear.estimators.expansions import (
        PolynomialProducts as PolynomialProducts,
        RandomFeatures as RandomFeatures,
    )
    from onlinear.estimators.famous import (
        AROWClassifier as AROWClassifier,
        FTRLClassifier as FTRLClassifier,
        FTRLRegressor as FTRLRegressor,
        SecondOrderPerceptron as SecondOrderPerceptron,
    )
    from onlinear.estimators.kernel import (
        KernelPerceptron as KernelPerceptron,
        PocketPerceptron as PocketPerceptron,
        VotedPerceptron as VotedPerceptron,
    )
    from onlinear.estimators.online import (
        OnlineClassifier as OnlineClassifier,
        OnlineRegressor as OnlineRegressor,
    )
    from onlinear.estimators.passive_aggressive import (
        PassiveAggressiveClassifier as PassiveAggressiveClassifier,
        PassiveAggressiveRegressor as PassiveAggressiveRegressor,
    )
    from onlinear.estimators.perceptron import (
        AveragedPerceptron as AveragedPerceptron,
        MarginPerceptron as MarginPerceptron,
        Perceptron as Perceptron,
    )
    from onlinear.estimators.saving import load as load
    from onlinear.estimators.search import OnlineSearch as OnlineSearch
    from onlinear.estimators.sgd import (
        SGDClassifier as SGDClassifier,
        SGDRegressor as SGDRegressor,
    )
    from onlinear.files.file_model import FileModel as FileModel, predict as predict
    from onlinear.learning.dual.unique import unique_features as unique_features
    from onlinear.learning.learner import Learner as Learner
    from onlinear.streams.stream import open_stream as open_stream
    from onlinear.theory.certifying import certify as certify
    from onlinear.workflow.profile.choice import choose_recipe as choose_recipe
    from onlinear.workflow.profile.table import profile_of as profile_of
    from onlinear.workflow.race_result import RaceResult as RaceResult, race as race

# Where each public name lives. A name that ends its own path is that module.
_HOMES = {
    "AROWClassifier": "onlinear.estimators.famous",
    "AveragedPerceptron": "onlinear.estimators.perceptron",
    "BadInput": "onlinear.errors",
    "BadLine": "onlinear.errors",
    "BadModel": "onlinear.errors",
    "BadRow": "onlinear.errors",
    "BadSource": "onlinear.errors",
    "BoundFailed": "onlinear.errors",
    "Diverged": "onlinear.errors",
    "FTRLClassifier": "onlinear.estimators.famous",
    "FTRLRegressor": "onlinear.estimators.famous",
    "FileModel": "onlinear.files.file_model",
    "KernelPerceptron": "onlinear.estimators.kernel",
    "Learner": "onlinear.learning.learner",
    "MarginPerceptron": "onlinear.estimators.perceptron",
    "NotSaved": "onlinear.errors",
    "OnlineClassifier": "onlinear.estimators.online",
    "OnlineRegressor": "onlinear.estimators.online",
    "OnlineSearch": "onlinear.estimators.search",
    "OnlinearError": "onlinear.errors",
    "PassiveAggressiveClassifier": "onlinear.estimators.passive_aggressive",
    "PassiveAggressiveRegressor": "onlinear.estimators.passive_aggressive",
    "Perceptron": "onlinear.estimators.perceptron",
    "PocketPerceptron": "onlinear.estimators.kernel",
    "PolynomialProducts": "onlinear.estimators.expansions",
    "RaceResult": "onlinear.workflow.race_result",
    "RandomFeatures": "onlinear.estimators.expansions",
    "Refused": "onlinear.errors",
    "SGDClassifier": "onlinear.estimators.sgd",
    "SGDRegressor": "onlinear.estimators.sgd",
    "SecondOrderPerceptron": "onlinear.estimators.famous",
    "TooManyNames": "onlinear.errors",
    "VotedPerceptron": "onlinear.estimators.kernel",
    "certify": "onlinear.theory.certifying",
    "choose_recipe": "onlinear.workflow.profile.choice",
    "descent": "onlinear.descent",
    "drift": "onlinear.drift",
    "load": "onlinear.estimators.saving",
    "losses": "onlinear.losses",
    "measures": "onlinear.measures",
    "open_stream": "onlinear.streams.stream",
    "predict": "onlinear.files.file_model",
    "profile_of": "onlinear.workflow.profile.table",
    "race": "onlinear.workflow.race_result",
    "rules": "onlinear.rules",
    "selection": "onlinear.selection",
    "theory": "onlinear.theory",
    "unique_features": "onlinear.learning.dual.unique",
}

__all__ = ["__version__", *_HOMES]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # hidden, so that type checkers report a misspelt name

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        home = _HOMES[name]
        module = import_module(home)
        found = module if home == f"{__name__}.{name}" else getattr(module, name)
        globals()[name] = found
        return found
