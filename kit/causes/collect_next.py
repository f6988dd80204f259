"""What to collect next: each kind of evidence that would decide, why, and the exact command that fetches it.

Each is a row of `collect.yaml`. Paths are the defaults of a stock installation (`broker.conf` may say otherwise);
commands only read: the commitlog files of the window and never the whole store, what the host recorded of that time.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Final

import attrs
import msgspec

from kit import data
from kit.analysis.consumers import lag, members
from kit.causes.findings import Finding, Missing, Side
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
LEFT_OUT: Final = {WINDOW: "", ONE_TOPIC: ""}
"""Options that a command does without where their values are not known."""
NEXT_TIME: Final = "iostat -dxt 1 60 > iostat.txt; vmstat -t 1 60 > vmstat.txt"
SAR: Final = "for f in {files}; do S_TIME_FORMAT=ISO LC_ALL=C sar -A -f $f; done > sar.txt 2>/dev/null"
"""sysstat's file of a day: /var/log/sa on Red Hat, /var/log/sysstat on Debian; DD is the day of the month."""


class Artefact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    what: T
    command: str


_BY_SIDE: Final = data.read("causes/collect.yaml", dict[Side, dict[str, Artefact]])
ARTEFACTS: Final = {name: each for rows in _BY_SIDE.values() for name, each in rows.items()}
SIDES: Final = {name: side for side, rows in _BY_SIDE.items() for name in rows}
"""Whose hosts have each artefact."""


def ask(
    name: str, why: Sentence, group: str | None = None, topic: str | None = None, command: str | None = None
) -> Missing:
    """Request an artefact, of one group or topic if they are known; `command`: another one, as it should be typed."""
    each = ARTEFACTS[name]
    return Missing(each.what, why, filled(command or each.command, naming(topic, group)), SIDES[name])


def placed(facts: Facts, findings: Iterable[Finding]) -> None:
    """Fill each request with what this evidence shows: hosts, times, and the names that its command takes."""
    every = list(findings)
    commands = [m.command for finding in every for m in finding.missing]
    if not commands:
        return
    concluded = [f for f in every if f.window is not None and f.verdict in ("confirmed", "suspected")]
    # Times of two clocks are not compared.
    concluded = [f for f in concluded if not f.local] or concluded
    windows = [f.window for f in concluded if f.window is not None]
    around = (min(w[0] for w in windows), max(w[1] for w in windows)) if windows else None
    local = bool(concluded) and concluded[0].local
    hosts = {"broker": _hosts(facts, "store_host"), "producer": _hosts(facts, "born_host")}
    group = _only_group(facts) if any(OF_GROUP in command for command in commands) else None
    names = LEFT_OUT | addresses(facts) | naming(_only_topic(facts), group)
    for finding in every:
        # What has times of its own that are not known is not of the times of other findings.
        is_cause = finding.kind == "root_cause" and finding.verdict in ("confirmed", "suspected")
        window = widened(finding.window or (None if is_cause else around))
        floats = finding.local if finding.window else local
        values = names | times(window, local=floats)
        finding.missing = [
            attrs.evolve(m, where=_where(hosts.get(m.side, []), window, floats), command=filled(m.command, values))
            for m in finding.missing
        ]


def _only_group(facts: Facts) -> str | None:
    """Return the consumer group of this evidence; None if it names none of users, or several."""
    groups = {*lag.positions(facts)["group"].dropna(), *(each["group"] for each in members.connections(facts))}
    groups |= set(facts("consumer_statements", "group")["group"].dropna())
    return _only(filter(rocketmq.of_users, groups))


def _only_topic(facts: Facts) -> str | None:
    """Return the topic whose records are here; None for none of users, or several."""
    inner = (rocketmq.RETRY_PREFIX, rocketmq.DLQ_PREFIX)
    topics = (name for name in _of_records(facts, "topic") if not name.startswith(inner))
    return _only(name for name in topics if not rocketmq.is_system_topic(name))


def widened(window: tuple[dt.datetime, dt.datetime] | None) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time to look at, MARGIN more on either side; None at the edges of the calendar."""
    try:
        return (window[0] - MARGIN, window[1] + MARGIN) if window else None
    except OverflowError:
        return None


def filled(command: str, values: Mapping[str, str]) -> str:
    return re.sub("|".join(map(re.escape, values)), lambda place: values[place[0]], command) if values else command


def naming(topic: str | None, group: str | None) -> dict[str, str]:
    """Return what stands in a command for a topic and a group, if they are known."""
    topics = {} if topic is None else {OF_TOPIC: f" -t {quote(topic)}", ONE_TOPIC: f" --topic {quote(topic)}"}
    return topics if group is None else topics | {OF_GROUP: f" -g {quote(group)}"}


def times(window: tuple[dt.datetime, dt.datetime] | None, *, local: bool = False) -> dict[str, str]:
    """Return what stands in a command for a time: UTC, or local time of an unknown zone, for which any is allowed."""
    if window is None:
        return {}
    start, end = window
    days = sorted({f"{at:%d}" for at in window})
    files = " ".join(f"/var/log/sa/sa{day} /var/log/sysstat/sa{day}" for day in days)
    clock = "local time" if local else "UTC"
    first, last = (start - EAST, end + WEST) if local else window
    return {
        NEXT_TIME: SAR.format(files=files),
        BETWEEN: f"BETWEEN '{start:%Y-%m-%d %H:%M}' AND '{end:%Y-%m-%d %H:%M}' /* {clock} */",
        WINDOW: f" --since {first:%Y-%m-%dT%H:%M}Z --until {last:%Y-%m-%dT%H:%M}Z",
    }


def addresses(facts: Facts) -> dict[str, str]:
    """Return the folder of the store and the addresses that this evidence shows, by placeholder."""
    hosts = _hosts(facts, "store_host")
    known = {"~/store": _setting(facts, "storePathRootDir"), "NAMESRV:9876": _setting(facts, "namesrvAddr")}
    if len(hosts) == 1:
        known |= {"BROKER_HOST": hosts[0], "BROKER:10911": f"{hosts[0]}:{_setting(facts, 'listenPort') or 10911}"}
    return {placeholder: quote(value) for placeholder, value in known.items() if value}


def _only(names: Iterable[str]) -> str | None:
    every = [*names]
    return every[0] if len(every) == 1 else None


def _setting(facts: Facts, name: str) -> str | None:
    rows = [row for row in facts.rows("broker_settings") if row["name"] == name]
    return _only({*{row["address"] or row["file"]: row["value"] for row in reversed(rows)}.values()})


def _where(hosts: list[str], window: tuple[dt.datetime, dt.datetime] | None, local: bool) -> Sentence | None:
    on = hosts if 0 < len(hosts) <= HOSTS else None
    if window is None:
        return SAYS["hosts"].say(hosts=on) if on else None
    start, end = (f"{at:%Y-%m-%d %H:%M}" for at in window)
    return SAYS["when_local" if local else "when"].say(hosts=on, start=start, end=end)


def _hosts(facts: Facts, kind: str) -> list[str]:
    """Return the distinct addresses of records without their ports; none where there are too many."""
    hosts = _of_records(facts, kind)
    return sorted({host.rsplit(":", 1)[0] for host in hosts}) if len(hosts) <= MOST_HOSTS else []


def _of_records(facts: Facts, kind: str) -> list[str]:
    return [row["value"] for row in facts.rows("record_names") if row["kind"] == kind]
