"""route-missing: sends failed because the name server had no route to a topic that exists.

The broker had not registered yet (the first seconds after a start), was taken off the list, or registers with another
name server than the client asks (client/impl/producer/ DefaultMQProducerImpl.sendDefaultImpl,
namesrv/routeinfo/RouteInfoManager).
"""

from __future__ import annotations

from kit.analysis.access import missing_topics
from kit.causes import shown_by
from kit.causes.declared import Observed
from kit.tables.facts import Facts


def observe(facts: Facts) -> Observed:
    """Count the sends to existing topics that found no route."""
    unknown = [each for each in missing_topics.unknown(facts) if each.sends]
    found = [each for each in unknown if each.exists]
    unsure = bool(unknown) and not missing_topics.existing(facts)  # the topic may exist or not
    looked = not unsure and shown_by.has(facts, "client logs | answers to sends")
    if not found:
        topic = unknown[0].topic if unsure else None
        return Observed({"unsure": unsure, "looked": looked, "topic": topic, "topics": {} if looked else None})
    worst, topics = found[0], {each.topic: each.sends for each in found}
    return Observed(
        {"failed_sends": sum(topics.values()), "topics": topics, "topic": worst.topic, "sends": worst.sends},
        {"no-route": missing_topics.quote(facts, worst)},
        (worst.first, worst.last) if worst.first and worst.last else None,
    )
