"""What a hazard is (`hazards.yaml`), those that causes find already, and those of consumer groups: client ids that
can clash, differing subscriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

import attrs
import msgspec

from kit import data
from kit.analysis.consumers import admin_output, consumer_logs, members
from kit.analysis.deployment import Deployment
from kit.formats import printed_times
from kit.formats.values import integer
from kit.i18n import Lang, Sentence, T, labels
from kit.inventory.inventory import TEXTS
from kit.inventory.references import Ref
from kit.tables.facts import Facts

Grade = Literal["hazard", "note"]

SAYS: Final = labels("causes")["hazards"]
NEAR: Final = 0.5
"""Share of fileReservedTime from which the age of a group's next message is reported."""
CONTAINER: Final = re.compile(r"^(?:172\.1[7-9]\.|172\.2\d\.|10\.0\.2\.|192\.168\.)\S*@(?P<pid>\d{1,2})$")
"""Inner addresses of container networks, with a process id as small as those in a namespace of their own."""


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
        place = None
        if isinstance(self.place, Ref):
            place = {name: getattr(self.place, name) for name in ("file", "line", "physical_offset")}
        said = {"what": self.what, "becomes": self.becomes, "set": self.instead}
        return {
            "hazard": self.slug,
            "grade": self.grade,
            "where": place,
            "cause": self.cause,
            **{k: v.render(lang) for k, v in said.items()},
        }


class HazardTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of `hazards.yaml`."""

    what: T
    becomes: T
    set: T
    cause: str = ""
    grade: Grade = "hazard"


ROWS: Final = data.read("causes/hazards.yaml", dict[str, HazardTexts])


def hazard(slug: str, place: Ref | Sentence, **values: Any) -> Hazard:
    """Return the hazard of a row, the placeholders of its sentences filled."""
    row = ROWS[slug]
    what, becomes, instead = (each.say(**values) for each in (row.what, row.becomes, row.set))
    return Hazard(slug, what, place, row.cause, becomes, instead, row.grade)


def of_causes(facts: Facts, kept: Mapping[str, Any] | None) -> Iterable[Hazard]:
    """Yield a shared producer group if `kept`, findings.json of a triage, or the evidence shows one."""
    slug = "shared-producer-group"
    findings = kept["findings"] if kept is not None else []
    if kept is None and facts.files.of_kind("commitlog", "dledger") and facts.has_source("transaction"):
        from kit import causes

        findings = [causes.examine(facts, slug).as_dict(facts.lang)]
    for finding in findings:
        if finding["cause"] == slug and finding["verdict"] == "confirmed":
            ref = next((ref for step in finding["steps"] for ref in step["evidence"]), None)
            place = Ref(**ref) if ref else SAYS["no_place"]
            yield hazard(slug, place, summary=finding["summary"])


def of_clients(facts: Facts) -> Iterable[Hazard]:
    """Return the hazards in client logs and running info files; nothing if absent."""
    if not any(item.kind in TEXTS for item in facts.files.items):
        return
    by_id: dict[str, list[consumer_logs.Statement]] = {}
    for said in consumer_logs.of(facts, "client-created"):
        by_id.setdefault(said.client_id or "", []).append(said)
    for client_id, lines in sorted(by_id.items()):
        place = Ref(lines[0].file, line=lines[0].line)
        places = sorted({said.place for said in lines})
        if len(places) > 1:
            yield hazard("same-client-id", place, id=client_id, places=places)
        elif CONTAINER.match(client_id):
            yield hazard("container-client-id", place, id=client_id)
    for group, pairs in sorted(members.differing(facts).items()):
        one, other = pairs[0]
        yield hazard(
            "different-subscriptions", one.ref, group=group, one=members.words(one), other=members.words(other)
        )


def near_deletion(facts: Facts, seen: Deployment) -> Iterable[Hazard]:
    """Yield the groups whose next message is older than half of fileReservedTime, by how many hours the next one of a
    topic's oldest queue is older than the newest one handled.

    consumerProgress prints as #LastTime when the message before the offset was stored. All times of an output are in
    one zone, so they are compared with each other, not with a clock.
    """
    kept = min((h for broker in seen.brokers if (h := broker.settings.number("fileReservedTime"))), default=None)
    times: dict[tuple[str, str, str], list[tuple[int, int, int]]] = {}
    for block in admin_output.blocks_of(facts, "consumerProgress") if kept else ():
        last, diff = printed_times.when(block.get("#LastTime")), integer(block.get("#Diff"))
        if last is not None and diff is not None and block.get("-g"):
            named = (block["-g"], block.get("#Topic", ""), block["file"])
            times.setdefault(named, []).append((last.ms, diff, block["line"]))
    for (group, topic, file), rows in sorted(times.items()):
        newest = max(last for last, _, _ in rows)
        behind, line = max(((newest - last, line) for last, diff, line in rows if diff > 0), default=(0, 0))
        hours = behind / 3_600_000
        if kept and hours >= NEAR * kept:
            place = Ref(file, line=line)
            yield hazard("near-deletion", place, group=group, topic=topic, hours=round(hours, 1), kept=int(kept))
