"""The inventory of evidence: every file with its kind, size, hash, time span and replicas."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs
import msgspec

from kit.evidence import disk
from kit.evidence import files as ev
from kit.evidence import workspace as ws
from kit.evidence.archives import open_evidence
from kit.evidence.files import EvidenceFile, Refused, open_readonly, refusal
from kit.formats import printed_times
from kit.formats.values import instant
from kit.inventory.model import STORES, Item

if TYPE_CHECKING:
    from kit.formats.logs.schema import LogFile

TEXTS: Final = ("log", "text", "mqadmin")
"""Kinds whose lines are in the table `logs`."""


@attrs.frozen
class Inventory:
    """Everything found. `disagree`: pairs of commitlog files of one broker with different bytes for the same offsets.

    `overlapping`: some copies of a commitlog overlap only in part, so a record may be in two files although neither is a replica.
    """

    root: str
    items: tuple[Item, ...]
    not_recognised: tuple[str, ...]
    refused: tuple[Refused, ...]
    content_key: str
    archives: tuple[Item, ...] = ()
    disagree: tuple[tuple[str, str], ...] = ()
    overlapping: bool = False

    @property
    def recognised(self) -> bool:
        """Whether any file was recognised."""
        return any(item.kind not in ("empty", "other", "lock", "abort") for item in self.items)

    def of_kind(self, *kinds: str, replicas: bool = True) -> tuple[Item, ...]:
        """Return the items of these kinds, without copies if `replicas` is False."""
        return tuple(i for i in self.items if i.kind in kinds and (replicas or i.replica_of is None))

    def of_mqadmin(self) -> tuple[Item, ...]:
        """Return the outputs of mqadmin, and the texts that quote a table of one, without copies."""
        return tuple(i for i in self.of_kind(*TEXTS, replicas=False) if i.kind == "mqadmin" or i.detail.get("tables"))

    def of_metrics(self) -> tuple[Item, ...]:
        """Return the outputs of a host's tools, and the texts that quote one, without copies."""
        items = self.of_kind("metrics", *TEXTS, replicas=False)
        return tuple(i for i in items if i.kind == "metrics" or i.detail.get("measured"))

    def get(self, file: str) -> Item | None:
        return next((i for i in self.items if i.file == file), None)


def take(
    path: Path | str, workspace: Path | str | None = None, *, hashes: bool = True, shared: bool = False
) -> Inventory:
    """Recognise every file of the evidence at `path` (archives are unpacked into the workspace).

    Evidence whose names, sizes and times are unchanged is not examined again. `hashes` False: large files of the commit
    log have no SHA-256 unless it is known already, which saves a reading of them. `shared`: workers of a cluster read the
    workspace. Raise `FileNotFoundError`, `WorkspaceInside`.
    """
    root = Path(path)
    if not root.exists():
        raise FileNotFoundError(2, os.strerror(2), str(root))
    base = ws.base(workspace, root)
    key = quick_key(root.resolve())
    hashes = hashes or _kept(base, key, hashes=True).exists()
    kept = _kept(base, key, hashes=hashes)
    with disk.locked(base / "spool" / f"{key}.lock"), disk.hold(kept.parent):
        known = _load(kept, root)
        if known is None:
            found = msgspec.json.encode(_take(root, kept.parent / "files", hashes=hashes), order="deterministic")
            # The same as when it is loaded later: tables are named by its content.
            known = msgspec.json.decode(found, type=Inventory)
            if not any(refused.reason == "space" for refused in known.refused):
                disk.write_text(kept, found.decode())
            if not shared:
                disk.seal(kept.parent)
    return known


def spool(path: Path, workspace: Path | str | None = None) -> Path:
    """Return the cache folder into which evidence is unpacked."""
    return ws.base(workspace, path) / "spool" / quick_key(path.resolve())


def looked_at(path: Path, workspace: Path | str | None = None) -> bool:
    """Return whether `take` would use a stored inventory."""
    return _kept(ws.base(workspace, path), quick_key(path.resolve()), hashes=True).exists()


def _kept(base: Path, key: str, *, hashes: bool) -> Path:
    return base / "spool" / key / f"inventory-{ws.code_hash(*ws.READING)}{'' if hashes else '-unhashed'}.json"


def quick_key(root: Path) -> str:
    """Return a digest of names, sizes and times of the evidence: faster than one of its content."""
    digest = hashlib.sha256(str(root).encode("utf-8", "surrogateescape"))
    found, refused = ev.walk(root)
    for name, _, info in found:
        about = f"{name}\0{info.st_size}\0{info.st_mtime_ns}\0{info.st_ino}\0{info.st_mode}\n"
        digest.update(about.encode("utf-8", "surrogateescape"))
    digest.update(repr([(r.file, r.reason) for r in refused]).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


def _load(kept: Path, root: Path) -> Inventory | None:
    try:
        known = msgspec.json.decode(kept.read_bytes(), type=Inventory)
    except (OSError, msgspec.MsgspecError):
        return None
    if ws.RUN not in os.environ and any(ev.readable_again(r, root / r.file) for r in known.refused):
        return None
    return known if all(Path(item.path).exists() for item in known.items) else None


def _take(root: Path, spool: Path, *, hashes: bool) -> Inventory:
    from kit.inventory import recognise

    digests = Digests(root, spool.parents[1])
    with ThreadPoolExecutor(min(4, os.cpu_count() or 2)) as pool:
        # Kernels take half a second of the interpreter's time to load, unpacking hardly any.
        pool.submit(recognise.load)
        opened = open_evidence(root, spool)
        # The largest first: a file is hashed by one thread, for which the others should not wait.
        largest = sorted(opened.files, key=lambda f: -f.bytes)
        each = pool.map(lambda f: _look_inside(f, digests, hashes, spool), largest)
        looked = sorted(chain.from_iterable(each), key=lambda found: found.file)
    digests.keep()
    refused = list(opened.refused)
    items: list[Item] = []
    unknown: list[str] = []
    for found in looked:
        if isinstance(found, Refused):
            refused.append(found)
        elif found.kind == "":
            unknown.append(found.file)
        elif found.kind != "archive":
            items.append(found)
    names = [(f.file, f.content or "") for f in looked if isinstance(f, Item)]
    archives = [
        Item(a.file, ev.valid_text(str(root / a.file if root.is_dir() else root)), a.bytes, "archive", a.sha256)
        for a in opened.archives
    ]
    archives += [found for found in looked if isinstance(found, Item) and found.kind == "archive"]
    marked, disagree, overlapping = mark_copies(recognise.without_rows(items))
    return Inventory(
        root=ev.valid_text(str(root)),
        items=tuple(marked),
        not_recognised=tuple(sorted(unknown)),
        refused=tuple(sorted(refused, key=lambda r: (r.file, r.reason))),
        content_key=_content_key(names, refused),
        archives=tuple(archives),
        disagree=tuple(disagree),
        overlapping=overlapping,
    )


def _content_key(names: Iterable[tuple[str, str]], refused: Iterable[Refused]) -> str:
    digest = hashlib.sha256()
    for name, sha in sorted(names):
        digest.update(f"{name}\0{sha}\n".encode("utf-8", "replace"))
    for one in sorted(refused, key=lambda r: (r.file, r.reason)):
        digest.update(f"!{one.file}\0{one.reason}\n".encode("utf-8", "replace"))
    return digest.hexdigest()


def _look_inside(file: EvidenceFile, digests: Digests, hashes: bool, spool: Path) -> list[Item | Refused]:
    """Recognise one file, and the tables inside it. A file of nothing but tables counts as their archive."""
    from kit.inventory import inner_files

    found = _look(file, digests, hashes)
    if isinstance(found, Refused):
        return [found]
    try:
        inside, whole = inner_files.of(file, found.kind, spool)
    except Exception as error:
        return [found, Refused(file.file, "space") if disk.is_full(error) else refusal(file.file, error)]
    found = attrs.evolve(found, kind="archive") if inside and whole else found
    return [found, *(_look(member, digests, hashes) for member in inside)]


def _look(file: EvidenceFile, digests: Digests, hashes: bool) -> Item | Refused:
    """Recognise and hash one file; kind "" if unknown. `hashes` as for `take`."""
    # Kernels take a second to load; unchanged evidence does not need them.
    from kit.inventory import recognise, spans

    try:
        with ev.open_raw(file.path) as raw:
            if ev.is_hollow(raw):
                return Refused(file.file, "sparse")
        kind, detail = recognise.recognise(file)
        if file.bytes > ev.LARGEST and kind in (*STORES, "consumequeue", "index"):
            return Refused(file.file, "huge")
        path = Path(file.path)
        # Nothing is read of what is unknown: a heap dump of 20 GB need not be hashed.
        spared = file.bytes >= LARGE and (not kind or (not hashes and kind in STORES))
        sha = file.sha256 or digests.of(path, spared=spared)
        if sha is None:
            detail["same"] = identity(path) if kind else str(file.bytes)
        if file.text_sha256 and file.text_sha256 != file.sha256:
            detail["text_sha256"] = file.text_sha256
        first, last = spans.of(file, kind, detail)
        source = detail.get("source") if kind in TEXTS else None
        item = Item(file.file, str(file.path), file.bytes, kind or "", sha, first, last)
        item = attrs.evolve(item, source=source, detail=detail, modified=_moment(file.modified))
        msgspec.json.encode(item)  # a value that cannot be stored would break the whole inventory
    except Exception as error:
        return refusal(file.file, error)
    return item


def _moment(seconds: float | None) -> dt.datetime | None:
    """Return a file's modification time, None if it is implausible."""
    known = None if seconds is None else instant(seconds * 1000)
    return None if seconds is None or known is None else dt.datetime.fromtimestamp(seconds, dt.UTC)


def log_files(path: Path | str) -> list[LogFile]:
    """Return the text logs at `path` for the data source `rocketmq.log`, without copies."""
    return as_log_files(take(path))


def as_log_files(found: Inventory) -> list[LogFile]:
    from kit.formats.logs.schema import LogFile

    texts = found.of_kind(*TEXTS, replicas=False)
    return [LogFile(i.file, i.path, i.source, i.detail.get("encoding"), minutes(i.zone)) for i in texts]


def minutes(zone: str | None) -> int | None:
    """Return the minutes east of "+08:00", None for an IANA name or None."""
    known = printed_times.zone(zone)
    return known if isinstance(known, int) else None


def with_columns(found: Inventory, said: str) -> Inventory:
    """Replace recognised columns by the user's. Raise `ValueError` for an unknown file or column."""
    from kit.formats.tables import business_tables as ledgers

    file, chosen = ledgers.parse_override(said)
    item = found.get(file)
    if item is None or item.kind not in ("rows", "sends", "text", "log", "other"):
        raise ValueError(f"{said}: {file}")
    detail = ledgers.declared(Path(item.path), item.bytes, item.detail, chosen)
    new = attrs.evolve(item, kind="sends" if detail["role"] == "sends" else "rows", source=None, detail=detail)
    return attrs.evolve(found, items=tuple(new if i.file == file else i for i in found.items))


# --- digests ----------------------------------------------------------------------------------------------------------

LARGE: Final = 1 << 20
"""Smallest file, in bytes, whose digest is cached."""


class Digests:
    """The digests of one evidence set. A file is the same while its inode, size and both times are: setting back the
    modification time does not set back the inode's.
    """

    def __init__(self, root: Path, spool: Path) -> None:
        """Load the cached digests of `root`; `spool` is the cache folder with one folder for each evidence set."""
        name = hashlib.sha256(b"digests\0" + os.fsencode(root.resolve())).hexdigest()[:32]
        self._place = spool / name / "digests.json"
        self._before: dict[str, str] = {}
        self._now: dict[str, str] = {}
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            self._before = msgspec.json.decode(self._place.read_bytes(), type=dict[str, str])

    def of(self, path: Path, *, spared: bool = False) -> str | None:
        """Return the digest of a file's content; of one that is `spared` only if it was hashed earlier. Raise `OSError`."""
        key = identity(path)
        sha = self._before.get(key) or (None if spared else sha256(path))
        # Otherwise it is small, or changed while it was read.
        if sha and path.stat().st_size >= LARGE and identity(path) == key:
            self._now[key] = sha
        return sha

    def keep(self) -> None:
        """Store the digests of the files that were requested."""
        if self._now != self._before:
            self._place.parent.mkdir(mode=0o700, exist_ok=True)
            disk.write_text(self._place, json.dumps(self._now, sort_keys=True))


def identity(path: Path) -> str:
    """Return what stays the same while a file does. Raise `OSError`."""
    said = path.stat()
    return f"{said.st_dev}:{said.st_ino}:{said.st_size}:{said.st_mtime_ns}:{said.st_ctime_ns}"


def sha256(path: Path) -> str:
    """Return the digest of a file, read completely. Raise `OSError`."""
    with open_readonly(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# --- copies -----------------------------------------------------------------------------------------------------------

_GROWS: Final = ("log", "text", "mqadmin", "metrics", "rows", "sends")
"""Kinds of files whose earlier copy may be the beginning of a later one."""

_ALIKE: Final = (
    *_GROWS, "source_code", "document", "other_systems_log", "thread_dump", "store_json", "broker_conf", "checkpoint", "index",
    "consumequeue",
)  # fmt: skip
_CHUNK: Final = 1 << 20


def mark_copies(items: list[Item]) -> tuple[list[Item], list[tuple[str, str]], bool]:
    """Return the items with `replica_of` set, the pairs that disagree, and whether commitlogs overlap partially."""
    originals: dict[str, str] = {}
    _equal(items, originals)
    _beginnings(items, originals)
    disagree, overlapping = _stores(items, originals)
    marked = [attrs.evolve(i, replica_of=_root(i.file, originals)) if i.file in originals else i for i in items]
    return marked, disagree, overlapping


def _root(file: str, originals: dict[str, str]) -> str:
    seen = {file}
    while file in originals and originals[file] not in seen:
        file = originals[file]
        seen.add(file)
    return file


def _equal(items: list[Item], originals: dict[str, str]) -> None:
    first: dict[tuple[str, str, bool], str] = {}
    for item in items:
        content = item.detail.get("text_sha256") or item.sha256
        if item.kind in _ALIKE and content and item.bytes and not item.detail.get("empty"):
            known = first.setdefault((item.kind, content, bool(item.detail.get("backup"))), item.file)
            if known != item.file:
                originals[item.file] = known


def _beginnings(items: list[Item], originals: dict[str, str]) -> None:
    """A log copied at 10:00 is the beginning of the one copied at 10:30."""
    alike: dict[bytes, list[Item]] = defaultdict(list)
    for item in items:
        if item.kind in _GROWS and item.file not in originals and item.bytes >= 256:
            with contextlib.suppress(OSError), open_readonly(item.path) as stream:
                alike[stream.read(256)].append(item)
    for group in alike.values():
        group.sort(key=lambda i: (i.bytes, i.file))
        for n, item in enumerate(group):
            larger = (other for other in group[n + 1 :] if other.bytes > item.bytes)
            if longer := next((other for other in larger if _same(item, 0, other, 0, item.bytes)), None):
                originals[item.file] = longer.file


def _same(a: Item, a_at: int, b: Item, b_at: int, size: int) -> bool | None:
    """Return whether two ranges are equal; None if one of them can no longer be read."""
    try:
        with open_readonly(a.path) as left, open_readonly(b.path) as right:
            left.seek(a_at)
            right.seek(b_at)
            while size > 0:
                part = min(_CHUNK, size)
                x, y = left.read(part), right.read(part)
                if x != y:
                    return False
                if not x:
                    break
                size -= part
    except OSError:
        return None
    return True


def _stores(items: Iterable[Item], originals: dict[str, str]) -> tuple[list[tuple[str, str]], bool]:
    logs = [i for i in items if i.kind in STORES and i.base is not None and i.detail.get("used")]
    disagree: list[tuple[str, str]] = []
    overlapping = False
    # The longest first: the others it covers are copies of it.
    logs.sort(key=lambda i: (-i.detail["used"], i.file))
    for n, item in enumerate(logs):
        for other in logs[:n]:
            if other.file in originals or other.kind != item.kind:
                continue
            low = max(item.base or 0, other.base or 0)
            high = min(_end(item), _end(other))
            if low >= high:
                continue
            same = _same(item, low - (item.base or 0), other, low - (other.base or 0), high - low)
            if same:
                if low == item.base and high == _end(item):
                    originals[item.file] = other.file
                    break
                overlapping = True
            elif same is False and _one_host(item, other):
                disagree.append((item.file, other.file))
                overlapping = True
    return sorted(disagree), overlapping


def _end(item: Item) -> int:
    return (item.base or 0) + int(item.detail["used"])


def _one_host(item: Item, other: Item) -> bool:
    return bool(item.detail.get("store_host")) and item.detail["store_host"] == other.detail.get("store_host")
