"""``python -m onlinear`` is the ``onlinear`` command."""

from onlinear.cli import main

if __name__ == "__main__":
    main()
