"""broker-unreachable: clients cannot connect to the address a broker advertises, while the broker itself runs.

Deciding steps: connect failures of clients to the advertised address · that address differs from one that is reached, or is one that only the broker's host
knows (loopback, a container bridge). An address that the same clients reached before or after is not unreachable: the broker was down, or the link
(reference: operators' incidents §7).
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import refs
from kit.analysis.access import reach
from kit.analysis.messages import lookups
from kit.analysis.sends import attempts, sends
from kit.causes import collect_next
from kit.causes.findings import Finding, Missing, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


VIP = ":10909"
"""common/MixAll.brokerVIPChannel: the port of a broker less 2, used with vipChannelEnabled."""


@attrs.frozen
class Target:
    """The address that clients failed to reach, with the files whose clients tried it."""

    address: str
    tried: tuple[reach.Tried, ...]
    advertised: reach.Advertised | None
    reached: tuple[reach.Tried, ...]

    @property
    def failed(self) -> int:
        return sum(t.failed for t in self.tried)


def examine(facts: Facts) -> Finding:
    """Report which advertised address clients never reached, and which address of the host they could."""
    target = _target(facts)
    instead = None if target is None or target.reached else reach.reachable_instead(facts, target.address)
    never = target is not None and not target.reached
    finding = TEXTS.finding()
    finding.steps = [*_failed(facts, target), _differs(facts, target, instead), *_supporting(facts, target)]
    finding.figures = _figures(facts, target, instead)
    finding.missing = _missing(facts, target, instead)
    if target is not None and never:
        said = {
            "clients": finding.figures["clients"],
            "address": target.address,
            "failed": finding.figures["failed_sends"],
            "count": target.failed,
        }
        vip = target.address.endswith(VIP)
        if vip:
            summary = TEXTS["summary_vip"]
        elif instead is not None:
            summary = TEXTS["summary_instead"]
        elif _only_failures(facts):
            summary = TEXTS["failed_seen"]
        else:
            summary = TEXTS["summary_alone"] if said["failed"] is None else TEXTS["summary"]
        finding.summary = summary.say(**said, **({} if instead is None else {"instead": instead[0]}))
        times = [at for t in target.tried for at in (t.first, t.last) if at is not None]
        finding.window = (min(times), max(times)) if times else None
        finding.remedies = [TEXTS.remedy(name) for name in TEXTS.remedies if vip or name != "vip"]
        finding.tables = {"reach_addresses": _table(facts, target, instead), "reach_connects": _connects(facts)}
    return finding


def _target(facts: Facts) -> Target | None:
    """Return the address with the most failed connects; addresses that nobody reached come first, then advertised ones."""
    by_address: dict[str, list[reach.Tried]] = {}
    for one in reach.tried(facts):
        by_address.setdefault(one.address, []).append(one)
    known = {a.address: a for a in reach.advertised(facts)}
    hosts = {reach.host(a): one for a, one in known.items()}
    found = []
    for address, tried in by_address.items():
        bad = tuple(t for t in tried if t.failed)
        advertised = known.get(address) or hosts.get(reach.host(address))
        # Clients connect to name servers and others too: if advertised addresses are known, only those count.
        if bad and (advertised is not None or not known):
            found.append(Target(address, bad, advertised, tuple(t for t in tried if t.reached)))
    return min(found, key=lambda c: (bool(c.reached), c.advertised is None, -c.failed, c.address), default=None)


def _only_failures(facts: Facts) -> bool:
    """Return whether only applications' logs tell of connects: they print those that failed, never one that succeeded."""
    return facts.has_source("app") and not reach.client_logs(facts) and not lookups.is_paste(facts)


def _failed(facts: Facts, target: Target | None) -> list[Step]:
    if target is None:
        looked = reach.client_logs(facts)
        return [deciding("connects-failed", TEXTS["not_failed"], False if looked else None)]
    if target.reached:
        good = target.reached[0]
        reached = (_line(facts, good.file, good.reached_line),)
        return [deciding("connects-failed", TEXTS.say("reached", address=target.address), False, reached)]
    quoted = tuple(_line(facts, t.file, t.line) for t in target.tried[:3])
    values = {"address": target.address, "count": target.failed}
    if _only_failures(facts):
        seen = supporting("connects-seen", TEXTS.say("failed_seen", **values), True, quoted)
        return [deciding("connects-failed", TEXTS["not_failed"], None), seen]
    return [deciding("connects-failed", TEXTS.say("failed", **values), True, quoted)]


def _differs(facts: Facts, target: Target | None, instead: Any) -> Step:
    """Return the step that only the host knows the address, or that another address of the host can be reached."""
    if target is None or target.reached:
        return deciding("address-differs", TEXTS["not_shown"], None)
    address = target.address
    own = [o for o in reach.own_addresses(facts) if o.address == reach.host(address)]
    bridge = next((o for o in own if o.only_the_host), None)
    place = target.advertised
    quoted: tuple[Ref, ...]
    if reach.known_as(address) == "loopback":
        quoted = (facts.ref(place.file, place.line),) if place else ()
        return deciding("address-differs", TEXTS.say("loopback", address=address), True if place else None, quoted)
    if bridge is not None:
        claim = TEXTS.say("only_host", address=address, interface=bridge.interface)
        shown = facts.ref(bridge.file, bridge.line)
        return deciding("address-differs", claim, True, (shown, *_where(facts, instead)))
    if instead is not None and own:
        claim = TEXTS.say("instead", address=address, instead=instead[0])
        return deciding("address-differs", claim, True, _where(facts, instead))
    if own:
        shown = facts.ref(own[0].file, own[0].line)
        return deciding("address-differs", TEXTS.say("no_other", address=address), False, (shown,))
    return deciding("address-differs", TEXTS["not_shown"], None)


def _where(facts: Facts, instead: Any) -> tuple[Ref, ...]:
    if instead is None:
        return ()
    _, own, socket = instead
    return facts.refs([(own.file, own.line), *([socket] if socket else [])])


def _supporting(facts: Facts, target: Target | None) -> list[Step]:
    steps = []
    never = None if target is None or target.reached else target
    if never and never.advertised is not None:
        shown = facts.ref(never.advertised.file, never.advertised.line)
        steps.append(supporting("advertised", TEXTS.say("advertised", address=never.address), True, (shown,)))
    if never and reach.is_docker_default(never.address):
        shown = _line(facts, never.tried[0].file, never.tried[0].line)
        steps.append(supporting("docker-network", TEXTS.say("docker", address=never.address), True, (shown,)))
    late = refs.seen(facts, "client-call-timeout")
    if late and (never or not _any_answer(facts)):
        claim = TEXTS.say("timed_out", count=late.count)
        steps.append(supporting("call-timeout", claim, True, refs.quote(facts, late, 2)))
    if target is None and (inner := reach.inner_of_failed_lists(facts)):
        address, count, file, line = inner
        claim = TEXTS.say("list", address=address, count=count)
        steps.append(supporting("no-consumer-list", claim, True, (facts.ref(file, line),)))
    alone = refs.seen(facts, "no-consumer-list")
    if alone and never:
        claim = TEXTS.say("selected", count=alone.count)
        steps.append(supporting("no-consumer-list", claim, True, refs.quote(facts, alone, 1)))
    return steps


def _any_answer(facts: Facts) -> bool:
    """Return whether anything shows that a client reached a broker."""
    answered = refs.seen(facts, "client-wait-timeout", "flow-control", "send-result")
    return bool(answered) or any(t.reached for t in reach.tried(facts)) or reach.stored_by_clients(facts)


def _figures(facts: Facts, target: Target | None, instead: Any) -> dict[str, Any]:
    if target is None or target.reached:
        none = 0 if reach.client_logs(facts) else None
        return {"advertised": None, "reachable": None, "failed_sends": none, "clients": none}
    ledger = sends.ledger(facts)
    failed = None
    if ledger.source is not None:
        # A refused send got an answer and a stored one arrived: both reached a broker.
        stored = pd.to_numeric(ledger.failed["originals"]) > 0
        mine = ledger.failed[~ledger.failed["kind"].isin(attempts.REFUSALS) & ~stored]
        place = mine["file"].astype(str) + mine["line"].astype(str)
        failed = int(mine["key"].fillna(mine["uniq_key"]).fillna(place).nunique())
    names = reach.clients(facts)
    own = {names.get(t.file, t.file) for t in target.tried if t.source == "client"} or {t.file for t in target.tried}
    return {
        "advertised": target.address,
        "reachable": None if instead is None else instead[0],
        "failed_sends": failed,
        "clients": len(own),
    }


def _missing(facts: Facts, target: Target | None, instead: Any) -> list[Missing]:
    if target is None:
        looked = reach.client_logs(facts)
        return [] if looked else [collect_next.ask("producer's client log", TEXTS["want_client"])]
    wanted = []
    if not target.reached and target.advertised is None:
        wanted.append(collect_next.ask("route", TEXTS["want_route"]))
    if not target.reached and instead is None:
        wanted.append(collect_next.ask("host's network", TEXTS["want_network"]))
    return wanted


def _table(facts: Facts, target: Target, instead: Any) -> pd.DataFrame:
    """Return one row for each address of a broker or its host: address, interface, role (advertised, host), failed, reached."""
    own_addresses, advertised = reach.own_addresses(facts), reach.host(target.address)
    interface = next((own.interface for own in own_addresses if own.address == advertised), None)
    reached = sum(t.reached for t in target.reached)
    rows: list[tuple[Any, ...]] = [(target.address, interface, "advertised", target.failed, reached, None)]
    number = reach.port(target.address) or reach.PORT
    for own in own_addresses:
        if own.address != advertised:
            role = "only the host" if own.only_the_host else "other"
            role = "reachable" if instead is not None and own is instead[1] else role
            rows.append((f"{own.address}:{number}", own.interface, role, 0, 0, own.file))
    names = ["address", "interface", "role", "failed", "reached", "file"]
    return pd.DataFrame(rows, columns=pd.Index(names))


def _connects(facts: Facts) -> pd.DataFrame:
    """Return connects of clients by client and address: client, address, failed, reached."""
    names = reach.clients(facts)
    rows = [(names.get(t.file, t.file), t.address, t.failed, t.reached, t.first, t.last) for t in reach.tried(facts)]
    frame = pd.DataFrame(rows, columns=pd.Index(["client", "address", "failed", "reached", "first", "last"]))
    return frame.assign(first=pd.to_datetime(frame["first"]), last=pd.to_datetime(frame["last"]))


def _line(facts: Facts, file: str, line: int | None) -> Ref:
    assert line is not None
    return facts.ref(file, line)
