"""duplicate-client-id: two processes of a group have one client id: both pull the same queues, and nobody the others.

The broker keys its table by connection, the rebalancing by client id
(client/consumer/rebalance/AllocateMessageQueueAveragely: `cidAll.indexOf`), so each of n such processes computes the
first one's share. A client id is clientIP@instanceName (client/ClientConfig.buildMQClientId).
"""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, groupby
from typing import Any

from kit.analysis import brokers
from kit.analysis import refs as quoting
from kit.analysis.consumers import consumer_logs, lag, members
from kit.causes.declared import Observed
from kit.data import grouped
from kit.formats.values import integer
from kit.inventory.model import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts

STREAM = 5
"""Lines of offsets going back, from two addresses in one queue, from which it is no hand-over and no reset."""


def observe(facts: Facts) -> Observed:
    doubled = [row for row in facts.rows("doubled_connections") if names.of_users(row["group"])]
    back, shares, (listed, quoted) = _back_lines(facts), _same_shares(facts), _listed(facts)
    counts = Counter(row["group"] for row in doubled)
    group = min(counts, key=lambda g: (-counts[g], g), default=None)
    turning = max(sorted(back), key=lambda g: sum(s.n for s in back[g]), default=None)
    named = group or listed.get("listed_group") or turning or (shares[0][0].group if shares else None)
    idle, idle_at = lag.untouched(facts, named)
    own = {each["address"] for each in members.connections(facts) if named in (None, each["group"])}
    # A list without one of those that write the offsets is not whole.
    connected = own and own.issuperset(s.address for s in back.get(named or "", ()))
    observed = Observed(
        {"group": named, "asked": named or idle.get("untouched_group"), "connected": connected, **listed, **idle},
        {"one-id-two-connections": quoted, "queues-untouched": idle_at},
    )
    pairs = [row for row in doubled if row["group"] == named]
    if group:
        # A list taken at one moment shows it best, then the broker's log.
        first = pairs[0]
        same = _addresses(pair for pair in pairs if pair["client_id"] == first["client_id"])
        observed.values |= {"twice": first["client_id"], "same": len(same), "addresses": sorted(same)}
        places = [(first["file"], first["line"]), (first["file"], first["other_line"])]
        observed.quotes["one-id-two-connections"] = facts.refs(places)
    if share := next((pair for pair in shares if pair[0].group == named), None):
        observed.values["share"] = share[0]
        observed.quotes["same-share"] = consumer_logs.quote(facts, share)
    if lines := back.get(named or ""):
        by_address = {s.address: s for s in reversed(lines)}
        addresses = sorted(by_address)
        observed.values |= {"back": sum(s.n for s in lines), "back_addresses": addresses}
        observed.quotes["offsets-go-back"] = consumer_logs.quote(facts, [by_address[a] for a in addresses[:2]])
    if named:
        _owners(facts, observed, named, pairs, lines or [])
    # Logs that say the same at the same time may be copies of one; their processes then handled nothing twice.
    twofold = share and share[0].first != share[1].first and observed.values.get("handled_twice")
    if share and twofold and not (pairs or listed):
        observed.values |= {"logged": True, "client_ids": [share[0].client_id]}
        observed.quotes["one-id-two-connections"] = observed.quotes["same-share"]
        observed.window = observed.window or quoting.of_rows(map(vars, share)).window
    return observed


def _owners(
    facts: Facts, observed: Observed, group: str, pairs: list[dict[str, Any]], back: list[consumer_logs.Statement]
) -> None:
    """Add which queues of the group several processes pull, and which nobody; and what both of them handled."""
    owners = members.held_at_end(facts, group)
    owners = owners[~owners["topic"].astype(str).str.startswith(names.RETRY_PREFIX)]
    places = owners.groupby(["topic", "broker", "queue_id"])["place"].nunique()
    # What several of them handled shows only in the ledgers of two hosts.
    known = len(members.ledgers(facts, group)) > 1
    twice = [row for row in facts.rows("handled_by_several") if row["group"] == group] if known else []
    doubled = facts.rows("queues_of_several") if twice and facts.has("messages") else []
    idle = _of_nobody(facts, group, set(places.index))
    unowned = {(topic, q.broker, q.queue_id) for topic, q in idle}
    queues = {(row["topic"], row["broker"] or "", row["queue_id"]) for row in doubled if row["group"] == group}
    # A message that two of them handled does not show who pulls its queue now.
    # A log may name the broker of a queue otherwise than its store.
    logged = {*places.index[places > 1], *(s.queue for s in back if s.queue)}
    logged -= {(topic, "", queue_id) for topic, broker, queue_id in logged if broker}
    queues = {q for q in queues if not any(brokers.same_queue(facts, q, other) for other in unowned | logged)} | logged
    several, nobody = (_by_topic(facts, each, {*places.index, *unowned}) for each in (queues, unowned))
    ids = sorted({pair["client_id"] for pair in pairs})
    observed.values |= {
        "client_ids": ids or None, "count": len(_addresses(pairs)),
        "queues_of_several": several or None, "queues_of_nobody": nobody or None,
        "several": _words(several) or None, "nobody": _words(nobody) or None,
        "handled_twice": max((row["messages"] for row in twice), default=0) if known else None,
        "waiting": sum(q.last_lag for _, q in idle),
    }  # fmt: skip
    observed.quotes["handled-twice"] = facts.refs((row["file"], row["line"]) for row in twice)
    # Where two processes began to pull a queue that they held to the end.
    firsts = {topic: (broker, queue_id) for topic, broker, queue_id in sorted(queues, reverse=True)}
    of_several = (
        owners[(owners["topic"] == topic) & (owners["queue_id"] == queue_id) & owners["broker"].isin(("", broker))]
        for topic, (broker, queue_id) in sorted(firsts.items())
    )
    refs = [ref for rows in of_several for ref in quoting.lines(facts, rows, 2)]
    refs += [ref for topic, q in dict(reversed(idle)).items() for ref in lag.refs(facts, group, topic, q)]
    observed.quotes["shares-wrong"] = list(dict.fromkeys(refs)) or consumer_logs.quote(facts, back[:2])
    if pairs:
        opened = [pair[name] for pair in pairs for name in ("first", "other_first")]
        observed.window = members.window(opened, facts, group, pairs[0]["file"])


def _addresses(pairs: Iterable[dict[str, Any]]) -> set[str]:
    return {pair[name] for pair in pairs for name in ("address", "other_address")}


def _of_nobody(facts: Facts, group: str, owned: set[brokers.Queue]) -> list[tuple[str, lag.Course]]:
    """Return (topic, queue) of those nobody pulls, without the retry topic: idle while others of the topic go on."""
    return [
        (pair.topic, q)
        for pair in lag.pairs(facts)
        if pair.group == group and not pair.topic.startswith(names.RETRY_PREFIX)
        for q in pair.queues
        if q.last_lag > 0 and (q.stands or (q.never_handled and q.looks == 1 and q.last_lag > lag.LEAST))
        if any(other.advanced > 0 or not other.last_lag for other in pair.queues if other is not q)
        if not any(brokers.same_queue(facts, each, (pair.topic, q.broker, q.queue_id)) for each in owned)
        if members.every_client(facts, group, pair.topic)
    ]


def _listed(facts: Facts) -> tuple[dict[str, Any], tuple[Ref, ...]]:
    """Return what two lines of one list with the same client id say, and these lines; nothing without them."""
    seen: dict[tuple[str, str, str], dict[str, Any]] = {}
    for block in members.admin_blocks(facts):
        command, group, client = block["command"], block.get("-g"), block.get("#ClientId")
        of_connections = command == "consumerConnection" and not group
        if client and (of_connections or command == "consumerStatus"):
            before = seen.setdefault((block["file"], command, client), block)
            refs = facts.ref(before["file"], before["line"]), facts.ref(block["file"], block["line"])
            addresses = [each.get("#ClientAddr") for each in (before, block)]
            if of_connections and all(addresses) and addresses[0] != addresses[1]:
                return {"listed": client, "addresses": addresses}, refs
            files = {each.get("#ConsumerRunningInfoFile") for each in (before, block)}
            if not of_connections and before is not block and len(files) == 1:
                return {"listed": client, "listed_group": group}, refs
    return {}, ()


def _back_lines(facts: Facts) -> dict[str, list[consumer_logs.Statement]]:
    lines = [s for s in consumer_logs.of(facts, "consumer-offset-back") if names.of_users(s.group or "") and s.address]
    addresses = grouped(((s.group, s.queue), s.address) for s in lines)
    by_group = grouped((s.group, s) for s in lines if len({*addresses[s.group, s.queue]}) > 1)
    return {group: lines for group, lines in by_group.items() if sum(s.n for s in lines) >= STREAM}


def _same_shares(facts: Facts) -> list[tuple[consumer_logs.Statement, consumer_logs.Statement]]:
    """Return pairs of rebalance results with one client id, several clients, and the same queues."""
    first: dict[Any, consumer_logs.Statement] = {}
    pairs = []
    for statements in consumer_logs.of_users(facts, "queues-assigned", "queues-assigned-go").values():
        for s in statements:
            queues = consumer_logs.queues(s.set)
            if queues and (integer(s.clients) or 2) > 1:
                before = first.setdefault((s.group, s.client_id, s.topic, queues), s)
                pairs += [(before, s)] if before.place != s.place else []
    return pairs


def _by_topic(facts: Facts, queues: set[brokers.Queue], known: set[brokers.Queue]) -> dict[str, list[Any]]:
    """Return {topic: queue ids}, both in order; an id is behind its broker where the topic is known to have several."""
    pairs = combinations({(topic, broker) for topic, broker, _ in known}, 2)
    several = {a[0] for a, b in pairs if a[0] == b[0] and not brokers.same(facts, a[1], b[1])}
    topics = groupby(sorted(queues), key=lambda queue: queue[0])
    return {
        topic: [f"{broker}:{queue_id}" if topic in several and broker else queue_id for _, broker, queue_id in own]
        for topic, own in topics
    }


def _words(queues: dict[str, list[Any]]) -> str:
    return ", ".join(f"{topic} {'/'.join(map(str, ids))}" for topic, ids in queues.items())
