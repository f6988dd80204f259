"""broker-unreachable: clients cannot connect to the address a broker advertises, while the broker itself runs.

An address that the same clients reached before or after is not unreachable: the broker was down, or the link
(reference: operators' incidents §7).
"""

from __future__ import annotations

from typing import Any

import attrs
import pandas as pd

from kit.analysis import refs
from kit.analysis.access import reach
from kit.analysis.messages import lookups
from kit.analysis.sends import attempts, sends
from kit.causes.declared import Observed
from kit.tables.facts import Facts

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


def observe(facts: Facts) -> Observed:
    """Find the advertised address that clients never reached, and the address of the host that they could."""
    target, logs = _target(facts), reach.client_logs(facts)
    late = refs.seen(facts, "client-call-timeout")
    never = target if target and not target.reached else None
    observed = Observed(
        {"client_logs": logs, "never": never is not None, "address": target.address if target else None}
    )
    if never is not None:
        _never(facts, observed, never)
    else:
        observed.values |= dict.fromkeys(("failed_sends", "clients"), 0 if logs else None)
    if target is not None and target.reached:
        good = target.reached[0]
        observed.values["reached"] = True
        observed.quotes["connects-failed"] = facts.refs([(good.file, good.reached_line or 0)])
    if late and (never or not _any_answer(facts)):
        observed.values["timed_out"] = late.count
        observed.quotes["call-timeout"] = refs.quote(facts, late, 2)
    if target is None and (inner := reach.inner_of_failed_lists(facts)):
        observed.values |= {"inner": inner[0], "list": inner[1]}
        observed.quotes["list"] = [facts.ref(inner[2], inner[3])]
    return observed


def _never(facts: Facts, observed: Observed, target: Target) -> None:
    """Add what is known of an address that no client reached, and the figures."""
    address, place, only = target.address, target.advertised, _only_failures(facts)
    instead = reach.reachable_instead(facts, address)
    own = [o for o in reach.own_addresses(facts) if o.address == reach.host(address)]
    bridge = next((o for o in own if o.only_the_host), None)
    loopback = reach.known_as(address) == "loopback"
    ledger, names = sends.ledger(facts), reach.clients(facts)
    alone = refs.seen(facts, "no-consumer-list")
    clients = {names.get(t.file, t.file) for t in target.tried if t.source == "client"} or {
        t.file for t in target.tried
    }
    shown = facts.refs([(place.file, place.line)]) if place else ()
    where = facts.refs([(instead[1].file, instead[1].line), *([instead[2]] if instead[2] else [])]) if instead else ()
    at_host = facts.refs((o.file, o.line) for o in ([bridge] if bridge else own[:1]))
    tried = facts.refs((t.file, t.line) for t in target.tried[:3] if t.line is not None)
    observed.values |= {
        "count": target.failed, "only_failures": only, "advertised": address, "advertised_here": place is not None,
        "loopback": loopback,
        "interface": bridge.interface if bridge and not loopback else None, "instead": instead[0] if instead else None,
        "on_host": own and not loopback, "no_other": own and not (loopback or bridge or instead),
        "docker": reach.is_docker_default(address),
        "selected": alone.count, "vip": address.endswith(VIP), "clients": len(clients),
        "failed_sends": None if ledger.source is None else _failed_sends(ledger),
    }  # fmt: skip
    observed.quotes |= {
        "connects-seen": tried, "advertised": shown, "docker-network": tried[:1], "loopback": shown,
        "no-consumer-list": refs.quote(facts, alone, 1),
        "address-differs": shown if loopback else where if instead and not bridge else (*at_host, *where),
        "connects-failed": () if only else tried,
    }  # fmt: skip
    times = [at for t in target.tried for at in (t.first, t.last) if at is not None]
    observed.window = (min(times), max(times)) if times else None
    observed.tables = {"reach_addresses": _table(facts, target, instead), "reach_connects": _connects(facts)}


def _failed_sends(ledger: sends.Ledger) -> int:
    """Count the sends that reached no broker: a refused one got an answer, a stored one arrived."""
    stored = pd.to_numeric(ledger.failed["originals"]) > 0
    rows = ledger.failed[~ledger.failed["kind"].isin(attempts.REFUSALS) & ~stored]
    place = rows["file"].astype(str) + rows["line"].astype(str)
    return int(rows["key"].fillna(rows["uniq_key"]).fillna(place).nunique())


def _target(facts: Facts) -> Target | None:
    """Return the address with the most failed connects, those first that nobody reached, then advertised ones."""
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
    """Return whether only applications' logs tell of connects: they print no success."""
    return facts.has_source("app") and not reach.client_logs(facts) and not lookups.is_paste(facts)


def _any_answer(facts: Facts) -> bool:
    """Return whether anything shows that a client reached a broker."""
    answered = refs.seen(facts, "client-wait-timeout", "flow-control", "send-result")
    return bool(answered) or any(t.reached for t in reach.tried(facts)) or reach.stored_by_clients(facts)


def _table(facts: Facts, target: Target, instead: Any) -> pd.DataFrame:
    """Return one row for each address of a broker or its host."""
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
