"""What log entries with known texts say, read without Spark: values, counts, first and last places."""

from __future__ import annotations

from pathlib import Path

import kit
from kit.case import columnar, log_events, statements

LOG = """\
2026-11-20 10:00:00,000 INFO RocketmqClient - createChannel: connect remote host[10.1.2.3:10911] success, DefaultChannelPromise@1(success)
2026-11-20 10:00:01,000 WARN RocketmqClient - createChannel: connect remote host[10.1.2.4:10911] failed, AbstractBootstrap@2(failure)
2026-11-20 10:00:07,000 WARN RocketmqClient - createChannel: connect remote host[10.1.2.4:10911] failed, AbstractBootstrap@3(failure)
2026-11-20 10:00:09,000 INFO RocketmqClient - nothing anybody knows
"""


def test_alike_statements_are_one_with_their_number_and_places(tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "rocketmq_client.log").write_text(LOG)
    case = kit.open_case(tmp_path / "evidence", tmp_path / "ws", tz_app="+00:00")
    case.eager = False
    found = statements.counted(case, ("client-connect",), by=("address",)).sort_values("line")
    shown = found[["address", "n", "line", "last_line"]].to_numpy().tolist()
    assert shown == [["10.1.2.3:10911", 1, 1, 1], ["10.1.2.4:10911", 2, 2, 3]]
    assert (found["last"] - found["first"]).dt.total_seconds().tolist() == [0.0, 6.0]
    marks = {"bad": ("failure", "refused")}
    rows = columnar.to_pandas(log_events.events(case, ("client-connect",), ("line",), marks=marks))
    assert rows.sort_values("line")["bad"].tolist() == [False, True, True]
    marked = statements.counted(case, ("client-connect",), by=(), marks=marks)
    assert marked.sort_values("line")[["bad", "n"]].to_numpy().tolist() == [[False, 1], [True, 2]]
    assert marked["bad"].dtype == bool
    none = statements.counted(case, ("client-created",), ranges=("count",))
    assert none.empty and {"client_id", "n", "first", "file"} <= set(none.columns)
