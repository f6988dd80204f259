"""What the sentences of a finding count is what its figures count: in the summary, the steps and the remedies, in both
languages. Every root cause, on recordings it was made by.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import recorded
from table import rows_of

import kit
from kit.causes import results

pytestmark = pytest.mark.seconds
BIG = {"broker-busy", "half-topic-blowup"}
"""Recordings whose triage takes long."""
CAUSES = rows_of(__file__, "causes")


ROWS = {
    "lost": lambda f: f["lost"],
    "inconsistent": lambda f: f["rows_without_message"] + f["messages_without_row"],
    "missing_on_replica": lambda f: f["acknowledged_missing"],
}
"""Result tables that remedies send people to, and how many rows they must have."""

NUMBER = re.compile(r"(?<![\w.:/#@-])\d[\d,]*(?:\.\d+)?(?![\w:@/]|\.\d|-\d)")


def params() -> list[Any]:
    return [
        pytest.param(name, slug, marks=pytest.mark.recordings) if name in BIG else (name, slug)
        for name, slugs in CAUSES.items()
        for slug in slugs
    ]


def finding(name: str, slug: str, lang: str = "en") -> dict[str, Any]:
    document = kit.triage(recorded.case(name), lang)
    return next(found for found in document["findings"] if found["cause"] == slug)


def sentences(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield everything a finding says of this incident."""
    yield found["summary"]
    yield from (step["claim"] for step in found["steps"] if step["holds"])
    for remedy in found["remedies"]:
        yield from (remedy["action"], remedy["why"], remedy["risk"])


def number(text: str) -> float:
    return float(text.replace(",", ""))


@pytest.mark.parametrize(("name", "slug"), params())
def test_summary_and_remedies_count_nothing_that_steps_and_figures_do_not(name: str, slug: str) -> None:
    found = finding(name, slug)
    known = set(values(found["figures"]))
    for step in found["steps"]:
        known |= {number(text) for text in NUMBER.findall(step["claim"])}
    said = [found["summary"], *(remedy[part] for remedy in found["remedies"] for part in ("action", "why"))]
    known |= {float(n) for n in results.table(recorded.case(name), "half_topic_fixes").get("prevented", ())}
    # What is said of RocketMQ, not of this incident: limits of names, units, ports, releases.
    known |= {127, 1000, 4.8, 10909, 10911, 10912} | set(range(20))
    allowed = {round(value, digits) for value in known for digits in (0, 1)} | known
    foreign = [(text, n) for text in said for n in map(number, NUMBER.findall(text)) if n not in allowed]
    reckoned = {"setMaxMessageSize", "at least"}
    assert [(text, n) for text, n in foreign if not any(word in text for word in reckoned)] == []


def test_what_is_reckoned_for_the_limit_fits() -> None:
    found = finding("size-mismatch", "message-size-mismatch")
    texts = " ".join(remedy["action"] for remedy in found["remedies"])
    (safe,) = found["figures"]["safe_body_bytes"].values()
    (advised,) = (int(n) for n in re.findall(r"setMaxMessageSize\((\d+)\)", texts))
    # What zlib's compressBound says a body of that length may become.
    assert safe == advised + (advised >> 12) + (advised >> 14) + (advised >> 25) + 13
    # The largest half record at risk, put back with a check count of two digits, is so much over the limit.
    (more,) = (int(n) for n in re.findall(r"by at least (\d+) bytes", texts))
    at_risk = results.table(recorded.case("size-mismatch"), "size_at_risk")
    assert more == int(at_risk["store_size"].max()) + 27 - found["figures"]["broker_limit"]


@pytest.mark.parametrize(("name", "slug"), params())
def test_tables_have_the_rows_that_figures_count(name: str, slug: str) -> None:
    found = finding(name, slug)
    case = recorded.case(name)
    sent = " ".join(remedy[part] for remedy in found["remedies"] for part in ("action", "why"))
    for table, rows in ROWS.items():
        if f"{table}.csv" in sent:
            assert len(results.table(case, table)) == rows(found["figures"])


def values(figures: Any) -> Iterator[float]:
    """Yield every number in figures: values, how many a map or list has, and the sum of a map of numbers."""
    if isinstance(figures, bool) or figures is None or isinstance(figures, str):
        return
    if isinstance(figures, int | float):
        yield float(figures)
        return
    inner = list(figures.values()) if isinstance(figures, Mapping) else list(figures)
    yield float(len(inner))
    if inner and all(isinstance(each, int) for each in inner):
        yield float(sum(inner))
    for each in inner:
        yield from values(each)


@pytest.mark.parametrize(("name", "slug"), params())
def test_both_languages_count_the_same(name: str, slug: str) -> None:
    english, chinese = (list(sentences(finding(name, slug, lang))) for lang in ("en", "zh"))
    for one, other in zip(english, chinese, strict=True):
        counted = [Counter(re.findall(r"\d+", text.replace(",", ""))) for text in (one, other)]
        assert counted[0] == counted[1], (one, other)


@pytest.mark.parametrize(("name", "slug"), params())
def test_nothing_that_is_not_known_is_put_into_a_sentence(name: str, slug: str) -> None:
    document = kit.triage(recorded.case(name))
    said = [found["summary"] for found in document["findings"]]
    said += [step["claim"] for found in document["findings"] for step in found["steps"]]
    assert [
        text
        for text in said
        if re.search(r"\bunknown (?:\w+ ){0,2}(?:of|sends|keys|bytes|messages|records)\b|is unknown characters", text)
    ] == []
