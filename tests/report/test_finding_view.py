"""How one finding is put into words on the page."""

from __future__ import annotations

import pytest

from kit.i18n import Lang
from kit.report.finding_view import finding_view, when


@pytest.mark.parametrize(
    ("last", "lang", "said"),
    [
        ("2026-11-21T23:52:52.401Z", "en", "2026-11-21 23:52:52 UTC"),
        ("2026-11-21T23:52:54.301Z", "en", "2026-11-21 23:52:52 to 23:52:54 UTC (for 1.9 seconds)"),
        ("2026-11-21T23:53:52.398Z", "en", "2026-11-21 23:52:52 to 23:53:52 UTC (for 60 seconds)"),
        ("2026-11-22T01:52:52.398Z", "en", "2026-11-21 23:52:52 to 2026-11-22 01:52:52 UTC (for 2.0 hours)"),
        ("2026-11-21T23:53:02.398Z", "zh", "2026-11-21 23:52:52 至 23:53:02（UTC） （持续 10 秒）"),
    ],
)
def test_when_it_happened(last: str, lang: Lang, said: str) -> None:
    assert when(("2026-11-21T23:52:52.398Z", last), lang) == said


def test_a_time_among_the_figures_is_written_as_the_page_writes_times() -> None:
    figures = {"replica_end_time": "2026-11-21T23:24:06.869Z"}
    texts = {"cause": "replica-loss", "kind": "root_cause", "verdict": "confirmed", "title": "t", "summary": "s"}
    finding = texts | {"window": None, "steps": [], "remedies": [], "missing": [], "figures": figures}
    assert [card["value"] for card in finding_view(finding, [], "en")["numbers"]] == ["2026-11-21 23:24:06.869 UTC"]
