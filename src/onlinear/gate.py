"""How a learner tells compiled code that nobody else is at it.

Whoever changes or reads a learner in more than one step holds its lock and says that it is busy:
``with learner.lock, learner.busy``. Learning one dict row is a single compiled call that keeps the interpreter's lock,
so no other thread can be in between: instead of taking the learner's lock, which would take a tenth of the time, it
looks at the first word of the gate.
"""

from __future__ import annotations

import numpy as np

#: words of a gate: the generation of the learner's arrays, or BUSY; how often it has changed
GENERATION, VERSION = 0, 1
BUSY = -1


class Busy:
    """While entered, the gate is shut. Only for those who hold the lock."""

    __slots__ = ("generation", "words")

    def __init__(self) -> None:
        self.words = np.zeros(2, dtype=np.int64)
        self.generation = 0

    def __enter__(self) -> None:
        self.words[GENERATION] = BUSY

    def __exit__(self, *_: object) -> None:
        self.words[GENERATION] = self.generation

    def moved(self) -> int:
        """A new generation: whoever remembers where the arrays were has to look again."""
        self.generation += 1
        if self.words[GENERATION] != BUSY:
            self.words[GENERATION] = self.generation
        return self.generation
