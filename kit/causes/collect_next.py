"""What to collect next: each kind of evidence that would decide, why, and the exact command that fetches it.

Each is a row of `collect.yaml`. Paths are the defaults of a stock installation (`broker.conf` may say otherwise);
commands only read: the commitlog files of the window and never the whole store, from the host what it recorded during
that time (if none is known, what to run next time).
"""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final, Literal

import attrs
import msgspec

from kit import data
from kit.analysis import brokers, setup
from kit.analysis.consumers import members, positions
from kit.causes.findings import Finding, Missing
from kit.i18n import Sentence, T, labels
from kit.rocketmq import names as rocketmq
from kit.tables.facts import Facts

SAYS: Final = labels("causes")["collect_next"]
HOSTS: Final = 5
"""Most hosts that a request lists; with more it names none."""
MOST_HOSTS: Final = 10_000
EAST: Final = dt.timedelta(hours=14)
WEST: Final = dt.timedelta(hours=12)
"""The zones farthest from UTC."""
MARGIN: Final = dt.timedelta(minutes=5)
OF_TOPIC: Final = " -t TOPIC"
ONE_TOPIC: Final = " --topic TOPIC"
OF_GROUP: Final = " -g GROUP"
BETWEEN: Final = "BETWEEN … AND …"
WINDOW: Final = " --since … --until …"
NEXT_TIME: Final = "iostat -dxt 1 60 > iostat.txt; vmstat -t 1 60 > vmstat.txt"
SAR: Final = "for f in {files}; do S_TIME_FORMAT=ISO LC_ALL=C sar -A -f $f; done > sar.txt 2>/dev/null"
"""sysstat's file of a day: /var/log/sa on Red Hat, /var/log/sysstat on Debian; DD is the day of the month."""


class Artefact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something to collect with one command."""

    what: T
    command: str
    side: Literal["broker", "client"] | None = None


@cache
def artefacts() -> Mapping[str, Artefact]:
    """Return every artefact of `collect.yaml` by its name."""
    return data.read("causes/collect.yaml", dict[str, Artefact])


def ask(
    name: str, why: Sentence, *, group: str | None = None, topic: str | None = None, command: str | None = None
) -> Missing:
    """Request an artefact, of one group or topic if they are known; `command`: another one, as it should be typed."""
    each = artefacts()[name]
    return Missing(each.what, why, _of_group(_of_topic(command or each.command, topic), group), each.side)


def unseen_files(facts: Facts, why: Sentence) -> list[Missing]:
    """Request the files that are missing between others of a commit log, if any."""
    return [
        ask(
            "commitlog",
            SAYS["unseen"].say(start=hidden["start"], end=hidden["end"], host=hidden["store_host"], why=why),
        )
        for hidden in [each for each in brokers.stretches(facts) if each["large"]][:1]
    ]


def _of_topic(command: str, topic: str | None) -> str:
    if topic is None:
        return command
    return command.replace(OF_TOPIC, f" -t {word(topic)}").replace(ONE_TOPIC, f" --topic {word(topic)}")


def word(text: str) -> str:
    """Return a name from evidence as one word of a shell command."""
    return shlex.quote(text)


def placed(facts: Facts, findings: Iterable[Finding]) -> None:
    """Add hosts and time to each request and fill in its command, as far as the evidence shows them."""
    every = list(findings)
    found = [f for f in every if f.window is not None and f.verdict in ("confirmed", "suspected")]
    # Times of two clocks are not compared.
    found = [f for f in found if not f.local] or found
    windows = [f.window for f in found if f.window is not None]
    around = (min(w[0] for w in windows), max(w[1] for w in windows)) if windows else None
    local = bool(found) and found[0].local
    known = (
        {"broker": _hosts(facts, "store_host"), "client": _hosts(facts, "born_host")}
        if any(f.missing for f in every)
        else {}
    )
    names = _names(facts, known.get("broker", [])) if known else {}
    topic = _topic(facts) if known else None
    group = _group_of(facts) if any(OF_GROUP in m.command for f in every for m in f.missing) else None
    for finding in every:
        window, floats = widened(finding.window or around), finding.local if finding.window else local
        finding.missing = [
            attrs.evolve(
                m,
                where=_where(known.get(m.side or "", []), window, floats),
                command=filled(_of_group(_of_topic(m.command, topic), group), names, window, local=floats),
            )
            for m in finding.missing
        ]


def widened(window: tuple[dt.datetime, dt.datetime] | None) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time to look at, MARGIN more on either side; None at the edges of the calendar."""
    try:
        return (window[0] - MARGIN, window[1] + MARGIN) if window else None
    except OverflowError:
        return None


def filled(
    command: str, names: Mapping[str, str], window: tuple[dt.datetime, dt.datetime] | None, *, local: bool = False
) -> str:
    """Return a command with its placeholders replaced where the value is known (`names`: placeholder → value, quoted
    here), and with the time of `window`, if any: UTC, or the local time of a zone that is not known, for which any
    zone is allowed.
    """
    if window is not None:
        start, end = window
        days = sorted({f"{at:%d}" for at in (start, end)})
        kept = " ".join(f"/var/log/sa/sa{day} /var/log/sysstat/sa{day}" for day in days)
        command = command.replace(NEXT_TIME, SAR.format(files=kept))
        clock = "local time" if local else "UTC"
        between = f"BETWEEN '{start:%Y-%m-%d %H:%M}' AND '{end:%Y-%m-%d %H:%M}' /* {clock} */"
        command = command.replace(BETWEEN, between)
        if local:
            start, end = start - EAST, end + WEST
        command = command.replace(WINDOW, f" --since {start:%Y-%m-%dT%H:%M}Z --until {end:%Y-%m-%dT%H:%M}Z")
    command = command.replace(WINDOW, "").replace(ONE_TOPIC, "")
    for placeholder, value in names.items():
        command = command.replace(placeholder, word(value))
    return command


def _names(facts: Facts, hosts: list[str]) -> dict[str, str]:
    """Return the value of each placeholder that this evidence shows."""
    found = {"~/store": _said(facts, "storePathRootDir"), "NAMESRV:9876": _said(facts, "namesrvAddr")}
    if len(hosts) == 1:
        found |= {"BROKER_HOST": hosts[0], "BROKER:10911": f"{hosts[0]}:{_said(facts, 'listenPort') or 10911}"}
    return {placeholder: value for placeholder, value in found.items() if value}


def addressed(facts: Facts, command: str) -> str:
    """Return a command with the addresses that the evidence shows."""
    return filled(command, _names(facts, _hosts(facts, "store_host")), None)


def _of_group(command: str, group: str | None) -> str:
    return command if group is None else command.replace(OF_GROUP, f" -g {word(group)}")


def _group_of(facts: Facts) -> str | None:
    """Return the only consumer group that offsets or connections name, None where there are several or none."""
    named = {*positions.every(facts)["group"].dropna(), *(each.group for each in members.connections(facts))}
    groups = [group for group in named if rocketmq.of_users(group)]
    return groups[0] if len(groups) == 1 else None


def _topic(facts: Facts) -> str | None:
    """Return the only user topic with records here, None where there are several or none."""
    topics = [topic for topic in _of_records(facts, "topic") if not _own(topic)]
    return topics[0] if len(topics) == 1 else None


def _own(topic: str) -> bool:
    return rocketmq.is_system_topic(topic) or topic.startswith((rocketmq.RETRY_PREFIX, rocketmq.DLQ_PREFIX))


def _said(facts: Facts, name: str) -> str | None:
    setting = setup.setting(facts, name)
    return setting.value if setting.known == "evidence" else None


def _where(hosts: list[str], window: tuple[dt.datetime, dt.datetime] | None, local: bool) -> Sentence | None:
    on = SAYS["hosts"].say(hosts=hosts) if 0 < len(hosts) <= HOSTS else None
    if window is None:
        return on
    start, end = (f"{at:%Y-%m-%d %H:%M}" for at in window)
    when = (SAYS["when_local"] if local else SAYS["when"]).say(start=start, end=end)
    return SAYS["both"].say(hosts=on, when=when) if on else when


def _hosts(facts: Facts, kind: str) -> list[str]:
    """Return the distinct addresses of records without their ports; none where there are too many."""
    hosts = _of_records(facts, kind)
    return sorted({host.rsplit(":", 1)[0] for host in hosts}) if len(hosts) <= MOST_HOSTS else []


def _of_records(facts: Facts, kind: str) -> list[str]:
    return [row["value"] for row in facts.rows("record_names") if row["kind"] == kind]
