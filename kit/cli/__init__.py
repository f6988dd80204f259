"""The commands of `kit.cli`, and how they end."""

from typing import Final

BUG: Final = 1
DAMAGED: Final = 3
"""Done, but evidence is damaged or could not be read. (2, wrong usage, is click's.)"""
CONDITION: Final = 4
"""What `--fail-on` or `watch --once` waits for is so."""
NOTHING_MATCHES: Final = 5
INTERRUPTED: Final = 130
TERMINATED: Final = 143
