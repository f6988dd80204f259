"""`python -m kit` and `rmq-kit`."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line; an interrupt ends it in one line, from the first import on."""
    try:
        from kit.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
