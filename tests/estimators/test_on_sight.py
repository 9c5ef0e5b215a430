"""What a notebook does to an estimator that it shows: dir, repr and a look at every attribute."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import onlinear
from listed import CLASSIFIERS, ESTIMATORS, IN_DUAL_FORM, fresh
from onlinear.theory import certifying

X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
LABELS = [0, 0, 1, 1]


@pytest.mark.parametrize("model", [*ESTIMATORS, *IN_DUAL_FORM], ids=lambda model: type(model).__name__)
def test_every_attribute_of_an_unfitted_estimator_is_there_or_missing(model: Any) -> None:
    """Nothing but AttributeError, which is what dir and completion take for an answer."""
    model = fresh(model)
    names = {*dir(model), *object.__dir__(model)}
    for name in names:
        getattr(model, name, None)
    assert {"fit", "get_params"} <= names
    assert inspect.getmembers(model)
    assert type(model).__name__ in repr(model)
    assert type(model).__name__ in model._repr_html_()


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_there_is_no_certificate_before_learning(model: Any) -> None:
    assert hasattr(type(model), "certificate_")
    assert not hasattr(fresh(model), "certificate_")


@pytest.mark.parametrize("model", [onlinear.Perceptron(), onlinear.KernelPerceptron()], ids=["linear", "kernel"])
def test_no_certificate_is_computed_on_sight(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fresh(model).partial_fit(X, LABELS)
    assert model.certificate_["examples"] == 4

    def computed(_: Any) -> Any:
        raise AssertionError("computed on sight")

    monkeypatch.setattr(certifying, "running_of", computed)
    assert {"classes_", "mistakes_", "updates_"} <= set(dir(model))
    assert "mistakes_" in model._repr_html_()
    assert repr(model)
    with pytest.raises(AssertionError, match="computed on sight"):
        _ = model.certificate_
