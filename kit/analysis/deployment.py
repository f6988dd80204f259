"""The deployment in the evidence: settings of each broker, consumer groups, releases. `doctor` searches it for hazards.

If the evidence is nothing but configuration, it is read from the files: no engine, no workspace; else from the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import attrs

from kit.analysis import setup
from kit.analysis.brokers import ORIGINS
from kit.data import grouped
from kit.evidence import files
from kit.formats.tables import configs
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.rocketmq import names, stages
from kit.rocketmq.config import Settings
from kit.rocketmq.versions import Version
from kit.tables.facts import Facts

MOST: Final = 4 << 20
"""Bytes of a configuration file that is read without the tables of a case."""
_BROKER_JAR: Final = re.compile(r"(?:^|/)rocketmq-(?:broker|store|namesrv)-(\d+\.\d+\.\d+)\.jar$")
"""A library of the broker's installation: its release."""
_HOME: Final = re.compile(r"rocketmq[\w-]*?(\d+\.\d+\.\d+)")
_GROUP_CELLS: Final = ("consumerGroup", "#Group")
_TOPIC_CELLS: Final = ("#Topic", "topicName", "Topic")
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
    """The deployment shown by the evidence. `rows`: settings as in `configs`; `immunity`: seconds → a record."""

    brokers: tuple[Broker, ...]
    groups: tuple[Group, ...]
    rows: tuple[Mapping[str, Any], ...]
    broker_versions: tuple[Version, ...] = ()
    client_versions: tuple[Version, ...] = ()
    immunity: Mapping[str, Ref] = attrs.field(factory=dict)
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
    for name, where, info in configured:
        try:
            with files.open_readonly(where) as stream:
                data = stream.read(MOST)
            detail = configs.sniff(data, name, info.st_size)
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
    return Deployment(brokers(counts, versions), named, tuple(rows), versions, configuration_only=True)


def from_case(facts: Facts, version: Version | None = None) -> Deployment:
    """Return the deployment in all tables of a case."""
    rows = facts.rows("settings")
    versions = (version,) if version else tuple(Version.parse(v) for v in setup.broker_versions(facts))
    in_logs = facts.rows("named_in_logs") if facts.files.of_kind("log", "text") else []
    consumers = [row for row in setup.clients(facts) if row["role"] == "consumer"]
    named = [
        *(Group(row["group"], _at(row), Version.maybe(row["version"])) for row in consumers),
        *_configured(rows, facts.rows("offset_groups")),
        *(Group(row["value"], _at(row)) for row in in_logs if row["kind"] == "group"),
        *_printed(facts.rows("admin_names") if facts.files.of_mqadmin() else []),
    ]
    # The largest limit that a client printed when it refused a body.
    limit = max((row for row in in_logs if row["kind"] == "limit"), key=lambda row: int(row["value"]), default=None)
    clients = tuple(Version.parse(v) for v in setup.client_versions(facts))
    immunity = facts.rows("immunity_times") if facts.files.of_kind("commitlog", "dledger") else []
    return Deployment(
        brokers(facts.rows("broker_settings"), versions, limit), groups(named), tuple(rows), versions, clients,
        {row["seconds"]: Ref(row["file"], physical_offset=row["physical_offset"]) for row in immunity},
    )  # fmt: skip


def brokers(rows: Rows, versions: tuple[Version, ...], limit: Mapping[str, Any] | None = None) -> tuple[Broker, ...]:
    """Combine the settings of each broker from all files, of each name the first row; a file that names no broker
    belongs to the only one there is.

    `limit`: the row with the limit of clients.
    """
    of_brokers = (row for row in rows if row["origin"] in ORIGINS and not row["backup"])
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
    first: dict[str, Group] = {}
    for group in named:
        if names.of_users(group.name):
            before = first.setdefault(group.name, group)
            client = min((each for each in (group.client, before.client) if each), default=None)
            first[group.name] = before._replace(client=client)
    return tuple(first[name] for name in sorted(first))


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
        of_topic = stages.consumer_group_of(value, None) if row["name"] in _TOPIC_CELLS else None
        if group := value if row["name"] in _GROUP_CELLS else of_topic:
            yield Group(group, _at(row))
