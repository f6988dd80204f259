"""Files of evidence that a test writes, and archives of members given as {name: bytes}."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kit
from kit.case.case import Case
from kit.inventory import inventory


def put(path: Path, content: str | bytes) -> Path:
    """Write a file and the folders it lies in; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def opened(folder: Path, files: Mapping[str, str | bytes], **how: Any) -> Case:
    """Open evidence of these files, written into `e` of a folder, with its workspace beside it."""
    for name, content in files.items():
        put(folder / "e" / name, content)
    return kit.open_case(folder / "e", folder / "ws", **how)


def take(folder: Path, files: Mapping[str, str | bytes]) -> inventory.Inventory:
    """Return the inventory of these files, written into `e` of a folder."""
    for name, content in files.items():
        put(folder / "e" / name, content)
    return inventory.take(folder / "e", folder / "w")


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
