"""What changed between two findings.json."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kit.report.compare import ABSENT, Change, compare, render, rows

BEFORE: dict[str, Any] = {
    "schema": 1,
    "evidence": {"files": [{"file": "a", "sha256": "1"}]},
    "root_causes": ["half-topic-blowup"],
    "findings": [
        {
            "cause": "half-topic-blowup",
            "verdict": "confirmed",
            "missing": [],
            "figures": {"leaked_messages": 4, "doubling_seconds": 5.5, "retry_topic_length": None},
        },
        {
            "cause": "broker-busy",
            "verdict": "insufficient_evidence",
            "missing": [{"artefact": "client log"}],
            "figures": {"errors_by_kind": {"OVERLOAD": 2}, "stalls": []},
        },
    ],
}


def changed(**edits: Any) -> dict[str, Any]:
    after = copy.deepcopy(BEFORE)
    for path, value in edits.items():
        at: Any = after
        *way, last = path.split("__")
        for step in way:
            at = at[int(step)] if step.isdigit() else at[step]
        at[int(last) if last.isdigit() else last] = value
    return after


def test_the_same_has_no_changes():
    assert compare(BEFORE, copy.deepcopy(BEFORE)) == []
    assert render([]) == "No verdict and no figure changed."
    assert render([], "zh") == "结论与数字均无变化。"


def test_verdict_and_figures():
    after = changed(root_causes=[], findings__0__verdict="ruled_out", findings__0__figures__leaked_messages=0)
    assert compare(BEFORE, after) == [
        Change("", "root_causes", "", ["half-topic-blowup"], []),
        Change("half-topic-blowup", "verdict", "", "confirmed", "ruled_out"),
        Change("half-topic-blowup", "figure", "leaked_messages", 4, 0, -4),
    ]


def test_unknown_is_neither_zero_nor_absent():
    after = changed(findings__0__figures__retry_topic_length=0)
    (change,) = compare(BEFORE, after)
    assert (change.before, change.after, change.delta) == (None, 0, None)
    assert rows([change])[0]["before"] == "unknown"
    del after["findings"][0]["figures"]["retry_topic_length"]
    (change,) = compare(BEFORE, after)
    assert (change.before, change.after) == (None, ABSENT)
    assert rows([change], "zh")[0]["after"] == "无此项"


def test_nested_figures_and_missing_artefacts():
    after = changed(findings__1__figures__errors_by_kind={"OVERLOAD": 2, "PC_SYNCHRONIZED": 1}, findings__1__missing=[])
    assert compare(BEFORE, after) == [
        Change("broker-busy", "figure", "errors_by_kind.PC_SYNCHRONIZED", ABSENT, 1),
        Change("broker-busy", "missing", "", ["client log"], []),
    ]


def test_a_cause_only_one_side_knows():
    after = changed(findings=[BEFORE["findings"][0]])
    assert compare(BEFORE, after)[0] == Change("broker-busy", "verdict", "", "insufficient_evidence", ABSENT)
    assert compare(after, BEFORE)[0] == Change("broker-busy", "verdict", "", ABSENT, "insufficient_evidence")


def test_other_evidence_is_said():
    after = changed(evidence={"files": [{"sha256": "1"}, {"sha256": "2"}]})
    assert compare(BEFORE, after) == [Change("", "evidence", "files", 1, 2, 1)]


def test_changes_are_told_in_words_and_safe_for_a_terminal():
    after = changed(
        findings__0__verdict="ruled_out",
        findings__0__figures__leaked_messages=0,
        findings__1__figures__errors_by_kind={"OVER\x1b[31mLOAD": 1234567, "OVERLOAD": 2, "A": 1, "B": 1, "C": 1},
    )
    text = render(compare(BEFORE, after))
    assert "\x1b" not in text
    assert text.splitlines() == [
        "half-topic-blowup: confirmed → ruled out", "  messages leaked into the half topic: 4 → 0 (-4)", "broker-busy",
        "  failed sends, by kind: A: absent → 1", "  failed sends, by kind: B: absent → 1",
        "  failed sends, by kind: C: absent → 1", "  … and 1 part more",
    ]  # fmt: skip
    after["findings"][0]["title"] = "The transaction half topic feeds itself"
    assert render(compare(BEFORE, after)).startswith("The transaction half topic feeds itself: confirmed → ruled out\n")


@pytest.mark.parametrize(
    "bad", [{}, [], None, {"schema": 2, "findings": []}, {"schema": 1, "findings": [1]}, {"schema": 1, "findings": "x"}]
)
def test_what_is_no_findings_json(bad):
    with pytest.raises(ValueError, match="after: not a findings"):
        compare(BEFORE, bad)
    with pytest.raises(ValueError, match="before: not a findings"):
        compare(bad, BEFORE)
