"""Neighbours that keep a client out: access control, a topic that does not exist, a route that is missing."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any, Final

from kit.analysis import refs, setup
from kit.analysis.access import missing_topics, reach
from kit.analysis.sends import sends
from kit.causes import shown_by
from kit.causes.declared import Observed
from kit.causes.texts import read
from kit.rocketmq.catalogue import PROBLEM
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.tables.facts import Facts

ACL: Final = read("neighbours", "acl-denied")
QUOTED: Final = {
    "wrong-secret": "ignature failed", "unknown-user": "Exception: ", "no-right": "ermission ", "other": "Exception: ",
}  # fmt: skip
"""Reasons of a refusal, and what is in the line of an entry that gives it."""


def acl_denied(facts: Facts) -> Observed:
    """Count whom access control refused, and why. Secrets are never quoted: configuration files are not
    (reference: operators' incidents §7).
    """
    seen = refs.seen(facts, "access-denied")
    if not seen:
        return Observed({"looked": reach.client_logs(facts) or sends.ledger(facts).knows_kinds, "reasons": {}})
    entries, judged = facts("denials"), [_why(row) for row in facts.rows("denials")]
    entries = entries.assign(why=[why for why, _ in judged], name=[name for _, name in judged])
    every = {why: rows for why in QUOTED if len(rows := entries[entries["why"] == why])}
    reasons = {why: sorted({*rows["name"]} - {""}) for why, rows in every.items()}
    by_broker = entries["source"].isin(BROKER_SIDE)
    own = entries if by_broker.all() else entries[~by_broker]
    alone, setting = refs.seen(facts, "no-consumer-list"), setup.setting(facts, "aclEnable")
    return Observed(
        {
            "denied": seen.count,
            "reasons": reasons,
            "failed_sends": _failed_sends(facts, seen),
            "words": [
                ACL.say("reason", reason=ACL[f"words-{why}"], names=reasons[why], count=int(rows["n"].sum()))
                for why, rows in every.items()
            ],
            "in_broker": sum(refs.count(facts, "access-denied", s) for s in ("remoting", "broker", "broker_default")),
            "no_list": alone.count,
            "acl_on": setting.value == "true" and setting.where is not None,
            **{why: names or " " for why, names in reasons.items()},
        },
        {
            "denied": [
                ref for why in every for ref in refs.earliest(facts, own[own["why"] == why], 1, within=QUOTED[why])
            ],
            "in-broker-log": refs.earliest(facts, entries[by_broker], 1, within="AclException"),
            "no-consumer-list": refs.quote(facts, alone, 1),
            "acl-on": (setting.where,) if setting.where else (),
        },
        seen.window,
        actors=[name for names in reasons.values() for name in names],
    )


def _why(row: dict[str, Any]) -> tuple[str, str]:
    """Return the reason of a refusal, and whom or what it is about."""
    reason = row["reason"] or ""
    if row["access_key"] or "ignature" in reason:
        return "wrong-secret", row["access_key"] or ""
    if row["unknown_key"] or row["unknown_user"] or " not found." in reason:
        return "unknown-user", row["unknown_key"] or row["unknown_user"] or reason
    if row["permission"]:
        return "no-right", f"{(row['kind'] or '').lower()} {row['permission']} ({row['user']})"
    if row["resource"] or "no permission" in reason:
        return "no-right", f"{row['resource_type']} {row['resource']}" if row["resource"] else reason
    return "other", reason


def _failed_sends(facts: Facts, seen: refs.Seen) -> int | None:
    """Return how many sends access control refused; None if unknown."""
    ledger = sends.ledger(facts)
    if ledger.source is None:
        return None
    folders = {str(PurePosixPath(file).parent) for file, _ in seen.places}
    inside = ledger.failed["file"].map(lambda file: str(PurePosixPath(str(file)).parent) in folders)
    return sends.distinct(ledger.failed[inside.astype(bool) & (ledger.failed["kind"] != "CLIENT_TIMEOUT")])


def topic_missing(facts: Facts) -> Observed:
    """Name the topic that clients used although it does not exist, and count what failed.

    Every healthy start asks for the retry topic and TBW102; a topic that exists and has lost its route is another
    fault (reference: operators' incidents §7).
    """
    topics = missing_topics.unknown(facts)
    values: dict[str, Any] = {"looked": reach.client_logs(facts)}
    if values["looked"] or topics:
        absent = [each for each in topics if not each.exists]
        by_topic = {each.topic: each.sends for each in absent}
        groups = sorted({group for each in absent for group in each.groups})
        values |= {"topics": by_topic, "failed_sends": sum(by_topic.values()), "consumer_groups": groups}
    if not topics:
        return Observed(values)
    worst = topics[0]
    values |= {"topic": worst.topic, "exists": worst.exists}
    quoted = missing_topics.quote(facts, worst)
    if worst.exists:
        return Observed(values, {"no-route": quoted})
    known, used = bool(missing_topics.existing(facts)), bool(worst.sends or worst.groups)
    unreached = refs.seen(facts, PROBLEM + "namesrv-unreachable") if used and not known else None
    setting = setup.setting(facts, "autoCreateTopicEnable")
    values |= {
        "used": used, "sure": used and known, "unsure": not (used and known), "unreached": unreached,
        "like": worst.like, "sends": worst.sends, "failed": worst.sends or None, "subscribing": len(worst.groups),
        "groups": list(worst.groups) or None, "entries": worst.entries,
        "not_created": setting.value == "false" and setting.where is not None,
    }  # fmt: skip
    quotes = {
        "no-route": () if unreached else quoted, "no-route-answer": quoted,
        "name-server-reached": refs.quote(facts, unreached) if unreached else (),
        "no-auto-create": (setting.where,) if setting.where else (),
    }  # fmt: skip
    return Observed(values, quotes, worst.window)


def route_missing(facts: Facts) -> Observed:
    """Count the sends to existing topics that found no route.

    The broker had not registered yet (the first seconds after a start), was taken off the list, or registers with
    another name server than the client asks (client/impl/producer/DefaultMQProducerImpl.sendDefaultImpl,
    namesrv/routeinfo/RouteInfoManager).
    """
    unknown = [each for each in missing_topics.unknown(facts) if each.sends]
    existing = [each for each in unknown if each.exists]
    unsure = bool(unknown) and not missing_topics.existing(facts)  # the topic may exist or not
    looked = not unsure and shown_by.has(facts, "client logs | answers to sends")
    if not existing:
        topic = unknown[0].topic if unsure else None
        return Observed({"unsure": unsure, "looked": looked, "topic": topic, "topics": {} if looked else None})
    worst, topics = existing[0], {each.topic: each.sends for each in existing}
    return Observed(
        {"failed_sends": sum(topics.values()), "topics": topics, "topic": worst.topic, "sends": worst.sends},
        {"no-route": missing_topics.quote(facts, worst)},
        worst.window,
    )
