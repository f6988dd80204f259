"""The placement model: the published verdicts, where they stop holding, and every path the recordings show."""

from __future__ import annotations

import csv
import io
import tarfile
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from recorded import HERE, SMALL, truth

from kit.rocketmq import names
from kit.rocketmq.placement import (
    BROKEN,
    DOCUMENTED,
    FAILURES,
    OUTCOMES,
    PLACEMENTS,
    STEPS,
    Assumptions,
    describe,
    paths,
    run,
    safe,
    table,
)

REAL = Assumptions()
LOOKS = Assumptions(looks_at_status=True, copies_apart=False)


def outcomes(placement, failure, **given_):
    return {end.outcome for end in paths(placement, failure, Assumptions(**given_))}


def test_the_published_verdicts():
    assert safe("first")
    assert not safe("middle")
    assert not safe("middle", LOOKS)
    assert not safe("last")
    assert safe("last", LOOKS)
    assert safe("last", Assumptions(looks_at_status=True, copies_apart=False, last_answer="UNKNOWN"))


def test_the_middle_keeps_the_order_and_loses_the_message():
    for failure in ("local_throws", "local_rollback"):
        assert outcomes("middle", failure, looks_at_status=True) == {"row_without_message"}
    assert outcomes("middle", "local_throws", looks_at_local_state=True) == {"consistent"}


@pytest.mark.parametrize("status", ["flush_disk_timeout", "flush_slave_timeout", "slave_not_available"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_status_other_than_send_ok(placement, status):
    unseen = {"consistent"} if placement == "first" else {"row_without_message"}
    assert outcomes(placement, status) == unseen
    assert outcomes(placement, status, looks_at_status=True) == {"consistent"}


def test_commit_at_once_is_unsafe_where_the_outer_commit_can_fail():
    assert outcomes("last", "outer_commit_fails") == {"message_without_row"}
    assert outcomes("last", "crash_after_answer") == {"message_without_row"}
    assert outcomes("last", "outer_commit_fails", last_answer="UNKNOWN") == {"consistent"}


def test_no_row_yet_must_answer_unknown():
    for placement, failure, more in [
        ("last", "local_slow", {"last_answer": "UNKNOWN"}),
        ("first", "local_slow_answer_lost", {}),
    ]:
        kills = [
            end
            for end in paths(placement, failure, Assumptions(no_row="ROLLBACK", **more))
            if end.outcome == "row_without_message"
        ]
        assert any("check ROLLBACK" in end.path for end in kills)
        waits = [
            end
            for end in paths(placement, failure, Assumptions(no_row="UNKNOWN", **more))
            if end.outcome == "row_without_message"
        ]
        # With UNKNOW only the check limit can still lose it.
        assert all("discarded" in end.path for end in waits)


def test_slow_transactions_are_committed_twice():
    for placement in ("first", "middle"):
        assert "duplicate" in outcomes(placement, "local_slow")
        assert "duplicate" in outcomes(placement, "local_slow", no_row="UNKNOWN")
        assert "duplicate" not in outcomes(placement, "local_slow", copies_apart=False)
    assert outcomes("first", "op_late") == {"duplicate"}


def test_a_producer_that_stays_away_leaves_the_row_alone():
    assert outcomes("first", "crash_before_answer", producer_returns=False) == {"waiting", "row_without_message"}
    assert outcomes("first", "crash_before_answer") == {"consistent"}


def test_swallowed_exceptions_and_foreign_answers():
    assert outcomes("first", "local_swallows") == {"message_without_row"}
    assert {"message_without_row", "row_without_message"} <= outcomes("first", "check_other_application")


def test_consumers():
    assert outcomes("first", "consumer_fails_once") == {"consistent"}
    assert outcomes("first", "consumer_fails_once", idempotent=False) == {"consistent", "duplicate"}
    assert outcomes("first", "consumer_fails_always") == {"waiting"}


@pytest.mark.parametrize(
    ("placement", "failure", "worst"),
    [
        ("first", "local_slow", "duplicate"),
        ("first", "local_slow_answer_lost", "row_without_message"),
        ("last", "outer_commit_fails", "message_without_row"),
    ],
)
def test_where_the_published_verdicts_stop_holding(placement, failure, worst):
    (row,) = [row for row in table(failures=[failure]) if row["placement"] == placement]
    assert row["worst"] == worst and failure not in DOCUMENTED[placement]


def test_the_table_is_whole_and_in_both_languages():
    rows = table()
    assert {(row["placement"], row["failure"]) for row in rows} == {(p, f) for p in PLACEMENTS for f in FAILURES}
    for row in rows:
        assert row["worst"] in OUTCOMES
        for path in row["outcomes"].values():
            assert all(step.render("en") and step.render("zh") for step in describe(path))


assumptions = st.builds(
    Assumptions,
    looks_at_status=st.booleans(),
    looks_at_local_state=st.booleans(),
    no_row=st.sampled_from(["ROLLBACK", "UNKNOWN"]),
    last_answer=st.sampled_from(["COMMIT", "UNKNOWN"]),
    log_joins_outer=st.booleans(),
    producer_returns=st.booleans(),
    copies_apart=st.booleans(),
    idempotent=st.booleans(),
    check_max=st.integers(1, 4),
)


@given(st.sampled_from(PLACEMENTS), st.sampled_from(sorted(FAILURES)), assumptions, st.data())
def test_no_path_ends_outside_the_table(placement, failure, given_, data):
    def choose(options):
        return data.draw(st.sampled_from(list(options)))

    end = run(placement, failure, given_, choose)
    row = next(row for row in table(given_, [failure]) if row["placement"] == placement)
    assert end.outcome in row["outcomes"]
    assert set(end.path) <= set(STEPS)
    # What the outcome says is what is left.
    assert (end.outcome == "message_without_row") == (end.half != "live" and end.commits > 0 and end.row != "kept")
    assert (end.outcome == "row_without_message") == (end.half != "live" and end.commits == 0 and end.row == "kept")
    assert end.path.count("committed") == end.commits
    if end.outcome in BROKEN:
        assert (end.row == "kept") != (end.commits > 0)


ON_DISK = {
    "half stored": "half", "check COMMIT": "half", "check ROLLBACK": "half", "check UNKNOWN": "half",
    "committed": "commit", "discarded": "discard",
}  # fmt: skip
FOLDERS = {"m": "first", "p": "last", "q": "middle"}


def business_keys(name: str) -> tuple[dict[str, str], set[str]]:
    """{key prefix: placement} and the keys that have a business row."""
    prefixes, rows = {}, set()
    archive = HERE.parent / "sample_data" / f"{name}.tar.zst"
    with (
        archive.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as stream,
        tarfile.open(fileobj=stream, mode="r|") as tar,
    ):
        for member in tar:
            path = Path(member.name)
            if path.suffix != ".csv" or path.stem.endswith("tx_log") or path.parent.name not in FOLDERS:
                continue
            data = tar.extractfile(member)
            assert data
            found = {row["order_id"] for row in csv.DictReader(io.StringIO(data.read().decode()))}
            prefixes[next(iter(found))[:2]] = FOLDERS[path.parent.name]
            rows |= found
    return prefixes, rows


def histories(name: str) -> dict[str, list[str]]:
    """{business key: what its records are, in store order}; batched op records and consumer copies say nothing here."""
    found = defaultdict(list)
    for record in truth(name):
        props = record["properties"]
        if names.TRAN_MSG not in props or record["reconsume_times"]:
            continue
        kind = {names.HALF_TOPIC: "half", names.DISCARD_TOPIC: "discard", props[names.REAL_TOPIC]: "commit"}[
            record["topic"]
        ]
        found[props[names.KEYS]].append(kind)
    return found


@cache
def model_paths(placement: str) -> frozenset[tuple[tuple[str, ...], bool]]:
    """Every (history on disk, row kept) of the model, for the applications that were recorded."""
    found = set()
    for no_row in ("ROLLBACK", "UNKNOWN"):
        for last in ("COMMIT", "UNKNOWN"):
            for failure in FAILURES:
                for end in paths(placement, failure, Assumptions(no_row=no_row, last_answer=last, check_max=3)):
                    found.add((tuple(ON_DISK[step] for step in end.path if step in ON_DISK), end.row == "kept"))
    return frozenset(found)


def test_every_recorded_path_is_a_path_of_the_model():
    placements, rows = business_keys("transaction-consistency")
    assert sorted(placements.values()) == sorted(PLACEMENTS)
    seen = set()
    for key, history in histories("transaction-consistency").items():
        placement = placements[key[:2]]
        assert (tuple(history), key in rows) in model_paths(placement), (key, history)
        seen.add((placement, tuple(history), key in rows))
    assert len(seen) >= 12


def shape(history: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """Rounds of checks that change nothing are one: other brokers allow more of them than the model."""
    return tuple(
        kind
        for at, kind in enumerate(history)
        if kind != "half" or at < 2 or history[at - 2 : at] != type(history)(("half", "half"))
    )


@pytest.mark.parametrize("name", SMALL)
def test_every_recorded_transaction_has_a_path_in_some_placement(name):
    known = {shape(history) for placement in PLACEMENTS for history, _ in model_paths(placement)}
    for key, history in histories(name).items():
        assert shape(history) in known, (key, history)


def test_the_recorded_faults_are_those_the_model_predicts():
    placements, rows = business_keys("transaction-consistency")
    found = histories("transaction-consistency")
    lost = {placements[key[:2]] for key in rows if "commit" not in found[key]}
    ghosts = {placements[key[:2]] for key, history in found.items() if "commit" in history and key not in rows}
    twice = {placements[key[:2]] for key, history in found.items() if history.count("commit") > 1}
    assert lost == {"middle"}
    assert ghosts == {"first"} and "message_without_row" in outcomes("first", "local_swallows")
    assert twice == {"first"} and "duplicate" in outcomes("first", "local_slow")
