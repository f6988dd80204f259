"""`python -m kit` and `rmq-kit`."""

import signal
import sys

from kit.cli import INTERRUPTED, TERMINATED
from kit.interrupts import Interrupts


def main() -> None:
    """Run the command line; an interrupt ends it in one line from the first import on, SIGTERM after what it wrote for itself is removed."""
    if (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):  # else it was started to run on, in the background
        signal.signal(signal.SIGINT, Interrupts())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        from kit.cli.main import main as run
        from kit.evidence import disk

        with disk.temporary():
            run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
