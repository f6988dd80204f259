"""Files of evidence that a test writes, and archives of members given as {name: bytes}."""

import io
import tarfile
import zipfile

import kit
from kit.evidence.archives import open_evidence
from kit.inventory import inventory


def put(path, content):
    """Write a file and the folders it lies in; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def written(folder, files):
    """Write these files into `e` of a folder; return its path."""
    for name, content in files.items():
        put(folder / "e" / name, content)
    return folder / "e"


def opened(folder, files, **how):
    """Open evidence of these files, written into `e` of a folder, with its workspace beside it."""
    return kit.open_case(written(folder, files), folder / "ws", **how)


def take(folder, files):
    """Return the inventory of these files, written into `e` of a folder."""
    return inventory.take(written(folder, files), folder / "w")


def state(folder):
    """Return of a folder and all below it when it was changed and what is in it."""
    every = (folder, *folder.rglob("*"))
    return {str(p): (p.stat().st_mtime_ns, p.read_bytes() if p.is_file() else b"") for p in every}


def unpacked(folder, files):
    """Return what is in these files, written into `e` of a folder, and in their members, as they are opened."""
    found = open_evidence(written(folder, files), folder / "spool")
    return {file.file: file.path.read_bytes() for file in found.files}, found


def tar_of(members, mode="w"):
    """Return a tar; `mode` as for `tarfile.open`, such as `w:gz`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members):
    """Return a zip of deflated members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()
