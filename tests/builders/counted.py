"""Figures of recordings counted from RocketMQ's decoder, the labels and the applications' own files, by the interface's definitions: nothing of the kit."""

import csv
import re
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import recorded

HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
OP = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
STATES = ("committed", "rolled_back", "discarded", "pending")


def half_topic() -> dict[str, Any]:
    """The figures by the definitions of the interface, from the decoder's records."""
    leaked = [
        r
        for r in recorded.truth("half-topic-blowup")
        if r["topic"] == HALF and r["properties"].get("REAL_TOPIC") == HALF
    ]
    leaked.sort(key=lambda r: r["physical_offset"])
    times = [r["store_timestamp"] / 1000 for r in leaked]
    m = n = len({r["properties"]["UNIQ_KEY"] for r in leaked})
    terms = []
    while 2 * m <= len(times):
        terms.append(times[2 * m - 1] - times[m - 1])
        m *= 2
    return {
        "leaked_messages": n,
        "leaked_half_records": len(leaked),
        "doubling_seconds": statistics.median(terms),
        "max_check_times": max(int(r["properties"].get("TRANSACTION_CHECK_TIMES", 0)) for r in leaked),
        "retry_topic_length": recorded.label("half-topic-blowup")["retry_topic_length"],
    }


SYSTEM = re.compile(r"%|RMQ_SYS|rmq_sys|TRANS_CHECK|SCHEDULE_TOPIC")


def op_offsets(name: str, records: list[dict[str, Any]]) -> set[tuple[str, int]]:
    """The half queue offsets that op records of queue 0 name, from the stored bytes."""
    files = recorded.commitlog(name)
    named = set()
    for r in records:
        if r["topic"] == OP and not r["queue_id"]:
            named |= {(r["store_host"], int(text)) for text in body(r, files).decode().split(",") if text}
    return named


def transactions(name: str) -> dict[str, Any]:
    """The figures by the definitions of the interface."""
    records = list({r["msg_id"]: r for r in recorded.truth(name)}.values())
    named = op_offsets(name, records)
    halves = [r for r in records if r["topic"] == HALF and r["properties"].get("REAL_TOPIC") != HALF]
    originals = {
        r["properties"]["UNIQ_KEY"]: r
        for r in halves
        if not {"TRANSACTION_CHECK_TIMES", "TRAN_PREPARED_QUEUE_OFFSET"} & set(r["properties"])
    }
    ended = {r["properties"]["UNIQ_KEY"] for r in halves if (r["store_host"], r["queue_offset"]) in named}
    commits = Counter(
        r["properties"]["UNIQ_KEY"] for r in records if r["sys_flag"] & 12 == 8 and not SYSTEM.match(r["topic"])
    )
    given_up = {r["properties"]["UNIQ_KEY"] for r in records if r["topic"] == "TRANS_CHECK_MAX_TIME_TOPIC"}
    state = {
        k: "committed" if k in commits else "rolled_back" if k in ended else "discarded" if k in given_up else "pending"
        for k in originals
    }
    keys = {k: set((r["properties"].get("KEYS") or "").split()) for k, r in originals.items()}
    rows = [row for row in recorded.rows(name, "**/*.csv") if "status" in row]
    of_state = {s: set().union(*(keys[k] for k in state if state[k] == s), set()) for s in STATES}
    alone = {row["order_id"] for row in rows} - of_state["committed"]
    logs = recorded.files(name, "**/rocketmq_client.log").values()
    counted = Counter(state.values())
    return {
        "half_messages": len(originals),
        **{s: counted[s] for s in STATES},
        "committed_twice": sum(n > 1 for n in commits.values()),
        "dead_lettered": len({r["properties"]["UNIQ_KEY"] for r in records if r["topic"].startswith("%DLQ%")}),
        "rows_without_message": len(alone) if rows else None,
        "rows_pending": len(alone & of_state["pending"]) if rows else None,
        "messages_without_row": sum(
            not keys[k] & {row["order_id"] for row in rows} for k in state if state[k] == "committed"
        )
        if rows
        else None,
        "exceptions_in_local_transaction": sum(
            len(re.findall(rb"executeLocalTransactionBranch exception\r?\n", log)) for log in logs
        ),
    }


COUNT = "TRANSACTION_CHECK_TIMES"


def message_size() -> dict[str, Any]:
    """The figures by the definitions of the interface, from the decoder's records and the broker's logs."""
    limit = recorded.label("size-mismatch")["limit"]
    truth = list(recorded.truth("size-mismatch"))
    halves = [r for r in truth if r["topic"] == HALF]
    committed = {r["properties"]["UNIQ_KEY"] for r in truth if r["sys_flag"] & 12 == 8}
    at = {r["queue_offset"]: r["properties"]["UNIQ_KEY"] for r in halves}
    # An op record's body is one queue offset of a half record.
    stores = recorded.commitlog("size-mismatch")
    ended = {at[int(body(r, stores))] for r in truth if r["topic"] == OP}
    first = {r["properties"]["UNIQ_KEY"]: r for r in reversed(halves) if COUNT not in r["properties"]}
    rest = max(r["store_size"] - r["body_len"] for r in first.values())
    return {
        "broker_limit": limit,
        "at_risk_half_messages": sum(
            1 for key, r in first.items() if key not in committed | ended and r["store_size"] + 27 > limit
        ),
        "safe_body_bytes": {"trade-order-event": limit - rest - 27},
    }


def body(record: dict[str, Any], stores: dict[int, bytes]) -> bytes:
    return recorded.stored(record, stores)[88 : 88 + record["body_len"]]


KIND_IN_BRACKETS = re.compile(r"\[(REJECTREQUEST|PCBUSY_CLEAN_QUEUE|TIMEOUT_CLEAN_QUEUE|PC_SYNCHRONIZED|OVERLOAD)\]")


def broker_busy(evidence: Path) -> dict[str, Any]:
    """The figures by the definitions of the interface, from the decoder's records, the sender's ledger and its logs."""
    stored: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for record in recorded.truth("broker-busy"):
        stored[record["properties"]["KEYS"]].append((record["body_crc"], record["body_len"]))
    app = (evidence / "o" / "stock-service.log").read_text()
    kinds = {}
    for entry in re.split(r"(?m)^(?=\d{4}-\d\d-\d\d )", app):
        if key := re.search(r"keys=(\w+)", entry):
            refused = KIND_IN_BRACKETS.search(entry)
            kinds[key[1]] = refused[1] if refused else "CLIENT_TIMEOUT"
    client = (evidence / "o" / "rocketmq_client.log").read_text()
    tries = Counter(KIND_IN_BRACKETS.findall(client))
    tries["CLIENT_TIMEOUT"] = len(re.findall(r"Exception: wait response on the channel", client))
    with (evidence / "o" / "sends.csv").open() as file:
        sends = list(csv.DictReader(file))
    failed = [row["keys"] for row in sends if row["outcome"] != "SEND_OK"]
    outcome: dict[str, dict[str, int]] = defaultdict(lambda: {"stored": 0, "lost": 0})
    for key in failed:
        outcome[kinds[key]]["stored" if stored[key] else "lost"] += 1
    return {
        "errors_by_kind": dict(Counter(kinds[key] for key in failed)),
        "attempts_by_kind": dict(tries),
        "sends": len(sends),
        "sends_failed": len(failed),
        "failed_but_stored": sum(1 for key in failed if stored[key]),
        "lost": sum(1 for key in failed if not stored[key]),
        "stored_twice": sum(1 for row in sends if max(Counter(stored[row["keys"]]).values(), default=0) > 1),
        "outcome_by_kind": dict(outcome),
    }


def bursts() -> list[tuple[float, float]]:
    """Start and length of the recorded pauses, those a few tenths apart together."""
    bursts: list[list[float]] = []
    for start, length in recorded.label("broker-busy")["recorded_as"]["pauses_epoch_s_and_length_s"]:
        if bursts and start - bursts[-1][1] < 0.5:
            bursts[-1][1] = start + length
        else:
            bursts.append([start, start + length])
    return [(start, end - start) for start, end in bursts]


def by_key() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in recorded.truth("message-identity"):
        key = record["properties"].get("UNIQ_KEY")
        if key:
            found[key].append(record)
    return found


def ledger_twice(name: str, member: str) -> set[str]:
    """UNIQ_KEYs with two successes in one ledger, the later one a retry copy."""
    twice, good = set(), defaultdict(list)
    for row in recorded.rows(name, member):
        if row["result"] == "OK":
            if good[row["uniq_key"]] and int(row["reconsume_times"]) > 0:
                twice.add(row["uniq_key"])
            good[row["uniq_key"]].append(row)
    return twice
