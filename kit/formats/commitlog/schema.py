"""The columns of `messages` and `skipped`, a request for some of them, and a commit log file as its records tell it."""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
from attrs import frozen

from kit.formats.values import TEXTS, columns_of
from kit.rocketmq import names

FIELDS: Final[dict[str, pa.DataType]] = {field.name: field.type for field in columns_of("messages")}
TEXT: Final = "properties_text"
"""Column of the workspace: properties as a text, items behind 0x02, names and values behind 0x01, each name once."""
PROMOTED: Final = (
    names.REAL_TOPIC, names.TRAN_MSG, names.DELAY, names.CHECK_TIMES, names.RETRY_TOPIC, names.PGROUP,
    names.ORIGIN_MESSAGE_ID, names.RECONSUME_TIME, names.PREPARED_QUEUE_OFFSET, names.CHECK_IMMUNITY,
    names.CONSUME_START_TIME, names.MIN_OFFSET, names.CLUSTER, names.MSG_REGION, names.TRANSACTION_ID, "TIMER_OUT_MS",
    "INNER_NUM", "DLQ_ORIGIN_TOPIC",
)  # fmt: skip
"""Properties with a column of their own in the workspace: those that causes and charts use."""


def as_dict(text: str) -> dict[str, str]:
    """Return the properties that `TEXT` holds; as in RocketMQ's `MessageDecoder`, what has no separator is left out."""
    items = text.split(names.PROPERTY_SEPARATOR)
    return dict(item.split(names.NAME_VALUE_SEPARATOR, 1) for item in items if names.NAME_VALUE_SEPARATOR in item)


PROMOTED_COLUMNS: Final = tuple(f"property_{name}" for name in PROMOTED)
_PLAIN: Final = {names.KEYS: "keys", names.TAGS: "tags", names.UNIQ_KEY: "uniq_key"}
COLUMN_OF: Final = dict(zip(PROMOTED, PROMOTED_COLUMNS, strict=True)) | _PLAIN
"""The column that holds the values of a property, for each that has one."""
LINEAGE: Final = ("stage", "consumer_group", "original")
"""What a record is in its message's life (`kit.rocketmq.stages`), whose retry or dead letter, if a producer's own."""
TRACED: Final = "traced"
"""Column of the workspace: whether a record is a client's message trace, by its topic or its body's begin."""
MISPLACED: Final = "misplaced"
"""Column of the workspace: whether the records before and behind it are in order of store times, and it is not."""
_FEW: Final = ("file", "topic", "born_host", "store_host", "body_codec", "tags", *PROMOTED_COLUMNS, *LINEAGE[:2])
_CODED: Final = dict.fromkeys(_FEW, TEXTS)
_TYPES: Final = {**FIELDS, TEXT: pa.string(), **_CODED, **dict.fromkeys(("original", TRACED, MISPLACED), pa.bool_())}
STORED: Final = (
    *(each for each in FIELDS if each != "properties"), TEXT, *PROMOTED_COLUMNS, *LINEAGE, TRACED, MISPLACED,
)  # fmt: skip
"""Columns of `messages` as the workspace keeps them."""

SKIPPED: Final = columns_of("skipped")
PAD: Final = 16 << 20
"""How many zeros are kept behind the last byte on disk, so that a record that ends in zeros is read whole."""


@frozen
class Wanted:
    """A request for records: columns, and filters that every row must pass: `limits` of the physical offset and of the
    store time (ms), both ends included.

    `body_topics`: only records of these topics have their body, as stored (None: every record has it, unpacked).
    """

    columns: tuple[str, ...]
    topics: frozenset[str] | None = None
    limits: Mapping[str, tuple[int, int]] = {}
    body_topics: frozenset[str] | None = None


def schema(names: tuple[str, ...]) -> pa.Schema:
    """Return the Arrow schema of these columns, as they are read: columns with few values are dictionary-coded."""
    return pa.schema([pa.field(name, _TYPES[name]) for name in names])


def stored() -> pa.Schema:
    return pa.schema([pa.field(name, pa.string() if name in _CODED else _TYPES[name]) for name in STORED])


@frozen
class File:
    """A file of the commit log: its name for users, where it is, and what its records say about it."""

    file: str
    path: str
    length: int
    used: int
    base: int
    head: int
