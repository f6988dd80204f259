"""Result tables as CSV: no spreadsheet runs what evidence put into a cell or a header."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from kit.report import write

HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1＋1", "＋1", "－1", "＠SUM(A1)"]


@pytest.mark.parametrize("text", HOSTILE)
def test_neither_a_cell_nor_a_header_is_a_formula(tmp_path: Path, text: str) -> None:
    write.csv(pd.DataFrame({text: [text, "plain"], "n": [-1, 2.5]}), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        head, first, second = list(csv.reader(file))
    assert head[0].startswith("'") and first[0].startswith("'")
    assert (head[1], first[1], second) == ("n", "-1.0", ["plain", "2.5"])


def test_a_line_number_is_whole_beside_an_unknown_one(tmp_path: Path) -> None:
    columns = {
        "line": [8, None],
        "seconds": [8.0, 2.0],
        "share": [0.5, None],
        "unknown": [None, None],
        "end": [float("inf"), None],
    }
    write.csv(pd.DataFrame(columns), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "line,seconds,share,unknown,end\n8,8.0,0.5,,inf\n,2.0,,,\n"
