"""The command ``pliant``, also as ``python -m pliant``."""

import signal
import sys

from ._pliant import command


def main() -> int:
    """Run it with the arguments of this program, and return its exit status."""
    # Ctrl-C ends it, as any program, where the command does not do better.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["pliant", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
