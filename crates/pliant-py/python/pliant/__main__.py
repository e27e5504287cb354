"""The command ``pliant``, also as ``python -m pliant``."""

import sys

from ._pliant import command


def main() -> int:
    """Run it with the arguments of this program, and return its exit status."""
    return command(["pliant", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
