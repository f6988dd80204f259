"""`python -m kit` and `rmq-kit`."""

import signal
import sys

from kit.cli import INTERRUPTED, TERMINATED


def main() -> None:
    """Run the command line; an interrupt ends it in one line from the first import on, SIGTERM after what it wrote for itself is removed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        from kit.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
