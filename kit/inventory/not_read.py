"""Files of a store that are named but not read: copies of records elsewhere, RocksDB, entries that hold no message.

Compaction logs and tiered storage hold records like those of a commitlog, each with its place in its own file as physical offset (`store/kv/CompactionLog`,
`tieredstore/stream/CommitLogInputStream`): only their paths tell them from a commitlog, and their offset message ids belong to other records there.
"""

from __future__ import annotations

import re
import struct
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from kit.rocketmq import binary_format as f

if TYPE_CHECKING:
    from kit.evidence.files import EvidenceFile

_COMPACTION: Final = frozenset({"compactionLog", "compactionCq"})
"""store/kv/CompactionStore: below it the topic, the queue and, while it works, `compacting` or `replicating`."""
_TIERED: Final = frozenset({"COMMIT_LOG", "CONSUME_QUEUE", "INDEX"})
"""tieredstore/common/FileSegmentType: the folder of a segment."""
_SEGMENT: Final = re.compile(r"[0-9a-f]{8}[0-9]{20}")
"""tieredstore/util/MessageStoreUtil.offset2FileName: eight digits of a hash before the offset."""
_DIGITS: Final = re.compile(r"[0-9]{20}")
_ROCKSDB: Final = (
    (re.compile(r"CURRENT"), re.compile(rb"MANIFEST-\d{6}\n\Z")),
    (re.compile(r"IDENTITY"), re.compile(rb"[0-9a-fA-F-]{36}\n?\Z")),
    (re.compile(r"MANIFEST-\d{6}"), re.compile(rb"")),
    (re.compile(r"OPTIONS-\d{6}(?:\.dbtmp)?"), re.compile(rb"# This is a RocksDB option file")),
    (re.compile(r"LOG(?:\.old\.\d+)?"), re.compile(rb"\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d\.\d{6} [0-9a-f]+ ")),
    (re.compile(r"\d{6}\.sst"), re.compile(rb"")),
    (re.compile(r"\d{6}\.log"), re.compile(rb"(?=[\s\S]{0,16}[\x00-\x08])")),
)
"""Names in a RocksDB folder, and how such a file begins."""
_STATE: Final = {"epochFileCheckpoint": rb"(?:\d+-\d+\s*)+\Z", "brokerIdentity": rb"\s*\{", "tieredStoreMetadata.json": rb"\s*\{"}  # fmt: skip
"""Small state files: broker/controller (store/ha/autoswitch), tieredstore/metadata."""
_ENTRY: Final = struct.Struct(">iiqqqiiii")
"""io.openmessaging.storage.dledger.entry.DLedgerEntryCoder: magic, size, index, term, position, channel, two CRCs, size of the body."""


def recognise(file: EvidenceFile, head: bytes) -> tuple[str, dict[str, Any]] | None:
    """Return (kind, {}) of a file that is not read: `compaction`, `tiered_store`, `rocksdb`, `store_state`, `dledger_other`."""
    path = PurePosixPath(file.file.replace("!/", "/").replace("\\", "/"))
    if _DIGITS.fullmatch(path.name) and _COMPACTION & set(path.parent.parts):
        return "compaction", {}
    if _SEGMENT.fullmatch(path.name) or (_DIGITS.fullmatch(path.name) and path.parent.name in _TIERED):
        return "tiered_store", {}
    if any(name.fullmatch(path.name) and begins.match(head) for name, begins in _ROCKSDB):
        return "rocksdb", {}
    state = _STATE.get(re.sub(r"(?:\.bak|\.tmp|-temp)$", "", path.name))
    if state is not None and re.match(state, head):
        return "store_state", {}
    return ("dledger_other", {}) if _other_entries(head) else None


def _other_entries(head: bytes) -> bool:
    """Return whether a file begins with DLedger entries whose bodies are no messages: those of a controller are events."""
    at = entries = 0
    following = None
    while at + _ENTRY.size + 8 <= len(head):
        magic, size, index, _, position, _, _, _, body = _ENTRY.unpack_from(head, at)
        if magic != 1 or body < 0 or size != _ENTRY.size + body or following not in (None, (index, position)):
            break
        if int.from_bytes(head[at + _ENTRY.size + 4 :][:4], "big") in (f.MAGIC_V1, f.MAGIC_V2):
            return False
        following = (index + 1, position + size)
        entries += 1
        at += size
    return entries > 1
