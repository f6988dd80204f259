"""Charts of sizes: numbers from the reference's arithmetic, empty frames, hostile text, both languages."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest
from incidents import HOSTILE, START

from kit.charts.sizes import growth, limit
from kit.i18n import LANGS
from kit.rocketmq import record_fields

HALF = {
    "KEYS": "K1", "TRAN_MSG": "true", "UNIQ_KEY": "0" * 32, "WAIT": "true", "PGROUP": "g", "CLUSTER": "c",
    "REAL_TOPIC": "orders", "REAL_QID": "0",
}  # fmt: skip


def stages(limit: int | None = 1000, size: int = 990) -> pd.DataFrame:
    record = SimpleNamespace(
        topic="RMQ_SYS_TRANS_HALF_TOPIC", body_size=700, store_size=size, properties=HALF, offset_msg_id="AB"
    )
    return record_fields.stages(record, 700, limit)


def near() -> pd.DataFrame:
    rows = [
        (7, 990, 1017, "refused"), (8, 985, 1012, "at_risk"), (9, 970, 997, "fits"), (10, 999, 1026, "ended"),
        (11, 300, 327, "fits"),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["queue_offset", "store_size", "last_size", "fate"]).assign(
        offset_msg_id=HOSTILE, limit=1000
    )


def queue() -> pd.DataFrame:
    rows = [(0, 4, "stored"), (1, 0, "checked"), (2, 50, "stored"), (3, 18, "checked"), (9, 18, "checked")]
    frame = pd.DataFrame(rows, columns=["s", "offset", "line"])
    return frame.assign(ts=START + pd.to_timedelta(frame.pop("s"), unit="s"))


def test_fields_stack_up_to_the_put_back_that_does_not_fit() -> None:
    chart = growth.fields(stages())
    totals = dict(zip(["checked", "sent", "half", "put_back"], chart.table["total"], strict=True))
    broker = sum(len(k) + len(HALF[k]) + 2 for k in ("CLUSTER", "REAL_TOPIC", "REAL_QID"))
    assert totals == {
        "checked": 700,
        "sent": 990 - broker - len("RMQ_SYS_TRANS_HALF_TOPIC") + len("orders"),
        "half": 990,
        "put_back": 1016,
    }
    assert "the limit leaves 300" in chart.reading and "16 bytes too many" in chart.reading
    assert "too many" not in growth.fields(stages(None)).reading


def test_near_limit_leaves_out_what_is_far_below() -> None:
    chart = limit.near_limit(near())
    assert list(chart.table["queue_offset"]) == [7, 8, 9, 10]
    assert "1 looping, 1 more" in chart.reading


def test_refusals_are_one_row_a_file() -> None:
    row = {
        "file": "store.log", "writer": "put_back", "event": "message-size-exceeded", "count": 900_000, "msg_id": None,
    }  # fmt: skip
    row |= {"first": START, "last": START, "total": 4001, "limit": 4000}
    text = limit.refusals(pd.DataFrame([row]), lang="zh").as_text()
    assert "900,000" in text
    assert "4,001" in text
    assert "回查：回写" in text


def test_the_queue_says_what_is_behind_the_check() -> None:
    assert "at offset 18 of 50: 32 records" in limit.half_queue(queue()).reading
    assert "50" in limit.half_queue(queue().query("line == 'stored'")).reading


def given(**more: object) -> pd.DataFrame:
    """A row of the what-if: as `kit.analysis.sizes.half_records.start` makes it."""
    row = {
        "topic": "orders", "body": 700, "properties": '{"KEYS": "K1"}', "broker": "4.6.0", "limit": 1000,
        "producer_group": "g", "check_max": 15, "dledger": False, "v6": False, "cluster": "c", "extra": 0,
        "safe_body": 650,
    }  # fmt: skip
    return pd.DataFrame([row | more])


def test_what_if_marks_what_is_refused_and_says_whose_it_is() -> None:
    chart = growth.room(given())
    left = dict(zip(chart.table["stage"], chart.table["left"], strict=True))
    rest = sum(len(k) + len(v) + 2 for k, v in HALF.items())
    assert left["half message"] == 1000 - 700 - 91 - len("RMQ_SYS_TRANS_HALF_TOPIC") - rest
    assert set(chart.table["fate"]) == {"stored"}
    larger = growth.room(given(), 900).table
    assert (
        set(larger.loc[larger["left"] < 0, "fate"]) == {"refused"}
        and larger["left"].min() == chart.table["left"].min() - 200
    )
    for said in ("orders", "4.6.0", "1,000", "650"):
        assert said in chart.reading
    # Nothing in it depends on a consumer group, of which this evidence says nothing.
    assert not any("RETRY" in topic or "DLQ" in topic for topic in chart.table["topic"])
    body_only = growth.room(given(broker="4.9.4"))
    assert set(body_only.table["left"]) == {300}
    assert set(growth.room(given(broker="5.1.4"), 1001).table["fate"]) == {"refused"}


def test_what_the_arithmetic_does_not_explain_stays_in_every_copy() -> None:
    plain, more = growth.room(given()).table, growth.room(given(extra=7)).table
    assert list(more["bytes"] - plain["bytes"]) == [7] * len(plain)


def test_without_a_known_limit_there_is_a_sentence_and_no_chart() -> None:
    for nothing in (growth.room(given().head(0)), growth.explore_room(given().head(0))):
        assert not nothing.figure.data and "nothing to calculate with" in nothing.reading


@pytest.mark.parametrize("lang", LANGS)
def test_every_chart_speaks_both_languages_and_bears_nothing_to_draw(lang: str) -> None:
    for draw, frame in ((growth.fields, stages()), (limit.near_limit, near()), (limit.half_queue, queue())):
        for given in (frame, frame.iloc[0:0]):
            chart = draw(given, lang=lang)
            assert all("{" not in text for text in (chart.reading, chart.alt, chart.title))
            assert any("\u4e00" <= c <= "\u9fff" for c in chart.title) == (lang == "zh")
            assert set(chart.names) == set(chart.table.columns)
            assert "<script" not in chart.figure.to_json()


def test_colour_is_never_the_only_difference() -> None:
    bars = growth.fields(stages()).figure.data
    assert len({bar.marker.pattern.shape for bar in bars}) >= len(bars) - 1
    assert len({trace.marker.symbol for trace in limit.near_limit(near()).figure.data}) == 4
    assert {trace.line.dash for trace in limit.half_queue(queue()).figure.data} == {"solid", "dash"}
