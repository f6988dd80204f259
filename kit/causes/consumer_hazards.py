"""Hazards of consumer groups, before anything happens: client ids that can clash, and differing subscriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from kit.analysis.consumers import admin_output, consumer_logs, members
from kit.analysis.deployment import Deployment, Place
from kit.causes.hazards import Hazard
from kit.formats import printed_times
from kit.formats.values import integer
from kit.i18n import T
from kit.inventory.inventory import TEXTS

if TYPE_CHECKING:
    from kit.case.case import Case

SAME_ID: Final = T("client id {id} is used in {places}")
SAME_ID_BECOMES: Final = T("two processes with it in one group pull the same queues, and nobody pulls the others")
SAME_ID_SET: Final = T("an instanceName of its own for each process, or none with clients of 4.9.0 or later")
LOW_PID: Final = T("client id {id}: its instance name is the process id of a container")
LOW_PID_BECOMES: Final = T("another container with the same inner address gets the same client id")
DIFFER: Final = T("clients of group {group} subscribe differently: {one} and {other}")
DIFFER_BECOMES: Final = T("nobody handles some of the messages that a client subscribes to")
DIFFER_SET: Final = T("one consumer group for each subscription, or the same code in all processes of the group")
OLD: Final = T(
    "the next message of group {group} on {topic} is {hours} h older than the newest; files are kept {kept} h"
)
OLD_BECOMES: Final = T("messages deleted before the group reaches them are skipped and cannot be recovered")
OLD_SET: Final = T("a longer fileReservedTime until the group has caught up; an alarm on the age of its next message")
NEAR: Final = 0.5
"""Share of fileReservedTime from which the age of a group's next message is reported."""
CONTAINER: Final = re.compile(r"^(?:172\.1[7-9]\.|172\.2\d\.|10\.0\.2\.|192\.168\.)\S*@(?P<pid>\d{1,2})$")
"""Inner addresses of container networks, with a process id as small as those in a namespace of their own."""


def hazards(case: Case) -> Iterable[Hazard]:
    """Return the hazards in client logs and running info files; nothing if absent."""
    if not any(item.kind in TEXTS for item in case.found.items):
        return
    by_id: dict[str, list[consumer_logs.Statement]] = {}
    for said in consumer_logs.of(case, "client-created"):
        by_id.setdefault(said.values.get("client_id", ""), []).append(said)
    for client_id, lines in sorted(by_id.items()):
        place = Place(lines[0].file, lines[0].line)
        places = sorted({said.place for said in lines})
        if len(places) > 1:
            what = SAME_ID.say(id=client_id, places=places)
            yield Hazard("same-client-id", what, place, "duplicate-client-id", SAME_ID_BECOMES, SAME_ID_SET)
        elif CONTAINER.match(client_id):
            what = LOW_PID.say(id=client_id)
            yield Hazard(
                "container-client-id", what, place, "duplicate-client-id", LOW_PID_BECOMES, SAME_ID_SET, "note"
            )
    for group, pairs in sorted(members.differing(case).items()):
        one, other = pairs[0]
        what = DIFFER.say(group=group, one=_words(one), other=_words(other))
        place = Place(one.ref.file, one.ref.line)
        yield Hazard("different-subscriptions", what, place, "subscription-mismatch", DIFFER_BECOMES, DIFFER_SET)


def near_deletion(case: Case, seen: Deployment) -> list[Hazard]:
    """Return the groups whose next message is older than half of fileReservedTime: messages deleted before they are consumed are skipped."""
    kept = min((h for broker in seen.brokers if (h := broker.settings.number("fileReservedTime"))), default=None)
    found = []
    for group, topic, hours, place in _ages(case) if kept else ():
        if kept and hours >= NEAR * kept:
            what = OLD.say(group=group, topic=topic, hours=round(hours, 1), kept=int(kept))
            found.append(Hazard("near-deletion", what, place, "offset-jump", OLD_BECOMES, OLD_SET))
    return found


def _ages(case: Case) -> Iterable[tuple[str, str, float, Place]]:
    """Yield for each topic of each group with messages waiting: by how many hours the next message of its oldest queue is older than the newest one handled.

    consumerProgress prints as #LastTime when the message before the offset was stored. All times of an output are in one zone, so they are
    compared with each other, not with a clock.
    """
    times: dict[tuple[str, str, str], list[tuple[int, int, int]]] = {}
    for block in admin_output.admin_blocks(case):
        last, diff = printed_times.when(block.get("#LastTime")), integer(block.get("#Diff"))
        if block["command"] == "consumerProgress" and last is not None and diff is not None and block.get("-g"):
            named = (block["-g"], block.get("#Topic", ""), block["file"])
            times.setdefault(named, []).append((last.ms, diff, block["line"]))
    for (group, topic, file), rows in sorted(times.items()):
        newest = max(last for last, _, _ in rows)
        waiting = [(newest - last, line) for last, diff, line in rows if diff > 0]
        if waiting:
            behind, line = max(waiting)
            yield group, topic, behind / 3_600_000, Place(file, line)


def _words(subscription: members.Subscription) -> str:
    return ", ".join(f"{topic} ({expression})" for topic, expression in subscription.topics.items())
