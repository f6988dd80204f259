"""Failed sends put together from client logs, application logs and ledgers: each counted once."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from table import rows_of

from kit.analysis.sends import attempts, sends


@pytest.mark.parametrize(("rows", "paired"), rows_of(__file__, "an_attempt_has_the_message_printed_after_it"))
def test_an_attempt_has_the_message_printed_after_it(rows: str, paired: list[str]) -> None:
    entries: list[dict[str, Any]] = []
    for line, row in enumerate(rows.split(" | "), 1):
        role, name, ts, thread = row.split()
        entries.append({
            "file": "client.log", "line": line, "ts": int(ts), "thread": thread, "role": role,
            "kind": name if role == "attempt" else None, "key": name if role == "message" else None,
        })  # fmt: skip
    made = attempts.paired(pd.DataFrame(entries, columns=list(attempts.COLUMNS)))
    assert made["key"].fillna("").tolist() == paired


def test_words_hold_a_key_in_any_dress() -> None:
    dresses = (
        "send failed, keys=K-17, cost=4ms",
        "发送失败，单号：K-17",
        '{"key":"K-17"}',
        "order K-17.",
        "[K-17] failed",
    )
    assert [text for text in dresses if "K-17" not in sends.words(text)] == []


CALLS = pd.DataFrame(
    {
        "key": ["A", "B", "C"], "uniq_key": ["UA", "UB", "UC"],
        "kind": ["REJECTREQUEST", "PC_SYNCHRONIZED", "CLIENT_TIMEOUT"], "attempts": [1, 3, 1], "ts": [1, 2, 3],
        "file": "client.log", "line": [1, 2, 3],
    }
)  # fmt: skip


def told(*rows: tuple[str | None, str, str]) -> pd.DataFrame:
    entries = [
        {"key": key, "kind": kind, "said": said, "file": "app.log", "ts": n, "line": n}
        for n, (key, kind, said) in enumerate(rows)
    ]
    return pd.DataFrame(entries, columns=["key", "uniq_key", "kind", "said", "ts", "file", "line"])


def listed(*outcomes: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "key": key,
                "uniq_key": f"U{key}",
                "outcome": outcome,
                "cost_ms": 1,
                "file": "sends.csv",
                "ts": n,
                "line": n,
            }
            for n, (key, outcome) in enumerate(outcomes, 2)
        ]
    )


def test_a_ledger_row_takes_the_kind_of_the_final_exception() -> None:
    ledger = listed(
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
    kinds = ["REJECTREQUEST", "CLIENT_TIMEOUT", "TIMEOUT_CLEAN_QUEUE", "?", "OVERLOAD"]
    assert list(failed["kind"].fillna("?")) == kinds
    assert list(failed["attempts"][:3]) == [1, 3, 1]
    assert others.empty


def test_failures_of_a_sender_without_ledger_are_added_only_where_ids_are_shared() -> None:
    failed, others = sends.from_ledger(listed(("A", "MQBrokerException")), told(), CALLS)
    assert len(failed) == 1
    assert sorted(others["key"]) == ["B", "C"]
    _, others = sends.from_ledger(listed(("hashed", "MQBrokerException")).assign(uniq_key=None), told(), CALLS)
    assert others.empty


@pytest.mark.parametrize(
    ("app", "counts"),
    [
        # One send in two logs counts once.
        ([("A", "REJECTREQUEST", "keys=A"), ("C", "CLIENT_TIMEOUT", "keys=C"), ("Z", "REJECTREQUEST", "keys=Z")], 2),
        # Entries that name no message are the same sends up to their number.
        ([(None, "REJECTREQUEST", "send failed")] * 3, 3),
    ],
)
def test_sends_in_several_logs_count_once(app: list[tuple[str | None, str, str]], counts: int) -> None:
    failed = sends.from_logs(told(*app), CALLS)
    assert attempts.counted(failed["kind"]) == {"REJECTREQUEST": counts, "PC_SYNCHRONIZED": 1, "CLIENT_TIMEOUT": 1}


@pytest.mark.parametrize(("text", "kind"), rows_of(__file__, "kinds_are_read_from_whole_quoted_and_cut_texts"))
def test_kinds_are_read_from_whole_quoted_and_cut_texts(text: str | None, kind: str | None) -> None:
    assert sends.kind_said(text) == kind
