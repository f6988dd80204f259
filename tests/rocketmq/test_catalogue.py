"""The catalogue of known texts: each row is recognised by what RocketMQ prints, and no other row claims it. And what copying puts in front of a line."""

import re
from pathlib import Path

import java_sources
import numpy as np
import pyarrow as pa
import pytest
import recorded
from table import rows_of

from kit.causes import discover
from kit.formats.logs.known_texts import confirmed, known_texts
from kit.i18n import T
from kit.rocketmq import answers, catalogue, copied_lines, upstream
from kit.rocketmq.catalogue import EVENTS, PROBLEMS, SEARCHED, Event, problems_in
from kit.rocketmq.versions import Version

RELEASES = {*rows_of(str(Path(__file__).with_name("test_config.py")), "ordinals").values(), ""}
ROWS = [*EVENTS.values(), *PROBLEMS.values()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{type(row).__name__}-{row.slug}")
def test_a_row_says_what_an_operator_needs(row):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", row.slug) and row.printed_by.source
    assert row.texts and all(len(needle.encode()) > 7 for needle in row.needles)
    assert {row.printed_by.since, row.printed_by.until} <= RELEASES
    for sentence in (value for name in row.__struct_fields__ if isinstance(value := getattr(row, name), T)):
        assert not set("{}") & set(sentence.en), f"braces are placeholders: {sentence}"
    if isinstance(row, Event):
        line = row.example or row.texts[0]
        found = row.compiled.search(line)
        assert found and any(needle in line for needle in row.needles) and len(row.slug) <= 32
        assert not any("\n" in needle for needle in row.needles)
        assert not row.groups or any(found.groups())
        assert re.search(row.confirm, line) and (row.example or not row.values)
        assert not re.search(r"\(\?P=|\\[AZzKGQ]|[*+?}]\+", row.pattern), "RE2 reads this differently"
        assert len(set(row.groups)) == len(row.groups)


def test_a_problem_is_remedied_or_judged_by_a_cause_and_every_example_is_found():
    causes = {cause.slug for cause in discover()}
    for problem in PROBLEMS.values():
        assert not problem.reported or problem.remedy is not None, problem.slug
        assert not problem.seen.cause or problem.seen.cause in causes, problem.slug
        assert not problem.seen.normal_with or problem.seen.normal_with in EVENTS
        assert problem.fault.since in RELEASES and problem.fault.until in RELEASES, problem.slug
    assert len(EVENTS) + len(PROBLEMS) == len(catalogue._EVERY), "a slug is used twice"
    codes = {**answers.CODES, **answers.GRPC_CODES}
    assert {answer.problem for answer in codes.values()} <= {"", *PROBLEMS}
    shown = [slug for problem in PROBLEMS.values() for slug in problem.seen.passing]
    assert sorted(shown) == sorted(catalogue.PASSING) and set(catalogue.STARTS["clients"]) <= set(EVENTS)
    # A missing subscription is subscription-mismatch's own sign: what that cause quotes is not listed as harmless.
    assert set(catalogue.PASSING) - set(catalogue.BENIGN) == {"subscription-missing"}
    examples = [(event.example or event.texts[0]).replace("\n", " ").encode() for event in EVENTS.values()]
    found = known_texts().find(pa.array(examples, pa.binary()))
    assert {(number, number) for number in range(len(examples))} <= set(zip(*found, strict=True))


@pytest.mark.parametrize(("slug", "text", "expected"), rows_of(__file__, "wordings_of_other_versions"))
def test_wordings_of_other_versions(slug, text, expected):
    found = EVENTS[slug].compiled.search(text)
    assert found and any(needle in text for needle in EVENTS[slug].needles)
    assert {name: found[name] for name in expected} == expected


def meets(row, text):
    """Return whether a text meets the second condition of an event or a known problem, as readers ask for it."""
    group = [*EVENTS.values(), *SEARCHED].index(row)
    return bool(confirmed(np.array([0]), np.array([group]), lambda _, __: pa.array([text.encode()]))[0])


def test_second_conditions_also_over_bytes():
    for flags in range(64):
        assert meets(EVENTS["leaked-commit-printed"], f"sysFlag={flags}, bornTimestamp=") == (flags & 0xC == 8), flags
    conditions = [problem for problem in SEARCHED if problem.conditions]
    lines = [(problem, line) for problem in conditions for line in _lines(problem)]
    assert lines and [each for each in lines if meets(*each) != each[0].in_text(each[1])] == []


@pytest.mark.parametrize(("name", "seen", "unseen"), rows_of(__file__, "recordings_hold_what_happened"))
def test_recordings_hold_what_happened(name, seen, unseen):
    found = {slug for row in recorded.log_entries(name) for slug in row["events"]}
    assert set(seen) <= found and not set(unseen) & found


def _lines(problem):
    """Return the texts of a problem with a value put into each place, no two alike, and its example."""
    values = iter(range(99, 0, -1))
    filled = [re.sub(r"\{\}", lambda _: str(next(values)), text) for text in problem.texts]
    return [problem.example, *filled] if problem.example else filled


def test_every_entry_recognises_a_line_that_no_other_entry_claims():
    claims = lambda line: [problem.slug for problem in problems_in(line + "\n")]  # noqa: E731
    shared = [problem for problem in PROBLEMS.values() if [problem.slug] not in map(claims, _lines(problem))]
    assert {problem.slug: [(line, claims(line)) for line in _lines(problem)] for problem in shared} == {}


@pytest.mark.parametrize(("line", "slugs"), rows_of(__file__, "normal_entries_are_left_out"))
def test_normal_entries_are_left_out(line, slugs):
    assert [problem.slug for problem in problems_in(line)] == slugs


def test_a_format_string_says_what_no_known_text_does():
    rows = upstream.format_strings()
    assert len({row.text for row in rows}) == len(rows) > 300
    for row in rows:
        assert row.how in ("WARN", "ERROR", "ERROR/WARN") and {row.since, row.until} <= RELEASES | {"4.0.0"}
        assert re.fullmatch(r"[a-z]+/\w+(, [a-z]+/\w+)*", row.classes)
        assert not (row.since and row.until) or Version.parse(row.since) <= Version.parse(row.until)
        line, known = row.text.replace("{}", "7"), row.classes.split(",")[0] in catalogue.BY_CLASS
        assert row.since or row.until or (known and not (problems_in(line) or catalogue.event_in(line)))


@pytest.mark.parametrize(("classes", "text", "since", "until"), rows_of(__file__, "releases_of_a_text"))
def test_releases_of_a_text(classes, text, since, until):
    (found,) = [each for each in upstream.format_strings() if (each.classes, each.text) == (classes, text)]
    assert (found.since, found.until) == (since, until)


def test_a_line_that_repeats_all_parts_of_a_text_but_the_last_is_no_work():
    text = max(upstream.format_strings(), key=lambda row: len(row.pieces))
    assert text.pattern.match("".join(text.pieces[:-1]) * 300) is None  # tried from every place, this took for ever


def test_texts_are_read_out_of_java():
    found = {(call.level, call.template) for call in java_sources.calls("store", "A", rows_of(__file__, "java"))}
    assert found == {
        ("WARN", 'put {} failed, "{}"'), ("ERROR", "x={}, y={} was expected"), ("ERROR", "{} of {} was lost"),
        ("THROW", "no such broker {}"), ("REMARK", "disk is full now"),
    }  # fmt: skip


LINE = "2026-11-20 22:34:20 WARN main - a"


@pytest.mark.parametrize("row", copied_lines.ROWS, ids=lambda row: row.by)
def test_the_example_of_a_row_loses_what_stands_in_front(row):
    assert copied_lines.bare(row.example) == LINE != row.example


@pytest.mark.parametrize(("shown", "left"), rows_of(__file__, "lines_without_a_time"))
def test_lines_without_a_time_lose_it_where_most_have_it_and_other_lines_stay(shown, left):
    assert [line for line in rows_of(__file__, "other_lines_stay") if copied_lines.bare(line) != line] == []
    assert copied_lines.all_bare(shown) == left
