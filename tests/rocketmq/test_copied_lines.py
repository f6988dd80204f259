"""Lines as `cat -n` and `grep` show them lose what stands in front; nothing else loses anything."""

import pytest
from table import rows_of

from kit.rocketmq import copied_lines

LINE = "2026-11-20 22:34:20 WARN main - a"


@pytest.mark.parametrize("row", copied_lines.ROWS, ids=lambda row: row.by)
def test_the_example_of_a_row_loses_what_stands_in_front(row):
    assert copied_lines.bare(row.example) == LINE != row.example


@pytest.mark.parametrize("line", rows_of(__file__, "other_lines_stay"))
def test_other_lines_stay(line):
    assert copied_lines.bare(line) == line


@pytest.mark.parametrize(("shown", "left"), rows_of(__file__, "lines_without_a_time"))
def test_lines_without_a_time_lose_it_where_most_have_it(shown, left):
    assert copied_lines.all_bare(shown) == left
