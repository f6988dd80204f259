"""Findings and executed notebooks → one offline page, CSV files, a manifest.

`run(case, out)` does it all. Its modules are imported when called, so that `--help` needs no pandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from kit.case.case import Case


def run(case: Case, out: Path, *, cause: str = "auto") -> Path:
    """Write the report of a case into `out`; return the path of the page. For one with pseudonyms see `kit.redaction.report.run`."""
    from kit.report import build

    return build.run(case, out, cause=cause)
