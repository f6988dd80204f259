"""Hand-made evidence of half messages near the size limit: a store, broker logs, the release as mqadmin says it."""

import datetime as dt
import itertools
from collections.abc import Sequence
from pathlib import Path

import attrs
from folders import put
from stores import Record, store

HALF, OP = b"RMQ_SYS_TRANS_HALF_TOPIC", b"RMQ_SYS_TRANS_OP_HALF_TOPIC"
START = 1_715_652_000_000  # 2024-05-14 02:00:00 UTC
CHECK, SEND = "TransactionalMessageCheckService", "SendMessageThread_1"


def text(properties: dict[str, str]) -> bytes:
    return "".join(f"{name}\x01{value}\x02" for name, value in properties.items()).encode()


@attrs.define
class Evidence:
    """What lies in the folder: half records in the order of the half queue, lines as 4.x brokers print them."""

    folder: Path
    version: str | None = "V4_6_0"
    limit: int | None = 4000
    records: list[Record] = attrs.field(factory=list)
    half: int = 0
    ops: int = 0

    def put(self, record: Record) -> Record:
        record.stored = START + 1000 * len(self.records)
        record.born = record.stored - 1
        self.records.append(record)
        return record

    def prepare(self, key: str, size: int) -> Record:
        """A half record of `size` bytes in all. Its UNIQ_KEY follows from its key."""
        properties = text({
            "KEYS": key, "TRAN_MSG": "true", "UNIQ_KEY": f"{key.encode().hex():0>32}".upper(), "WAIT": "true", "PGROUP": "shop",
            "CLUSTER": "c", "REAL_TOPIC": "orders", "REAL_QID": "0",
        })  # fmt: skip
        body = b"b" * (size - 91 - len(HALF) - len(properties))
        self.half += 1
        return self.put(Record(HALF, body, properties, numbers=(0, 0, self.half - 1, 1, 0)))

    def offset(self, record: Record) -> int:
        """Return the physical offset at which the record will lie."""
        before = itertools.takewhile(lambda each: each is not record, self.records)
        return sum(len(each.encode(0)) for each in before)

    def offset_id(self, record: Record) -> str:
        return f"{record.store_host.hex()}{10911:08x}{self.offset(record):016x}".upper()

    def op(self, record: Record) -> None:
        """End a half message."""
        body = str(record.numbers[2]).encode()
        self.put(Record(OP, body, text({"WAIT": "true", "TAGS": "d"}), numbers=(0, 0, self.ops, 1, 0)))
        self.ops += 1

    def commit(self, record: Record) -> None:
        self.put(Record(b"orders", record.body, record.properties, sys_flag=8, prepared=self.offset(record)))
        self.op(record)

    def write(
        self, store_log: Sequence[str] = (), transaction_log: Sequence[str] = (), saved: int | None = None, commitlog: bool = True
    ) -> Path:  # fmt: skip
        if commitlog:
            put(self.folder / "store" / f"{0:020}", store(self.records, end=bytes(4096)).data)
        conf = f"brokerClusterName=c\nbrokerName=broker-a\nbrokerId=0\nstorePathRootDir=/data/store\nmaxMessageSize={self.limit}\n"
        status = (
            "$ mqadmin brokerStatus -n 10.0.0.9:9876 -b 10.0.0.2:10911\nbootTimestamp                   : 1715651000000\n"
            f"brokerVersionDesc               : {self.version}\ncommitLogDiskRatio              : 0.08\ndispatchBehindBytes             : 0\n"
        )
        position = f'{{\n\t"offsetTable":{{\n\t\t"{HALF.decode()}@CID_RMQ_SYS_TRANS":{{0:{saved}\n\t\t}}\n\t}}\n}}'
        files = {
            "logs/store.log": store_log and "\n".join([*store_log, ""]),
            "logs/transaction.log": transaction_log and "\n".join([*transaction_log, ""]),
            "broker.conf": self.limit and conf,
            "status.txt": self.version and status,
            "consumerOffset.json": saved is not None and position,
        }
        for name, content in files.items():
            if content:
                put(self.folder / name, str(content))
        return self.folder


def line(second: int, thread: str, message: str, level: str = "WARN") -> str:
    at = dt.datetime.fromtimestamp(START / 1000 + second, dt.timezone(dt.timedelta(hours=8)))
    return f"{at:%Y-%m-%d %H:%M:%S} {level} {thread} - {message}"


def too_large(second: int, thread: str, total: int, body: int, limit: int = 4000) -> str:
    said = f"message size exceeded, msg total size: {total}, msg body size: {body}, maxMessageSize: {limit}"
    return line(second, thread, said)


def put_back_failed(second: int, msg_id: str) -> str:
    said = f"PutBackToHalfQueueReturnResult write failed, topic: {HALF.decode()}, queueId: 0, msgId: {msg_id}"
    return line(second, CHECK, said, "ERROR")
