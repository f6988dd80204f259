"""manifest.json: what went into a report. What differs from run to run is in run.json."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from kit.evidence import disk

LIBRARIES: Final = ("jinja2", "numba", "numpy", "pandas", "papermill", "plotly", "pyarrow")


def manifest(
    findings: Mapping[str, Any], options: Mapping[str, Any], notebooks: Iterable[Path] = (), notes: Path | None = None
) -> dict[str, Any]:
    """Return the manifest: inputs with SHA-256, options, versions, hashes of executed notebooks and notes."""
    columns = ("file", "kind", "bytes", "sha256")
    content: dict[str, Any] = {
        "schema": 1,
        "kit_version": findings["kit_version"],
        "evidence": findings["evidence"]["path"],
        "inputs": [{name: file.get(name) for name in columns} for file in findings["evidence"]["files"]],
        "not_recognised": findings["evidence"]["not_recognised"],
        "options": json.loads(json.dumps(options, sort_keys=True, default=str)),
        "versions": versions(),
        "notebooks": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in notebooks},
        "findings_sha256": digest(findings),
    }
    if notes is not None and notes.name:
        content["notes"] = {"file": notes.name, "sha256": hashlib.sha256(notes.read_bytes()).hexdigest()}
    return content | {"manifest_sha256": digest(content)}


def versions() -> dict[str, str | None]:
    """Return the versions of Python and the libraries. Which engine answered is in run.json."""
    import pyspark  # from `pyspark-client` or `pyspark`

    libraries = {name: metadata.version(name) for name in LIBRARIES}
    return {"python": platform.python_version(), **libraries, "pyspark": pyspark.__version__}


def digest(content: Any) -> str:
    """Return the SHA-256 of `content` as canonical JSON (sorted keys, no spaces, UTF-8)."""
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_run(path: Path, started: dt.datetime, places: Mapping[str, str]) -> None:
    """Write run.json: when and where this run was, how long it took; never hashed. `places`: folders, by name."""
    ended = dt.datetime.now(dt.UTC)
    run = {
        "started": started.isoformat(timespec="seconds"),
        "ended": ended.isoformat(timespec="seconds"),
        "seconds": round((ended - started).total_seconds(), 1),
        **places,
    }
    disk.write_json(path, run)
