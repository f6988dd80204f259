"""The catalogue of known texts: every row is complete, recognised by what RocketMQ prints, and no other row claims it; and the table of upstream's own
format strings.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import java_sources
import pytest
from table import rows_of

from kit.causes import discover
from kit.formats.logs.known_texts import known_texts
from kit.i18n import T
from kit.rocketmq import answers, catalogue, config, id_calls, mqadmin_tables, names, upstream, versions
from kit.rocketmq.catalogue import (
    BENIGN,
    EVENTS,
    PASSING,
    PROBLEMS,
    STARTS,
    KnownText,
    Problem,
    confirmations,
    problems_in,
)
from kit.rocketmq.data import Row
from kit.rocketmq.upstream import FormatString
from kit.rocketmq.versions import VERSION_NUMBERS

RELEASES = {*VERSION_NUMBERS.values(), ""}
ROWS = [*EVENTS.values(), *PROBLEMS.values()]


def _sentences(row: Row) -> list[T]:
    return [value for name in row.__struct_fields__ if isinstance(value := getattr(row, name), T)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{type(row).__name__}-{row.slug}")
def test_a_row_says_what_an_operator_needs(row: KnownText) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", row.slug) and row.printed_by.source
    assert row.texts and all(len(needle.encode()) > 7 for needle in row.needles)
    assert {row.printed_by.since, row.printed_by.until} <= RELEASES
    for sentence in _sentences(row):
        assert sentence.en and sentence.zh and not set("{}") & set(sentence.en), f"braces are placeholders: {sentence}"


def test_facts_are_told_in_both_languages() -> None:
    codes = {**answers.CODES, **answers.GRPC_CODES}
    rows = [*codes.values(), *names.PROPERTIES.values(), *config.PARAMETERS.values(), *versions.FIXED, *id_calls.CALLS]
    sentences = [*mqadmin_tables.MEANINGS.values(), *(sentence for row in rows for sentence in _sentences(row))]
    assert len(sentences) > 350 and all(sentence.en and sentence.zh for sentence in sentences)
    assert {answer.problem for answer in codes.values()} <= {"", *PROBLEMS}


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_an_event_finds_and_reads_its_example(event) -> None:  # type: ignore[no-untyped-def]
    found = event.compiled.search(event.example)
    assert found and any(needle in event.example for needle in event.needles) and len(event.slug) <= 32
    assert not any("\n" in needle for needle in event.needles)
    assert not event.groups or any(found.groups())
    assert not event.confirm or re.search(event.confirm, event.example)
    assert not re.search(r"\(\?P=|\\[AZzKGQ]|[*+?}]\+", event.pattern), "RE2 reads this differently"
    assert len(set(event.groups)) == len(event.groups)


INDIRECT = {
    "broker-jstack", "protect-broker", "timer-flow-control", "put-refused", "send-given-up", "broker-exception",
}  # fmt: skip
"""Events whose text no call prints as a whole at WARN or ERROR: joined from parts, made by toString, or passed on."""


def test_what_an_event_finds_is_printed_by_rocketmq() -> None:
    """The table of WARN and ERROR texts was read from the sources, the catalogue's examples were not."""
    loud = [
        event
        for event in EVENTS.values()
        if {*event.printed_by.level.split()} <= {"WARN", "ERROR"} and event.printed_by.level
    ]
    own = [event for event in loud if event.printed_by.source.startswith(("store/", "broker/", "client/"))]
    assert len(own) >= 90 and {event.slug for event in own if not upstream.find(event.example)} == INDIRECT


def test_a_problem_is_remedied_or_judged_by_a_cause() -> None:
    causes = {cause.slug for cause in discover()}
    for problem in PROBLEMS.values():
        assert not problem.reported or (problem.remedy is not None and problem.risk is not None), problem.slug
        assert not problem.seen.cause or problem.seen.cause in causes, problem.slug
        assert not problem.seen.normal_with or problem.seen.normal_with in EVENTS
        assert problem.fault.since in RELEASES and problem.fault.until in RELEASES, problem.slug
    assert len(EVENTS) + len(PROBLEMS) == len(catalogue._EVERY), "a slug is used twice"
    shown = [slug for problem in PROBLEMS.values() for slug in problem.seen.passing]
    assert sorted(shown) == sorted(PASSING) and set(STARTS["clients"]) <= set(EVENTS)
    # A missing subscription is subscription-mismatch's own sign: what that cause quotes is not listed as harmless.
    assert set(PASSING) - set(BENIGN) == {"subscription-missing"}
    assert all(EVENTS[slug].harmless is not False for slug in BENIGN)


def test_the_compiled_matcher_finds_every_example() -> None:
    examples = [event.example.replace("\n", " ") for event in EVENTS.values()]
    assert [text for i, text in enumerate(examples) if i not in known_texts().within(text)] == []


@pytest.mark.parametrize(("slug", "text", "expected"), rows_of(__file__, "wordings_of_other_versions"))
def test_wordings_of_other_versions(slug: str, text: str, expected: dict[str, str | None]) -> None:
    found = EVENTS[slug].compiled.search(text)
    assert found and any(needle in text for needle in EVENTS[slug].needles)
    assert {name: found[name] for name in expected} == expected


def test_second_conditions() -> None:
    commit = confirmations()[list(EVENTS).index("leaked-commit-printed")]
    for flags in range(64):
        assert bool(commit(b"sysFlag=%d, bornTimestamp=" % flags)) == (flags & 0xC == 8), flags
    assert not confirmations()[list(EVENTS).index("broker-topic-too-long")](b"longer than topic max length 127.")


@pytest.mark.parametrize(
    ("name", "seen", "unseen"),
    [
        (
            "transaction-consistency",
            {"local-transaction-exception", "check-discard", "client-check-unknown"},
            {"flow-control", "put-back-failed", "topic-too-long"},
        ),
        (
            "producer-offline",
            {"check-channel-null", "producer-table-empty", "check-discard"},
            {"flow-control", "put-back-failed"},
        ),
        (
            "message-identity",
            {"query-no-message", "consume-exception", "consumer-offset-saved"},
            {"flow-control", "put-back-failed", "check-discard"},
        ),
        (
            "healthy",
            {"watermark", "check-answer-commit"},
            {
                "flow-control",
                "put-back-failed",
                "topic-too-long",
                "check-discard",
                "client-wait-timeout",
                "check-channel-null",
                "leaked-half-printed",
            },
        ),
        (
            "healthy-5",
            {"check-sent", "response-codes", "check-position-after"},
            {"flow-control", "put-back-failed", "check-discard", "leaked-half-printed"},
        ),
    ],
)
def test_recordings_hold_what_happened(name: str, seen: set[str], unseen: set[str], log_entries) -> None:  # type: ignore[no-untyped-def]
    found = Counter(slug for row in log_entries(name) for slug in row["events"])
    assert seen <= set(found)
    assert not unseen & set(found)


def _filled(text: str) -> str:
    """Put a value into each place, no two alike."""
    values = iter(range(99, 0, -1))
    return re.sub(r"\{\}", lambda _: str(next(values)), text)


@cache
def examples(problem: Problem) -> list[tuple[str, str]]:
    """Return (release, line) pairs: RocketMQ's own texts with values filled in, and the entry's own example."""
    wanted = [sorted(text.split("{}"), key=len, reverse=True) for text in problem.texts]
    lines = [
        (each.since or upstream.OLDEST, _filled(each.text))
        for each in upstream.format_strings()
        if any(all(piece in each.text for piece in pieces) for pieces in wanted)
    ]
    return lines + ([("", problem.example)] if problem.example else [])


@pytest.mark.seconds
def test_every_entry_recognises_a_line_that_no_other_entry_claims() -> None:
    lines = {problem.slug: [line for _, line in examples(problem)] for problem in PROBLEMS.values()}
    assert [slug for slug, each in lines.items() if not each] == [], (
        "give an example: none of its texts is RocketMQ's own"
    )
    claims = lambda line: [problem.slug for problem in problems_in(line + "\n")]  # noqa: E731
    shared = [slug for slug, each in lines.items() if not any(claims(line) == [slug] for line in each)]
    assert {slug: [(line, claims(line)) for line in lines[slug][:3]] for slug in shared} == {}


def test_normal_entries_are_left_out() -> None:
    crc = "found a illegal magic code 0x{}"
    assert [p.slug for p in problems_in(crc.format("AABBCCDD"))] == ["commitlog-damaged"]
    assert not problems_in(crc.format("0"))
    start = "maxPhyOffsetOfConsumeQueue({}) >= processOffset({}), truncate dirty logic files"
    assert not problems_in(start.format(100, 100))
    assert [p.slug for p in problems_in(start.format(300, 100))] == ["consumequeue-beyond-commitlog"]
    missing = "Cannot find conf file /opt/rocketmq/conf/{}, acl isn't be enabled."
    assert [p.slug for p in problems_in(missing.format("plain_acl.yml"))] == ["acl-config"]
    assert [p.slug for p in problems_in(missing.format("tools.yml"))] == ["mqadmin-without-acl"]
    # acl/common/AclUtils.getAclRPCHook of 5.x, which only mqadmin and its like call, names no file.
    parsed = "WARN main - Failed to parse configuration to enable ACL."
    assert [p.slug for p in problems_in(parsed)] == ["mqadmin-without-acl"]


def test_conditions_over_bytes_say_the_same() -> None:
    conditions = [problem for problem in PROBLEMS.values() if problem.has_condition]
    tried = [(problem, line) for problem in conditions for _, line in examples(problem)]
    assert len({problem.slug for problem, _ in tried}) == len(conditions) > 0
    for problem, line in tried:
        assert bool(problem.in_bytes.search(line.encode())) == problem.in_text(line), (problem.slug, line)


def test_the_table_of_format_strings_is_well_formed() -> None:
    every = upstream.format_strings()
    assert len(every) > 2000
    for each in every:
        assert each.how in ("WARN", "ERROR", "REMARK", "THROW") and {each.since, each.until} <= RELEASES
        assert re.fullmatch(r"[a-z]+/\w+", each.cls)
    assert len({(e.cls, e.how, e.text) for e in every}) == len(every)


@pytest.mark.parametrize(("cls", "text", "since", "until"), rows_of(__file__, "releases_of_a_text"))
def test_releases_of_a_text(cls: str, text: str, since: str, until: str) -> None:
    (found,) = [each for each in upstream.format_strings() if (each.cls, each.text) == (cls, text)]
    assert (found.since, found.until) == (since, until)


def _covered(each: FormatString) -> bool:
    return bool(problems_in(_filled(each.text)) or upstream.problem_of_class(each))


def _own(each: FormatString) -> bool:
    """Tell whether an entry or a known log text names the line itself, not only the class that prints it."""
    line = _filled(each.text)
    return bool(problems_in(line) or any(needle in line for event in EVENTS.values() for needle in event.needles))


# From 5.0 on whole subsystems (RocksDB queues and tables, compaction, timer wheel, controller, tiered storage) print many lines
# of one meaning: they are explained by the entry of their class.
OWN = {"broker": {"4": 0.8, "5": 0.55}, "store": {"4": 0.78, "5": 0.55}, "client": {"4": 0.8, "5": 0.8}}


@pytest.mark.parametrize("release", ["4.3.0", "4.6.1", "4.9.4", "5.1.4", "5.3.3"])
def test_what_operators_may_meet_is_covered(release: str) -> None:
    number = upstream.number(release)
    for module in ("broker", "store", "client"):
        printed = [
            each
            for each in upstream.format_strings()
            if each.logged
            and each.cls.startswith(module + "/")
            and upstream.number(each.since) <= number <= upstream.number(each.until or upstream.NEWEST)
        ]
        share = sum(map(_covered, printed)) / len(printed)
        own = sum(map(_own, printed)) / len(printed)
        print(f"{release} {module}: {len(printed)} texts, {share:.0%} covered, {own:.0%} by an entry's own text")
        assert share >= 0.8 and own >= OWN[module][release[0]]


def test_texts_are_read_out_of_java() -> None:
    source = """
    class A {
        static final String WHAT = "disk is" + " full";
        // log.warn("not this one");
        void a() {
            log.warn("put {} failed, \\"{}\\"", a.b(), c);
            LOG_ERROR.error("x=" + this.x(1, "no") + ", y=" + y + " was expected", e);
            log.error(String.format("%s of %d was lost", a, b));
            log.info("not this one either");
            throw new MQClientException("no such broker " + name, null);
        }
        void b() { response.setRemark(WHAT + " now"); }
    }
    """
    found = {(call.level, call.template) for call in java_sources.calls("store", "A", source)}
    assert found == {
        ("WARN", 'put {} failed, "{}"'), ("ERROR", "x={}, y={} was expected"), ("ERROR", "{} of {} was lost"),
        ("THROW", "no such broker {}"), ("REMARK", "disk is full now"),
    }  # fmt: skip
