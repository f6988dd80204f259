"""What becomes of a transaction message whose consumption failed, under another group name, client or broker: arithmetic on
what RocketMQ's releases do (`kit.rocketmq.versions`), nothing simulated.
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.charts.table import Table
from kit.i18n import Lang, T
from kit.rocketmq import names
from kit.rocketmq.size import topic_too_long
from kit.rocketmq.versions import RULES, Version, rule

CAPTION = T("A retry of group {group}: client {client}, broker {broker}")
QUESTION, ANSWER, SOURCE = T("asked"), T("answer"), T("upstream", "上游源码")
LENGTH = T("How long is the name of the retry topic?")
MOST = T("{length} {unit}, {limit} allowed")
UNITS: Final = {"chars": T("characters"), "bytes": T("bytes")}
REFUSED = T("Is the send-back refused for its name?")
KEPT = T("Does the copy that the client sends instead keep TRAN_MSG?")
FATE = T("What becomes of the message?")
YES, NO, NOT_ASKED = T("yes", "是"), T("no", "否"), T("does not apply: the send-back is stored")
FATES: Final[dict[str, T]] = {
    "delivered": T("It comes back to the consumer as a retry."),
    "memory": T("It is refused like the send-back; the consumer retries it in its own memory, and nothing is stored."),
    "carousel": T("It circulates between the schedule topic and the half topic, and each commit doubles it."),
    "stored prepared, never consumed": T("It is stored as a prepared message and never consumed."),
    "dropped when the delay expires": T("It is dropped when its delay expires."),
}
GROUP, CLIENT, BROKER = T("consumer group"), T("client"), T("broker")


def fate(group: str, client: str, broker: str) -> str:
    """Return what becomes of a retry, a key of `FATES`. Raise `ValueError` for an invalid version."""
    if not topic_too_long(names.RETRY_PREFIX + group, Version.parse(broker)):
        return "delivered"
    if rule("fallbackClearsTranMsg", Version.parse(client)):
        return "memory"
    return str(rule("oldFallback", Version.parse(broker)))


def what_if(group: str, client: str, broker: str, lang: Lang = "en") -> Table:
    """Show step by step what becomes of a retry. Raise `ValueError` for an invalid version."""
    client, broker = str(Version.parse(client)), str(Version.parse(broker))
    ends = fate(group, client, broker)
    topic, release = names.RETRY_PREFIX + group, Version.parse(broker)
    unit = str(rule("brokerTopicUnit", release))
    length = len(topic.encode()) if unit == "bytes" else len(topic)
    limit = MOST.say(length=length, unit=UNITS[unit], limit=rule("brokerRetryTopicMax", release))
    refused = topic_too_long(topic, release)
    keeps = NO if rule("fallbackClearsTranMsg", Version.parse(client)) else YES
    rows = [
        (LENGTH.render(lang), limit.render(lang), RULES["brokerRetryTopicMax"].reference),
        (REFUSED.render(lang), (YES if refused else NO).render(lang), RULES["brokerTopicUnit"].reference),
        (KEPT.render(lang), (keeps if refused else NOT_ASKED).render(lang), RULES["fallbackClearsTranMsg"].reference),
        (FATE.render(lang), FATES[ends].render(lang), RULES["oldFallback"].reference),
    ]
    frame = pd.DataFrame(rows, columns=pd.Index(["asked", "answer", "upstream"]))
    heads = {"asked": QUESTION, "answer": ANSWER, "upstream": SOURCE}
    return Table(frame, CAPTION.say(group=group, client=client, broker=broker), heads, lang)


def explore(group: str, client: str, broker: str, interactive: bool = True, lang: Lang = "en") -> Any:
    """Return `what_if` with a field for each of its arguments; without interaction the plain table."""
    if not interactive:
        return what_if(group, client, broker, lang)
    from ipywidgets import Layout, Text

    from kit.charts.controls import live

    wide = {"layout": Layout(width="auto"), "style": {"description_width": "initial"}, "continuous_update": False}
    return live(
        lambda group, client, broker: what_if(group, client, broker, lang),
        group=Text(group, description=GROUP.render(lang), **wide),
        client=Text(client, description=CLIENT.render(lang), **wide),
        broker=Text(broker, description=BROKER.render(lang), **wide),
    )
