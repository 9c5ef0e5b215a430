"""Whether classes or numbers are to be learned, where nobody says."""

from __future__ import annotations

from onlinear.errors import Refused

TASKS = ("classification", "regression")
#: most different whole numbers that are taken for classes in a stream: whoever labels rows mostly names kinds
MOST_IN_STREAM = 100
#: the same in a table, where any column may be the target, and whole numbers are often amounts: so there are to be few,
#: and so many rows of each, in the mean, since a rare class is one, too
MOST_IN_TABLE, ROWS_OF_EACH = 20, 3


def check_task_name(task: str | None) -> None:
    """Refuse a task that there is not; None is what nobody has said."""
    if task not in (None, *TASKS):
        raise Refused(f"the task {task!r:.60} is unknown: choose one of {', '.join(TASKS)}")


def task_of_numbers(different: int, most: int, *, whole: bool) -> str:
    """What is to be learned of numbers if nobody says: classes, if all are ``whole`` and not too many are different.

    >>> task_of_numbers(3, MOST_IN_STREAM, whole=True), task_of_numbers(3, MOST_IN_STREAM, whole=False)
    ('classification', 'regression')
    """
    return "classification" if whole and different <= most else "regression"


def most_in_table(rows: int) -> int:
    """The most different whole numbers that are taken for classes in a table of so many rows.

    >>> most_in_table(7), most_in_table(7000)
    (2, 20)
    """
    return min(MOST_IN_TABLE, rows // ROWS_OF_EACH)
