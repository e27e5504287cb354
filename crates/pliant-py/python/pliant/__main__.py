"""The command ``pliant``, also as ``python -m pliant``."""

import signal
import sys

from ._pliant import command


def main() -> int:
    """Run the command with the arguments of this process and return its exit status."""
    # Ctrl-C ends the process unless the command handles it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["pliant", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
