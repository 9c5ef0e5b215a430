"""Who is told how far a selection has come, and may end it early."""

from __future__ import annotations


class Watcher:
    """Tells nobody, and never ends anything."""

    #: whether what is under way should end with what is done
    stopped = False

    def tell(self, step: str, share: float) -> None:
        """What is being done, and how much of it is done, from 0 to 1."""
