"""Half records that do not fit any longer, and what becomes of the transactions they belong to."""

from typing import Any

import asked

HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
LIMITS = {
    "how": "total", "max_size": 1000, "total_max": 1000, "body_max": None, "dledger_max": None, "properties_max": 32767,
    "check_max": 15,
}  # fmt: skip


def half(offset: int, size: int, **more: Any) -> dict[str, Any]:
    """Return a half record of `size` bytes, 500 of which are body."""
    record = {
        "file": "log", "topic": HALF, "stage": "half", "property_REAL_TOPIC": "orders", "sys_flag": 4, "body_size": 500,
        "store_size": size,
    }  # fmt: skip
    record |= {
        "queue_offset": offset,
        "physical_offset": 1000 * offset,
        "store_timestamp": asked.at(offset),
        "uniq_key": f"K{offset}",
    }
    return record | {"offset_msg_id": f"{offset:032X}"} | more


def of_halves(table: str, *records: dict[str, Any], **given: Any) -> list[dict[str, Any]]:
    known = {
        "half_brokers": [{"file": "log", "host": "H", "broker": "host H"}],
        "size_limits": [{"broker": each, "raw_put_backs": False, **LIMITS} for each in (None, "host H")],
        "raw_half_bodies": [{"file": "none", "physical_offset": 0, "raw_size": 1}],
    }
    return asked.rows(table, records=list(records), **{**known, **given})


def open_ones(*offsets: int) -> list[dict[str, Any]]:
    ids = (
        asked.case(records=[half(n, 900) for n in offsets])
        .tables.frame("records")
        .select("id", "queue_offset")
        .collect()
    )
    return [
        {"id": r.id, "uniq_key": f"K{r.queue_offset}", "state": "pending", "last_queue": r.queue_offset} for r in ids
    ]


def test_open_transactions_that_do_not_fit_are_misfits() -> None:
    rows = of_halves(
        "half_misfits", half(1, 990), half(2, 980), half(3, 700), half(4, 999), transactions=open_ones(1, 3, 4)
    )
    assert [(r["queue_offset"], r["state"], r["last_size"], r["transactions"], r["largest"]) for r in rows] == [
        (1, "pending", 1017, 2, 1026),
        (4, "pending", 1026, 2, 1026),
    ]


def test_a_record_loops_that_the_log_names_or_whose_sizes_it_prints() -> None:
    records, state = [half(1, 990), half(2, 990), half(3, 700)], open_ones(2, 3)
    printed = {"event": "message-size-exceeded", "writer": "put_back", "total": 1016, "body": 500, "msg_id": None}
    (row,) = of_halves("half_looping", *records, transactions=state, size_refusals=[printed | {"msg_id": "x"}])
    assert row["queue_offset"] == 2, "the first open one of those with these sizes"
    named = {"event": "put-back-failed", "writer": "put_back", "total": None, "body": None, "msg_id": f"{3:032x}"}
    (row,) = of_halves("half_looping", *records, transactions=state, size_refusals=[printed, named])
    assert (row["queue_offset"], row["next_refused"]) == (3, None)


def test_what_waits_behind_the_record_at_which_the_check_is_stuck() -> None:
    looping = [
        {"queue_offset": n, "offset_msg_id": str(n), "file": "log", "next_refused": why}
        for n, why in ((2, None), (3, "total"))
    ]
    misfits = [{"queue_offset": 1}]
    (row,) = asked.rows("half_waiting", half_looping=looping, half_misfits=misfits, transactions=open_ones(1, 3, 4, 5))
    assert row == {"stuck": 3, "waiting": 2}


def test_the_largest_half_records_have_their_fate() -> None:
    looping = [{"offset_msg_id": f"{1:032X}"}]
    records = [half(n, size) for n, size in ((1, 990), (2, 985), (3, 700), (4, 995))]
    rows = of_halves("half_near_limit", *records, transactions=open_ones(1, 2, 3), half_looping=looping)
    assert [(r["queue_offset"], r["fate"], r["limit"]) for r in rows] == [
        (4, "ended", 1000), (1, "refused", 1000), (2, "at_risk", 1000), (3, "fits", 1000),
    ]  # fmt: skip


def test_marks_of_the_release_that_wrote_half_records() -> None:
    text = "x" * (700 - 91 - 500 - len(HALF) - 1)
    (row,) = of_halves(
        "half_writers",
        half(1, 700, properties_text=text, property_CLUSTER="c"),
        half(2, 700, properties_text=text + "y"),
    )
    assert row == {
        "broker": "host H", "region": False, "transaction_id": False, "cluster": True, "unseparated": True, "release": "4.6.0",
    }  # fmt: skip


def test_a_long_curve_of_the_half_queue_is_thinned() -> None:
    long = asked.rows("half_queue", records=[half(n, 700) for n in range(1000)])
    assert len(long) <= 401 and long[-1]["offset"] == 1000
