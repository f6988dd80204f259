"""The forms of lines that readers know: `patterns.yaml`, compiled."""

import re
from typing import Final

from kit import data

_ROWS: Final = data.read("formats/patterns.yaml", dict[str, dict[str, str]])


def forms(reader: str) -> dict[str, str]:
    return _ROWS[reader]


def patterns(reader: str) -> dict[str, re.Pattern[str]]:
    """Return the same compiled."""
    return {name: re.compile(form) for name, form in forms(reader).items()}


def byte_patterns(reader: str) -> dict[str, re.Pattern[bytes]]:
    """Return the same for texts that are not decoded yet."""
    return {name: re.compile(form.encode()) for name, form in forms(reader).items()}
