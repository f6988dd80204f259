"""Files of evidence that a test writes, and archives of members given as {name: bytes}."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kit
from kit.case.case import Case
from kit.evidence.archives import open_evidence
from kit.evidence.files import Opened
from kit.inventory import inventory


def put(path: Path, content: str | bytes) -> Path:
    """Write a file and the folders it lies in; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def written(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write these files into `e` of a folder; return its path."""
    for name, content in files.items():
        put(folder / "e" / name, content)
    return folder / "e"


def opened(folder: Path, files: Mapping[str, str | bytes], **how: Any) -> Case:
    """Open evidence of these files, written into `e` of a folder, with its workspace beside it."""
    return kit.open_case(written(folder, files), folder / "ws", **how)


def take(folder: Path, files: Mapping[str, str | bytes]) -> inventory.Inventory:
    """Return the inventory of these files, written into `e` of a folder."""
    return inventory.take(written(folder, files), folder / "w")


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return of a folder and all below it when it was changed and what is in it."""
    every = (folder, *folder.rglob("*"))
    return {str(p): (p.stat().st_mtime_ns, p.read_bytes() if p.is_file() else b"") for p in every}


def unpacked(folder: Path, files: Mapping[str, str | bytes]) -> tuple[dict[str, bytes], Opened]:
    """Return what is in these files, written into `e` of a folder, and in their members, as they are opened."""
    found = open_evidence(written(folder, files), folder / "spool")
    return {file.file: file.path.read_bytes() for file in found.files}, found


def tar_of(members: dict[str, bytes], mode: str = "w") -> bytes:
    """Return a tar; `mode` as for `tarfile.open`, such as `w:gz`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members: dict[str, bytes]) -> bytes:
    """Return a zip of deflated members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()
