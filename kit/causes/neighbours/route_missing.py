"""route-missing: sends failed because the name server had no route to a topic that exists.

Deciding step: a send that failed with "No route info of this topic" for a topic that a broker has. The broker had not registered yet (the first
seconds after a start), was taken off the list, or registers with another name server than the client asks (client/impl/producer/
DefaultMQProducerImpl.sendDefaultImpl, namesrv/routeinfo/RouteInfoManager).
"""

from __future__ import annotations

from typing import Final

from kit.analysis.access import missing_topics
from kit.causes import collect_next, shown_by
from kit.causes.findings import Finding, deciding
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report the sends to existing topics that found no route."""
    unknown = [each for each in missing_topics.unknown(facts) if each.sends]
    found = [each for each in unknown if each.exists]
    unsure = bool(unknown) and not missing_topics.existing(facts)  # the topic may exist or not
    looked = not unsure and shown_by.would_show(facts, TEXTS.slug, "no-route")
    finding = TEXTS.finding()
    finding.figures = {"failed_sends": sum(u.sends for u in found), "topics": {u.topic: u.sends for u in found}}
    if not found:
        finding.steps = [deciding("no-route", TEXTS["no_route"], False if looked else None)]
        if not looked:
            finding.figures = dict.fromkeys(TEXTS.figures)
            finding.missing = (
                [collect_next.ask("topics", TEXTS["want_route"], topic=unknown[0].topic)]
                if unsure
                else shown_by.wanted(facts, TEXTS.slug, "no-route", TEXTS["want_client"])
            )
        return finding
    worst = found[0]
    claim = TEXTS.say("failed", sends=worst.sends, topic=worst.topic)
    finding.steps = [deciding("no-route", claim, True, missing_topics.quote(facts, worst))]
    finding.summary = TEXTS.say("summary", sends=worst.sends, topic=worst.topic)
    if worst.first is not None and worst.last is not None:
        finding.window = (worst.first, worst.last)
    finding.missing = [collect_next.ask("topics", TEXTS["want_route"], topic=worst.topic)]
    finding.remedies = [TEXTS.remedy("action")]
    return finding
