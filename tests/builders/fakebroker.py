"""A broker's store written hop by hop, the way RocketMQ writes it: half message, put-back, commit, op record, discard,
retry, dead letter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stores import Record

HALF, OP, GIVEN_UP = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"
START = 1_700_000_000_000


def key(n: int) -> str:
    """Return a UNIQ_KEY: address, pid, class loader, time, counter."""
    return f"0A00000112340C387F44{n:08X}{n:04X}"


class Broker:
    """One commit log. Every method returns the physical offset of what it wrote; `clock` is in ms and moves a second a
    record."""

    def __init__(self, host: int = 2) -> None:
        self.host = bytes([10, 0, 0, host])
        self.data = b""
        self.clock = START
        self.queues: dict[str, int] = {}
        self.halves: dict[int, tuple[int, dict[str, str]]] = {}

    def write(
        self,
        topic: str,
        properties: dict[str, str],
        *,
        body: bytes = b"{}",
        sys_flag: int = 0,
        prepared: int = 0,
        again: int = 0,
        queue: int = 0,
        born: bytes = bytes([10, 0, 0, 1]),
    ) -> int:
        at, offset = len(self.data), self.queues.get(topic, 0)
        self.queues[topic] = offset + 1
        self.clock += 1000
        text = "".join(f"{k}\x01{v}\x02" for k, v in properties.items()).encode()
        record = Record(
            topic.encode(),
            body,
            text,
            False,
            sys_flag,
            born,
            self.host,
            (queue, 0, offset, 40000, again),
            self.clock - 5,
            self.clock,
            prepared,
        )
        self.data += record.encode(at)
        self.halves[at] = (offset, properties)
        return at

    def half(self, n: int, keys: str, topic: str = "orders", group: str = "shop", **more: Any) -> int:
        properties = {
            "KEYS": keys, "UNIQ_KEY": key(n), "TRAN_MSG": "true", "PGROUP": group, "REAL_TOPIC": topic, "REAL_QID": "1",
            "CLUSTER": "c", "WAIT": "true",
        }  # fmt: skip
        return self.write(HALF, properties, **more)

    def put_back(self, at: int, **more: Any) -> int:
        properties = dict(self.halves[at][1])
        properties["TRANSACTION_CHECK_TIMES"] = str(int(properties.get("TRANSACTION_CHECK_TIMES", 0)) + 1)
        return self.write(HALF, properties, **more)

    def commit(self, at: int) -> int:
        properties = self.halves[at][1]
        return self.write(properties["REAL_TOPIC"], properties, sys_flag=8, prepared=at, queue=1)

    def op(self, *at: int, queue: int = 0) -> int:
        """Write an op record: a number alone as in 4.x, several with commas as from 5.1.0."""
        offsets = [str(self.halves[a][0]) for a in at]
        body = offsets[0] if len(offsets) == 1 else ",".join(offsets) + ","
        return self.write(OP, {"TAGS": "d", "WAIT": "true"}, body=body.encode(), queue=queue, born=self.host)

    def give_up(self, at: int) -> int:
        return self.write(GIVEN_UP, self.halves[at][1])

    def dead_letter(self, at: int, group: str = "points") -> int:
        return self.write(f"%DLQ%{group}", self.halves[at][1] | {"RETRY_TOPIC": "orders"}, sys_flag=8, again=3)

    def save(self, folder: Path) -> Path:
        where = folder / "store" / "commitlog"
        where.mkdir(parents=True)
        (where / f"{0:020}").write_bytes(self.data + bytes(4096))
        return folder


def answer(
    said: str, n: int, at: int, *, check: bool, address: str = "10.0.0.1:40000", second: int = 0, remark: str = "null"
) -> str:
    """Return a line of transaction.log (4.6.1): what a producer answered about the half record at `at`."""
    number = {"COMMIT": 8, "ROLLBACK": 12, "UNKNOWN": 0}[said]
    header = (
        f"EndTransactionRequestHeader{{producerGroup='shop', tranStateTableOffset=0, commitLogOffset={at}, commitOrRollback={number}, "
        f"fromTransactionCheck={str(check).lower()}, msgId='{key(n)}', transactionId='null'}} Remark: {remark}"
    )
    doing = {
        "COMMIT": "the producer commit the message.",
        "ROLLBACK": "the producer rollback the message.",
        "UNKNOWN": "but it's pending status.",
    }[said]
    early = {"ROLLBACK": "rollback the message.", "UNKNOWN": " and it's pending status."}
    text = (
        f"Check producer[{address}] transaction state, {doing}"
        if check
        else f"The producer[{address}] end transaction in sending message, {early[said]}"
    )
    return f"2023-11-15 06:13:{20 + second:02} WARN EndTransactionThread_1 - {text}RequestHeader: {header}"
