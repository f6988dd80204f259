"""Neighbours that keep a client out: access control, a topic that does not exist, a route that is missing."""

import contextlib
import difflib
import itertools
from typing import Any, Final

from kit.analysis import reach, refs, setup
from kit.analysis.sends import attempts, sends
from kit.causes import shown_by
from kit.causes.declared import Observed
from kit.causes.texts import read
from kit.data import grouped
from kit.inventory.model import Ref
from kit.rocketmq import names
from kit.rocketmq.catalogue import PROBLEM
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.tables.facts import Facts, memo

ACL: Final = read("neighbours", "acl-denied")
WHY: Final = ("wrong-secret", "unknown-user", "no-key", "no-right", "other")
"""Reasons of a refusal."""
OWN: Final = ("remoting", "broker", "broker_default")
"""Sources of logs in which a broker prints what it refuses."""
OTHERWISE: Final = r"CODE: ?(?!1\b|16\b)\d+|No route info|RemotingConnectException|RemotingSendRequestException"
"""How a send failed that access control did not refuse: it answers with code 1 or 16."""
ALIKE: Final = 0.75
"""difflib's ratio from which on a name is worth a hint: one or two letters of ten."""
NORMAL: Final = (names.RETRY_PREFIX, names.DLQ_PREFIX, "TBW102", "%SYS%", "rmq_sys_")
"""Topics that a healthy start asks for before they exist (reference: operators' incidents §7)."""


def acl_denied(facts: Facts) -> Observed:
    """Count whom access control refused, and why; files with secrets are not quoted (operators' incidents §7)."""
    seen = refs.seen(facts, "access-denied")
    if not seen:
        return Observed({"looked": reach.client_logs(facts) or sends.ledger(facts).knows_kinds, "reasons": {}})
    entries = facts("denials")
    every = {why: rows for why in WHY if len(rows := entries[entries["why"] == why])}
    reasons = {why: sorted({*rows["name"]} - {""}) for why, rows in every.items()}
    # A proxy, or a broker that asks another one, prints the answer as its client.
    answers = entries[["message", "trace"]].fillna("").agg("".join, axis=1).str.contains("MQBrokerException")
    by_broker = entries["source"].isin(BROKER_SIDE) & ~answers
    own = entries if by_broker.all() else entries[~by_broker]
    # A client that only the broker's logs name may have sent what no ledger here shows.
    unseen = set(entries.loc[by_broker, "name"]) - set(entries.loc[~by_broker, "name"])
    failed = _failed_sends(facts, seen)
    setting = setup.setting(facts, "aclEnable")
    values = {
        "denied": seen.count, "reasons": reasons, "failed_sends": failed or (None if unseen else failed),
        "words": [
            ACL.say("reason", reason=ACL.says[f"words-{why}"], names=reasons[why] or None, count=int(rows["n"].sum()))
            for why, rows in every.items()
        ],
        "in_broker": int(entries.loc[by_broker & entries["source"].isin(OWN), "n"].sum()),
        "acl_on": setting.value == "true" and setting.where is not None,
        **{why: named or " " for why, named in reasons.items()},
    }  # fmt: skip
    quotes = {
        "denied": [
            ref
            for why in WHY
            for at in own.index[own["why"] == why][:1]
            for ref in refs.earliest(facts, own.loc[[at]], within=own["reason"][at])
        ],
        "in-broker-log": refs.earliest(facts, entries[by_broker], 1, within="AclException"),
        "acl-on": (setting.where,) if setting.where else (),
    }
    named = [name for named in reasons.values() for name in named]
    return Observed(values, quotes, seen.window, window_of=seen.timed, actors=named)


def _failed_sends(facts: Facts, seen: refs.Seen) -> int | None:
    ledger = sends.ledger(facts)
    if ledger.source is None:
        return None
    inside = ledger.beside(file for file, _ in seen.places)
    # What flow control refused, what timed out, what has another code or reached no broker is no refusal of it.
    other = ledger.failed["kind"].isin([*attempts.REFUSALS, "CLIENT_TIMEOUT"])
    other |= ledger.failed["outcome"].fillna("").str.contains(OTHERWISE)
    # Of failed sends that another folder reports it is not known whether access control refused them.
    return int(ledger.failed.loc[inside & ~other, "identity"].nunique()) or (None if (~other).any() else 0)


def topic_missing(facts: Facts) -> Observed:
    """Name the topic that clients used although it does not exist, and count what failed.

    Every healthy start asks for the retry topic and TBW102; a topic that exists and has lost its route is another
    fault (reference: operators' incidents §7).
    """
    topics = _unknown(facts)
    values: dict[str, Any] = {"looked": reach.client_logs(facts)}
    if values["looked"] or topics:
        absent = [each for each in topics if not each["exists"]]
        # Without the senders' logs or ledger nobody knows how many sends failed.
        counted = all(each["sends"] for each in absent)
        none = 0 if counted or attempts.has_producer_log(facts) or sends.ledger(facts).knows_kinds else None
        by_topic = {each["topic"]: each["sends"] or none for each in absent}
        groups = sorted({group for each in absent for group in each["groups"]})
        failed = sum(filter(None, by_topic.values())) or none
        values |= {"topics": by_topic, "failed_sends": failed, "consumer_groups": groups}
    if not topics:
        return Observed(values)
    worst = topics[0]
    values |= worst
    quoted = _quote(facts, worst["topic"])
    if worst["exists"]:
        return Observed(values, {"no-route": quoted})
    existing, used = sorted(_existing(facts)), bool(worst["sends"] or worst["groups"])
    known = any(row["listed"] for row in facts.rows("known_topics"))
    like = difflib.get_close_matches(worst["topic"], existing, 1, ALIKE)
    # A broker's own name server, or one that was gone after the last of them, is no reason.
    lost = [row for row in facts.rows("known_texts") if row["event"] == PROBLEM + "namesrv-unreachable"]
    late = [row["first"] and worst["last"] and row["first"] > worst["last"] for row in lost]
    lost = [row for row, gone in zip(lost, late, strict=True) if row["source"] not in BROKER_SIDE and not gone]
    unreached = refs.of_rows(lost) if used and not known else None
    setting = setup.setting(facts, "autoCreateTopicEnable")
    values |= {
        "used": used, "listed": known, "sure": used and known, "unsure": not (used and known), "unreached": unreached,
        "like": next(iter(like), None), "failed": worst["sends"] or None, "subscribing": len(worst["groups"]),
        "groups": worst["groups"] or None, "entries": worst["n"],
        "not_created": setting.value == "false" and setting.where is not None,
    }  # fmt: skip
    quotes = {
        "no-route": () if unreached else quoted, "no-route-answer": quoted,
        "name-server-reached": refs.quote(facts, unreached) if unreached else (),
        "no-auto-create": (setting.where,) if setting.where else (),
    }  # fmt: skip
    return Observed(values, quotes, (worst["first"], worst["last"]))


def route_missing(facts: Facts) -> Observed:
    """Count the sends to existing topics that found no route.

    The broker had not registered yet (the first seconds after a start), was taken off the list, or registers with
    another name server than the client asks (client/impl/producer/DefaultMQProducerImpl.sendDefaultImpl,
    namesrv/routeinfo/RouteInfoManager).
    """
    unknown = [each for each in _unknown(facts) if each["sends"]]
    existing = [each for each in unknown if each["exists"]]
    unsure = bool(unknown) and not _existing(facts)  # the topic may exist or not
    looked = not unsure and shown_by.has(facts, "client logs | answers to sends")
    if not existing:
        topic = unknown[0]["topic"] if unsure else None
        return Observed({"unsure": unsure, "looked": looked, "topic": topic, "topics": {} if looked else None})
    worst, topics = existing[0], {each["topic"]: each["sends"] for each in existing}
    values = {"failed_sends": sum(topics.values()), "topics": topics, "topic": worst["topic"], "sends": worst["sends"]}
    return Observed(values, {"no-route": _quote(facts, worst["topic"])}, (worst["first"], worst["last"]))


@memo
def _unknown(facts: Facts) -> list[dict[str, Any]]:
    """Return the topics that a send, a consumer or mqadmin found no route for, the most sends first: topic, sends
    (entries of those), groups (that subscribe), n (entries, all), exists, first, last.
    """
    if not refs.seen(facts, "topic-unknown-to-consumer", "no-route"):
        return []
    rows = [row for row in facts.rows("unknown_topics") if not row["topic"].startswith(NORMAL)]
    every: list[dict[str, Any]] = []
    for topic, own in grouped((row["topic"], row) for row in rows).items():
        # Only the client's own dispatcher of traces sends to that topic.
        by_send = [row for row in own if row["by_send"] and topic != names.TRACE_TOPIC]
        sent = [row for row in by_send if row["event"] == "no-route" and row["source"] != "mqadmin"]
        # An application's exception and its client's warning report one send: the fuller log counts.
        sends = max(map(sum, grouped((row["source"], row["n"]) for row in sent).values()), default=0)
        seen, groups = refs.of_rows(own), sorted({row["consumer_group"] for row in own} - {None})
        each = {"topic": topic, "sends": sends, "groups": groups, "exists": topic in _existing(facts)}
        every.append(each | {"n": seen.count, "first": seen.first, "last": seen.last})
    return sorted(every, key=lambda each: (each["exists"], -each["sends"], -len(each["groups"]), each["topic"]))


def _existing(facts: Facts) -> frozenset[str]:
    return frozenset(row["topic"] for row in facts.rows("known_topics"))


def _quote(facts: Facts, topic: str) -> tuple[Ref, ...]:
    rows = [row for row in facts.rows("unknown_topics") if row["topic"] == topic]
    rows.sort(key=lambda row: (not row["by_send"], row["event"], row["file"], row["line"]))
    quoted: list[Ref] = []
    for row in rows[:3]:
        with contextlib.suppress(IndexError):
            lines = (facts.ref(row["file"], row["line"] + n) for n in range(3))
            named = (r for r in lines if topic in r.text and ("oute" in r.text or "not exist" in r.text))
            quoted += itertools.islice(named, 1)
    return tuple(quoted)
