"""check-unknown-until-discard: producers answered UNKNOW at every check until the broker discarded the message.

Deciding steps: transactions were discarded (check-limit topic, or the log before 4.5.2); the producers had answered UNKNOWN for them. Source:
broker/transaction/queue/TransactionalMessageServiceImpl.needDiscard, broker/processor/EndTransactionProcessor (reference §4.6, §6.5).
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.analysis import brokers, refs, setup
from kit.analysis.transactions import totals
from kit.causes import collect_next
from kit.causes.findings import Finding, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report which discarded transactions had been answered UNKNOW until the limit."""
    finding = TEXTS.finding()
    stored, logged = facts.has("messages"), facts.has_source("transaction")
    limit = setup.setting(facts, "transactionCheckMax", brokers.half_addresses(facts))
    if not stored and (printed := _printed(facts)) is not None:
        return _by_log(facts, finding, printed, limit)
    count = totals.summary(facts).states()["discarded"] if stored else None
    found = facts("discarded_transactions") if count else None
    unknown = found[found["unknown"] > 0] if found is not None else None
    given_up = deciding("discarded", TEXTS["not_discarded"], None if count is None else False)
    if found is not None:
        quoted = refs.transactions(found, "discarded: KEYS={key}, UNIQ_KEY={uniq_key}", 2)
        given_up = _discarded(count, limit, quoted)
    asked = deciding("answered-unknown", TEXTS["not_unknown"], None if count is None or not logged else False)
    finding.steps = [given_up, asked]
    if unknown is not None and not unknown.empty:
        claim = TEXTS.say("unknown", count=len(unknown), answers=int(unknown["unknown"].sum()))
        finding.steps[1] = deciding("answered-unknown", claim, True, _lines(facts, unknown))
        if thrown := int(unknown["thrown"].sum()):
            quoted = _lines(facts, unknown[unknown["thrown"]], "first")
            finding.steps.append(supporting("listener-threw", TEXTS.say("thrown", count=thrown), True, quoted))
    finding.figures = {
        "discarded": count,
        "answered_unknown": len(unknown) if unknown is not None else (0 if count == 0 else None),
        "check_limit": integer(limit.value),
    }
    if finding.verdict == "confirmed" and unknown is not None:
        finding.actors = tuple(sorted(set(unknown["producer_group"].dropna())))
        finding.summary = TEXTS.say("summary", unknown=len(unknown), discarded=count)
        finding.remedies = [TEXTS.remedy("action")]
        finding.window = (unknown["stored"].min().to_pydatetime(), unknown["time"].max().to_pydatetime())
        finding.tables = {"unknown_until_discard": unknown.drop(columns=["first_file", "first_line"])}
    if not stored:
        finding.missing.append(collect_next.ask("commitlog", TEXTS["want_store"]))
    if not logged and count != 0:
        finding.missing.append(collect_next.ask("transaction.log", TEXTS["want_log"]))
    return finding


def _discarded(count: int | None, limit: setup.Setting, quoted: tuple[Ref, ...]) -> Step:
    claim = TEXTS.say("discarded_open", count=count)
    if limit.known is not None:
        known = TEXTS[f"known-{limit.known}"]
        claim = TEXTS.say("discarded", count=count, limit=limit.value, known=known)
    return deciding("discarded", claim, True, quoted)


def _printed(facts: Facts) -> dict[str, Any] | None:
    """Return the row of `printed_discards` that counts discarded transactions in transaction.log, None without one.

    Copies of a leaked message do not count: another cause made them.
    """
    rows = facts.rows("printed_discards") if refs.seen(facts, "check-discard") else []
    return next((row for row in rows if not row["leaked"]), None)


def _by_log(facts: Facts, finding: Finding, printed: dict[str, Any], limit: setup.Setting) -> Finding:
    """Complete the finding by the log alone, which prints each discarded message and each UNKNOW answer."""
    count = printed["messages"] or None
    quoted = facts.refs([(printed["file"], printed["line"])])
    claim = TEXTS.say("printed", lines=printed["lines"], count=printed["messages"], limit=limit.value)
    finding.steps = [deciding("discarded", claim, True, quoted)]
    unknown = printed["unknown_messages"]
    if unknown:
        quoted = facts.refs([(printed["unknown_file"], printed["unknown_line"])])
        claim = TEXTS.say("printed_unknown", count=unknown, answers=printed["unknowns"])
        finding.steps.append(deciding("answered-unknown", claim, True, quoted))
        finding.summary = TEXTS.say("summary_log", unknown=unknown, count=count)
        finding.remedies = [TEXTS.remedy("action")]
        finding.window = (printed["first"], printed["last"]) if printed["first"] else None
    else:
        # Each answer is a line of the same log.
        finding.steps.append(deciding("answered-unknown", TEXTS["not_unknown"], False))
    finding.figures = {"discarded": count, "answered_unknown": unknown or None, "check_limit": integer(limit.value)}
    finding.missing.append(collect_next.ask("commitlog", TEXTS["want_store"]))
    return finding


def _lines(facts: Facts, frame: pd.DataFrame, which: str = "log") -> tuple[Ref, ...]:
    return facts.refs((str(r[f"{which}_file"]), int(r[f"{which}_line"])) for r in frame.head(2).to_dict("records"))
