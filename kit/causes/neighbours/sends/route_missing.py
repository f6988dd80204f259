"""route-missing: sends failed because the name server had no route to a topic that exists.

Deciding step: a send that failed with "No route info of this topic" for a topic that a broker has. The broker had not registered yet (the first
seconds after a start), was taken off the list, or registers with another name server than the client asks (client/impl/producer/
DefaultMQProducerImpl.sendDefaultImpl, namesrv/routeinfo/RouteInfoManager).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis.access import missing_topics, reach
from kit.causes import collect_next
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "route-missing"
KIND: Kind = "neighbour"

TITLE = T("The name server had no route to a topic that exists")
NONE = T("No send failed for want of a route to a topic that exists.")
SUMMARY = T(
    "{sends} {sends:send|sends} to {topic} failed because the name server had no route to it, although a broker has the topic; none of them is stored."
)
FAILED = T("{sends} {sends:send|sends} to {topic} failed for want of a route, and a broker has the topic.")
WANT_CLIENT = T("the exception names the topic")
WANT_ROUTE = T("it shows whether the broker is registered with the name server that the client asks")
ACTION = T("Let applications start sending when `topicRoute` prints the topic, and send the failed messages again.")
WHY = T(
    "A broker registers when it starts and every 30 s; a client that asks before finds no route and fails at once, without a retry."
)
RISK = T("Low: nothing of these sends is stored, so sending again makes no duplicate.")
VERIFY = T(
    "topicRoute with the client's own name server address prints the topic's brokers; the first send answers SEND_OK."
)

LOOKS_LIKE = (
    ("topic-missing", T("there no broker has the topic")),
    ("broker-unreachable", T("there the route exists and its address cannot be reached")),
)

FIGURES: Final = {
    "failed_sends": Figure(T("sends that failed for it")),
    "topics": Figure(T("topics without a route, with the sends to them")),
}


def examine(case: Case) -> Finding:
    """Report the sends to existing topics that found no route."""
    looked = reach.client_logs(case)
    found = [each for each in missing_topics.unknown(case) if each.exists and each.sends]
    finding = Finding(SLUG, KIND, TITLE, NONE)
    finding.figures = {"failed_sends": sum(u.sends for u in found), "topics": {u.topic: u.sends for u in found}}
    if not found:
        finding.steps = [deciding("no-route", NONE, False if looked else None)]
        if not looked:
            finding.figures = dict.fromkeys(FIGURES)
            finding.missing = [collect_next.client_log(collect_next.PRODUCER, WANT_CLIENT)]
        return finding
    worst = found[0]
    finding.steps = [
        deciding("no-route", FAILED.say(sends=worst.sends, topic=worst.topic), True, missing_topics.quote(case, worst))
    ]
    finding.summary = SUMMARY.say(sends=worst.sends, topic=worst.topic)
    if worst.first is not None and worst.last is not None:
        finding.window = (worst.first, worst.last)
    finding.missing = [collect_next.topic_list(WANT_ROUTE, worst.topic)]
    finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
    return finding
