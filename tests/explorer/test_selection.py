"""A selection as a value: what it leaves of a frame, its command line."""

import datetime as dt
import shlex
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import kit
from kit.explorer import Selection

UTC = dt.UTC


def test_it_is_made_of_plain_arguments_and_gives_them_back() -> None:
    chosen = Selection("2026-11-20T10:00:00+08:00", "", topics="T", levels=["WARN", "ERROR", "WARN"])
    assert chosen.since == dt.datetime(2026, 11, 20, 2, tzinfo=UTC) and chosen.until is None
    assert chosen.as_dict() == {"since": "2026-11-20T02:00:00+00:00", "topics": ["T"], "levels": ["WARN", "ERROR"]}
    assert Selection(**chosen.as_dict()) == chosen
    assert chosen.options() == {"since": "2026-11-20T02:00:00+00:00"}
    with pytest.raises(ValueError, match="ISO"):
        Selection("yesterday")


def test_two_leave_what_both_leave() -> None:
    wide = Selection("2026-11-20T00:00", "2026-11-20T10:00", topics=["A", "B"])
    narrow = Selection("2026-11-20T01:00", "2026-11-20T11:00", topics=["B"], stages="half")
    both = wide & narrow
    assert (both.since, both.until) == (narrow.since, wide.until)
    assert (both.topics, both.stages) == (("B",), ("half",))
    assert wide & Selection() == wide


def test_it_narrows_any_table_by_the_columns_it_knows() -> None:
    chosen = Selection("2026-11-20T00:00:01", "2026-11-20T00:00:02", topics="T", events=["busy"])
    times = pd.to_datetime([f"2026-11-20T00:00:0{n}" for n in range(4)])
    frame = pd.DataFrame({"store_timestamp": times, "topic": ["T", "T", "U", "T"], "n": range(4)})
    assert list(chosen.keep(frame)["n"]) == [1]
    logs = pd.DataFrame({"ts": times.tz_localize("UTC"), "events": [["busy"], ["busy"], [], ["busy"]], "n": range(4)})
    assert list(chosen.keep(logs)["n"]) == [1]
    # A row that names several, and rows that name nothing.
    named = pd.DataFrame({"event": ["busy", None, float("nan")], "topic": pd.Categorical(["T", None, "U"])})
    assert list(chosen.keep(named).index) == [0]
    other = pd.DataFrame({"n": range(3)})
    assert len(chosen.keep(other)) == 3 and list(chosen.keep(frame.head(0)).columns) == list(frame.columns)


def test_values_are_quoted_in_the_shell(tmp_path: Path) -> None:
    evidence = tmp_path / "it's; $(touch x) evidence.log"
    evidence.write_text("x\n")
    case = kit.open_case(evidence, tmp_path / "ws", tz_app="+08:00")
    line = Selection("2026-11-20", topics="$(touch y)").cut(case, "out dir")
    words = shlex.split(line)
    assert words[:5] == ["rmq-kit", "cut", str(evidence), "--out", "out dir"]
    assert words[5:] == ["--tz-app", "+08:00", "--since", "2026-11-20T00:00:00+00:00", "--topic", "$(touch y)"]
    said = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert said.stdout.splitlines() == words
    # `cut` takes one topic: with several it keeps more, and says so.
    told, command = Selection(topics=["a", "b"], levels="WARN", text="x").cut(case).split("\n")
    assert "--topic" not in command and command.startswith("rmq-kit cut ")
    assert told.startswith("# ") and told.endswith(": topic, level, text")
