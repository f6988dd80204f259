"""The deployment according to the evidence: settings of each broker, consumer groups, releases. `doctor` searches it
for hazards.

If the evidence has nothing but configuration, it is read straight from the files: no engine, no workspace. Otherwise from the tables of the case.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from kit.analysis import setup
from kit.evidence import files
from kit.formats.tables import configs
from kit.rocketmq import names
from kit.rocketmq.config import Settings
from kit.rocketmq.versions import Version
from kit.tables.facts import Facts

MOST: Final = 4 << 20
"""Bytes of a configuration file that is read without the tables of a case."""

_BROKER_JAR: Final = re.compile(r"(?:^|/)rocketmq-(?:broker|store|namesrv)-(\d+\.\d+\.\d+)\.jar$")
"""A library of the broker's installation: its release."""
_GROUP_CELLS: Final = ("consumerGroup", "#Group")
_TOPIC_CELLS: Final = ("#Topic", "topicName", "Topic")


@attrs.frozen
class Place:
    """A place in the evidence; `line`: None for a whole file, or for a record (then `offset` has its position)."""

    file: str
    line: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        if self.line is None and self.offset is None:
            return self.file
        return f"{self.file}:{self.line}" if self.line else f"{self.file}@{self.offset}"


@attrs.frozen
class Broker:
    """The settings of one broker and their places; `written`: those in a broker.conf, others are its own printout."""

    name: str
    settings: Settings
    places: Mapping[str, Place]
    written: frozenset[str]


@attrs.frozen
class Group:
    """A consumer group and one place that names it; `client`: the oldest release that connected in it, None if unknown."""

    name: str
    place: Place
    client: Version | None = None


@attrs.frozen
class Deployment:
    """The deployment shown by the evidence. `rows`: settings as in the table `configs`; `immunity`: seconds → a record with that value."""

    brokers: tuple[Broker, ...]
    groups: tuple[Group, ...]
    rows: tuple[Mapping[str, Any], ...]
    broker_versions: tuple[Version, ...] = ()
    client_versions: tuple[Version, ...] = ()
    immunity: Mapping[str, Place] = attrs.field(factory=dict)
    configuration_only: bool = False


def from_files(path: Path, version: Version | None = None) -> Deployment | None:
    """Return the deployment in configuration files; None if there is anything else, or one of them is damaged."""
    walked, refused = files.walk(path)
    jars = {v for name, _, _ in walked if (jar := _BROKER_JAR.search(name)) and (v := Version.maybe(jar[1]))}
    found = [each for each in walked if not each[0].endswith(".jar")]
    if refused or not found or any(not 0 < info.st_size <= MOST for _, _, info in found):
        return None
    rows: list[dict[str, Any]] = []
    offsets: list[dict[str, Any]] = []
    for name, where, info in found:
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
    homes = [setup.HOME.search(row["value"] or "") for row in rows if row["name"] == "rocketmqHome"]
    said = jars | {version for home in homes if home and (version := Version.maybe(home[1]))}
    versions = (version,) if version else tuple(sorted(said))
    named = groups(_configured(rows, offsets))
    return Deployment(brokers(rows, versions, None), named, tuple(rows), versions, configuration_only=True)


def from_case(facts: Facts, version: Version | None = None) -> Deployment:
    """Return the deployment in all tables of a case."""
    rows = facts.rows("settings")
    offsets = facts.rows("offset_groups")
    versions = (version,) if version else tuple(Version.parse(v) for v in setup.broker_versions(facts))
    named = [*_connected(facts), *_configured(rows, offsets), *_spoken(facts), *_shown(facts)]
    clients = tuple(Version.parse(v) for v in setup.client_versions(facts))
    return Deployment(
        brokers(rows, versions, _client_limit(facts)), groups(named), tuple(rows), versions, clients, _immunity(facts)
    )


def brokers(
    rows: Iterable[Mapping[str, Any]], versions: tuple[Version, ...], client_limit: tuple[str, Place] | None
) -> tuple[Broker, ...]:
    """Combine the settings of each broker from all files; a file that names no broker belongs to the only one there is."""
    sets: dict[tuple[str, str, str | None], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["origin"] in setup.RANK and not row["backup"]:
            sets[row["origin"], row["file"], row["subject"]].append(row)
    by_broker: dict[str, list[tuple[str, str, str | None]]] = defaultdict(list)
    for key, told in sets.items():
        said = {row["name"]: row["value"] or "" for row in told}
        number = said.get("brokerId", "0")
        by_broker[said.get("brokerName", "") + (f" ({number})" if number not in ("", "0") else "")].append(key)
    nameless = by_broker.pop("", [])
    if len(by_broker) == 1:
        next(iter(by_broker.values())).extend(nameless)
    elif nameless:
        by_broker[""] = nameless
    # Several releases: which broker has which is unknown, so none of them is assumed.
    version = versions[0] if len(versions) == 1 else None
    return tuple(
        _broker(name, [row for key in keys for row in sets[key]], version, client_limit)
        for name, keys in sorted(by_broker.items())
    )


def _broker(
    name: str, rows: list[Mapping[str, Any]], version: Version | None, client_limit: tuple[str, Place] | None
) -> Broker:
    given: dict[str, str] = {}
    places: dict[str, Place] = {}
    # The last line wins within a file, the better origin between files; what somebody wrote is where it can be changed.
    for row in sorted(rows, key=lambda r: (-setup.RANK[r["origin"]], r["file"], r["line"])):
        given[row["name"]] = row["value"] or ""
        if row["origin"] == "broker.conf" or row["name"] not in places:
            places[row["name"]] = Place(row["file"], row["line"])
    if client_limit:
        given["clientMaxMessageSize"], places["clientMaxMessageSize"] = client_limit
    written = frozenset(row["name"] for row in rows if row["origin"] == "broker.conf")
    return Broker(name, Settings(given, version), places, written)


def groups(named: Iterable[Group]) -> tuple[Group, ...]:
    """Return each consumer group of users once: the first place that names it, the oldest client."""
    kept: dict[str, Group] = {}
    for group in named:
        if not names.of_users(group.name):
            continue
        before = kept.get(group.name)
        clients = [c for c in (group.client, before.client if before else None) if c]
        kept[group.name] = attrs.evolve(before or group, client=min(clients, default=None))
    return tuple(sorted(kept.values(), key=lambda g: g.name))


def group_of(topic: str) -> str | None:
    """Return the consumer group of a retry or dead letter topic, None for another topic."""
    prefix = next((p for p in (names.RETRY_PREFIX, names.DLQ_PREFIX) if topic.startswith(p)), None)
    return topic.removeprefix(prefix) if prefix else None


def _configured(rows: Iterable[Mapping[str, Any]], offsets: Iterable[Mapping[str, Any]]) -> Iterable[Group]:
    for row in rows:
        subject = row["subject"] or ""
        if row["origin"] == "subscriptionGroup":
            yield Group(subject, Place(row["file"], row["line"]))
        elif row["origin"] == "topics" and (group := group_of(subject)):
            yield Group(group, Place(row["file"], row["line"]))
    for row in offsets:
        if row["group"]:
            yield Group(row["group"], Place(row["file"]))


def _connected(facts: Facts) -> Iterable[Group]:
    return [
        Group(c.group, Place(c.ref.file, c.ref.line), Version.maybe(c.version))
        for c in setup.clients(facts)
        if c.role == "consumer"
    ]


def _spoken(facts: Facts) -> Iterable[Group]:
    """Return the groups that client logs name."""
    return [Group(row["value"], Place(row["file"], row["line"])) for row in _in_logs(facts) if row["kind"] == "group"]


def _in_logs(facts: Facts) -> list[dict[str, Any]]:
    return facts.rows("named_in_logs") if facts.files.of_kind("log", "text") else []


def _shown(facts: Facts) -> Iterable[Group]:
    """Yield the groups that mqadmin outputs name; a name that was cut is never longer than the group's."""
    if not facts.files.of_mqadmin():
        return
    for row in facts.rows("admin_names"):
        value = row["value"] or ""
        group = value if row["name"] in _GROUP_CELLS else group_of(value) if row["name"] in _TOPIC_CELLS else None
        if group:
            yield Group(group, Place(row["file"], row["line"]))


def _client_limit(facts: Facts) -> tuple[str, Place] | None:
    """Return the largest limit that a client printed when it refused a body, and where."""
    limits = [(int(row["value"]), row) for row in _in_logs(facts) if row["kind"] == "limit"]
    limit, row = max(limits, key=lambda each: each[0], default=(None, {}))
    return None if limit is None else (str(limit), Place(row["file"], row["line"]))


def _immunity(facts: Facts) -> Mapping[str, Place]:
    """Return each value of CHECK_IMMUNITY_TIME_IN_SECONDS in half messages, with the first record of it."""
    if not facts.files.of_kind("commitlog", "dledger"):
        return {}
    rows = facts.rows("immunity_times")
    return {row["seconds"]: Place(row["file"], offset=row["physical_offset"]) for row in rows}
