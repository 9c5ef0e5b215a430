"""Online linear learners: predict each example, then learn from it.

>>> import onlinear
>>> model = onlinear.Perceptron()

Every public name is found on first use, so ``import onlinear`` costs next to nothing: NumPy,
Numba and scikit-learn are loaded when the first of them is needed.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # type checkers take it for True; `typing` itself is too slow to import
if TYPE_CHECKING:
    from onlinear import losses as losses, measures as measures, rules as rules
    from onlinear.errors import (
        BadInput as BadInput,
        BadRow as BadRow,
        Diverged as Diverged,
        OnlinearError as OnlinearError,
        Refused as Refused,
        TooManyNames as TooManyNames,
    )
    from onlinear.estimators import (
        AROWClassifier as AROWClassifier,
        AveragedPerceptron as AveragedPerceptron,
        FTRLClassifier as FTRLClassifier,
        FTRLRegressor as FTRLRegressor,
        MarginPerceptron as MarginPerceptron,
        OnlineClassifier as OnlineClassifier,
        OnlineRegressor as OnlineRegressor,
        PassiveAggressiveClassifier as PassiveAggressiveClassifier,
        PassiveAggressiveRegressor as PassiveAggressiveRegressor,
        Perceptron as Perceptron,
        SecondOrderPerceptron as SecondOrderPerceptron,
        SGDClassifier as SGDClassifier,
        SGDRegressor as SGDRegressor,
    )
    from onlinear.learner import Learner as Learner

# Where each public name lives. A name that ends its own path is that module.
_HOMES = {
    "AROWClassifier": "onlinear.estimators",
    "AveragedPerceptron": "onlinear.estimators",
    "BadInput": "onlinear.errors",
    "BadRow": "onlinear.errors",
    "Diverged": "onlinear.errors",
    "FTRLClassifier": "onlinear.estimators",
    "FTRLRegressor": "onlinear.estimators",
    "Learner": "onlinear.learner",
    "MarginPerceptron": "onlinear.estimators",
    "OnlineClassifier": "onlinear.estimators",
    "OnlineRegressor": "onlinear.estimators",
    "OnlinearError": "onlinear.errors",
    "PassiveAggressiveClassifier": "onlinear.estimators",
    "PassiveAggressiveRegressor": "onlinear.estimators",
    "Perceptron": "onlinear.estimators",
    "Refused": "onlinear.errors",
    "SGDClassifier": "onlinear.estimators",
    "SGDRegressor": "onlinear.estimators",
    "SecondOrderPerceptron": "onlinear.estimators",
    "TooManyNames": "onlinear.errors",
    "losses": "onlinear.losses",
    "measures": "onlinear.measures",
    "rules": "onlinear.rules",
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
