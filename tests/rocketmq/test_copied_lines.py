"""Lines as `cat -n` and `grep` show them lose what stands in front; nothing else loses anything."""

import pytest

from kit.rocketmq import copied_lines
from kit.rocketmq.copied_lines import Shown

LINE = "2026-11-20 22:34:20 WARN main - a"


@pytest.mark.parametrize("row", copied_lines.ROWS, ids=lambda row: row.by)
def test_the_example_of_a_row_loses_what_stands_in_front(row: Shown) -> None:
    assert copied_lines.bare(row.example) == LINE != row.example


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        f"[{LINE}",
        f"host-a {LINE}",
        f"INFO {LINE}",
        f"abc-{LINE}",
        "123: no time",
        "10.0.0.7:10911-a",
        f"#1 {LINE}",
    ],
)
def test_other_lines_stay(line: str) -> None:
    assert copied_lines.bare(line) == line


@pytest.mark.parametrize(
    ("shown", "left"),
    [
        ([f"7:{LINE}", "8-\tat a.B.c(D.java:5)", "--", f"20-{LINE}"], [LINE, "\tat a.B.c(D.java:5)", "", LINE]),
        (
            [f"     7\t{LINE}", "     8\tjava.io.IOException: no", "     9\t\tat a.B.c(D.java:5)"],
            [LINE, "java.io.IOException: no", "\tat a.B.c(D.java:5)"],
        ),
        ([f"a/x.log:7:{LINE}", "a/x.log-8-\tat a.B.c(D.java:5)"], [LINE, "\tat a.B.c(D.java:5)"]),
        # The text of a person around one copied line is not a list of lines with numbers.
        ([f"7:{LINE}", "8-byte ids", "see below", "and here"], [LINE, "8-byte ids", "see below", "and here"]),
        (["1-2 lines", "--", LINE], ["1-2 lines", "--", LINE]),
    ],
)
def test_lines_without_a_time_lose_it_where_most_have_it(shown: list[str], left: list[str]) -> None:
    assert copied_lines.all_bare(shown) == left
