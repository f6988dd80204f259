"""topic-missing: clients ask for a topic that does not exist, so nothing is sent and nothing consumed.

Deciding step: a send or a consumer that found no route for a topic that no broker has. Every healthy start asks for the retry topic and TBW102; a
topic that exists and has lost its route is another fault (reference: operators' incidents §7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis import refs
from kit.analysis.access import missing_topics, reach
from kit.case import setup
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, supporting
from kit.i18n import T
from kit.rocketmq.catalogue import PROBLEM

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "topic-missing"
KIND: Kind = "neighbour"

TITLE = T("A topic that clients use does not exist")
NONE = T("No client used a topic that does not exist.")
SUMMARY = T(
    "Topic {topic} does not exist: {sends} {sends:send|sends} failed at once, and groups {groups} consume nothing from it."
)
SUMMARY_NO_ROUTE = T(
    "Clients found no route to topic {topic}: {sends} {sends:send|sends} failed, {groups} {groups:group subscribes|groups subscribe} to it. Whether a broker has it is not in this evidence."
)
SUMMARY_UNREACHED = T(
    "Clients found no route to topic {topic}, and a name server could not be reached: that may be the whole reason."
)
SUMMARY_ASKED = T("The name server knows no route to topic {topic}; whether a broker has it is not in this evidence.")
MISSED = T(
    "Topic {topic} has no route and does not exist on any broker: {sends} {sends:send was|sends were} refused by their own client, {groups} {groups:group subscribes|groups subscribe} to it."
)
EXISTS = T("Topic {topic} exists, but the name server had no route to it at that time.")
NOT_MISSED = T("A client used a topic that does not exist.")
REACHED = T("Every name server that was asked could be reached.")
LIKE = T("A topic with a similar name exists: {like}.")
OFF = T("autoCreateTopicEnable is false: topics are not created by their first send.")
ANSWERED = T("The name server answered that it has no route ({count} {count:answer|answers}).")
WANT_CLIENT = T("the exception names the topic")
WANT_TOPICS = T("it shows which topics exist and how they are spelt")
ACTION = T("Correct the topic's name in the client, or create the topic with updateTopic.")
ACTION_LIKE = T("Correct the topic's name in the client to {like}, or create {topic} with updateTopic.")
WHY = T("The client finds no route and fails before it sends anything.")
RISK = T(
    "Low. Creating topics automatically puts them on single brokers with the default queues, and hides misspellings."
)
VERIFY = T("topicRoute prints the topic's brokers; the first send answers SEND_OK.")

LOOKS_LIKE = (
    ("broker-unreachable", T("there the route exists and its address cannot be reached")),
    ("acl-denied", T("there the broker answers that a right is missing")),
)

FIGURES: Final = {
    "failed_sends": Figure(T("sends that failed for it")),
    "topics": Figure(T("topics that do not exist, with the sends to them")),
    "consumer_groups": Figure(T("consumer groups that subscribe to them")),
}

ALERTS: Final = (
    Alert("no-route", T("Clients use a topic that no broker has."), "no-route", least=10, within=120, lasts=5),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report which topic clients used although it does not exist."""
    found = missing_topics.unknown(case)
    worst = found[0] if found else None
    finding = Finding(SLUG, KIND, TITLE, NONE)
    looked = reach.client_logs(case)
    finding.figures = {"topics": {u.topic: u.sends for u in found if not u.exists} if looked or found else None,
                       "failed_sends": sum(u.sends for u in found if not u.exists) if looked or found else None,
                       "consumer_groups": sorted({g for u in found if not u.exists for g in u.groups}) if looked or found else None}  # fmt: skip
    if worst is None:
        finding.steps = [deciding("no-route", NOT_MISSED, False if looked else None)]
        finding.missing = [] if looked else [collect_next.client_log(collect_next.PRODUCER, WANT_CLIENT)]
        return finding
    quoted = missing_topics.quote(case, worst)
    if worst.exists:
        finding.steps = [deciding("no-route", EXISTS.say(topic=worst.topic), False, quoted)]
        return finding
    known = bool(missing_topics.existing(case))
    claim = MISSED.say(topic=worst.topic, sends=worst.sends, groups=len(worst.groups))
    shown = bool(worst.sends or worst.groups)
    finding.steps = [deciding("no-route", claim, True if shown and known else None, quoted)]
    unreached = refs.seen(case, PROBLEM + "namesrv-unreachable") if shown and not known else None
    if unreached:
        finding.steps[0] = deciding("no-route", claim, None)
        finding.steps.append(supporting("name-server-reached", REACHED, False, refs.quote(case, unreached)))
    elif not known or not shown:
        finding.steps.append(supporting("no-route-answer", ANSWERED.say(count=worst.entries), True, quoted))
    if not known or not shown:
        finding.missing = [collect_next.topic_list(WANT_TOPICS, worst.topic)]
    if worst.like:
        finding.steps.append(supporting("similar-name", LIKE.say(like=worst.like), None))
    setting = setup.setting(case, "autoCreateTopicEnable")
    if setting.value == "false" and setting.where is not None:
        finding.steps.append(supporting("no-auto-create", OFF, True, (setting.where,)))
    if shown and known:
        finding.summary = SUMMARY.say(topic=worst.topic, sends=worst.sends, groups=list(worst.groups) or None)
    else:
        summary = SUMMARY_UNREACHED if unreached else SUMMARY_NO_ROUTE if shown else SUMMARY_ASKED
        finding.summary = summary.say(topic=worst.topic, sends=worst.sends, groups=len(worst.groups))
    if worst.first is not None and worst.last is not None:
        finding.window = (worst.first, worst.last)
    action = ACTION if worst.like is None else ACTION_LIKE.say(like=worst.like, topic=worst.topic)
    finding.remedies = [Remedy(action, WHY, RISK, VERIFY)]
    return finding
