"""What changed between two findings.json."""

import copy

import pytest
from table import rows_of

from kit.report.compare import ABSENT, Change, compare, is_findings, render, rows

BLOWUP, BUSY = rows_of(__file__, "findings")


def side(*findings, roots=("half-topic-blowup",), files="1"):
    evidence = {"files": [{"sha256": digit} for digit in files]}
    return copy.deepcopy({"schema": 1, "evidence": evidence, "root_causes": roots, "findings": list(findings)})


BEFORE = side(BLOWUP, BUSY)


@pytest.mark.parametrize("row", rows_of(__file__, "differences"), ids=lambda row: row["name"])
def test_differences(row):
    after = side(*(one | row.get(one["cause"], {}) for one in (BLOWUP, BUSY)), **row.get("of_all", {}))
    assert compare(BEFORE, after) == [Change(*each) for each in row["changes"]]


def test_a_cause_only_one_side_knows():
    assert compare(BEFORE, side(BLOWUP))[0] == Change("broker-busy", "verdict", "", "insufficient_evidence", ABSENT)
    assert compare(side(BLOWUP), BEFORE)[0] == Change("broker-busy", "verdict", "", ABSENT, "insufficient_evidence")


def test_unknown_is_neither_zero_nor_absent():
    told = rows([Change("c", "figure", "x_y", None, ABSENT), Change("c", "figure", "n", 4, 1.5)])
    assert [(row["what"], row["before"], row["after"], row["change"]) for row in told] == [
        ("x y", "unknown", "absent", ""), ("n", "4", "1.5", "-2.5"),
    ]  # fmt: skip


def test_a_table_safe_for_a_terminal():
    title = "The half topic \x1b[31mfeeds itself"
    titled = BLOWUP | {"verdict": "ruled_out", "figures": BLOWUP["figures"] | {"leaked_messages": 0}, "title": title}
    text = render(compare(BEFORE, side(titled, BUSY)))
    assert "\x1b" not in text
    assert all(word in text for word in ("confirmed", "ruled out", "messages leaked into the half topic", " -4"))
    assert (render([]), render([], "zh")) == ("No verdict and no figure changed.", "结论与数字均无变化。")


@pytest.mark.parametrize("bad", rows_of(__file__, "no_findings"))
def test_what_is_no_findings_json(bad):
    assert is_findings(BEFORE) and not is_findings(bad)
