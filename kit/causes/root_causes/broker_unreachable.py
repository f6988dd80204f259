"""broker-unreachable: clients cannot connect to the address a broker advertises, while the broker itself runs.

An address that the same clients reached before or after is not unreachable: the broker was down, or the link
(reference: operators' incidents §7).
"""

from kit.analysis import reach, refs
from kit.analysis.messages import lookups
from kit.analysis.sends import sends
from kit.causes.declared import Observed
from kit.data import grouped
from kit.formats.printed_times import utc
from kit.inventory.model import Ref, folder_of
from kit.tables.facts import Facts

VIP = ":10909"
"""common/MixAll.brokerVIPChannel: the port of a broker less 2, used with vipChannelEnabled."""


def observe(facts: Facts) -> Observed:
    address, logs = _address(facts), reach.client_logs(facts)
    tried = [row for row in reach.tried(facts) if row["address"] == address]
    successes = [row for row in tried if row["reached"]]
    failed = [row for row in tried if row["failed"]]
    # In a file of several hosts nobody knows whether those that failed reached it.
    reached = next((row for row in successes if row["file"] not in reach.of_several_hosts(facts)), None)
    unclear = bool(successes) and reached is None
    dropped = _dropped(facts, failed) if not successes else None
    never = address if not successes and dropped is None else None
    values = dict.fromkeys(("failed_sends", "clients"), 0 if logs else None) | {
        "client_logs": logs and not unclear, "never": never is not None, "address": address,
        "reached": reached, "dropped": dropped,
    }  # fmt: skip
    observed = Observed(values)
    if never is not None:
        _never(facts, observed, never, failed)
    elif reached is not None and "physical_offset" in reached:
        place = f"bornHost={reached['host']}, storeHost={address}"
        observed.quotes["connects-failed"] = [Ref(reached["file"], place, physical_offset=reached["physical_offset"])]
    elif reached is not None:
        observed.quotes["connects-failed"] = facts.refs([(reached["file"], reached["reached_line"])])
    elif dropped is not None:
        observed.quotes["connects-failed"] = facts.refs([(dropped["file"], dropped["line"])])
    late = refs.seen(facts, "client-call-timeout")
    answered = refs.seen(facts, "client-wait-timeout", "flow-control", "send-result") or facts.has("messages")
    reached_any = answered or any(row["reached"] for row in reach.tried(facts)) or facts.rows("answered_hosts")
    if late and (never or not reached_any):
        observed.values["timed_out"] = late.count
        observed.quotes["call-timeout"] = refs.quote(facts, late, 2)
    if address is None and not logs and not (answered or refs.seen(facts, "producer-connected", "consumer-connected")):
        _unused(facts, observed)
    if address is None and (inner := reach.inner_of_failed_lists(facts)):
        observed.values |= {"inner": inner["address"], "list": inner["n"]}
        observed.quotes["list"] = [facts.ref(inner["file"], inner["line"])]
    return observed


def _dropped(facts: Facts, failed: list[reach.Row]) -> reach.Row | None:
    """Return where the name server dropped their address before the first connect failed: the broker was gone."""
    zoned = {item.file for item in facts.zoned.items if item.zone}
    times = [utc(row["first"]) for row in failed if row["first"] is not None and row["file"] in zoned]
    if not times or len(times) < len(failed) or not refs.seen(facts, "broker-lost"):
        return None
    lost = (row for row in facts.rows("replica_statements") if row["event"] == "broker-lost" and row["ts"])
    return next((row for row in lost if row["address"] == failed[0]["address"] and utc(row["ts"]) <= min(times)), None)


def _unused(facts: Facts, observed: Observed) -> None:
    """Add an advertised address that only the broker's own host knows, where nobody is seen to use it."""
    bridges = {row["address"]: row for row in reach.own_addresses(facts) if row["only_the_host"]}
    for address, place in reach.advertised(facts).items():
        if (own := bridges.get(reach.host(address))) and reach.network(address) != "loopback":
            instead = reach.reachable_instead(facts, address)
            observed.values |= {"unused": address, "advertised": address, "instead": instead[0] if instead else None}
            observed.values |= {"address": address, "interface": own["interface"]}
            observed.quotes["address-differs"] = facts.refs([(own["file"], own["line"]), place])
            return


def _address(facts: Facts) -> str | None:
    """Return the address with the most failed connects, those first that nobody reached, then advertised ones."""
    tried = grouped((row["address"], row) for row in reach.tried(facts))
    failed = {address: -sum(row["failed"] for row in rows) for address, rows in tried.items()}
    reached = {address: any(row["reached"] for row in rows) for address, rows in tried.items()}
    # Clients connect to name servers and others too: if advertised addresses are known, only those count.
    other = {address: _advertised(facts, address) is None for address in tried}
    known = [each for each in tried if failed[each] and not (other[each] and reach.advertised(facts))]
    return min(known, key=lambda each: (reached[each], other[each], failed[each], each), default=None)


def _advertised(facts: Facts, address: str) -> reach.Place | None:
    """Return the line that shows that an address is advertised, or another port of its host."""
    known = reach.advertised(facts)
    return known.get(address) or {reach.host(each): place for each, place in known.items()}.get(reach.host(address))


def _never(facts: Facts, observed: Observed, address: str, failed: list[reach.Row]) -> None:
    """Add what is known of an address that no client reached, and the figures."""
    place, instead, ledger = _advertised(facts, address), reach.reachable_instead(facts, address), sends.ledger(facts)
    unanswered = ledger.unanswered(row["file"] for row in failed)
    # Applications print no connect that succeeds.
    only = facts.has_source("app") and not reach.client_logs(facts) and not lookups.is_paste(facts)
    own = [row for row in reach.own_addresses(facts) if row["address"] == reach.host(address)]
    bridges, loopback = [row for row in own if row["only_the_host"]][:1], reach.network(address) == "loopback"
    names, alone = reach.clients(facts), refs.seen(facts, "no-consumer-list")
    # Of rolled files only the first one names its client.
    of_host = {folder_of(file): client for file, client in names.items()}
    files = [row["file"] for row in failed if row["source"] == "client"] or [row["file"] for row in failed]
    tried = facts.refs((row["file"], row["failed_line"]) for row in failed[:3] if row["failed_line"] is not None)
    quotes = facts.refs([place]) if place else ()
    at_host = [(row["file"], row["line"]) for row in bridges or own[:1]] if bridges or not instead else []
    differs = [place] if loopback and place else [] if loopback else [*at_host, *(instead[1] if instead else ())]
    observed.values |= {
        "count": sum(row["failed"] for row in failed), "only_failures": only,
        "advertised": f"{reach.host(address)}:{reach.PORT}" if address.endswith(VIP) else address,
        "advertised_here": place is not None, "loopback": loopback,
        "interface": bridges[0]["interface"] if bridges and not loopback else None,
        "instead": instead[0] if instead else None, "on_host": own and not loopback,
        "no_other": own and not (loopback or bridges or instead), "docker": reach.network(address) == "docker",
        "selected": alone.count, "vip": address.endswith(VIP),
        "clients": len({names.get(file) or of_host.get(folder_of(file), file) for file in files}),
        "failed_sends": None if ledger.source is None else unanswered["identity"].nunique(),
    }  # fmt: skip
    observed.quotes |= {
        "connects-seen": tried, "advertised": quotes, "docker-network": tried[:1], "loopback": quotes,
        "no-consumer-list": refs.quote(facts, alone, 1), "address-differs": facts.refs(differs),
        "connects-failed": () if only else tried,
    }  # fmt: skip
    times = [at for row in failed for at in (row["first"], row["last"]) if at is not None]
    observed.window = (min(times), max(times)) if times else None
