"""A recording with kinds of evidence taken away."""

import shutil
from pathlib import Path

import recorded

import kit
from kit.case.case import Case


def without(name: str, tmp_path: Path, *patterns: str) -> Case:
    """Open a recording without the files that a pattern matches (`*` over folders too); the rest is read once a run."""
    if not patterns:
        return recorded.case(name)
    evidence = recorded.unpack(name, tmp_path)
    for path in sorted(evidence.rglob("*")):
        shown = path.relative_to(evidence)
        if path.is_file() and any(shown.match(pattern) for pattern in patterns):
            path.unlink()
    for pattern in patterns:
        if pattern.endswith("/"):
            shutil.rmtree(evidence / pattern, ignore_errors=True)
    return kit.open_case(evidence)


def paste(tmp_path: Path, *lines: str) -> Case:
    """Open a text file with a few pasted lines."""
    (tmp_path / "e").mkdir(parents=True, exist_ok=True)
    (tmp_path / "e" / "paste.txt").write_text("".join(f"{line}\n" for line in lines))
    return kit.open_case(tmp_path / "e", tmp_path / "workspace")
