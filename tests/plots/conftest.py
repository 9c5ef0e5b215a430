"""Pictures are drawn without a screen, and closed."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import pytest


@pytest.fixture(autouse=True)
def _off_screen() -> Iterator[None]:
    matplotlib.use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")
