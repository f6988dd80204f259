"""undecodable-half-message: a compressed half message was put back uncompressed with the flag still set; the checker cannot read its own copy.

Deciding steps: a put-back copy with the COMPRESSED flag whose body is not the original's; check rounds that abort
on it (NullPointerException, or
the same check count written again and again). 4.3.0–4.5.2 only:
broker/transaction/queue/TransactionalMessageBridge.decodeMsgList (reference §6.6).
"""

from __future__ import annotations

from typing import Final

from kit.analysis import refs, setup
from kit.analysis.transactions import totals
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, supporting
from kit.causes.texts import texts_of
from kit.rocketmq import versions
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report whether put-back copies of compressed half messages cannot be read."""
    finding = TEXTS.finding()
    errors = refs.seen(facts, "check-round-error")
    stored = facts.has("messages")
    # Only copies that a check renewed can be broken; most stores have none.
    renewed = stored and totals.summary(facts).total("renewed") and _may_have_fault(facts)
    found = facts("unreadable_copies") if renewed else None
    if found is None or found.empty:
        finding.steps = [
            deciding("other-body", TEXTS["no_copies"], False if stored else None),
            deciding("rounds-broken", TEXTS["not_broken"], None),
        ]
        finding.figures = dict.fromkeys(("messages", "copies"), 0 if stored else None)
        finding.missing = [] if stored else [collect_next.ask("commitlog", TEXTS["want"])]
        return finding
    copies, messages, again = len(found), int(found["uniq_key"].nunique()), int(found["again"].sum())
    broken = bool(again or errors)
    quoted = refs.records_at(facts, found[found["again"]], 2) if again else refs.quote(facts, errors, 2)
    other = TEXTS.say("copies", copies=copies, messages=messages)
    rounds = TEXTS.say("broken", errors=errors.count, again=again) if broken else TEXTS["not_broken"]
    versions = list(setup.broker_versions(facts))
    finding.steps = [
        deciding("other-body", other, True, refs.records_at(facts, found, 2)),
        deciding("rounds-broken", rounds, True if broken else None, quoted if broken else ()),
        supporting("faulty-release", TEXTS.say("faulty", versions=versions), versions),
    ]
    finding.figures = {"messages": messages, "copies": copies}
    finding.summary = TEXTS.say("summary", messages=messages)
    finding.remedies = [TEXTS.remedy("action")]
    return finding


def _may_have_fault(facts: Facts) -> bool:
    known = setup.broker_versions(facts)
    return not known or any(versions.rule("decompressesOnPutBack", version) for version in known)
