"""Magic numbers, field offsets and flag bits of RocketMQ's binary files (all big-endian).

Upstream: `store/CommitLog`, `store/MessageExtEncoder`, `common/message/MessageDecoder`,
`common/sysflag/MessageSysFlag`, `store/ConsumeQueue`, `store/ConsumeQueueExt`, `store/queue/BatchConsumeQueue`,
`store/index/IndexHeader|IndexFile`, `client/trace/TraceDataEncoder` of apache/rocketmq 4.3.0 – 5.3.3, and
`entry/DLedgerEntryCoder` of openmessaging/dledger.
"""

from typing import Final

# store/CommitLog.MESSAGE_MAGIC_CODE, common/message/MessageVersion (V2 since 5.1.0), store/CommitLog.BLANK_MAGIC_CODE
MAGIC_V1: Final = 0xDAA320A7
MAGIC_V2: Final = 0xDAA320AB
MAGIC_BLANK: Final = 0xCBD43194

# Offsets inside a record, up to the born host; later fields depend on the length of the two addresses.
AT_BODY_CRC: Final = 8
AT_QUEUE_ID: Final = 12
AT_FLAG: Final = 16
AT_QUEUE_OFFSET: Final = 20
AT_PHYSICAL_OFFSET: Final = 28
AT_SYS_FLAG: Final = 36
AT_BORN_TIMESTAMP: Final = 40
AT_BORN_HOST: Final = 48
HOST_V4: Final = 8
HOST_V6: Final = 20
# store/CommitLog.calMsgLength: everything but body, topic, properties and the length of the topic, with two IPv4 hosts
MIN_RECORD: Final = 91

# common/sysflag/MessageSysFlag
COMPRESSED: Final = 0x1
BORN_HOST_V6: Final = 0x10
STORE_HOST_V6: Final = 0x20
COMPRESSION_MASK: Final = 0x700
COMPRESSION_SHIFT: Final = 8

# DLedger: entry/DLedgerEntryCoder, entry/DLedgerEntryType
DLEDGER_HEADER: Final = 48
DLEDGER_MAGIC: Final = 1
DLEDGER_AT_SIZE: Final = 4
DLEDGER_AT_POS: Final = 24
DLEDGER_AT_BODY_SIZE: Final = 44
DLEDGER_BLANK: Final = -1
DLEDGER_ENTRY_BUFFER: Final = 4 * 1024 * 1024
"""Size of the buffer for encoding a DLedger entry: DLedgerMmapFileStore, all tags."""

# store/ConsumeQueue: physical offset, size, tagsCode; fillPreBlank writes size Integer.MAX_VALUE
CQ_PREFILL_SIZE: Final = 0x7FFFFFFF

# store/index/IndexHeader.INDEX_HEADER_SIZE, IndexFile.hashSlotSize, indexSize; defaults of MessageStoreConfig
INDEX_HEADER: Final = 40
INDEX_SLOT: Final = 4
INDEX_ENTRY: Final = 20
INDEX_SLOTS: Final = 5_000_000

# client/trace/TraceConstants.FIELD_SPLITOR, CONTENT_SPLITOR
TRACE_FIELD: Final = 1
TRACE_CONTEXT: Final = 2

FILE_NAME_DIGITS: Final = 20
"""Commit log and consume queue files are named by the offset of their first byte (`common/UtilAll.offset2FileName`)."""


def first_offset(name: str) -> int | None:
    """Return the offset of a file's first byte from its name; None for another name, or a number beyond a long."""
    named = len(name) == FILE_NAME_DIGITS and name.isascii() and name.isdigit()
    return int(name) if named and int(name) < 1 << 63 else None
