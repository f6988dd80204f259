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
from kit.rocketmq.size import topic_length
from kit.rocketmq.versions import RULES, Version, rule

RESEND = Declared.of("retry by release")
UNITS: Final = LABELS["resend units"]
FATES: Final = LABELS["resend fates"]


def what_if(group: str, client: str, broker: str, lang: Lang = "en") -> Table:
    """Show step by step what becomes of a retry. Raise `ValueError` for an invalid version."""
    sender, release, topic = Version.parse(client), Version.parse(broker), names.RETRY_PREFIX + group
    length, most, unit = topic_length(topic, release)
    limit = RESEND["most"].say(length=length, unit=UNITS[unit], limit=most)
    refused, clears = length > most, rule("fallbackClearsTranMsg", sender)
    fate = "memory" if clears else str(rule("oldFallback", release))
    asked = (
        ("length", limit, "brokerRetryTopicMax"),
        ("refused", RESEND["yes"] if refused else RESEND["no"], "brokerTopicUnit"),
        ("kept", RESEND["no" if clears else "yes"] if refused else RESEND["not_asked"], "fallbackClearsTranMsg"),
        ("fate", FATES[fate if refused else "delivered"], "oldFallback"),
    )
    rows = [(RESEND[step].render(lang), answer.render(lang), RULES[name].reference) for step, answer, name in asked]
    frame = pd.DataFrame(rows, columns=pd.Index(list(RESEND.columns)))
    return RESEND.table(frame, lang, group=group, client=str(sender), broker=str(release))


def explore(group: str, client: str, broker: str, interactive: bool = True, lang: Lang = "en") -> Any:
    """Return `what_if` with a field for each of its arguments; without interaction the plain table."""
    given = {"group": group, "client": client, "broker": broker}
    names = {name: RESEND[name].render(lang) for name in given}
    return control(lambda **typed: what_if(**typed, lang=lang), given, names, interactive=interactive)
