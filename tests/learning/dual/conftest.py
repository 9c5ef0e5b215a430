"""One thread for each product: they are small here, and workers that share cores would wait for each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="package")
def one_thread() -> Iterator[None]:
    with threadpool_limits(1, user_api="blas"):
        yield
