"""What RocketMQ answers: what codes mean, which id a call returns, and the tables that mqadmin prints."""

from typing import Final, Literal

import msgspec

from kit import data
from kit.i18n import T


class Answer(data.Row, frozen=True):
    """One answer. `problem`: the known problem that explains it further ("" = none); `also`: codes that mean the same."""

    name: str
    meaning: T
    next: T
    problem: str = ""
    also: dict[int, str] = msgspec.field(default_factory=dict)


def _codes(part: str) -> dict[int, Answer]:
    rows = data.read("rocketmq/facts/answers.yaml", dict[int, Answer], part)
    every = ((row, {first: row.name} | row.also) for first, row in rows.items())
    return {code: msgspec.structs.replace(row, name=name) for row, names in every for code, name in names.items()}


CODES: Final = _codes("remoting")
"""Response code → what it means: common/protocol/ResponseCode, remoting/protocol/RemotingSysResponseCode."""
STATUSES: Final[dict[str, int]] = {"FLUSH_DISK_TIMEOUT": 10, "SLAVE_NOT_AVAILABLE": 11, "FLUSH_SLAVE_TIMEOUT": 12}
"""Send status (client/producer/SendStatus) → the response code it comes from."""
GRPC_CODES: Final = _codes("grpc")
"""Code of apache.rocketmq.v2.Code → what it means."""
GRPC_NAMES: Final = {answer.name: code for code, answer in GRPC_CODES.items()}


class ReturnedId(data.Row, frozen=True, kw_only=True):
    """Which id a call returns: of one UNIQ_KEY and as many offset ids as copies, each API calls one "message id".

    `stages`: of which copy, the newest (empty: of the message); `since`: from which client on; `transactional`: only of
    such messages (True) or others (False); `upstream`: the class below `org/apache/rocketmq` that determines it.
    """

    call: str
    side: Literal["producer", "listener", "consumer", "mqadmin", "log"]
    which: Literal["uniq", "offset", "none"]
    upstream: str
    says: T
    stages: tuple[str, ...] = ()
    since: str | None = None
    transactional: bool | None = None


ID_CALLS: Final = data.read("rocketmq/facts/id_calls.yaml", tuple[ReturnedId, ...])


_TABLES: Final = "rocketmq/facts/mqadmin_tables.yaml"
MQADMIN_HEADS: Final = data.read(_TABLES, tuple[tuple[str, str], ...], "heads")
"""How the head of a table begins, one blank between its words, and its command; the longer ones first."""
MQADMIN_MEANINGS: Final = data.read(_TABLES, dict[str, T], "meanings")
"""Command → what its table shows."""


def command_of(head: str) -> str | None:
    """Return the command of mqadmin whose table has a head that begins so, one blank between its words."""
    return next((command for begin, command in MQADMIN_HEADS if head.startswith(begin)), None)
