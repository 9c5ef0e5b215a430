"""``python -m onlinear`` is the ``onlinear`` command, which begins here."""

from __future__ import annotations

from onlinear.system.signals import end_at_once, handle_signals

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; a signal ends it quietly from the first import on."""
    handle_signals(end_at_once)
    from onlinear.cli import main

    main()


if __name__ == "__main__":
    main()
