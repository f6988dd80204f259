"""`python -m kit` and `rmq-kit`."""

import atexit
import gc
import os
import signal
import sys
from typing import NoReturn

from kit.cli import INTERRUPTED, TERMINATED
from kit.interrupts import Interrupts


def main() -> NoReturn:
    """Run the command line; an interrupt ends it in one line from the first import on, SIGTERM after it cleaned up."""
    if (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):  # else it was started to run on, in the background
        signal.signal(signal.SIGINT, Interrupts())
    gc.set_threshold(50_000, 20, 100)  # modules and rows leave little garbage; looking for it took 2 % of a triage
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        from kit.cli.main import cli
        from kit.evidence import disk

        with disk.temporary():
            cli(prog_name="rmq-kit")
    except KeyboardInterrupt:
        leave(INTERRUPTED)
    except SystemExit as end:
        leave(end.code)
    leave(0)


def leave(code: str | int | None) -> NoReturn:
    """End the process without taking Python apart: a query left in a thread of the engine would call it, and abort."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # a full disk, or a reader such as `head` has gone
            code = code or 1
    os._exit(code if isinstance(code, int) else bool(code))


if __name__ == "__main__":
    main()
