"""What is true of the labs' recordings, by RocketMQ's decoder, the labels and the applications' own files: never by the
labs' code.

`ANSWERS[lab]()` gives {question: (true answer, known wrong answer, word of what is said to it)}.
"""

import gzip
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import counted
import recorded

HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
NAMES = {
    80: "half-topic-blowup", 81: "size-mismatch", 82: "message-identity", 83: "broker-busy",
    84: "transaction-consistency",
}  # fmt: skip
Answers = dict[str, tuple[Any, Any, str]]


def is_commit(record: dict[str, Any]) -> bool:
    return record["sys_flag"] & 12 == 8


def half_topic() -> Answers:
    name = NAMES[80]
    records = list(recorded.truth(name))
    figures, own = counted.half_topic(), counted.transactions(name)
    leaked = [
        r for r in records if r["topic"] in (HALF, "SCHEDULE_TOPIC_XXXX") and r["properties"].get("REAL_TOPIC") == HALF
    ]
    first = min(leaked, key=lambda r: r["physical_offset"])
    assert first["reconsume_times"] and "RETRY_TOPIC" in first["properties"]
    length = recorded.label(name)["retry_topic_length"]
    commits = [r for r in leaked if is_commit(r) and r["topic"] != HALF and r["prepared_offset"]]
    return {
        "80-1": (
            figures["leaked_half_records"],
            len([r for r in records if r["topic"] == HALF]),
            "Ordinary half messages",
        ),
        "80-2": (own["pending"] + own["discarded"], figures["leaked_messages"], "committed each of them"),
        "80-3": ("consumer", "producer", "RECONSUME_TIME"),
        "80-4": ("name-too-long", "properties-too-long", "32,767"),
        "80-5": (length, recorded.label(name)["recorded_as"]["group_length"], "%RETRY% + group"),
        "80-6": (f"{figures['doubling_seconds']:.1f} s", "1 ms", "too few"),
        "80-7": (len(commits), len([r for r in leaked if is_commit(r)]), "counts put-backs as commits"),
        # Documented: only the split tags let the retries through.
        "80-8": ("split tags", "client-4.6.1", "still refused"),
        "80-9": (
            "refused, sent anew, leaked, diverted, discarded",
            "sent-anew, send-back-refused, leaked, diverted-again, bounded",
            "order is not",
        ),
        "80-10": ("it is the delay", "the client", "%RETRY%"),
    }


def message_size() -> Answers:
    figures = counted.message_size()
    logs = recorded.whole(NAMES[81]) / "broker" / "logs"
    lines: Counter[str] = Counter()
    for path in logs.rglob("*"):
        if path.is_file():
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            lines["sends"] += len(re.findall(rb"SendMessageThread_\d+ - message size exceeded", data))
            lines["store"] += len(re.findall(rb"CheckService - message size exceeded", data))
            lines["transaction"] += len(re.findall(rb"PutBackToHalfQueueReturnResult write failed", data))
    refused = max(lines["store"], lines["transaction"])
    return {
        "81-1": ("64 KB", "4 MB", "the default"),
        "81-2": (lines["sends"], lines["sends"] + lines["store"], "put-backs too"),
        # 4.6.0 compares the whole record (reference), and the sent property is TRANSACTION_CHECK_TIMES=1 with its two
        # separators.
        "81-3": ("record", "body", "the client checks"),
        "81-4": (len("TRANSACTION_CHECK_TIMES") + len("1") + 2, 27, "last check"),
        "81-5": ("check", "setTagsCode", "consume queue"),
        "81-6": (figures["at_risk_half_messages"], 1, "has not come to the others"),
        "81-7": (f"{refused:,}", lines["store"] + lines["transaction"], "both logs"),
        "81-8": (min(figures["safe_body_bytes"].values()), "60 KB", "a guess"),
    }


def message_identity() -> Answers:
    name = NAMES[82]
    by_key = counted.by_key()
    several = [key for key, records in by_key.items() if len({r["msg_id"] for r in records}) > 1]
    retried = [key for key, records in by_key.items() if any(r["reconsume_times"] for r in records)]
    twice = counted.ledger_twice(name, "c/points.csv") | counted.ledger_twice(name, "s/audit.csv")
    output = (recorded.whole(name) / "broker/mqadmin/queryMsgById-2.txt").read_text()
    asked, address = re.search(r"-i (\w+)", output), re.search(r"connect to (\S+) failed", output)
    assert asked and address and asked[1] in by_key
    return {
        "82-1": (len(by_key), sum(map(len, by_key.values())), "Those are records"),
        "82-2": (len(several), 0, "getMsgId answers UNIQ_KEY"),
        "82-3": (max(len({r["msg_id"] for r in records}) for records in by_key.values()), 1, "one UNIQ_KEY"),
        "82-4": ("UNIQ_KEY", "offset id", "not a port"),
        "82-5": (address[1], "10.20.44.11:10911", "Stuck?"),
        "82-6": (len(twice), len(retried), "Those were retried"),
        "82-7": ("getMsgId", "originMsgId", "wrong turn"),
    }


def broker_busy() -> Answers:
    figures = counted.broker_busy(recorded.whole(NAMES[83]))
    errors, outcome = figures["errors_by_kind"], figures["outcome_by_kind"]
    refused = {kind: n for kind, n in errors.items() if kind != "CLIENT_TIMEOUT"}
    said_busy = {kind: n for kind, n in refused.items() if kind != "REJECTREQUEST"}
    pauses = recorded.label(NAMES[83])["recorded_as"]["pauses_epoch_s_and_length_s"]
    keys = [r["properties"]["KEYS"] for r in recorded.truth(NAMES[83])]
    copies = sum(n for n in Counter(keys).values() if n > 1)
    return {
        "83-1": (figures["sends_failed"], sum(figures["attempts_by_kind"].values()), "Those are attempts"),
        "83-2": (max(refused, key=lambda kind: refused[kind]).lower(), "CLIENT_TIMEOUT", "gave up waiting"),
        "83-3": (
            f"{max(length for _, length in pauses)} seconds",
            max(s for _, s in counted.bursts()),
            "several short",
        ),
        "83-4": (figures["failed_but_stored"], figures["lost"], "lost ones"),
        "83-5": (sum(outcome[kind]["stored"] for kind in said_busy), sum(said_busy.values()), "never written"),
        "83-6": ([kind for kind, n in outcome.items() if n["stored"]], "REJECTREQUEST", "nothing of it is stored"),
        "83-7": (figures["stored_twice"], copies, "copies of all"),
        # Injected: the process was paused.
        "83-8": ("process-stood-still", "co-located-load", "published case"),
    }


def transactions() -> Answers:
    name = NAMES[84]
    figures = counted.transactions(name)
    records = list(recorded.truth(name))
    rows = {row["order_id"] for row in recorded.rows(name, "**/*.csv") if "status" in row}
    commits = [r for r in records if is_commit(r) and not counted.SYSTEM.match(r["topic"])]
    alone = rows - {key for r in commits for key in r["properties"]["KEYS"].split()}
    dead = {key for r in records if r["topic"].startswith("%DLQ%") for key in r["properties"]["KEYS"].split()}
    groups = {r["properties"]["PGROUP"] for r in records if r["topic"] == HALF and r["properties"]["KEYS"] in alone}
    assert len(groups) == 1
    return {
        "84-1": (figures["half_messages"], sum(r["topic"] == HALF for r in records), "put-backs too"),
        "84-2": (figures["committed"], len(commits), "committed records"),
        "84-3": (len(alone & dead), figures["dead_lettered"], "compare the keys"),
        "84-4": (figures["messages_without_row"], figures["rows_without_message"], "rows without a message"),
        "84-5": (figures["exceptions_in_local_transaction"], figures["rolled_back"], "rolled back"),
        "84-6": (groups.pop(), "points-consumer", "Stuck?"),
        # The published comparison: in the middle broken, last safe if SEND_OK is looked at, first safe.
        "84-7": ("middle", "last", "SEND_OK"),
        "84-8": ("re-send", "compensate", "other direction"),
    }


ANSWERS: dict[int, Callable[[], Answers]] = {
    80: half_topic, 81: message_size, 82: message_identity, 83: broker_busy, 84: transactions,
}  # fmt: skip


def causes(name: str) -> str:
    """What a recording is, by its label."""
    return ", ".join(recorded.label(name)["root_causes"]) or "none"
