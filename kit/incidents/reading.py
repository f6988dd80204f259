"""Every findings.json below a folder, as `Incident`s in the order in which they began; which of them are similar, and what they have in common.

An incident's traits are its verdicts, the steps that held, its known problems, and the topics, groups, queues and addresses that its evidence names.
The likeness is the shared weight divided by the total weight (a weighted Jaccard index): 1 for the same findings, 0 if nothing is shared.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, Final, Literal, NamedTuple

import attrs

from kit.formats.printed_times import iso
from kit.i18n import Filled, T, labels
from kit.report.compare import is_findings
from kit.rocketmq.names import is_system_topic

NAME: Final = "findings.json"
PAGES: Final = ("report.html", "postmortem.html")
MOST_BYTES: Final = 64 << 20
"""A findings.json has a few hundred kilobytes; a file of this size is something else."""

SAYS: Final = labels("incidents")["reading"]

HELD: Final = ("confirmed", "suspected")


@attrs.frozen
class Incident:
    """One findings.json. `name`: its folder, relative to the one that was read. `pages`: report and postmortem next to it."""

    name: str
    path: Path
    pages: tuple[Path, ...]
    findings: Mapping[str, Any] = attrs.field(repr=False)

    @property
    def root_causes(self) -> list[str]:
        return [str(slug) for slug in self.findings.get("root_causes") or ()]

    @property
    def evidence(self) -> str:
        """Return the name of the evidence, without its folder."""
        return PurePath(str(self._evidence.get("path") or "")).name

    @property
    def began(self) -> dt.datetime | None:
        """Return when its first root cause began, else when its evidence begins; None if nothing has a time."""
        windows = [f["window"][0] for f in self.held() if f.get("window") and f["cause"] in self.root_causes]
        firsts = [file.get("first") for file in self._evidence.get("files") or () if isinstance(file, Mapping)]
        return min(_instants(windows), default=None) or min(_instants(firsts), default=None)

    def held(self, *verdicts: str) -> list[Mapping[str, Any]]:
        """Return the findings with one of these verdicts, confirmed or suspected unless named."""
        return [f for f in self.findings["findings"] if f.get("verdict") in (verdicts or HELD)]

    @property
    def _evidence(self) -> Mapping[str, Any]:
        evidence = self.findings.get("evidence")
        return evidence if isinstance(evidence, Mapping) else {}


class Incidents(NamedTuple):
    """What was read: `incidents` in order of time, and a sentence for each file that could not be read."""

    incidents: list[Incident]
    unread: list[Filled]


def read(folder: str | Path) -> Incidents:
    """Read every findings.json below a folder. Links are not followed. Raise `FileNotFoundError`, `NotADirectoryError`."""
    root = Path(folder)
    if not root.is_dir():
        raise (NotADirectoryError if root.exists() else FileNotFoundError)(str(root))
    incidents, unread = [], []
    for path in _below(root):
        shown = path.relative_to(root).as_posix()
        try:
            size = path.stat().st_size
            if size > MOST_BYTES:
                unread.append(SAYS["too_big"].say(file=shown, bytes=size))
                continue
            findings = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            unread.append(SAYS["not_read"].say(file=shown, why=type(error).__name__))
            continue
        if not is_findings(findings):
            unread.append(SAYS["not_findings"].say(file=shown))
            continue
        pages = tuple(page for name in PAGES if (page := path.with_name(name)).is_file())
        incidents.append(Incident(path.parent.relative_to(root).as_posix(), path, pages, findings))
    last = dt.datetime.max.replace(tzinfo=dt.UTC)
    return Incidents(sorted(incidents, key=lambda one: (one.began or last, one.name)), unread)


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        # A killed run leaves its staged files in a hidden folder.
        folders[:] = [name for name in folders if not name.startswith(".")]
        path = Path(folder, NAME)
        if NAME in names and not path.is_symlink():
            yield path


def _instants(times: list[Any]) -> Iterator[dt.datetime]:
    for time in times:
        try:
            yield iso(str(time))
        except ValueError:
            continue


# --- similar incidents ------------------------------------------------------------------------------------------------

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
