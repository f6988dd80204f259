"""topic-missing: clients ask for a topic that does not exist, so nothing is sent and nothing consumed.

Deciding step: a send or a consumer that found no route for a topic that no broker has. Every healthy start asks for the retry topic and TBW102; a
topic that exists and has lost its route is another fault (reference: operators' incidents §7).
"""

from __future__ import annotations

from typing import Final

import attrs

from kit.analysis import refs, setup
from kit.analysis.access import missing_topics, reach
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, supporting
from kit.causes.texts import texts_of
from kit.rocketmq.catalogue import PROBLEM
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report which topic clients used although it does not exist."""
    found = missing_topics.unknown(facts)
    worst = found[0] if found else None
    finding = TEXTS.finding()
    looked = reach.client_logs(facts)
    absent = [each for each in found if not each.exists]
    finding.figures = dict.fromkeys(("topics", "failed_sends", "consumer_groups"))
    if looked or found:
        groups = sorted({group for each in absent for group in each.groups})
        sends = {each.topic: each.sends for each in absent}
        finding.figures = {"topics": sends, "failed_sends": sum(sends.values()), "consumer_groups": groups}
    if worst is None:
        finding.steps = [deciding("no-route", TEXTS["not_missed"], False if looked else None)]
        finding.missing = [] if looked else [collect_next.ask("producer's client log", TEXTS["want_client"])]
        return finding
    quoted = missing_topics.quote(facts, worst)
    if worst.exists:
        finding.steps = [deciding("no-route", TEXTS.say("exists", topic=worst.topic), False, quoted)]
        return finding
    known = bool(missing_topics.existing(facts))
    claim = TEXTS.say("missed", topic=worst.topic, sends=worst.sends, groups=len(worst.groups))
    shown = bool(worst.sends or worst.groups)
    finding.steps = [deciding("no-route", claim, True if shown and known else None, quoted)]
    unreached = refs.seen(facts, PROBLEM + "namesrv-unreachable") if shown and not known else None
    if unreached:
        finding.steps[0] = deciding("no-route", claim, None)
        finding.steps.append(supporting("name-server-reached", TEXTS["reached"], False, refs.quote(facts, unreached)))
    elif not known or not shown:
        finding.steps.append(supporting("no-route-answer", TEXTS.say("answered", count=worst.entries), True, quoted))
    if not known or not shown:
        finding.missing = [collect_next.ask("topics", TEXTS["want_topics"], topic=worst.topic)]
    if worst.like:
        finding.steps.append(supporting("similar-name", TEXTS.say("like", like=worst.like), None))
    setting = setup.setting(facts, "autoCreateTopicEnable")
    if setting.value == "false" and setting.where is not None:
        finding.steps.append(supporting("no-auto-create", TEXTS["not_created"], True, (setting.where,)))
    if shown and known:
        finding.summary = TEXTS.say("summary", topic=worst.topic, sends=worst.sends, groups=list(worst.groups) or None)
    else:
        summary = TEXTS["summary_no_route"] if shown else TEXTS["summary_asked"]
        summary = TEXTS["summary_unreached"] if unreached else summary
        finding.summary = summary.say(topic=worst.topic, sends=worst.sends or None, groups=list(worst.groups) or None)
    if worst.first is not None and worst.last is not None:
        finding.window = (worst.first, worst.last)
    remedy = TEXTS.remedy("create")
    like = worst.like and TEXTS.say("action_like", like=worst.like, topic=worst.topic)
    finding.remedies = [attrs.evolve(remedy, action=like) if like else remedy]
    return finding
