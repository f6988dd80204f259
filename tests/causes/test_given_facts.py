"""Causes on a handful of rows: what each makes of its gold tables, without an engine and without files."""

import datetime as dt
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from kit import causes
from kit.causes import shown_by
from kit.inventory.inventory import Inventory
from kit.inventory.model import Item
from kit.tables import frames
from kit.tables.facts import Facts
from kit.tables.queries import catalogue

AT = dt.datetime(2026, 11, 22, 7, 48, 26)  # noqa: DTZ001 - naive in UTC, as rows of facts are
LATER = AT + dt.timedelta(seconds=40)
SEEN = {"event": "no-route", "file": "client.log", "source": "client", "n": 1, "first": AT, "last": AT, "line": 4}
LINE = {4: "No route info of this topic: pay-dnoe"}
ROUTE = SEEN | {"topic": "pay-dnoe", "consumer_group": None, "by_send": True}
PERMISSION = {
    "file": "topics.json", "line": 9, "origin": "topics", "subject": "%DLQ%points", "name": "perm", "value": "2",
    "backup": False,
}  # fmt: skip
TOTALS = {
    "producer_group": "orders", "half_messages": 7, "committed": 7, "rolled_back": 0, "discarded": 0, "pending": 0, "committed_twice": 0, "checked": 2,
    "renewed": 2, "without_row": 0, "immune": 0, "cluster": 7, "dead": 0, "first": AT, "last": LATER,
}  # fmt: skip
COPIES = [
    {"uniq_key": "A1", "store_timestamp": AT, "file": "0", "physical_offset": at, "again": at > 300}
    for at in (300, 500)
]
WRONG = {
    "uniq_key": "A1", "key": "K1", "producer_group": "orders", "answer": "ROLLBACK", "address": "10.0.0.9:4000", "born_host": "10.0.0.8:4000",
    "row_stands": True, "committed": True, "wrong": True, "ts": AT, "file": "transaction.log", "line": 3, "half_file": "0", "half_physical_offset": 50,
}  # fmt: skip
ANSWERED = SEEN | {"event": "check-answer-rollback", "file": "transaction.log", "source": "transaction"}
CHECK = SEEN | {"event": "check-channel-null", "file": "transaction.log", "source": "transaction"}
EMPTY = SEEN | {"event": "producer-table-empty", "file": "broker.log", "source": "broker"}
DISCARDS = [
    {"producer_group": group, "unknown": unknown}
    for group, unknown in [("orders", 0), ("orders", 0), ("orders", 15), ("hotel", 0)]
]

ROWS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    # slug, facts, verdict, some of the figures
    # A claim that no line shows is not confirmed.
    ("topic-missing", {"known_texts": [SEEN], "unknown_topics": [ROUTE], "known_topics": [{"topic": "pay-done"}]}, "suspected", {"failed_sends": 1}),
    ("route-missing", {"known_texts": [SEEN], "unknown_topics": [ROUTE], "known_topics": [{"topic": "pay-dnoe"}], "quotes": LINE,
                       "failed_sends": "identity key uniq_key kind file other", "send_failures": "ts_ms source role kind period queue thrown counts"},
     "confirmed", {"topics": {"pay-dnoe": 1}}),
    ("route-missing", {"known_texts": [SEEN], "unknown_topics": [ROUTE]}, "insufficient_evidence", {"topics": None}),
    # common/constant/PermName: 2 is write, 4 is read; of other topics it says nothing.
    ("dlq-unreadable", {"topic_permissions": [PERMISSION, PERMISSION | {"subject": "points"}]}, "confirmed", {"unreadable_dlq_topics": 1}),
    ("retry-lost", {"has": ["messages"], "unread_retries": [{"records": 2, "store_timestamp": AT, "file": "0", "physical_offset": 50}]},
     "confirmed", {"retries_dropped": None, "retries_unconsumable": 2}),
    ("undecodable-half-message", {"has": ["messages"], "transaction_totals": [TOTALS], "discards_stored": [{"kept": True}],
                                 "unreadable_copies": COPIES}, "confirmed", {"messages": 1, "copies": 2}),
    ("shared-producer-group", {"has": ["messages"], "sources": ["transaction"], "known_texts": [ANSWERED], "foreign_answers": [WRONG]},
     "confirmed", {"foreign_answers": 1, "wrong_answers": 1}),
    ("shared-producer-group", {"has": ["messages"], "sources": ["transaction"], "known_texts": [ANSWERED],
                               "foreign_answers": [WRONG | {"answer": "COMMIT", "wrong": False}]},
     "ruled_out", {"foreign_answers": 1, "wrong_answers": 0}),
    # Of 4 discards one was answered UNKNOWN until the limit, one is of a group that was connected.
    ("producer-offline", {"has": ["messages"], "sources": ["transaction", "broker"], "known_texts": [CHECK, EMPTY],
                          "offline_groups": [{"producer_group": "orders"}], "transaction_totals": [TOTALS | {"discarded": 4}],
                          "discards_stored": [{"kept": True}], "discarded_transactions": DISCARDS}, "confirmed", {"discarded": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("slug", "given", "verdict", "figures"), ROWS)
def test_what_a_cause_makes_of_its_facts(slug, given, verdict, figures):
    found = causes.examine(facts(**given), slug)
    assert (found.verdict, {name: found.figures[name] for name in figures}) == (verdict, figures)
    assert found.as_dict("en") and found.as_dict("zh")


def test_a_cause_whose_table_is_not_there_names_it() -> None:
    with pytest.raises(KeyError, match="dead_letter_groups"):
        causes.examine(facts(has=["messages"]), "dead-letter")


def test_discards_that_only_a_log_prints_are_not_counted_as_discarded() -> None:
    """Two lines name one message: without a store nobody saw it in TRANS_CHECK_MAX_TIME_TOPIC."""
    discard = SEEN | {"event": "check-discard", "file": "transaction.log", "source": "transaction"}
    printed = {
        "leaked": False, "lines": 2, "messages": 1, "first": AT, "last": LATER, "file": "transaction.log", "line": 3, "commits": 0, "commit_file": None,
        "commit_line": None, "born": None, "unknown_messages": 1, "unknowns": 15, "unknown_file": "transaction.log", "unknown_line": 4,
    }  # fmt: skip
    known = facts(sources=["transaction"], known_texts=[discard], printed_discards=[printed], transaction_totals=[])
    found = causes.examine(known, "check-unknown-until-discard").as_dict()
    assert "1 of 1" not in found["summary"] and "No store shows the discards" in found["summary"]
    assert str(found["steps"][0]["claim"]).startswith("The broker's log says 2 times")


def test_code_13_alone_does_not_say_that_it_was_the_size() -> None:
    """A DLedger broker before 4.8.0 answers every batch so, and any broker properties that are too long."""
    answer = {
        "event": "message-illegal", "attempt": False, "file": "client.log", "thread": "main", "logger": "c.a.Orders", "count": 1, "line": 4, "first": AT, "last": AT,
    }  # fmt: skip
    own = answer | {"event": "client-body-too-large"}
    other = {
        "file": "store.log", "writer": "commit", "event": "message-size-exceeded", "msg_id": None, "total": 9, "body": 1, "limit": 8, "length": None,
        "status": None, "topic": "orders", "count": 1, "first": AT, "last": AT, "line": 9, "last_line": 9,
    }  # fmt: skip
    shown: dict[str, Any] = {"quotes": {4: "CODE: 13  DESC: the message is illegal"}, "size_refusals": [other]}
    given = [facts(size_rejects=[row], known_texts=[SEEN | {"event": row["event"]}], **shown) for row in (answer, own)]
    found = [causes.examine(each, "client-oversize-reject") for each in given]
    assert [each.verdict for each in found] == ["suspected", "confirmed"]
    assert "for the size" not in str(found[0].as_dict()["summary"]).split(".")[0]


def test_a_remedy_names_no_setting_that_is_not_known() -> None:
    commit = {
        "uniq_key": "A1", "key": "K1", "topic": "orders", "way": "late_commit", "first_time": AT, "second_time": LATER,
        "first_file": "0", "first_physical_offset": 50, "second_file": "0", "second_physical_offset": 90,
    }  # fmt: skip
    stored = {
        "has": ["messages"],
        "discards_stored": [{"kept": True}],
        "transaction_totals": [TOTALS | {"committed_twice": 1}],
    }
    found = causes.examine(facts(**stored, committed_twice=[commit]), "duplicate-commit").as_dict()  # type: ignore[arg-type]
    assert found["verdict"] == "confirmed" and "unknown" not in str(found["remedies"])


def test_a_log_that_was_cut_off_rules_nothing_out() -> None:
    whole: dict[str, Any] = {
        "has": ["messages"], "sources": ["transaction", "broker"], "transaction_totals": [TOTALS], "discards_stored": [{"kept": True}],
        "store_extent": [{"bytes": 1_000_000}],
    }  # fmt: skip
    lost = {"start": 0, "end": 4096, "large": True, "cut": False}
    for stretches, verdict, count in (
        ([], "ruled_out", 0), ([lost], "ruled_out", 0), ([lost | {"end": 99_999}], "insufficient_evidence", None),
        ([lost | {"cut": True}], "insufficient_evidence", None),
    ):  # fmt: skip
        known = facts(**whole, stretches=stretches)
        found = shown_by.weighed(known, causes.examine(known, "duplicate-commit"))
        assert (found.verdict, found.figures["committed_twice"]) == (verdict, count)


def test_one_cluster_refutes_nothing_that_happened_in_another_of_that_name() -> None:
    rows = {
        "has": ["messages"],
        "sources": ["transaction", "broker"],
        "known_texts": [ANSWERED],
        "same_names": [{"file": "y"}],
    }
    known = facts(**rows, foreign_answers=[WRONG | {"answer": "COMMIT", "wrong": False}])
    assert causes.examine(known, "shared-producer-group").verdict == "ruled_out"
    assert shown_by.weighed(known, causes.examine(known, "shared-producer-group")).verdict != "ruled_out"
    nothing = facts(**rows | {"known_texts": []})
    assert shown_by.weighed(nothing, causes.examine(nothing, "shared-producer-group")).verdict == "ruled_out"


Rows = list[dict[str, Any]] | str
"""Rows, or the names of the columns of a table without any."""


class Given(Facts):
    """A table that is not given has no rows; as a frame one in SQL has to be given, for its columns."""

    def __init__(
        self, tables: Mapping[str, Rows], present: Iterable[str], files: Inventory, quotes: Mapping[int, str]
    ) -> None:
        super().__init__(SimpleNamespace(lang="en", unzoned=files, inventory=files))  # type: ignore[arg-type]
        self.tables, self.present, self.quotes = tables, frozenset(present), quotes

    def has(self, table: str) -> bool:
        return table in self.present

    def rows(self, name: str) -> list[dict[str, Any]]:
        rows = self.tables.get(name, [])
        return [] if isinstance(rows, str) else [dict(row) for row in rows]

    def __call__(self, name: str) -> pd.DataFrame:
        query = catalogue().get(name)
        if query and query.columns:  # a fold, which says its columns
            return frames.to_pandas(frames.to_arrow(self.rows(name), query.columns))
        rows = self.tables[name]
        if isinstance(rows, str):
            return pd.DataFrame(columns=pd.Index(rows.split()))
        return frames.to_pandas(pa.Table.from_pylist(rows))

    def lines(self, places: Iterable[tuple[str, int]]) -> list[str]:
        return [self.quotes.get(line, f"line {line} of {file}") for file, line in places]

    def record(self, file: str, physical_offset: int, columns: tuple[str, ...]) -> dict[str, Any]:
        return dict.fromkeys(columns) | {"file": file, "physical_offset": physical_offset}


def facts(
    *, has: Iterable[str] = (), sources: Iterable[str] = (), quotes: Mapping[int, str] | None = None, **tables: Rows
) -> Facts:
    """Return facts with these gold tables. `has`: other tables with rows (`messages`); `sources`: of the logs there are (`client`, `store`);
    `quotes`: what stands in a line, by its number.
    """
    logs = [Item(f"{source}.log", f"/{source}.log", 1000, "log", None, source=source) for source in sources]
    return Given(tables, has, Inventory("/evidence", tuple(logs), (), (), ""), quotes or {})
