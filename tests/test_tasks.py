"""Numbers are classes if they are whole and few: train and race say the same of a stream, tables are stricter."""

from __future__ import annotations

import numpy as np
import pytest

from onlinear.cli.training import task_of
from onlinear.learning.tasks import most_in_table, task_of_numbers
from onlinear.selection.race_stream import look_at
from onlinear.streams.stream import open_stream


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (np.arange(100.0), "classification"),
        (np.arange(101.0), "regression"),
        (np.array([-1.0, 1.0] * 200), "classification"),
        (np.array([0.0, 1.0, 1.5]), "regression"),
        (np.array([f"a{number}" for number in range(101)]), "classification"),
    ],
)
def test_labels_of_a_stream(labels: np.ndarray, task: str) -> None:
    look = look_at(open_stream(np.ones((len(labels), 1)), target=labels))
    assert task_of(labels, None, None) == look.task == task


def test_a_table_has_so_many_rows_of_each_class() -> None:
    """The limit by rows is the rule as it is said: at most 20, and three rows of each, in the mean."""
    for rows in range(100):
        for different in range(1, rows + 1):
            said = different <= 20 and rows >= 3 * different
            assert task_of_numbers(different, most_in_table(rows), whole=True) == (
                "classification" if said else "regression"
            )
