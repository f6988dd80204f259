"""The catalogue of known problems: complete entries, each recognised by what RocketMQ prints, and no other entry claims
it.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import java_sources
import pytest

from kit.causes import discover
from kit.rocketmq.known_problems import matching, upstream
from kit.rocketmq.known_problems.catalogue import BY_SLUG, PROBLEMS
from kit.rocketmq.known_problems.problem import Problem
from kit.rocketmq.known_problems.upstream import FormatString
from kit.rocketmq.known_problems.windows import Windows
from kit.rocketmq.log_events.catalogue import EVENTS
from kit.rocketmq.versions import VERSION_NUMBERS

NAMED = {
    "consumer-backlog", "consumer-stuck", "subscription-mismatch", "duplicate-client-id", "offset-jump",
    "broker-unreachable", "replica-loss", "topic-missing", "acl-denied",
}  # fmt: skip
"""Causes that operators ask about most."""


def test_there_are_enough_and_each_has_a_name_of_its_own() -> None:
    assert len(PROBLEMS) >= 120
    assert len(BY_SLUG) == len(PROBLEMS)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) for slug in BY_SLUG)


def test_every_entry_says_what_an_operator_needs() -> None:
    causes = {cause.SLUG for cause in discover()} | NAMED
    for p in PROBLEMS:
        assert p.texts and p.title.en and p.meaning.en and p.next.en and p.reference, p.slug
        assert all(len(needle.encode()) >= 8 for needle in p.needles), (p.slug, p.needles)
        assert not p.reported or (p.remedy is not None and p.risk is not None), p.slug
        assert not p.cause or p.cause in causes, p.slug
        for text in (p.title, p.meaning, p.next, p.decides, p.remedy, p.risk):
            assert text is None or not set("{}") & set(text.en), f"{p.slug}: braces would be read as placeholders"


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
    lines = {problem.slug: [line for _, line in examples(problem)] for problem in PROBLEMS}
    assert [slug for slug, each in lines.items() if not each] == [], (
        "give an example: none of its texts is RocketMQ's own"
    )
    claims = lambda line: [problem.slug for problem in matching.problems_in(line + "\n")]  # noqa: E731
    shared = [slug for slug, each in lines.items() if not any(claims(line) == [slug] for line in each)]
    assert {slug: [(line, claims(line)) for line in lines[slug][:3]] for slug in shared} == {}


def test_normal_entries_are_left_out() -> None:
    crc = "found a illegal magic code 0x{}"
    assert [p.slug for p in matching.problems_in(crc.format("AABBCCDD"))] == ["commitlog-damaged"]
    assert not matching.problems_in(crc.format("0"))
    start = "maxPhyOffsetOfConsumeQueue({}) >= processOffset({}), truncate dirty logic files"
    assert not matching.problems_in(start.format(100, 100))
    assert [p.slug for p in matching.problems_in(start.format(300, 100))] == ["consumequeue-beyond-commitlog"]
    missing = "Cannot find conf file /opt/rocketmq/conf/{}, acl isn't be enabled."
    assert [p.slug for p in matching.problems_in(missing.format("plain_acl.yml"))] == ["acl-config"]
    assert [p.slug for p in matching.problems_in(missing.format("tools.yml"))] == ["mqadmin-without-acl"]
    # acl/common/AclUtils.getAclRPCHook of 5.x, which only mqadmin and its like call, names no file.
    parsed = "WARN main - Failed to parse configuration to enable ACL."
    assert [p.slug for p in matching.problems_in(parsed)] == ["mqadmin-without-acl"]


def test_conditions_over_bytes_say_the_same() -> None:
    conditions = [problem for problem in PROBLEMS if problem.has_condition]
    tried = [(problem, line) for problem in conditions for _, line in examples(problem)]
    assert len({problem.slug for problem, _ in tried}) == len(conditions) > 0
    for problem, line in tried:
        assert bool(problem.in_bytes.search(line.encode())) == problem.in_text(line), (problem.slug, line)


def test_the_table_of_format_strings_is_well_formed() -> None:
    releases = {*VERSION_NUMBERS.values(), ""}
    every = upstream.format_strings()
    assert len(every) > 2000
    for each in every:
        assert each.how in ("WARN", "ERROR", "REMARK", "THROW") and {each.since, each.until} <= releases
        assert re.fullmatch(r"[a-z]+/\w+", each.cls)
    assert len({(e.cls, e.how, e.text) for e in every}) == len(every)


@pytest.mark.parametrize(
    ("cls", "text", "since", "until"),
    [
        # Read in the release tags by hand.
        ("store/DefaultMessageStore", "putMessage message topic length too long {}", "", "4.9.8"),
        ("broker/HookUtils", "message store is in slave mode, so putMessage is forbidden", "5.0.0", ""),
        ("store/ConsumeQueue", "[BUG]consume queue can not write, {} {}", "", ""),
        ("store/HAConnection", "slave[{}] request offset={} greater than local commitLog offset={}.", "4.9.3", "4.9.8"),
    ],
)
def test_releases_of_a_text(cls: str, text: str, since: str, until: str) -> None:
    (found,) = [each for each in upstream.format_strings() if (each.cls, each.text) == (cls, text)]
    assert (found.since, found.until) == (since, until)


def _covered(each: FormatString) -> bool:
    return bool(matching.problems_in(_filled(each.text)) or matching.of_class(each))


def _own(each: FormatString) -> bool:
    """Tell whether an entry or a known log text names the line itself, not only the class that prints it."""
    line = _filled(each.text)
    return bool(matching.problems_in(line) or any(needle in line for event in EVENTS for needle in event.needles))


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


def test_windows_find_every_text_once_and_nothing_else() -> None:
    windows = Windows(("message store", "store has shutdown", "short"))
    assert windows.find("the message store has shutdown, message store") == [0, 1]
    assert windows.find("short message") == []


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


@pytest.mark.skipif("ROCKETMQ_SOURCES" not in os.environ, reason="walks RocketMQ's own sources: set ROCKETMQ_SOURCES")
def test_the_table_is_what_the_sources_say() -> None:
    """`ROCKETMQ_SOURCES`: a folder of sources jars (rocketmq-broker-4.9.4-sources.jar, …) or of source trees."""
    where = Path(os.environ["ROCKETMQ_SOURCES"])
    known = {(e.cls, e.how, e.text): e for e in upstream.format_strings()}
    for release in ("4.6.1", "4.9.4", "5.1.4"):
        tree = where / release
        jars = list(where.glob(f"rocketmq-*-{release}-sources.jar"))
        if not tree.is_dir() and not jars:
            continue
        calls = list(java_sources.folder(tree) if tree.is_dir() else java_sources.jars(jars))
        ours = [c for c in calls if c.module in ("broker", "store", "client") and c.level in ("WARN", "ERROR")]
        counted = [c for c in ours if c.template]
        missing = [
            c for c in counted if (f"{c.module}/{c.cls}", c.level, c.template) not in known and len(c.template) > 12
        ]
        share = sum(_covered(FormatString(f"{c.module}/{c.cls}", c.level, "", "", c.template)) for c in counted) / len(
            ours
        )
        print(f"{release}: {len(ours)} WARN and ERROR calls in broker, store and client, {share:.0%} covered")
        assert not missing[:5]
        assert share >= 0.8
