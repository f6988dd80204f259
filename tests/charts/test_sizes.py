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
