"""Charts of consumers: their tables, and the sentences that read them."""

from __future__ import annotations

import pandas as pd

from kit.charts.consumers import groups as consumers

START = pd.Timestamp("2026-11-22 07:00:00")


def test_the_lag_of_the_group_that_lags_most_is_drawn() -> None:
    rows = [
        (START + pd.Timedelta(minutes=m), "copy", group, "orders", "a", queue, 10, 10 + lag, lag)
        for m in (0, 1)
        for group, lag in (("slow", 100 * (m + 1)), ("quick", 1))
        for queue in (0, 1)
    ]
    columns = ["time", "source", "group", "topic", "broker", "queue_id", "offset", "end", "lag"]
    chart = consumers.lag(pd.DataFrame(rows, columns=columns))
    assert len(chart.figure.data) == 2 and len(chart.table) == 8
    assert chart.reading == "orders@slow lags most: 400 messages at the end, in 2 queues."


def test_a_queue_of_two_processes_is_counted_and_a_hand_over_is_not() -> None:
    minute = pd.Timedelta(minutes=1)
    rows = [
        ("p", "1", "orders", "a", 0, START, None),
        ("q", "1", "orders", "a", 0, START + minute, None),
        ("p", "1", "orders", "a", 1, START, START + minute),
        ("q", "1", "orders", "a", 1, START + minute, START + 3 * minute),
    ]
    columns = ["place", "client_id", "topic", "broker", "queue_id", "first", "last"]
    chart = consumers.owners(pd.DataFrame(rows, columns=columns))
    assert chart.reading == "1 of 2 queues was pulled by more than one process at the same time."
    assert len(chart.figure.data) == 2 and len(chart.table) == 4


def test_what_nobody_handled_is_read_out() -> None:
    frame = pd.DataFrame([("orders", 805, 134, 671, 0)], columns=["topic", "stored", "handled", "behind", "front"])
    chart = consumers.handled(frame)
    assert chart.reading == "671 of 805 stored messages were not handled by anybody in the group."
    assert consumers.handled(frame.assign(behind=None)).reading.startswith("What was handled is not known")


def test_threads_in_one_frame_stand_out() -> None:
    columns = ["file", "dump", "time", "group", "thread", "state", "frame", "waiting_for", "deadlocked"]
    rows = [
        ("j.txt", 0, None, "g", f"t{n}", "RUNNABLE", "com.shop.A.b" if n < 3 else None, None, False) for n in range(4)
    ]
    chart = consumers.stacks(pd.DataFrame(rows, columns=columns))
    assert chart.reading == "3 of 4 consuming threads are in com.shop.A.b."


def test_nothing_known_is_said() -> None:
    for draw in (consumers.lag, consumers.owners, consumers.handled, consumers.stacks):
        chart = draw(pd.DataFrame())
        assert "not known" in chart.reading or "no thread dump" in chart.reading
