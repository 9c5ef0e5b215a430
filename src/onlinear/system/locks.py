"""How a learner tells compiled code that nobody else is at it.

Whoever changes or reads a learner in more than one step holds its lock and says that it is busy:
``with learner.lock, learner.busy``. Both may be entered again by a signal handler that interrupts their holder, which
may read but not change. Learning one dict row is a single compiled call that keeps the interpreter's lock,
so no other thread can be in between: instead of taking the learner's lock, which would take a tenth of the time, it
looks at the first word of the gate.
"""

from __future__ import annotations

import numpy as np

from onlinear.errors import Refused

#: words of a gate: the generation of the learner's arrays, or BUSY; how often it has changed
GENERATION, VERSION = 0, 1
BUSY = -1


class Busy:
    """While entered, the gate is shut. Only for those who hold the lock."""

    __slots__ = ("depth", "generation", "words")

    def __init__(self) -> None:
        self.words = np.zeros(2, dtype=np.int64)
        self.generation = 0
        self.depth = 0  # how often it was entered: more than once by a handler of signals

    def __enter__(self) -> None:
        self.depth += 1
        self.words[GENERATION] = BUSY

    def __exit__(self, *_: object) -> None:
        self.depth -= 1
        if not self.depth:
            self.words[GENERATION] = self.generation

    def refuse_handler(self) -> None:
        """Refuse to change anything amid a call of the same thread, which a signal has interrupted."""
        if self.depth > 1:
            raise Refused(
                "a signal handler cannot learn with a model whose own call it has interrupted: "
                "take a note of the signal, and learn when the call is over"
            )

    def moved(self) -> int:
        """A new generation: whoever remembers where the arrays were has to look again."""
        self.generation += 1
        if self.words[GENERATION] != BUSY:
            self.words[GENERATION] = self.generation
        return self.generation
