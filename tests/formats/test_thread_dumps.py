"""Threads of dumps as different JVMs and tools print them."""

import datetime as dt

import attrs
import pytest
from table import rows_of

from kit.formats import thread_dumps

JDK8 = rows_of(__file__, "jdk8")
JDK17 = rows_of(__file__, "jdk17")


@pytest.mark.parametrize("given", rows_of(__file__, "threads"), ids=lambda given: given["dump"])
def test_threads_of_a_dump(given):
    text = rows_of(__file__, given["dump"])
    assert thread_dumps.sniff(text.encode()) is given["is_dump"]
    for thread, expected in zip(thread_dumps.parse(text), given["threads"], strict=True):
        frames = dict(zip(("first_frame", "second_frame"), thread.frames, strict=False))
        found = attrs.asdict(thread) | frames | {"time": thread.time and str(thread.time)}
        assert {name: found[name] for name in expected} == expected


def test_dumps_in_one_output_are_told_apart_and_their_times_are_in_the_zone_given():
    both = thread_dumps.parse("some line of the application\n" + JDK17 + JDK8)
    assert [t.dump for t in both] == [0, 0, 1, 1]
    first = next(thread_dumps.read(JDK8.encode(), lambda ms: ms - 8 * 3_600_000))
    assert first["time"] == 1_000_000 * dt.datetime(2026, 11, 21, 23, 8, 20, tzinfo=dt.UTC).timestamp()
    # From each blank on to the last one took hours.
    (thread,) = thread_dumps.parse(JDK17.split("\n\n")[0] + '\n"main" #1 tid=0x1\n"' + "\u3000" * 1_000_000)[-1:]
    assert thread.thread == "main"
