"""Hand-made evidence of half messages near the size limit: a store, broker logs, the release as mqadmin says it."""

import datetime as dt
import zlib
from collections.abc import Sequence
from pathlib import Path

import attrs
from stores import Record, store

HALF, OP = b"RMQ_SYS_TRANS_HALF_TOPIC", b"RMQ_SYS_TRANS_OP_HALF_TOPIC"
START = 1_715_652_000_000  # 2024-05-14 02:00:00 UTC
CHECK, SEND = "TransactionalMessageCheckService", "SendMessageThread_1"


def text(properties: dict[str, str], trailing: bool = True) -> bytes:
    joined = "\x02".join(f"{name}\x01{value}" for name, value in properties.items())
    return (joined + ("\x02" if trailing else "")).encode()


@attrs.define
class Evidence:
    """What lies in the folder: half records in the order of the half queue, lines as 4.x brokers print them."""

    folder: Path
    version: str | None = "V4_6_0"
    limit: int | None = 4000
    trailing: bool = True
    v6: bool = False
    host: bytes | None = None
    records: list[Record] = attrs.field(factory=list)
    half: int = 0
    ops: int = 0

    def put(self, record: Record) -> Record:
        if self.v6:
            record.born_host, record.store_host = bytes(range(16)), bytes(range(16, 32))
        if self.host:
            record.store_host = self.host
        record.stored = START + 1000 * len(self.records)
        record.born = record.stored - 1
        self.records.append(record)
        return record

    def prepare(
        self,
        key: str,
        size: int | None,
        topic: str = "orders",
        body: bytes | None = None,
        packed: bool = False,
        **more: str,
    ) -> Record:
        """A half record of `size` bytes in all, or with this body. Its UNIQ_KEY follows from its key."""
        made = {
            "KEYS": key,
            "TRAN_MSG": "true",
            "UNIQ_KEY": f"{key.encode().hex():0>32}".upper(),
            "WAIT": "true",
            "PGROUP": "shop",
        }
        made |= {"CLUSTER": "c", "REAL_TOPIC": topic, "REAL_QID": "0", **more}
        properties = text({name: value for name, value in made.items() if value is not None}, self.trailing)
        rest = (115 if self.v6 else 91) + len(HALF) + len(properties)
        stored = (zlib.compress(body) if packed else body) if body is not None else b"b" * ((size or rest) - rest)
        self.half += 1
        return self.put(
            Record(HALF, stored, properties, sys_flag=1 if packed else 0, numbers=(0, 0, self.half - 1, 1, 0))
        )

    def offset(self, record: Record) -> int:
        """Return the physical offset at which the record will lie."""
        at = 0
        for each in self.records:
            if each is record:
                return at
            at += len(each.encode(0))
        raise ValueError(record)

    def offset_id(self, record: Record) -> str:
        return f"{record.store_host.hex()}{10911:08x}{self.offset(record):016x}".upper()

    def op(self, record: Record) -> None:
        """End a half message."""
        body = str(record.numbers[2]).encode()
        self.put(Record(OP, body, text({"WAIT": "true", "TAGS": "d"}), numbers=(0, 0, self.ops, 1, 0)))
        self.ops += 1

    def commit(self, record: Record, topic: bytes = b"orders") -> None:
        self.put(Record(topic, record.body, record.properties, sys_flag=8, prepared=self.offset(record)))
        self.op(record)

    def write(
        self,
        store_log: Sequence[str] = (),
        transaction_log: Sequence[str] = (),
        saved: int | None = None,
        commitlog: bool = True,
    ) -> Path:
        logs = self.folder / "logs"
        logs.mkdir(parents=True)
        if commitlog:
            (self.folder / "store").mkdir()
            (self.folder / "store" / f"{0:020}").write_bytes(store(self.records, end=bytes(4096)).data)
        for name, lines in (("store.log", store_log), ("transaction.log", transaction_log)):
            if lines:
                (logs / name).write_text("\n".join(lines) + "\n")
        if self.limit:
            conf = [
                "brokerClusterName=c", "brokerName=broker-a", "brokerId=0", "storePathRootDir=/data/store",
                f"maxMessageSize={self.limit}",
            ]  # fmt: skip
            (self.folder / "broker.conf").write_text("\n".join(conf) + "\n")
        if self.version:
            said = [
                f"$ mqadmin brokerStatus -n 10.0.0.9:9876 -b {'.'.join(map(str, self.host or (10, 0, 0, 2)))}:10911",
                "bootTimestamp                   : 1715651000000",
            ]
            said += [
                f"brokerVersionDesc               : {self.version}",
                "commitLogDiskRatio              : 0.08",
                "dispatchBehindBytes             : 0",
            ]
            (self.folder / "status.txt").write_text("\n".join(said) + "\n")
        if saved is not None:
            (self.folder / "consumerOffset.json").write_text(
                f'{{\n\t"offsetTable":{{\n\t\t"{HALF.decode()}@CID_RMQ_SYS_TRANS":{{0:{saved}\n\t\t}}\n\t}}\n}}'
            )
        return self.folder


def line(second: int, thread: str, message: str, level: str = "WARN") -> str:
    at = dt.datetime.fromtimestamp(START / 1000 + second, dt.timezone(dt.timedelta(hours=8)))
    return f"{at:%Y-%m-%d %H:%M:%S} {level} {thread} - {message}"


def too_large(second: int, thread: str, total: int, body: int, limit: int = 4000) -> str:
    return line(
        second,
        thread,
        f"message size exceeded, msg total size: {total}, msg body size: {body}, maxMessageSize: {limit}",
    )


def put_back_failed(second: int, msg_id: str) -> str:
    said = f"PutBackToHalfQueueReturnResult write failed, topic: {HALF.decode()}, queueId: 0, msgId: {msg_id}"
    return line(second, CHECK, said, "ERROR")
