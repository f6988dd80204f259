"""Says which root cause an Apache RocketMQ incident had, with evidence anyone can check."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - a checkout runs with whatever `python3` is
    sys.stderr.write("rmq-kit needs Python 3.11 or newer, this is " + sys.version.split()[0] + ".\n")
    sys.exit(2)

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kit.analysis.messages.trace import trace, traces
    from kit.case.case import open_case
    from kit.causes.triage import triage
    from kit.explanation.explain import explain
    from kit.explorer.explorer import explore

__version__ = "0.1.0"
__all__ = ["__version__", "explain", "explore", "open_case", "trace", "traces", "triage"]

_AT: Final = {
    "open_case": "kit.case.case",
    "triage": "kit.causes.triage",
    "trace": "kit.analysis.messages.trace",
    "traces": "kit.analysis.messages.trace",
    "explain": "kit.explanation.explain",
    "explore": "kit.explorer.explorer",
}
_ROOMS: Final = {"incidents": "kit.incidents", "lab": "kit.training"}
"""Modules that notebooks reach as attributes."""


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: `kit.cli --help` needs none of it."""
    if name in _ROOMS:
        return importlib.import_module(_ROOMS[name])
    if name in _AT:
        return getattr(importlib.import_module(_AT[name]), name)
    raise AttributeError(name)
