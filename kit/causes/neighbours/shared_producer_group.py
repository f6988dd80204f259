"""shared-producer-group: applications that do not know each other's orders share one producer group, so checks are answered by the wrong one.

Deciding steps: a check was answered from another host than the one the half message came from; such answers disagree with what happened there
(ROLLBACK for a transaction whose row exists or that was committed, or never COMMIT where the group's own hosts always do). Instances of one
application answer for each other all the time; only the disagreement shows it. Source: broker/client/ProducerManager.getAvailableChannel picks any
channel of the group (reference §6.5).
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from kit.analysis import refs
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)

BY_CHECK: Final = ("check-answer-commit", "check-answer-rollback", "check-answer-pending")


HALF: Final = "half: KEYS={key}, UNIQ_KEY={uniq_key}, bornHost={born_host}"


def examine(facts: Facts) -> Finding:
    """Report whether checks were answered by hosts of another application."""
    finding = TEXTS.finding()
    stored, logged = facts.has("messages"), facts.has_source("transaction")
    found = facts("foreign_answers") if stored and refs.seen(facts, *BY_CHECK) else None
    known = stored and logged
    if found is None or found.empty:
        finding.steps = [
            deciding("foreign-answers", TEXTS["not_foreign"], False if known else None),
            deciding("wrong-answers", TEXTS["not_wrong"], None),
        ]
        finding.figures = dict.fromkeys(TEXTS.figures, 0 if known else None)
        if not stored:
            finding.missing = [collect_next.ask("commitlog", TEXTS["want_store"])]
        elif not logged:
            finding.missing = [collect_next.ask("transaction.log", TEXTS["want_log"])]
        return finding
    wrong = found[found["wrong"]]
    # Other hosts that only ever commit are instances of the same application.
    agree = False if (found["said"] == "COMMIT").all() else None
    quoted = refs.lines(facts, found, 2) + refs.transactions(found, HALF, 1, "half_")
    foreign = deciding("foreign-answers", TEXTS.say("foreign", count=len(found), hosts=_hosts(found)), True, quoted)
    disagree = deciding("wrong-answers", TEXTS["not_wrong"], agree)
    if len(wrong):
        claim = TEXTS.say("wrong", count=len(wrong))
        disagree = deciding("wrong-answers", claim, True, refs.lines(facts, wrong, 2))
    finding.steps = [foreign, disagree]
    finding.figures = {"foreign_answers": len(found), "wrong_answers": len(wrong)}
    finding.tables = {"foreign_answers": found}
    if len(wrong):
        finding.actors = tuple(sorted(set(wrong["producer_group"].dropna())))
        finding.summary = TEXTS.say("summary", groups=finding.actors, foreign=len(found), wrong=len(wrong))
        finding.remedies = [TEXTS.remedy("action")]
        finding.window = (wrong["ts"].min().to_pydatetime(), wrong["ts"].max().to_pydatetime())
    return finding


def _hosts(frame: pd.DataFrame) -> list[str]:
    pairs = frame[["born_host", "address"]].map(lambda a: str(a).rsplit(":", 1)[0])
    return sorted({f"{row['born_host']} → {row['address']}" for row in pairs.to_dict("records")})[:5]
