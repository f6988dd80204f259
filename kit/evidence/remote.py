"""Evidence on a file system that pyarrow knows (`s3://`, `gs://`, `hdfs://`): copied into the cache and read there.

Credentials, region and endpoint come from pyarrow's usual sources: the environment, the machine's role, the URI's query
 (`s3://bucket/incident?endpoint_override=host:port&scheme=http`).
"""

from __future__ import annotations

import hashlib
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from kit.evidence import disk
from kit.evidence import workspace as ws
from kit.i18n import labels

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

SCHEMES: Final = ("s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")
CHUNK: Final = 8 << 20
THREADS: Final = 8
"""Objects copied at once: the network is the limit, not this machine."""

SAYS: Final = labels("evidence")["remote"]


def is_remote(evidence: str | Path) -> bool:
    """Return whether the evidence is a URI of another file system."""
    return isinstance(evidence, str) and re.match(rf"(?:{'|'.join(SCHEMES)})://", evidence) is not None


def without_credentials(uri: str) -> str:
    """Return a URI without its credentials and query, for display."""
    return re.sub(r"://[^/@]*@", "://", uri.partition("?")[0])


def fetch(uri: str, workspace: Path | str | None = None) -> Path:
    """Copy all objects below a URI into the cache; return the folder, or the file if the URI names one object.

    An object whose copy has its size and is younger is not copied again. Raise `FileNotFoundError`, `ValueError`.
    """
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem

    root = Path(workspace) if workspace is not None else ws.default_base()
    copies = root / "remote" / hashlib.sha256(uri.encode()).hexdigest()[:32] / "evidence"
    printed = without_credentials(uri)
    try:
        system, prefix = FileSystem.from_uri(uri)
        objects = _objects(system, prefix)
    except (OSError, ArrowException) as error:
        raise ValueError(SAYS["unreachable"].say(uri=printed, error=str(error).splitlines()[0]).render()) from None
    if not objects:
        raise FileNotFoundError(2, SAYS["nothing"].say(uri=printed).render(), printed)
    with disk.locked(root / "remote" / f"{copies.parent.name}.lock"), ThreadPoolExecutor(THREADS) as pool:
        for gone in {path for path in copies.rglob("*") if path.is_file()} - {copies / name for name in objects}:
            gone.unlink()
        list(pool.map(lambda name: _copy(system, objects[name], copies / name), objects))
    name = PurePosixPath(printed.rstrip("/")).name
    return copies / name if set(objects) == {name} and objects[name].path == prefix else copies


def _objects(system: FileSystem, prefix: str) -> dict[str, FileInfo]:
    """Return {path relative to the prefix: object}; those whose names would leave the folder are skipped."""
    from pyarrow.fs import FileSelector, FileType

    one = system.get_file_info(prefix)
    if one.type == FileType.File:
        return {PurePosixPath(prefix).name: one}
    objects = system.get_file_info(FileSelector(prefix, allow_not_found=True, recursive=True))
    base = prefix.rstrip("/") + "/"
    named = {info.path.removeprefix(base): info for info in objects if info.type == FileType.File}
    return {name: info for name, info in sorted(named.items()) if name and not {"", ".", ".."} & set(name.split("/"))}


def _copy(system: FileSystem, info: FileInfo, target: Path) -> None:
    known = target.stat() if target.exists() else None
    if known is not None and known.st_size == info.size and known.st_mtime_ns >= (info.mtime_ns or 0):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with disk.replacing(target) as part, system.open_input_stream(info.path) as source, part.open("wb") as out:
        shutil.copyfileobj(source, out, CHUNK)
