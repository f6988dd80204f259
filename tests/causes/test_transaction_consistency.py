"""Every transaction accounted for, in stores written hop by hop."""

from pathlib import Path
from typing import Any

import pytest
from stores import Record

import kit
from kit import causes
from kit.case.case import Case

ROWS = """order_id,status,created_at
K1,PAID,2023-11-15 06:13:21.000
K2b,PAID,2023-11-15 06:13:22.000
K3,CANCELLED,2023-11-15 06:13:23.000
K4,PAID,2023-11-15 06:13:24.000
K6,PAID,2023-11-15 06:13:25.000
K7,PAID,2023-11-15 06:13:26.000
K8,PAID,2023-11-15 06:13:27.000
K12,PAID,2023-11-15 06:13:27.000
KB1,PAID,2023-11-15 06:13:28.000
KNONE,PAID,2023-11-15 06:13:29.000
"""


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, dict[str, int]]:
    """Two brokers whose half queues have the same offsets; every end a transaction can have."""
    folder = tmp_path_factory.mktemp("scripted")
    a, b = Broker(2), Broker(3)
    at: dict[str, int] = {}
    at["1"] = a.half(1, "K1")  # the first record of the store: its commit names offset 0
    a.commit(at["1"])
    a.op(at["1"])
    at["2"] = a.half(2, "K2a K2b")
    a.commit(at["2"])
    at["3"] = a.half(3, "K3")  # rolled back, its row cancelled: they agree
    a.op(at["2"], at["3"])
    at["4"] = a.half(4, "K4")  # rolled back at its check although its row exists
    renewed = a.put_back(at["4"])
    a.op(renewed)
    at["5"] = a.half(5, "K5")  # given up, no row
    a.give_up(a.put_back(a.put_back(at["5"])))
    at["6"] = a.half(6, "K6")  # open
    at["7"] = a.half(7, "K7")  # the commit comes after the check renewed it
    renewed = a.put_back(at["7"])
    a.commit(at["7"])
    a.op(at["7"])
    a.commit(renewed)
    a.op(renewed)
    at["8"] = a.half(8, "K8")  # the commit comes first, its op record too late
    a.commit(at["8"])
    renewed = a.put_back(at["8"])
    a.commit(renewed)
    a.op(at["8"], renewed)
    at["9"] = a.half(9, "K9")  # committed between messages that have rows, without one
    a.dead_letter(a.commit(at["9"]))
    a.op(at["9"])
    a.write("%DLQ%points", {"UNIQ_KEY": key(10), "KEYS": "P1"}, again=3)  # a plain message, dead
    a.write(
        HALF, a.halves[at["1"]][1] | {"REAL_TOPIC": HALF, "DELAY": "3", "RECONSUME_TIME": "1"}, again=1
    )  # a leaked retry: no transaction
    a.op(at["6"], queue=2)  # another queue: means nothing
    first = a.half(11, "K12")  # rolled back, then repeated with success under the same key
    a.op(first)
    at["12"] = a.half(12, "K12")
    a.commit(at["12"])
    a.op(at["12"])
    at["B1"] = b.half(21, "KB1")  # same queue offset as K1, but never ended
    for n in (22, 23):
        at[f"B{n}"] = b.half(n, f"KB{n}")
    b.op(at["B22"])
    a.save(folder / "evidence" / "a")
    b.save(folder / "evidence" / "b")
    (folder / "evidence" / "orders.csv").write_text(ROWS)
    log = [answer("ROLLBACK", 4, at["4"], 1), answer("UNKNOWN", 5, at["5"], 2)]
    (folder / "evidence" / "transaction.log").write_text("\n".join(log) + "\n")
    return kit.open_case(folder / "evidence", folder / "ws"), at


def test_every_state_is_told_apart(scripted: tuple[Case, dict[str, int]]) -> None:
    case, _ = scripted
    rows = case.sql("select keys, uniq_key, state from transactions where state is not null").collect()
    states = {row["keys"]: row.state for row in rows if row.uniq_key != key(11)}
    assert states == {
        "K1": "committed", "K2a K2b": "committed", "K3": "rolled_back", "K4": "rolled_back", "K5": "discarded",
        "K6": "pending", "K7": "committed", "K8": "committed", "K9": "committed", "K12": "committed", "KB1": "pending",
        "KB22": "rolled_back", "KB23": "pending",
    }  # fmt: skip
    found = causes.examine(case.facts, "transaction-consistency")
    assert found.figures == {
        "half_messages": 14,
        "committed": 6,
        "rolled_back": 4,
        "discarded": 1,
        "pending": 3,
        "committed_twice": 2,
        "dead_lettered": 2,
        # K3, K4, K6, KB1 and KNONE are without a committed message; K6 and KB1 may still get one.
        "rows_without_message": 5,
        "rows_pending": 2,
        "messages_without_row": 1,
        "exceptions_in_local_transaction": None,
    }
    assert found.verdict == "confirmed"


def test_only_what_is_over_and_stands_alone_is_inconsistent(scripted: tuple[Case, dict[str, int]]) -> None:
    case, at = scripted
    wrong = case.facts("disagreements")
    wrong["cause"] = wrong["cause"].fillna("")
    assert list(
        wrong[["key", "kind", "cause", "repair", "half_physical_offset"]].itertuples(index=False, name=None)
    ) == [
        ("K4", "row_without_message", "rollback_answer", "re-send", at["4"]),
        ("K9", "message_without_row", "", "compensate", at["9"]),
    ]


def test_a_half_message_put_back_uncompressed(tmp_path: Path) -> None:
    store = Broker()
    at = store.half(1, "K1", body=b"x\x9cshort", sys_flag=1)
    for _ in range(3):
        # The round broke off each time, so the count is 1 again.
        store.put_back(at, body=b"the raw body, much longer", sys_flag=1)
    store.half(2, "K2", sys_flag=1)
    store.save(tmp_path / "evidence")
    found = causes.examine(kit.open_case(tmp_path / "evidence", tmp_path / "ws").facts, "undecodable-half-message")
    assert found.verdict == "confirmed"
    assert found.figures == {"messages": 1, "copies": 3}


HALF, OP, GIVEN_UP = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"
START = 1_700_000_000_000


def key(n: int) -> str:
    """Return a UNIQ_KEY: address, pid, class loader, time, counter."""
    return f"0A00000112340C387F44{n:08X}{n:04X}"


class Broker:
    """One commit log. Every method returns the physical offset of what it wrote; `clock` moves a second a record."""

    def __init__(self, host: int = 2) -> None:
        self.host = bytes([10, 0, 0, host])
        self.data = b""
        self.clock = START
        self.queues: dict[str, int] = {}
        self.halves: dict[int, tuple[int, dict[str, str]]] = {}

    def write(self, topic: str, properties: dict[str, str], *, again: int = 0, queue: int = 0, **more: Any) -> int:
        at, offset = len(self.data), self.queues.get(topic, 0)
        self.queues[topic] = offset + 1
        self.clock += 1000
        text = "".join(f"{k}\x01{v}\x02" for k, v in properties.items()).encode()
        fields = {"body": b"{}", "store_host": self.host} | more
        record = Record(
            topic=topic.encode(), properties=text, numbers=(queue, 0, offset, 40000, again), born=self.clock - 5,
            stored=self.clock, **fields,
        )  # fmt: skip
        self.data += record.encode(at)
        self.halves[at] = (offset, properties)
        return at

    def half(self, n: int, keys: str, **more: Any) -> int:
        properties = {
            "KEYS": keys, "UNIQ_KEY": key(n), "TRAN_MSG": "true", "PGROUP": "shop", "REAL_TOPIC": "orders",
            "REAL_QID": "1", "CLUSTER": "c", "WAIT": "true",
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
        return self.write(OP, {"TAGS": "d", "WAIT": "true"}, body=body.encode(), queue=queue, born_host=self.host)

    def give_up(self, at: int) -> int:
        return self.write(GIVEN_UP, self.halves[at][1])

    def dead_letter(self, at: int) -> int:
        return self.write("%DLQ%points", self.halves[at][1] | {"RETRY_TOPIC": "orders"}, sys_flag=8, again=3)

    def save(self, folder: Path) -> Path:
        where = folder / "store" / "commitlog"
        where.mkdir(parents=True)
        (where / f"{0:020}").write_bytes(self.data + bytes(4096))
        return folder


def answer(said: str, n: int, at: int, second: int) -> str:
    """Return a line of transaction.log (4.6.1): what a producer answered to the check of the half record at `at`."""
    number, text = {"ROLLBACK": (12, "the producer rollback the message."), "UNKNOWN": (0, "but it's pending status.")}[
        said
    ]
    return (
        f"2023-11-15 06:13:{20 + second:02} WARN EndTransactionThread_1 - Check producer[10.0.0.1:40000] transaction state, {text}RequestHeader: "
        f"EndTransactionRequestHeader{{producerGroup='shop', tranStateTableOffset=0, commitLogOffset={at}, commitOrRollback={number}, "
        f"fromTransactionCheck=true, msgId='{key(n)}', transactionId='null'}} Remark: null"
    )
