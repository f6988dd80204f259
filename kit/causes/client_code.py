"""Hazards in the code and configuration of applications, before anything happens: client ids, subscriptions, listeners, start offsets."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from kit.analysis.deployment import Place
from kit.case.memoize import per_case
from kit.causes.hazards import Hazard
from kit.evidence.files import open_readonly
from kit.formats.tables import client_settings
from kit.formats.values import integer
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.formats.tables.client_settings import Client, Value

KINDS: Final = ("source_code", "text", "broker_conf", "log")
"""What sources and settings of applications are recognised as."""
FIXED_NAME: Final = T("instanceName is fixed: {name}")
FIXED_NAME_BECOMES: Final = T(
    "all processes with it on one address have the same client id: in one group they pull the same queues, and nobody pulls the others"
)
FIXED_NAME_SET: Final = T(
    "no instanceName (clients of 4.9.0 or later make a unique one), or one that contains host and process"
)
FIXED_IP: Final = T("clientIP is fixed: {address}")
FIXED_IP_BECOMES: Final = T(
    "the same address on every host: before 4.9.0 two hosts whose processes have the same pid get the same client id"
)
FIXED_IP_SET: Final = T("no clientIP, or the address of the host it runs on")
DIFFER: Final = T("group {group} subscribes to {one} here and to {other} in {place}")
DIFFER_BECOMES: Final = T(
    "the broker keeps one subscription per group: messages of the others are filtered out, or nobody pulls their queues"
)
DIFFER_SET: Final = T("a consumer group for each subscription")
ORDERED: Final = T("the ordered consumer of group {group} has no maxReconsumeTimes")
ORDERED_BECOMES: Final = T("a message that always fails is retried every second for ever and blocks its queue")
ORDERED_SET: Final = T(
    "maxReconsumeTimes, if its key can go on without this message; otherwise an alarm on a single queue that lags"
)
LONG: Final = T("consumeTimeout={minutes} {minutes:minute|minutes}")
LONG_BECOMES: Final = T(
    "a listener that does not return holds back the offset of its queue that long; a restart delivers everything handled after it again"
)
LONG_SET: Final = T("the default of 15 minutes or less, and a time-out on every call in the listener")
FEW: Final = T("maxReconsumeTimes={times}")
FEW_BECOMES: Final = T("a message that fails for a moment becomes a dead letter")
FEW_SET: Final = T("enough retries to outlast what the listener calls; the default is 16")
FROM_LAST: Final = T("CONSUME_FROM_LAST_OFFSET for group {group}")
FROM_LAST_BECOMES: Final = T(
    "the first start of a new group skips everything stored in queues whose first files are deleted, and consumes all of the others"
)
FROM_LAST_SET: Final = T(
    "set the group's offsets with resetOffsetByTime before it goes live; nothing to do for a group that has offsets"
)
SERIAL: Final = T("the listener is synchronized")
SERIAL_BECOMES: Final = T("one message at a time, however many threads there are: the group falls behind")
SERIAL_SET: Final = T("no lock around the whole listener")
ONE_THREAD: Final = T("{name}={threads}")
PAUSE: Final = T("pullInterval={ms} ms")
PAUSE_BECOMES: Final = T(
    "each queue is pulled at most once (32 messages) in that time: the group falls behind under load"
)
PAUSE_SET: Final = T("pullInterval=0")
SOME: Final = T("(not written out)")

CONSUME_TIMEOUT: Final = 15
"""Minutes: the default of client/consumer/DefaultMQPushConsumer."""
RETRIES: Final = 3
_OWN: Final = re.compile(r"(?i)^(?:DEFAULT|\d*)$|pid|uuid|random|host|nano|time")
"""Instance names that are the default's, or made of something that differs between processes."""


def hazards(case: Case) -> Iterable[Hazard]:
    """Return the hazards in the application sources and settings of the evidence; nothing if absent."""
    clients = _clients(case)
    for file, client in clients:
        yield from _ids(file, client)
        if client.consumer:
            yield from _listener(file, client)
    yield from _subscriptions(clients)


def _ids(file: str, client: Client) -> Iterable[Hazard]:
    cause = "duplicate-client-id"
    if (name := client.settings.get("instanceName")) and not _OWN.search(name.text):
        place = Place(file, name.line)
        yield Hazard("fixed-instance-name", FIXED_NAME.say(name=name.text), place, cause, FIXED_NAME_BECOMES, FIXED_NAME_SET)  # fmt: skip
    if address := client.settings.get("clientIP"):
        place = Place(file, address.line)
        yield Hazard("fixed-client-ip", FIXED_IP.say(address=address.text), place, cause, FIXED_IP_BECOMES, FIXED_IP_SET)  # fmt: skip


def _listener(file: str, client: Client) -> Iterable[Hazard]:
    said = client.settings
    group = client.group.text if client.group else SOME
    retries = _number(said.get("maxReconsumeTimes"))
    if said.get("orderly") and (retries is None or retries < 0):
        place = Place(file, said["orderly"].line)
        yield Hazard("ordered-without-end", ORDERED.say(group=group), place, "consumer-stuck", ORDERED_BECOMES, ORDERED_SET, "note")  # fmt: skip
    elif not said.get("orderly") and retries is not None and 0 <= retries < RETRIES:
        place = Place(file, said["maxReconsumeTimes"].line)
        yield Hazard("few-retries", FEW.say(times=retries), place, "dead-letter", FEW_BECOMES, FEW_SET, "note")
    minutes = _number(said.get("consumeTimeout"))
    if minutes is not None and minutes > CONSUME_TIMEOUT:
        place = Place(file, said["consumeTimeout"].line)
        yield Hazard("long-consume-timeout", LONG.say(minutes=minutes), place, "consumer-stuck", LONG_BECOMES, LONG_SET)
    if (start := said.get("consumeFromWhere")) and start.text == "CONSUME_FROM_LAST_OFFSET":
        place = Place(file, start.line)
        yield Hazard("starts-at-the-end", FROM_LAST.say(group=group), place, "offset-jump", FROM_LAST_BECOMES, FROM_LAST_SET, "note")  # fmt: skip
    yield from _slow(file, said)


def _slow(file: str, said: dict[str, Value]) -> Iterable[Hazard]:
    cause = "consumer-backlog"
    if serial := said.get("serial"):
        yield Hazard("serial-listener", SERIAL.say(), Place(file, serial.line), cause, SERIAL_BECOMES, SERIAL_SET)
    single = next((name for name in ("consumeThreadMax", "consumeThreadNumber") if _number(said.get(name)) == 1), None)
    if single is not None and not said.get("orderly"):
        what = ONE_THREAD.say(name=single, threads=1)
        yield Hazard("one-consuming-thread", what, Place(file, said[single].line), cause, SERIAL_BECOMES, SERIAL_SET, "note")  # fmt: skip
    pause = _number(said.get("pullInterval"))
    if pause:
        place = Place(file, said["pullInterval"].line)
        yield Hazard("pull-interval", PAUSE.say(ms=pause), place, cause, PAUSE_BECOMES, PAUSE_SET, "note")


def _subscriptions(clients: list[tuple[str, Client]]) -> Iterable[Hazard]:
    """Yield groups whose subscription differs between two places."""
    by_group: dict[str, list[tuple[str, Client]]] = defaultdict(list)
    for file, client in clients:
        if client.consumer and client.group and client.subscriptions:
            by_group[client.group.text].append((file, client))
    for group, places in sorted(by_group.items()):
        file, first = places[0]
        for other_file, other in places[1:]:
            if _plain(other) != _plain(first):
                place = Place(other_file, other.line)
                what = DIFFER.say(
                    group=group, one=_words(other), other=_words(first), place=str(Place(file, first.line))
                )
                yield Hazard("code-subscribes-differently", what, place, "subscription-mismatch", DIFFER_BECOMES, DIFFER_SET)  # fmt: skip
                break


def _plain(client: Client) -> dict[str, frozenset[str]]:
    return {t: frozenset(part.strip() for part in value.text.split("||")) for t, value in client.subscriptions.items()}


def _words(client: Client) -> str:
    return ", ".join(f"{topic} ({value.text})" for topic, value in sorted(client.subscriptions.items()))


def _number(value: Value | None) -> int | None:
    return None if value is None else integer(value.text)


@per_case
def _clients(case: Case) -> list[tuple[str, Client]]:
    """Return (file, client) of each; files too large for source code or configuration are left out."""
    items = [item for item in case.found.of_kind(*KINDS, replicas=False) if item.bytes <= client_settings.MOST]
    return [(item.file, client) for item in items for client in _of(item.path, item.file)]


def _of(path: str, name: str) -> list[Client]:
    try:
        with open_readonly(path) as stream:
            return client_settings.read(stream.read(client_settings.MOST).decode("utf-8", "replace"), name)
    except OSError:
        return []  # the inventory names it
