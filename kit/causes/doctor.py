"""Hazards in configuration and names, before or after an incident: what, where, what it can become, what to set.

Rules look at a `kit.analysis.setup.Deployment`; facts (limits, defaults, contradictions, faults by release) are
those of `kit.rocketmq`. What a release ships with is a `note`, what somebody set or named a `hazard` (`hazards.yaml`).
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
import msgspec

from kit import data
from kit.analysis import brokers, setup
from kit.analysis.setup import Broker, Deployment, Group
from kit.causes import release_advice, results
from kit.causes.neighbours import deliveries
from kit.causes.release_advice import Advice
from kit.i18n import Lang, Sentence, T, labels
from kit.inventory.model import Ref
from kit.rocketmq import config, names, size, versions
from kit.rocketmq.config import ALIASES, PARAMETERS, Conflict
from kit.rocketmq.versions import Version, rule

if TYPE_CHECKING:
    from kit.case.case import Case

Grade = Literal["hazard", "note"]
SAYS: Final = labels("causes")["doctor"]


@attrs.frozen
class Hazard:
    """One row of the table. `cause`: slug of what it can become, "" if that is no documented cause."""

    slug: str
    what: Sentence
    place: Ref | Sentence
    cause: str
    becomes: Sentence
    instead: Sentence
    grade: Grade = "hazard"

    def where(self, lang: Lang) -> str:
        return str(self.place) if isinstance(self.place, Ref) else self.place.render(lang)

    def as_dict(self, lang: Lang) -> dict[str, Any]:
        place = self.place if isinstance(self.place, Ref) else None
        where = place and {name: getattr(place, name) for name in ("file", "line", "physical_offset")}
        sentences = {"what": self.what, "becomes": self.becomes, "set": self.instead}
        about = {"hazard": self.slug, "grade": self.grade, "where": where, "cause": self.cause}
        return about | {name: text.render(lang) for name, text in sentences.items()}


class HazardTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    what: T
    set: T
    becomes: T = T("the default {default} is in force instead", "实际生效的是默认值 {default}")
    cause: str = ""
    grade: Grade = "hazard"


ROWS: Final = data.read("causes/hazards.yaml", dict[str, HazardTexts])


def hazard(slug: str, place: Ref | Sentence, **values: Any) -> Hazard:
    row = ROWS[slug]
    what, becomes, instead = (each.say(**values) for each in (row.what, row.becomes, row.set))
    return Hazard(slug, what, place, row.cause, becomes, instead, row.grade)


@attrs.frozen
class Checkup:
    """What `doctor` found: hazards (worst first), faults of the releases seen, and what was looked at."""

    hazards: tuple[Hazard, ...]
    faults: tuple[Advice, ...]
    seen: Deployment

    def as_dict(self, lang: Lang) -> dict[str, Any]:
        hazards, faults = ([each.as_dict(lang) for each in every] for every in (self.hazards, self.faults))
        return {"schema": 1, "hazards": hazards, "faults": faults}


def of_files(path: Path, version: Version | None = None) -> Checkup | None:
    seen = setup.from_files(path, version)
    return None if seen is None else checkup(seen)


def of_case(case: "Case", version: Version | None = None) -> Checkup:
    """Examine a whole case; no store is read."""
    causes = release_advice.confirmed_or_suspected(results.load(case))
    return checkup(setup.from_case(case.facts, version), causes)


def checkup(seen: Deployment, causes: Collection[str] = ()) -> Checkup:
    """Apply every rule; faults that fit `causes`, slugs of those that a triage found, come first."""
    hazards = [h for broker in seen.brokers for h in (*_settings(broker), *_conflicts(broker))]
    hazards += [h for group in seen.groups if (h := _group(group, seen.broker_versions))]
    hazards += [*_slaves(seen.brokers), *_unreadable(seen)]
    first: dict[tuple[str, str], Hazard] = {}
    for each in hazards:
        first.setdefault((each.slug, each.what.render()), each)
    ranked = sorted(first.values(), key=lambda h: (h.grade == "note", h.slug, h.where("en")))
    releases = {"broker": seen.broker_versions, "client": seen.client_versions}
    # What a setting or name will lead to counts as found: its faults come first as well.
    fitting = {*causes, *(each.cause for each in ranked if each.grade == "hazard" and each.cause)}
    return Checkup(tuple(ranked), release_advice.advise(releases, fitting), seen)


def _settings(broker: Broker) -> Iterable[Hazard]:
    right, version = {name.lower(): name for name in PARAMETERS}, broker.settings.version
    for name in sorted(broker.written):
        parameter, value, place = PARAMETERS.get(name), broker.settings.given[name], broker.places[name]
        new = ALIASES.get(name) if parameter else right.get(name.lower())
        default = config.default_of(new or name, version)
        values = {"name": name, "value": value, "new": new, "version": str(version)}
        values["default"] = None if default is None else str(default)
        if parameter is None:
            if new:
                yield hazard("misspelt", place, **values)
        elif config.ignored(name, version):
            yield hazard("not-read", place, **values)
        elif config.misfit(name, value):
            slug = "not-a-value" if parameter.values else "not-a-number"
            yield hazard(slug, place, unit=parameter.unit, values=", ".join(parameter.values), **values)


def _conflicts(broker: Broker) -> Iterable[Hazard]:
    for conflict in config.conflicts(broker.settings):
        values = {name: broker.settings.value(name) for name in conflict.names}
        plain = (f"{n}={str(value).lower() if isinstance(value, bool) else value}" for n, value in values.items())
        what = SAYS["set"].say(settings=", ".join(plain))
        # Every value is the release's default, printed or not.
        grade: Grade = "note" if all(_is_default(broker, name) for name in values) else "hazard"
        place = _place(broker, conflict)
        yield Hazard(conflict.slug, what, place, conflict.cause, conflict.becomes, conflict.instead, grade)


def _place(broker: Broker, conflict: Conflict) -> Ref | Sentence:
    """Return the place of the setting most likely meant: one that somebody wrote, else one that is printed."""
    old = {new: name for name, new in ALIASES.items()}
    standing = [n for name in conflict.names for n in (name, old.get(name, "")) if n in broker.places]
    if standing:
        return broker.places[min(standing, key=lambda n: (_is_default(broker, n), n not in broker.written))]
    version = broker.settings.version
    return SAYS["by_default"].say(version=str(version) if version else SAYS["the_release"])


def _is_default(broker: Broker, name: str) -> bool:
    return bool(broker.settings.value(name) == config.default_of(name, broker.settings.version))


def _slaves(every: Iterable[Broker]) -> Iterable[Hazard]:
    """Yield the slaves whose brokerName no master of their cluster here has: by it a name server tells them the address
    of their master (namesrv/routeinfo/RouteInfoManager.registerBroker).
    """
    named, masters = [], set()
    for broker in every:
        given = {name: value.strip() for name, value in broker.settings.given.items()}
        cluster, name = given.get("brokerClusterName", "DefaultCluster"), given.get("brokerName", "")
        if brokers.is_slave(given):
            is_named = given.get("haMasterAddress") or given.get("enableControllerMode") == "true"
            named += [(cluster, name, broker.places["brokerName"])] if name and not is_named else []
        elif name:
            masters.add((cluster, name))
    for cluster, name, place in named:
        others = sorted(other for of, other in masters if of == cluster)
        if others and name not in others:
            yield hazard("slave-without-master", place, name=name, cluster=cluster, masters=others)


def _group(group: Group, releases: tuple[Version, ...]) -> Hazard | None:
    """Compare the retry and dead letter topic of a group with what the brokers store; the strictest broker counts."""
    strictest = sorted(releases or (versions.OLDEST,), key=lambda v: int(rule("brokerRetryTopicMax", v)))
    retries = [retry for version in strictest if (retry := _retry(group, version, sure=bool(releases)))]
    # From 5.1.0 a retry topic may be longer than a dead letter topic (broker/util/HookUtils.checkBeforePutMessage).
    measured = [_measured(group, names.DLQ_PREFIX + group.name, version) for version in releases]
    letters = [hazard("dlq-topic-too-long", group.place, **each) for each in measured if each["length"] > each["limit"]]
    return next(iter([*retries, *letters]), None)


def _retry(group: Group, version: Version, *, sure: bool) -> Hazard | None:
    values = _measured(group, names.RETRY_PREFIX + group.name, version)
    if values["length"] <= values["limit"]:
        return None
    if not sure:
        values["newer"] = _measured(group, names.RETRY_PREFIX + group.name, versions.NEWEST)["most"]
    retry = hazard("retry-topic-too-long", group.place, **values)
    if _has("fallback-keeps-tran-msg", group.client) and _has("schedule-into-half", version):
        leaks = SAYS["retry_leaks"].say(client=str(group.client))
        retry = attrs.evolve(retry, cause="half-topic-blowup", becomes=leaks)
    return retry


def _measured(group: Group, topic: str, version: Version) -> dict[str, Any]:
    """Return how long a topic of a group is, and how long it and the group's name may be."""
    length, allowed, unit = size.topic_length(topic, version)
    most = allowed - (len(topic) - len(group.name))
    return {"group": group.name, "length": length, "unit": SAYS[unit], "limit": allowed, "most": most}


def _has(fault: str, version: Version | None) -> bool:
    return any(fix.slug == fault and fix.has(version) for fix in versions.FIXED)


def _unreadable(seen: Deployment) -> Iterable[Hazard]:
    for row in deliveries.unreadable(seen.rows):
        topic, place = row["subject"], Ref(row["file"], line=row["line"])
        values = {"command": deliveries.COMMAND, "word": quote(topic)}
        yield hazard("dlq-unreadable", place, topic=topic, perm=row["value"], **values)
