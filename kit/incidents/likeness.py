"""Find similar incidents, and what they have in common.

An incident's traits are its verdicts, the steps that held, its known problems, and the topics, groups, queues and addresses that its evidence names.
The likeness is the shared weight divided by the total weight (a weighted Jaccard index): 1 for the same findings, 0 if nothing is shared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from kit.i18n import T, labels
from kit.incidents.reading import Incident
from kit.rocketmq.names import is_system_topic

Kind = Literal["cause", "suspected", "step", "name", "release"]

WEIGHTS: Final[dict[Kind, float]] = {"cause": 4.0, "suspected": 1.5, "name": 2.0, "release": 0.5, "step": 1.0}
"""A confirmed cause weighs most; a common name shows that it is the same system; a step alone means little."""
LABELS: Final[dict[str, T]] = labels("incidents")["likeness"]

_NAMED: Final = re.compile(
    r"\b(?:REAL_TOPIC|RETRY_TOPIC|PGROUP|topic|consumerGroup|producerGroup|group)\s*[=:]\s*\"?([^\s,;\"'}\])]+)"
    r"|%(?:RETRY|DLQ)%([\w%|-]+)"
)
_NAMING_FIGURES: Final = frozenset({"group", "topic", "advertised"})
_TOPIC_AT_GROUP: Final = frozenset({"lag", "lag_per_queue"})


class Trait(NamedTuple):
    """Something an incident shows. `what`: a slug, `slug/step-id` or a name."""

    kind: Kind
    what: str


class Match(NamedTuple):
    """How much `incident` resembles the given one, 0 to 1, and their common traits, the most important first."""

    incident: Incident
    likeness: float
    shared: tuple[Trait, ...]


def alike(incident: Incident, others: Iterable[Incident], least: float = 0.05) -> list[Match]:
    """Return the incidents that resemble this one, most similar first, without itself and those below `least`."""
    own = traits(incident)
    found = []
    for other in others:
        if other.path == incident.path:
            continue
        theirs = traits(other)
        shared, every = own & theirs, own | theirs
        likeness = _weight(shared) / _weight(every) if every else 0.0
        if likeness >= least:
            found.append(Match(other, likeness, tuple(sorted(shared, key=lambda trait: (-WEIGHTS[trait.kind], trait)))))
    return sorted(found, key=lambda match: (-match.likeness, match.incident.name))


def traits(incident: Incident) -> frozenset[Trait]:
    """Return an incident's traits: only what is confirmed or suspected counts, not what was ruled out."""
    return frozenset(_traits(incident))


def _traits(incident: Incident) -> Iterator[Trait]:
    for finding in incident.held():
        slug = str(finding["cause"])
        yield Trait("cause" if finding["verdict"] == "confirmed" else "suspected", slug)
        for step in finding.get("steps") or ():
            if step.get("holds") is True:
                yield Trait("step", f"{slug}/{step.get('id') or ''}")
                for ref in step.get("evidence") or ():
                    yield from (Trait("name", name) for name in _names(str(ref.get("text") or "")))
        yield from (Trait("name", name) for name in _figure_names(finding.get("figures") or {}))
    evidence = incident.findings.get("evidence")
    releases = evidence.get("releases") if isinstance(evidence, Mapping) else None
    for side, versions in releases.items() if isinstance(releases, Mapping) else ():
        yield from (Trait("release", f"{side} {version}") for version in versions)


def _names(text: str) -> Iterator[str]:
    """Return the topics and groups in a quoted line or record, without RocketMQ's own."""
    for found in _NAMED.finditer(text):
        name = (found[1] or found[2]).removeprefix("%RETRY%").removeprefix("%DLQ%")
        if name and name != "null" and not is_system_topic(name):
            yield name


def _figure_names(figures: Mapping[str, Any]) -> Iterator[str]:
    for name, value in figures.items():
        if name in _NAMING_FIGURES and isinstance(value, str):
            yield value
        elif name in _TOPIC_AT_GROUP and isinstance(value, Mapping):
            for key in value:
                yield from filter(None, str(key).split("@", 1))


def _weight(found: Iterable[Trait]) -> float:
    return sum(WEIGHTS[trait.kind] for trait in found)
