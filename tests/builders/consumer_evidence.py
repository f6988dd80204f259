"""Recorded consumers with parts of the evidence taken away, and single causes asked about them."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Any

import recorded

from kit.case.opening import open_case
from kit.causes.findings import Finding

POSITIONS = ("*/snapshots/*", "*/mqadmin/*", "*consumerOffset*")
"""Everything that says where a group stood."""


def examine(name: str, cause: ModuleType, tmp_path: Path, without: tuple[str, ...] = ()) -> Finding:
    """Ask one cause about a recording, less the files that fit one of these patterns."""
    evidence = recorded.unpack(name, tmp_path) if without else recorded.whole(name)
    for file in list(evidence.rglob("*")):
        if file.is_file() and any(fnmatch.fnmatch(f"/{file.relative_to(evidence)}", p) for p in without):
            file.unlink()
    finding: Finding = cause.examine(open_case(evidence).facts)
    return finding


def paste(lines: list[str], cause: ModuleType, tmp_path: Path) -> Finding:
    """Ask one cause about a few lines somebody copied into a file."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    (folder / "paste.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    finding: Finding = cause.examine(open_case(folder, tmp_path / "workspace").facts)
    return finding


def steps(finding: Finding) -> dict[str, bool | None]:
    return {step.id: step.holds for step in finding.steps}


def commands(finding: Finding) -> list[str]:
    return [missing.command for missing in finding.missing]


def truth(name: str) -> dict[str, Any]:
    found: dict[str, Any] = recorded.label(name)["truth"]
    return found


def resolves(finding: Finding) -> bool:
    """Tell whether every deciding step that holds has a reference."""
    return all(step.evidence for step in finding.steps if step.role == "deciding" and step.holds)
