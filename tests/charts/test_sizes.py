"""Charts of sizes: numbers from the reference's arithmetic."""

import pandas as pd
from chart_frames import HALF, NEAR, QUEUE, stages
from incidents import START

from kit.charts import sizes


def test_fields_stack_up_to_the_put_back_that_does_not_fit() -> None:
    chart = sizes.fields(stages())
    broker = sum(len(k) + len(HALF[k]) + 2 for k in ("CLUSTER", "REAL_TOPIC", "REAL_QID"))
    sent = 990 - broker - len("RMQ_SYS_TRANS_HALF_TOPIC") + len("orders")
    assert list(chart.table["total"]) == [700, sent, 990, 1016]
    assert "the limit leaves 300" in chart.reading and "16 bytes too many" in chart.reading
    assert "too many" not in sizes.fields(stages(None)).reading


def test_near_limit_leaves_out_what_is_far_below() -> None:
    chart = sizes.near_limit(NEAR)
    assert list(chart.table["queue_offset"]) == [7, 8, 9, 10]
    assert "1 looping, 1 more" in chart.reading


def test_refusals_are_one_row_a_file() -> None:
    row = {
        "file": "store.log", "writer": "put_back", "event": "message-size-exceeded", "count": 900_000, "msg_id": None,
        "first": START, "last": START, "total": 4001, "limit": 4000,
    }  # fmt: skip
    text = sizes.refusals(pd.DataFrame([row]), lang="zh").as_text()
    assert "900,000" in text and "4,001" in text and "回查：回写" in text


def test_the_queue_says_what_is_behind_the_check() -> None:
    assert "at offset 18 of 50: 32 records" in sizes.half_queue(QUEUE).reading
    assert "50" in sizes.half_queue(QUEUE.query("line == 'stored'")).reading


def given(**more: object) -> pd.DataFrame:
    """A row of the what-if: as `message-size-mismatch` makes it."""
    row = {
        "topic": "orders", "body": 700, "properties": '{"KEYS": "K1"}', "broker": "4.6.0", "limit": 1000,
        "producer_group": "g", "check_max": 15, "dledger": False, "v6": False, "cluster": "c", "extra": 0,
        "safe_body": 650,
    }  # fmt: skip
    return pd.DataFrame([row | more])


def test_what_if_marks_what_is_refused_and_says_whose_it_is() -> None:
    chart = sizes.room(given())
    left = dict(zip(chart.table["stage"], chart.table["left"], strict=True))
    rest = sum(len(k) + len(v) + 2 for k, v in HALF.items())
    assert left["half message"] == 1000 - 700 - 91 - len("RMQ_SYS_TRANS_HALF_TOPIC") - rest
    assert set(chart.table["fate"]) == {"stored"}
    larger = sizes.room(given(), 900).table
    assert set(larger.loc[larger["left"] < 0, "fate"]) == {"refused"}
    assert larger["left"].min() == chart.table["left"].min() - 200
    assert all(said in chart.reading for said in ("orders", "4.6.0", "1,000", "650"))
    # Nothing in it depends on a consumer group, of which this evidence says nothing.
    assert not any("RETRY" in topic or "DLQ" in topic for topic in chart.table["topic"])
    assert set(sizes.room(given(broker="4.9.4")).table["left"]) == {300}
    assert set(sizes.room(given(broker="5.1.4"), 1001).table["fate"]) == {"refused"}
    # What the arithmetic does not explain stays in every copy.
    assert set(sizes.room(given(extra=7)).table["bytes"] - chart.table["bytes"]) == {7}
    for nothing in (sizes.room(given().head(0)), sizes.explore_room(given().head(0))):
        assert not nothing.figure.data and "nothing to calculate with" in nothing.reading
