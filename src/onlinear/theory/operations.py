"""Work that is counted, so that a limit is the same on every machine: seconds are not."""

from __future__ import annotations

#: multiplications, or what takes as long, after which a question is left open: a minute or a few
MOST_OPERATIONS = 1 << 37


class TooManyOperations(Exception):
    """A question would take more than the operations allowed; so many, as far as is known."""

    def __init__(self, wanted: int):
        super().__init__(wanted)
        self.wanted = wanted


class Operations:
    """How many operations are left."""

    def __init__(self, most: int = MOST_OPERATIONS):
        self.most = most
        self.spent = 0

    @property
    def left(self) -> int:
        return self.most - self.spent

    def take(self, count: int) -> None:
        """Count operations before they are made.

        >>> operations = Operations(most=10)
        >>> operations.take(7)
        >>> operations.take(7)
        Traceback (most recent call last):
        onlinear.theory.operations.TooManyOperations: 14
        """
        self.spent += count
        if self.spent > self.most:
            raise TooManyOperations(self.spent)
