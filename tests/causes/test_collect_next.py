"""What to collect next: a window of the store and never all of it, what the host kept of a past time, known names filled
in and quoted."""

from __future__ import annotations

import datetime as dt

from kit.causes import collect_next
from kit.i18n import T

WHY = T("it decides")
WINDOW = (dt.datetime(2024, 5, 14, 23, 58, tzinfo=dt.UTC), dt.datetime(2024, 5, 15, 0, 20, tzinfo=dt.UTC))


def test_the_store_is_cut_to_the_window_with_a_check_of_free_space() -> None:
    wanted = collect_next.commitlog(WHY).command
    assert "tar " not in wanted and "rmq-kit collect" in wanted and "--max-gb" in wanted
    told = collect_next.filled(wanted, {}, collect_next.widened(WINDOW))
    assert "--since 2024-05-14T23:53Z --until 2024-05-15T00:25Z" in told
    assert "since" not in collect_next.filled(wanted, {}, None)


def test_a_past_time_asks_for_what_the_host_kept_of_it() -> None:
    wanted = collect_next.host_metrics(WHY).command
    told = collect_next.filled(wanted, {}, collect_next.widened(WINDOW))
    assert "sar -A -f" in told and "sa14" in told and "sa15" in told and "iostat" not in told and "gc" in told
    assert "iostat -dxt 1 60" in collect_next.filled(wanted, {}, None)


def test_rolled_logs_of_all_releases_are_asked_for() -> None:
    wanted = collect_next.broker_log("transaction.log", WHY).command
    assert "otherdays/transaction" in wanted and "other_days/transaction" in wanted


def test_known_names_are_put_in_and_quoted() -> None:
    names = {"~/store": "/data/mq store", "NAMESRV:9876": "10.0.0.1:9876", "BROKER:10911": "$(reboot):10911"}
    assert collect_next.filled("x ~/store NAMESRV:9876 BROKER:10911", names, None) == (
        "x '/data/mq store' 10.0.0.1:9876 '$(reboot):10911'"
    )
