"""The inventory of evidence: every file with its kind, size, hash, time span and replicas."""

import contextlib
import hashlib
import os
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec

from kit.evidence import disk, machine
from kit.evidence import files as ev
from kit.evidence import workspace as ws
from kit.evidence.archives import open_evidence
from kit.evidence.files import EvidenceFile, Refused, refusal, sha256
from kit.formats import printed_times, queues
from kit.inventory.model import STORES, TEXTS, Item

LARGE: Final = 1 << 20
"""Smallest file, in bytes, that is hashed only if somebody asks."""


@attrs.frozen
class Inventory:
    """Everything found. `disagree`: pairs of commitlog files of one broker with different bytes for the same offsets.

    `overlapping`: some copies of a commitlog overlap in part, so a record may be in two files, neither a replica.
    """

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

    def of_outputs(self, kind: str) -> tuple[Item, ...]:
        """Return the outputs of mqadmin, or of a host's tools (`metrics`), and texts that quote one, without copies."""
        items = self.of_kind(kind, *TEXTS, replicas=False)
        return tuple(i for i in items if kind == i.kind or i.detail.get(kind))

    def get(self, file: str) -> Item | None:
        return next((i for i in self.items if i.file == file), None)


def take(
    path: Path | str, workspace: Path | str | None = None, *, hashes: bool = True, shared: bool = False
) -> Inventory:
    """Recognise every file of the evidence at `path` (archives are unpacked into the workspace).

    Evidence whose names, sizes and times are unchanged is not examined again. `hashes` False: large commitlogs have no
    SHA-256, which saves a reading. `shared`: by workers of a cluster. Raise `FileNotFoundError`, `WorkspaceInside`.
    """
    root = Path(path)
    folder = spool(root, workspace)
    stored = _stored(folder, hashes=hashes or looked_at(folder))
    with disk.locked(folder.with_name(f"{folder.name}.lock")), disk.hold(folder):
        known = _load(stored, root)
        if known is None:
            taken = msgspec.json.encode(_take(root, folder / "files", hashes=hashes), order="deterministic")
            # The same as when it is loaded later: tables are named by its content.
            known = msgspec.json.decode(taken, type=Inventory)
            if not any(refused.reason == "space" for refused in known.refused):
                disk.write_text(stored, taken.decode())
            if not shared:
                disk.seal(folder)
    return known


def spool(path: Path, workspace: Path | str | None = None) -> Path:
    """Return the cache folder of unpacked evidence, named by names, sizes and times: faster than by its content."""
    root = path.resolve()
    digest = hashlib.sha256(str(root).encode("utf-8", "surrogateescape"))
    files, refused = ev.walk(root)
    for name, _, info in files:
        about = f"{name}\0{info.st_size}\0{info.st_mtime_ns}\0{info.st_ino}\0{info.st_mode}\n"
        digest.update(about.encode("utf-8", "surrogateescape"))
    digest.update(repr([(r.file, r.reason) for r in refused]).encode("utf-8", "surrogateescape"))
    return ws.base(workspace, path) / "spool" / digest.hexdigest()[:32]


def looked_at(folder: Path) -> bool:
    """Return whether a cache folder (`spool`) has an inventory with every hash."""
    return _stored(folder, hashes=True).exists()


def _stored(folder: Path, *, hashes: bool) -> Path:
    return folder / f"inventory-{ws.code_hash(*ws.READING)}{'' if hashes else '-unhashed'}.json"


def _load(stored: Path, root: Path) -> Inventory | None:
    try:
        known = msgspec.json.decode(stored.read_bytes(), type=Inventory)
    except (OSError, msgspec.MsgspecError):
        return None
    if ws.RUN not in os.environ and any(r.passing and os.access(root / r.file, os.R_OK) for r in known.refused):
        return None
    return known if all(Path(item.path).exists() for item in known.items) else None


def _take(root: Path, spool: Path, *, hashes: bool) -> Inventory:
    with ThreadPoolExecutor(min(4, machine.cores())) as pool:
        opened = open_evidence(root, spool)
        # The largest first: a file is hashed by one thread, for which the others should not wait.
        largest = sorted(opened.files, key=lambda f: -f.bytes)
        looked = sorted(pool.map(lambda f: _look(f, hashes), largest), key=lambda one: one.file)
    unread = [*opened.refused, *(one for one in looked if isinstance(one, Refused))]
    refused = sorted(unread, key=lambda r: (r.file, r.reason))
    items = [one for one in looked if isinstance(one, Item)]
    contents = [*(f"{i.file}\0{i.content or ''}\n" for i in items), *(f"!{r.file}\0{r.reason}\n" for r in refused)]
    from kit.inventory import recognise  # loaded by now

    known = recognise.without_rows([item for item in items if item.kind])
    marked, disagree, overlapping = _mark(known)
    archives = (
        Item(a.file, ev.valid_text(str(root / a.file if root.is_dir() else root)), a.bytes, "archive", a.sha256)
        for a in opened.archives
    )
    return Inventory(
        items=tuple(marked),
        not_recognised=tuple(item.file for item in items if not item.kind),
        refused=tuple(refused),
        content_key=hashlib.sha256("".join(contents).encode("utf-8", "replace")).hexdigest(),
        archives=tuple(archives),
        disagree=tuple(disagree),
        overlapping=overlapping,
    )


def _look(file: EvidenceFile, hashes: bool) -> Item | Refused:
    """Recognise and hash one file; kind "" if unknown. `hashes` as for `take`."""
    # Kernels take a second to load; unchanged evidence does not need them.
    from kit.inventory import recognise, zones

    try:
        with ev.open_raw(file.path) as raw:
            # Zeros that nobody stored take long to read.
            if file.bytes > ev.LARGEST and 2 * sum(end - at for at, end in ev.stretches(raw.fileno())) < file.bytes:
                return Refused(file.file, "sparse")
        kind, detail = recognise.recognise(file)
        if file.bytes > ev.LARGEST and kind in (*STORES, "consumequeue", "index"):
            return Refused(file.file, "huge")
        # Nothing is read of what is unknown: a heap dump of 20 GB need not be hashed.
        spared = file.bytes >= LARGE and (not kind or (not hashes and kind in STORES))
        sha = file.sha256 or (None if spared else sha256(file.path))
        if sha is None:
            info = file.path.stat()
            identity = f"{info.st_dev}:{info.st_ino}:{info.st_size}:{info.st_mtime_ns}:{info.st_ctime_ns}"
            detail["same"] = identity if kind else str(file.bytes)
        if file.text_sha256 and file.text_sha256 != file.sha256:
            detail["text_sha256"] = file.text_sha256
        first, last = zones.span(file, kind, detail)
        source = detail.get("source") if kind in TEXTS else None
        # When a chat was saved says nothing of the outputs in it.
        changed = None if kind == "text" or detail.get("pasted") else file.modified
        item = Item(
            file.file, str(file.path), file.bytes, kind or "", sha, first, last,
            source=source, detail=detail, modified=printed_times.datetime_of(changed and 1000 * changed),
        )  # fmt: skip
        msgspec.json.encode(item)  # a value that cannot be stored would break the whole inventory
    except Exception as error:
        return refusal(file.file, error)
    return item


def with_columns(inventory: Inventory, override: str) -> Inventory:
    """Replace recognised columns by the user's. Raise `ValueError` for an unknown file or column."""
    from kit.formats.tables import business_tables

    file, chosen = business_tables.parse_override(override)
    item = inventory.get(file)
    if item is None or item.kind not in ("rows", "sends", "text", "log", "other"):
        raise ValueError(business_tables.NO_TABLE.say(text=override, file=file))
    detail = business_tables.declared(Path(item.path), item.bytes, item.detail, chosen)
    new = attrs.evolve(item, kind="sends" if detail["role"] == "sends" else "rows", source=None, detail=detail)
    return attrs.evolve(inventory, items=tuple(new if i.file == file else i for i in inventory.items))


# --- copies: equal files, earlier copies of a log that grew, commitlogs with the same records -------------------------

_GROWS: Final = ("log", "text", "mqadmin", "metrics", "rows", "sends")
"""Kinds of files whose earlier copy may be the beginning of a later one."""
_ALIKE: Final = (
    *_GROWS, "source_code", "document", "other_systems_log", "thread_dump", "store_json", "broker_conf", "checkpoint",
    "index", "consumequeue",
)  # fmt: skip
_CHUNK: Final = 1 << 20
_HEAD: Final = 256


def _mark(items: list[Item]) -> tuple[list[Item], list[tuple[str, str]], bool]:
    """Return the items with `replica_of` set, the pairs that disagree, and whether commitlogs overlap partially."""
    originals = _equal(items)
    alike: dict[str | bytes, list[Item]] = defaultdict(list)
    for item in items:
        if item.kind in STORES and item.base is not None and item.detail.get("used"):
            alike[item.kind].append(item)
        elif item.kind in _GROWS and item.bytes >= _HEAD and item.file not in originals:
            # A log copied at 10:00 is the beginning of the one copied at 10:30.
            with contextlib.suppress(OSError):
                alike[ev.beginning(item.path, _HEAD)].append(item)
    disagree: list[tuple[str, str]] = []
    overlapping = False
    for group in alike.values():
        # The longest first: the others it covers are copies of it.
        group.sort(key=lambda i: ((i.base or 0) - _end(i), i.file))
        for other, item in combinations(group, 2):
            low, high = max(item.base or 0, other.base or 0), min(_end(item), _end(other))
            if low >= high or item.file in originals or other.file in originals:
                continue
            same = _same(item, other, low, high)
            if same and (low, high) == (item.base or 0, _end(item)):
                originals[item.file] = other.file
            elif item.kind in STORES:
                host = item.detail.get("store_host")
                disagrees = same is False and bool(host) and host == other.detail.get("store_host")
                disagree += [(item.file, other.file)] * disagrees
                overlapping = overlapping or bool(same) or disagrees
    # An equal file may be a copy of one that is the beginning of another.
    copies = {copy: originals.get(file, file) for copy, file in originals.items()}
    return [attrs.evolve(item, replica_of=copies.get(item.file)) for item in items], sorted(disagree), overlapping


def _end(item: Item) -> int:
    return (item.base or 0) + (int(item.detail["used"]) if item.kind in STORES else item.bytes)


def _equal(items: list[Item]) -> dict[str, str]:
    """Return the files that are copies of an earlier one, byte by byte, with that one. Queues of several topics may be
    equal without being copies: a message of a light topic is in each of them (LMQ, multi dispatch).
    """
    originals: dict[str, str] = {}
    first: dict[tuple[Any, ...], str] = {}
    for item in items:
        content = item.detail.get("text_sha256") or item.sha256
        if item.kind in _ALIKE and content and item.bytes and not item.detail.get("empty"):
            queue = queues.place(item.file) if item.kind == "consumequeue" else None
            known = first.setdefault((item.kind, content, bool(item.detail.get("backup")), queue), item.file)
            if known != item.file:
                originals[item.file] = known
    return originals


def _same(a: Item, b: Item, low: int, high: int) -> bool | None:
    """Return whether two files hold the same between two physical offsets; None if one can no longer be read."""
    try:
        with ev.open_readonly(a.path) as left, ev.open_readonly(b.path) as right:
            left.seek(low - (a.base or 0))
            right.seek(low - (b.base or 0))
            for at in range(low, high, _CHUNK):
                part = min(_CHUNK, high - at)
                if left.read(part) != right.read(part):
                    return False
    except OSError:
        return None
    return True
