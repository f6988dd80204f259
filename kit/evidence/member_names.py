"""Names, times and places of the members of archives."""

from __future__ import annotations

import contextlib
import hashlib
import struct
import zipfile
from pathlib import Path


class Refusal(Exception):
    """A member, or a whole archive, must not be read further. `reason` is a key of `kit.evidence.files.REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def shown_name(name: str, *, windows: bool = False) -> str:
    """Return a member's name as it is shown. Raise if it is absolute or leads out of the archive."""
    if windows:
        name = name.replace("\\", "/")
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\0" in name or (windows and ":" in parts[0]):
        raise Refusal("outside")
    return "/".join(p for p in parts if p not in ("", "."))


def sane(seconds: float) -> float | None:
    """Return a modification time in seconds since 1970, None if it is implausible."""
    return float(seconds) if 10**9 < seconds < 4 * 10**9 else None


def zip_time(entry: zipfile.ZipInfo) -> float | None:
    """Return the time of change in UTC from the extended timestamp (Info-ZIP, 0x5455); the plain one has no zone."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return sane(struct.unpack_from("<i", extra, 5)[0])
        extra = extra[4 + size :]
    return None


def zip_raw(entry: zipfile.ZipInfo) -> bytes:
    return entry.orig_filename.encode("utf-8" if entry.flag_bits & 0x800 else "cp437", "replace")


def zip_name(entry: zipfile.ZipInfo) -> str:
    """Names without the UTF-8 flag are in whatever code page the packer's system had: Chinese Windows writes GBK."""
    if entry.flag_bits & 0x800:
        return entry.filename
    with contextlib.suppress(UnicodeError):
        raw = entry.filename.encode("cp437")
        for encoding in ("utf-8", "gb18030"):
            with contextlib.suppress(UnicodeDecodeError):
                return raw.decode(encoding)
    return entry.filename


def place(folder: Path, name: str) -> Path:
    """Return where a member is stored: its own path below the spool if that is valid, else a hash."""
    parts = name.split("/")
    sane = (
        all(0 < len(p.encode("utf-8", "replace")) <= 200 and p.isprintable() and p not in (".", "..") for p in parts)
        and len(name.encode()) < 1500
    )
    if sane:
        target = folder.joinpath(*parts)
        with contextlib.suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_dir():
                return target
    target = folder / ".odd" / hashlib.sha256(name.encode("utf-8", "replace")).hexdigest() / "member"
    target.parent.mkdir(parents=True, exist_ok=True)
    return target
