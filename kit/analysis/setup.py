"""How the system was set up according to the evidence: releases of brokers and clients, settings in force."""

import contextlib
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import attrs

from kit.analysis import brokers
from kit.analysis.brokers import Hosts
from kit.data import grouped
from kit.evidence import files
from kit.formats.printed_times import utc
from kit.formats.tables import configs
from kit.formats.values import integer
from kit.inventory.model import Ref, folder_of
from kit.rocketmq import names, stages, versions
from kit.rocketmq.config import Settings, default_of
from kit.rocketmq.versions import Version
from kit.tables.facts import Facts, memo
from kit.tables.queries import fold


class Setting(NamedTuple):
    """A broker setting. `where`: its line, None for a default; `known`: None if not even the release is known."""

    value: str | None
    where: Ref | None
    known: Literal["evidence", "default"] | None


def setting(facts: Facts, name: str, hosts: Hosts = frozenset()) -> Setting:
    """Return a setting of the broker at `hosts`, else what all have: answered, printed, configured, else the default."""
    given = ((row, row["file"], row["address"]) for row in facts.rows("broker_settings") if row["name"] == name)
    if of_broker := brokers.of_this(facts, hosts, given):
        row, first = of_broker[0], {}
        if not hosts and len(brokers.all_of(facts)) > 1:  # of each what counts: its first row
            first = {(brokers.of_file(facts, r["file"]), r["address"]): r["value"] for r in reversed(of_broker)}
        if len(set(first.values())) > 1:
            return Setting(None, None, None)
        return Setting(row["value"], facts.ref(row["file"], row["line"]), "evidence")
    # Without a release, a default that never changed is still known.
    values = {default_of(name, release) for release in releases_at(facts, hosts) or (None,)}
    default = values.pop() if len(values) == 1 else None
    return Setting(None, None, None) if default is None else Setting(str(default), None, "default")


def of_half_topics(facts: Facts, name: str) -> Setting:
    """Return a setting of the brokers with half records; of several that differ none is known."""
    owners = sorted({row["broker"] for row in facts.rows("store_brokers") if row["halves"]})
    each = [setting(facts, name, brokers.half_addresses(facts, owner)) for owner in owners] or [setting(facts, name)]
    return each[0] if len({one.value for one in each}) == 1 else Setting(None, None, None)


# --- releases ---------------------------------------------------------------------------------------------------------


def broker_versions(facts: Facts, hosts: Hosts = frozenset()) -> tuple[Version, ...]:
    """Return the releases that the evidence names for the broker at `hosts`, or for any broker, oldest first."""
    rows = ((Version.maybe(row["version"]), row) for row in facts.rows("broker_releases"))
    named = ((version, row["file"], row["address"]) for version, row in rows if version)
    return tuple(sorted(set(brokers.of_this(facts, hosts, named))))


@memo
def upgrades(facts: Facts) -> dict[str, list[dict[str, Any]]]:
    """Return the starts of each upgraded broker, in order: rows of `broker_starts`, `version` parsed, `at` (UTC)."""
    address = {row["file"]: row["address"] for row in facts.rows("broker_settings") if row["subject"] is None}
    rows = facts.rows("broker_starts") if facts.has_source("broker") else ()
    parsed = (row | {"version": Version.maybe(row["version"]), "at": utc(row["ts"])} for row in rows)
    named = ((address.get(row["file"]) or folder_of(row["file"]), row) for row in parsed)
    starts = grouped((broker, row) for broker, row in named if row["version"])
    return {broker: each for broker, each in starts.items() if len({start["version"] for start in each}) > 1}


def releases_at(facts: Facts, hosts: Hosts = frozenset(), at: dt.datetime | None = None) -> tuple[Version, ...]:
    """Return those of `broker_versions` that ran at a time (UTC), or at the end: a start ends the release before."""
    running: set[Version] = set()
    ended: set[Version] = set()
    for broker, starts in upgrades(facts).items():
        if brokers.of_this(facts, hosts, ((start, start["file"], broker) for start in starts)):
            before = [start for start in starts if at is None or start["at"] <= at]
            running.add((before or starts[:1])[-1]["version"])
            ended.update(start["version"] for start in starts)
    return tuple(version for version in broker_versions(facts, hosts) if version not in ended - running)


def clients(facts: Facts) -> list[dict[str, Any]]:
    """Return the rows of `clients_connected` of users' clients, `version` parsed."""
    return [
        row | {"version": version}
        for row in (facts.rows("clients_connected") if facts.has_source("broker") else ())
        if row["group"] != names.ADMIN_GROUP and (version := Version.maybe(row["version"]))
    ]


@memo
def client_versions(facts: Facts) -> tuple[Version, ...]:
    """Return the releases of clients that the evidence names, oldest first."""
    created = facts.rows("client_releases") if facts.files.of_kind("log", "text") else []
    named = (Version.maybe(row["version"]) for row in (*clients(facts), *created))
    return tuple(sorted(set(filter(None, named))))


LONGEST_DELAY: Final = 100 * 86_400
"""Seconds. A level beyond is no delay anybody waits for, and could lead out of the times that can be shown."""


@fold("level int, seconds bigint", "settings")
def delay_levels(facts: Facts) -> list[dict[str, Any]]:
    """One row per delay level of the broker (messageDelayLevel, or the default), up to 100 days: level (1 …), seconds.
    MessageStoreConfig.messageDelayLevel, ScheduleMessageService.parseDelayLevel.
    """
    levels = names.delay_seconds()
    if text := setting(facts, "messageDelayLevel").value:
        with contextlib.suppress(KeyError, ValueError):
            levels = names.delay_seconds(text)
    return [{"level": n, "seconds": seconds} for n, seconds in sorted(levels.items()) if seconds <= LONGEST_DELAY]


@fold("kept boolean", "store_brokers", "settings", "admin_names")
def discards_stored(facts: Facts) -> list[dict[str, Any]]:
    """One row: kept (whether every known broker stores what it discards, since 4.5.2)."""
    known = broker_versions(facts, brokers.half_addresses(facts))
    return [{"kept": bool(known) and all(versions.rule("discardTopic", version) for version in known)}]


# --- the deployment: what `doctor` searches for hazards ---------------------------------------------------------------
# If the evidence is nothing but configuration, it is read from the files: no engine, no workspace; else from the
# tables.

MOST: Final = 4 << 20
"""Bytes of a configuration file that is read without the tables of a case."""
_BROKER_JAR: Final = re.compile(r"(?:^|/)rocketmq-(?:broker|store|namesrv)-(\d+\.\d+\.\d+)\.jar$")
"""A library of the broker's installation: its release."""
_HOME: Final = re.compile(r"rocketmq[\w-]*?(\d+\.\d+\.\d+)")
Rows = Iterable[Mapping[str, Any]]


class Broker(NamedTuple):
    """The settings of one broker and their places; `written`: those in a broker.conf, others are its own printout."""

    name: str
    settings: Settings
    places: Mapping[str, Ref]
    written: frozenset[str]


class Group(NamedTuple):
    """A consumer group and one place that names it; `client`: the oldest release in it, None if unknown."""

    name: str
    place: Ref
    client: Version | None = None


@attrs.frozen
class Deployment:
    """The deployment shown by the evidence. `rows`: settings as in `configs`."""

    brokers: tuple[Broker, ...]
    groups: tuple[Group, ...]
    rows: tuple[Mapping[str, Any], ...]
    broker_versions: tuple[Version, ...] = ()
    client_versions: tuple[Version, ...] = ()
    configuration_only: bool = False


def from_files(path: Path, version: Version | None = None) -> Deployment | None:
    """Return the deployment in configuration files; None if there is anything else, or one of them is damaged."""
    walked, refused = files.walk(path)
    jars = [jar[1] for name, _, _ in walked if (jar := _BROKER_JAR.search(name))]
    configured = [each for each in walked if not each[0].endswith(".jar")]
    if refused or not configured or any(not 0 < info.st_size <= MOST for _, _, info in configured):
        return None
    rows: list[dict[str, Any]] = []
    offsets: list[dict[str, Any]] = []
    for name, where, _ in configured:
        try:
            data = files.beginning(where, MOST)
            detail = configs.sniff(data, name)
            if detail is None or (kind := detail.pop("kind")) not in ("broker_conf", "store_json"):
                return None
            rows += configs.configs(name, data, detail, kind)
            offsets += configs.offsets(name, data, detail, kind) if kind == "store_json" else []
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
    homes = [_HOME.search(row["value"] or "") for row in rows if row["name"] == "rocketmqHome"]
    releases = map(Version.maybe, (*jars, *(home[1] for home in homes if home)))
    versions = (version,) if version else tuple(sorted({each for each in releases if each}))
    named = groups(_configured(rows, offsets))
    # The last line of a file counts, and before what it says what the running broker answered.
    counts = sorted(rows, key=lambda row: (row["origin"] != "broker.conf", row["file"], row["line"]), reverse=True)
    return Deployment(_combined(counts, versions), named, tuple(rows), versions, configuration_only=True)


def from_case(facts: Facts, version: Version | None = None) -> Deployment:
    rows = facts.rows("settings")
    versions = (version,) if version else broker_versions(facts)
    in_logs = facts.rows("named_in_logs") if facts.files.of_kind("log", "text") else []
    consumers = [row for row in clients(facts) if row["role"] == "consumer"]
    named = [
        *(Group(row["group"], _at(row), row["version"]) for row in consumers),
        *_configured(rows, facts.rows("offset_groups")),
        *(Group(row["value"], _at(row)) for row in in_logs if row["kind"] == "group"),
        *_printed(facts.rows("admin_names")),
    ]
    # The largest limit that a client printed when it refused a body.
    limit = max((row for row in in_logs if row["kind"] == "limit"), key=lambda row: int(row["value"]), default=None)
    every = _combined(facts.rows("broker_settings"), versions, limit)
    return Deployment(every, groups(named), tuple(rows), versions, client_versions(facts))


def _combined(rows: Rows, versions: tuple[Version, ...], limit: Mapping[str, Any] | None = None) -> tuple[Broker, ...]:
    """Combine the settings of each broker of all files, of a name the first row; a file without one is the only one's.
    `limit`: the row with the limit of clients.
    """
    of_brokers = (row for row in rows if row["origin"] in brokers.ORIGINS and not row["backup"])
    of_file = grouped(((row["file"], row["subject"]), row) for row in of_brokers)
    named: dict[Any, str] = {}
    for place, each in of_file.items():
        given = {row["name"]: row["value"] or "" for row in reversed(each)}
        number = integer(given.get("brokerId")) or 0  # -1 of a member of a DLedger group
        named[place] = given.get("brokerName", "") + (f" ({number})" if number > 0 else "")
    known = sorted(set(filter(None, named.values())))
    only = known[0] if len(known) == 1 else ""
    by_broker = grouped((named[place] or only, row) for place, each in of_file.items() for row in each)
    # Several releases: which broker has which is unknown, so none of them is assumed.
    version = versions[0] if len(versions) == 1 else None
    every = []
    for name, own in sorted(by_broker.items()):
        # The place of a setting is where somebody wrote it.
        written = {row["name"]: _at(row) for row in own[::-1] if row["origin"] == "broker.conf"}
        given = {row["name"]: row["value"] or "" for row in own[::-1]}
        places = {row["name"]: _at(row) for row in own[::-1]} | written
        if limit:
            given["clientMaxMessageSize"], places["clientMaxMessageSize"] = limit["value"], _at(limit)
        every.append(Broker(name, Settings(given, version), places, frozenset(written)))
    return tuple(every)


def _at(row: Mapping[str, Any]) -> Ref:
    return Ref(row["file"], line=row["line"])


def groups(named: Iterable[Group]) -> tuple[Group, ...]:
    """Return each consumer group of users once: the first place that names it, the oldest client."""
    by_name = grouped((group.name, group) for group in named if names.of_users(group.name))
    each = ((own[0], filter(None, (group.client for group in own))) for _, own in sorted(by_name.items()))
    return tuple(first._replace(client=min(clients, default=None)) for first, clients in each)


def _configured(rows: Rows, offsets: Rows) -> Iterator[Group]:
    for row in rows:
        subject = row["subject"] or ""
        if row["origin"] == "subscriptionGroup":
            yield Group(subject, _at(row))
        elif row["origin"] == "topics" and (group := stages.consumer_group_of(subject, None)):
            yield Group(group, _at(row))
    yield from (Group(row["group"], Ref(row["file"])) for row in offsets if row["group"])


def _printed(cells: Rows) -> Iterator[Group]:
    """Yield the groups that mqadmin outputs name; a name that was cut is never longer than the group's."""
    for row in cells:
        value = row["value"] or ""
        of_topic = stages.consumer_group_of(value, None) if row["name"] in ("#Topic", "topicName", "Topic") else None
        if group := value if row["name"] in ("consumerGroup", "#Group") else of_topic:
            yield Group(group, _at(row))
