"""What becomes of a failed consumption of a transaction message under another group name, client or broker.

Arithmetic on what RocketMQ's releases do (`kit.rocketmq.versions`), nothing simulated.
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.charts import LABELS, Declared, Table
from kit.charts.controls import control
from kit.i18n import Lang
from kit.rocketmq import names
from kit.rocketmq.size import topic_too_long
from kit.rocketmq.versions import RULES, Version, rule

RESEND = Declared.of("retry by release")
UNITS: Final = LABELS["resend units"]
FATES: Final = LABELS["resend fates"]


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
    limit = RESEND["most"].say(length=length, unit=UNITS[unit], limit=rule("brokerRetryTopicMax", release))
    refused = topic_too_long(topic, release)
    keeps = RESEND["no"] if rule("fallbackClearsTranMsg", Version.parse(client)) else RESEND["yes"]
    asked = (
        ("length", limit, "brokerRetryTopicMax"),
        ("refused", RESEND["yes"] if refused else RESEND["no"], "brokerTopicUnit"),
        ("kept", keeps if refused else RESEND["not_asked"], "fallbackClearsTranMsg"),
        ("fate", FATES[ends], "oldFallback"),
    )
    rows = [(RESEND[step].render(lang), answer.render(lang), RULES[name].reference) for step, answer, name in asked]
    frame = pd.DataFrame(rows, columns=pd.Index(list(RESEND.columns)))
    return RESEND.table(frame, lang, group=group, client=client, broker=broker)


def explore(group: str, client: str, broker: str, interactive: bool = True, lang: Lang = "en") -> Any:
    """Return `what_if` with a field for each of its arguments; without interaction the plain table."""
    given = {"group": group, "client": client, "broker": broker}
    names = {name: RESEND[name].render(lang) for name in given}
    return control(lambda **typed: what_if(**typed, lang=lang), given, names, interactive=interactive)
