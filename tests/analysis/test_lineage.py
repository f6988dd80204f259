"""One message's records in order: what each was copied from, what is missing between them."""

from __future__ import annotations

import datetime as dt
from typing import Any

from kit.analysis.messages import copies
from kit.rocketmq import names, stages

START = dt.datetime(2024, 5, 14, 2, tzinfo=dt.UTC)
HOST = "0A140D0B00002A9F"
KEY = "0A140D1500000C387F4466D0DB3F0003"
GROUP = "points"


def record(n: int, stage: str, topic: str, **more: Any) -> dict[str, Any]:
    base = {
        "uniq_key": KEY,
        "file": "f",
        "physical_offset": n,
        "offset_msg_id": f"{HOST}{n:016X}",
        "topic": topic,
        "stage": stage,
        "sys_flag": 0,
        "store_timestamp": START + dt.timedelta(seconds=n),
        "store_host": "h",
        "reconsume_times": 0,
        "prepared_transaction_offset": 0,
        "queue_offset": n,
        "born_host": "p",
        "real_topic": None,
        "check_times": None,
        "delay_level": None,
        "origin_message_id": None,
        "resent": False,
        "due": None,
        "consumer_group": None,
        "link": None,
    }
    return base | more


def life() -> list[dict[str, Any]]:
    retry, dlq = names.retry_topic(GROUP), names.dlq_topic(GROUP)
    first = f"{HOST}{3:016X}"
    back = {"consumer_group": GROUP, "origin_message_id": first}
    return [
        record(1, stages.HALF, names.HALF_TOPIC, real_topic="orders"),
        record(2, stages.CHECK_BACK, names.HALF_TOPIC, real_topic="orders", check_times=1),
        record(3, stages.COMMIT, "orders", sys_flag=8, prepared_transaction_offset=2),
        record(4, stages.SCHEDULE, names.SCHEDULE_TOPIC, reconsume_times=1, real_topic=retry, delay_level=3, **back),
        record(5, stages.RETRY, retry, reconsume_times=1, real_topic=retry, **back),
        record(6, stages.SCHEDULE, names.SCHEDULE_TOPIC, reconsume_times=2, real_topic=dlq, delay_level=4, **back),
        record(7, stages.DLQ, dlq, reconsume_times=2, **back),
    ]


def op(n: int) -> dict[str, Any]:
    return {"half_offset_msg_id": f"{HOST}{n:016X}"}


def kinds(records: list[dict[str, Any]], ops: list[dict[str, Any]] = (), end: dt.datetime | None = None) -> list[str]:
    return [gap["kind"] for gap in copies.gaps(copies.with_lineage(records), list(ops), end)]


def test_each_copy_names_the_one_it_was_written_from() -> None:
    told = copies.with_lineage(life())
    assert [r["copied_from"] and int(r["copied_from"][-16:], 16) for r in told] == [None, 1, 2, 3, 4, 5, 6]
    why = [r["why"].render("en") for r in told]
    assert all("new offset id" in text for text in why[1:]) and "new offset id" not in why[0]
    assert "Check 1" in why[1] and "offset 2" in why[2] and "retry 1" in why[4].lower() and "gave it up" in why[6]
    assert all(any("\u4e00" <= c <= "\u9fff" for c in r["why"].render("zh")) for r in told)


def test_a_whole_life_has_no_gap() -> None:
    assert kinds(life(), [op(1), op(2)]) == []


def test_a_missing_link_is_named_and_the_rest_still_told() -> None:
    records = life()
    assert kinds([r for r in records if r["physical_offset"] != 2], [op(1)]) == ["half-missing"]
    assert kinds([r for r in records if r["physical_offset"] > 3]) == ["first-missing"]
    assert kinds([r for r in records if r["physical_offset"] not in (3, 4)], [op(1)]) == ["origin-missing"]
    bare = [r | {"origin_message_id": None} for r in records if r["physical_offset"] not in (3, 4)]
    assert kinds(bare, [op(1)]) == ["source-missing"]
    lost = [
        r | ({"uniq_key": None, "link": names.ORIGIN_MESSAGE_ID} if r["physical_offset"] == 5 else {}) for r in records
    ]
    assert "uniq-missing" in kinds(lost, [op(2)])


def test_transactions_that_never_ended() -> None:
    assert kinds(life()[:1]) == ["pending"]
    assert kinds(life()[:1], [op(1)]) == []
    assert kinds(life()[:3], [op(1)]) == ["op-missing"]
    assert kinds([*life()[:1], record(2, stages.CHECK_BACK, names.HALF_TOPIC, check_times=3)]) == [
        "check-missing",
        "pending",
    ]


def test_what_waits_is_late_only_when_the_evidence_outlasts_it() -> None:
    waiting = [*life()[:3], life()[3] | {"due": START + dt.timedelta(seconds=14)}]
    assert kinds(waiting, [op(2)], START + dt.timedelta(seconds=60)) == ["due-missing"]
    assert kinds(waiting, [op(2)], START + dt.timedelta(seconds=10)) == ["not-due"]


def test_a_second_send_and_a_second_commit_are_told_apart() -> None:
    twice = [record(1, stages.ORIGINAL, "orders"), record(2, stages.ORIGINAL, "orders")]
    assert "sent the same message again" in copies.with_lineage(twice)[1]["why"].render("en")
    assert "new offset id" in copies.with_lineage(twice)[1]["why"].render("en")
    commits = [*life()[:3], record(9, stages.COMMIT, "orders", sys_flag=8, prepared_transaction_offset=1)]
    assert "second time" in copies.with_lineage(commits)[-1]["why"].render("en")
