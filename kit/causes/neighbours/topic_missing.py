"""topic-missing: clients ask for a topic that does not exist, so nothing is sent and nothing consumed.

Every healthy start asks for the retry topic and TBW102; a topic that exists and has lost its route is another fault
(reference: operators' incidents §7).
"""

from __future__ import annotations

from typing import Any

from kit.analysis import refs, setup
from kit.analysis.access import missing_topics, reach
from kit.causes.declared import Observed
from kit.rocketmq.catalogue import PROBLEM
from kit.tables.facts import Facts


def observe(facts: Facts) -> Observed:
    """Name the topic that clients used although it does not exist, and count what failed."""
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
        "like": worst.like,
        "sends": worst.sends, "failed": worst.sends or None, "subscribing": len(worst.groups),
        "groups": list(worst.groups) or None,
        "entries": worst.entries, "not_created": setting.value == "false" and setting.where is not None,
    }  # fmt: skip
    quotes = {"no-route": () if unreached else quoted, "no-route-answer": quoted}
    quotes["name-server-reached"] = refs.quote(facts, unreached) if unreached else ()
    quotes["no-auto-create"] = (setting.where,) if setting.where else ()
    window = (worst.first, worst.last) if worst.first is not None and worst.last is not None else None
    return Observed(values, quotes, window)
