"""Failed sends put together from client logs, application logs and ledgers: each counted once."""

from __future__ import annotations

from typing import Any

import pandas as pd

from kit.analysis.sends import attempts, sends


def entries(*rows: dict[str, Any]) -> pd.DataFrame:
    plain = dict.fromkeys(attempts.COLUMNS)
    return pd.DataFrame(
        [{**plain, "file": "client.log", "line": n, "at": n, "ts": n, **row} for n, row in enumerate(rows, 1)],
        columns=list(attempts.COLUMNS),
    )


def test_interleaved_threads_of_one_log_are_paired_in_order() -> None:
    found = entries(
        {"role": "attempt", "kind": "REJECTREQUEST"},
        {"role": "attempt", "kind": "CLIENT_TIMEOUT"},
        {"role": "message", "key": "A", "uniq_key": "AA"},
        {"role": "message", "key": "B", "uniq_key": "BB"},
    )
    paired = attempts.paired(found)
    assert list(zip(paired["kind"], paired["key"], strict=True)) == [("REJECTREQUEST", "A"), ("CLIENT_TIMEOUT", "B")]


def test_an_attempt_whose_message_is_missing_does_not_take_a_later_one() -> None:
    found = entries(
        {"role": "attempt", "kind": "REJECTREQUEST", "ts": 1_000},
        {"role": "attempt", "kind": "CLIENT_TIMEOUT", "ts": 60_000},
        {"role": "message", "key": "B", "uniq_key": "BB", "ts": 60_000},
    )
    paired = attempts.paired(found)
    assert list(paired["key"].fillna("")) == ["", "B"]


def test_threads_that_a_layout_prints_are_kept_apart() -> None:
    found = entries(
        {"role": "attempt", "kind": "REJECTREQUEST", "thread": "t1"},
        {"role": "attempt", "kind": "CLIENT_TIMEOUT", "thread": "t2"},
        {"role": "message", "key": "B", "uniq_key": "BB", "thread": "t2"},
        {"role": "message", "key": "A", "uniq_key": "AA", "thread": "t1"},
    )
    paired = attempts.paired(found).set_index("kind")
    assert paired.loc["REJECTREQUEST", "key"] == "A"
    assert paired.loc["CLIENT_TIMEOUT", "key"] == "B"


def test_words_hold_a_key_in_any_dress() -> None:
    for text in (
        "send failed, keys=K-17, cost=4ms",
        "发送失败，单号：K-17",
        '{"key":"K-17"}',
        "order K-17.",
        "[K-17] failed",
    ):
        assert "K-17" in attempts.words(text), text


CALLS = pd.DataFrame(
    {
        "key": ["A", "B", "C"], "uniq_key": ["UA", "UB", "UC"],
        "kind": ["REJECTREQUEST", "PC_SYNCHRONIZED", "CLIENT_TIMEOUT"], "attempts": [1, 3, 1], "ts": [1, 2, 3],
        "file": "client.log", "line": [1, 2, 3],
    }
)  # fmt: skip


def told(*rows: tuple[str | None, str, str]) -> pd.DataFrame:
    plain = {"uniq_key": None, "file": "app.log"}
    found = [
        {**plain, "key": key, "kind": kind, "words": attempts.words(said), "ts": n, "line": n}
        for n, (key, kind, said) in enumerate(rows)
    ]
    return pd.DataFrame(found, columns=["key", "uniq_key", "kind", "words", "ts", "file", "line"])


def rows(*outcomes: tuple[str, str]) -> pd.DataFrame:
    plain = {"cost_ms": 1, "file": "sends.csv"}
    return pd.DataFrame(
        [
            {**plain, "key": key, "uniq_key": f"U{key}", "outcome": outcome, "ts": n, "line": n}
            for n, (key, outcome) in enumerate(outcomes, 2)
        ]
    )


def test_a_ledger_row_takes_the_kind_of_the_final_exception() -> None:
    ledger = rows(
        ("A", "MQBrokerException"),
        ("B", "RemotingTooMuchRequestException"),
        ("C", "MQClientException"),
        ("D", "MQBrokerException"),
        ("E", "MQBrokerException: CODE: 2  DESC: [OVERLOAD]system busy, start flow control for a while"),
    )
    app = told((None, "TIMEOUT_CLEAN_QUEUE", "send failed, keys=C"))
    failed, others = sends.from_ledger(ledger, app, CALLS)
    # A: the client's only attempt. B: its last attempt was refused, but what was thrown is a time-out. C: the
    # application's own line. D: nobody says.
    assert list(failed["kind"].fillna("?")) == [
        "REJECTREQUEST", "CLIENT_TIMEOUT", "TIMEOUT_CLEAN_QUEUE", "?", "OVERLOAD",
    ]  # fmt: skip
    assert list(failed["attempts"][:3]) == [1, 3, 1]
    assert others.empty


def test_failures_of_a_sender_without_ledger_are_added_only_where_ids_are_shared() -> None:
    failed, others = sends.from_ledger(rows(("A", "MQBrokerException")), told(), CALLS)
    assert len(failed) == 1
    assert sorted(others["key"]) == ["B", "C"]
    _, others = sends.from_ledger(rows(("hashed", "MQBrokerException")).assign(uniq_key=None), told(), CALLS)
    assert others.empty


def test_one_send_in_two_logs_counts_once() -> None:
    app = told(("A", "REJECTREQUEST", "keys=A"), ("C", "CLIENT_TIMEOUT", "keys=C"), ("Z", "REJECTREQUEST", "keys=Z"))
    failed, _ = sends.from_logs(app, CALLS)
    assert sorted(failed["key"]) == ["A", "B", "C", "Z"]
    assert attempts.counted(failed["kind"]) == {"REJECTREQUEST": 2, "PC_SYNCHRONIZED": 1, "CLIENT_TIMEOUT": 1}


def test_entries_that_name_no_message_are_the_same_sends_up_to_their_number() -> None:
    app = told(*[(None, "REJECTREQUEST", "send failed")] * 3)
    failed, _ = sends.from_logs(app, CALLS)
    assert attempts.counted(failed["kind"]) == {"REJECTREQUEST": 3, "PC_SYNCHRONIZED": 1, "CLIENT_TIMEOUT": 1}


def test_kinds_are_read_from_whole_quoted_and_cut_texts() -> None:
    said = sends.kind_said
    assert (
        said("CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 208ms")
        == "TIMEOUT_CLEAN_QUEUE"
    )
    assert said('{"remark":"[PCBUSY_CLEAN_QUEUE]broker bu') == "PCBUSY_CLEAN_QUEUE"
    assert (
        said("nested exception is X: CODE: 1  DESC: [PC_SYNCHRONIZED]broker busy, start flow control for a while")
        == "PC_SYNCHRONIZED"
    )
    assert said("sendDefaultImpl call timeout") == "CLIENT_TIMEOUT"
    assert said("CODE: 14  DESC: service not available now") == "OTHER"
    assert said("MQBrokerException") is None
    assert said(None) is None
