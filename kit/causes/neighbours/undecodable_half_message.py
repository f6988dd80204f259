"""undecodable-half-message: a compressed half message was put back uncompressed with the flag still set; the checker cannot read its own copy.

Deciding steps: a put-back copy with the COMPRESSED flag whose body is not the original's; check rounds that abort
on it (NullPointerException, or
the same check count written again and again). 4.3.0–4.5.2 only:
broker/transaction/queue/TransactionalMessageBridge.decodeMsgList (reference §6.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis import refs
from kit.analysis.transactions import totals
from kit.case import setup
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, supporting
from kit.causes.texts import texts_of

if TYPE_CHECKING:
    from kit.case.case import Case

TEXTS: Final = texts_of(__name__)


def examine(case: Case) -> Finding:
    """Report whether put-back copies of compressed half messages cannot be read."""
    finding = TEXTS.finding()
    errors = refs.seen(case, "check-round-error")
    if not case.has("messages"):
        finding.steps = [
            deciding("other-body", TEXTS["no_copies"], None),
            deciding("rounds-broken", TEXTS["not_broken"], None),
        ]
        finding.figures = {"messages": None, "copies": None}
        finding.missing = [collect_next.ask("commitlog", TEXTS["want"])]
        return finding
    # Only copies that a check renewed can be broken; most stores have none.
    found = case.facts("unreadable_copies") if totals.summary(case).total("renewed") and _may_have_fault(case) else None
    if found is None or found.empty:
        finding.steps = [
            deciding("other-body", TEXTS["no_copies"], False),
            deciding("rounds-broken", TEXTS["not_broken"], None),
        ]
        finding.figures = {"messages": 0, "copies": 0}
        return finding
    copies, messages, again = len(found), int(found["uniq_key"].nunique()), int(found["again"].sum())
    broken = bool(again or errors)
    quoted = refs.records_at(case, found[found["again"]], 2) if again else refs.quote(case, errors, 2)
    finding.steps = [
        deciding(
            "other-body", TEXTS.say("copies", copies=copies, messages=messages), True, refs.records_at(case, found, 2)
        ),
        deciding(
            "rounds-broken",
            TEXTS.say("broken", errors=errors.count, again=again) if broken else TEXTS["not_broken"],
            True if broken else None,
            quoted if broken else (),
        ),
        supporting(
            "faulty-release",
            TEXTS.say("faulty", versions=list(setup.broker_versions(case))),
            setup.broker_versions(case),
        ),
    ]
    finding.figures = {"messages": messages, "copies": copies}
    finding.summary = TEXTS.say("summary", messages=messages)
    finding.remedies = [TEXTS.remedy("action")]
    return finding


def _may_have_fault(case: Case) -> bool:
    from kit.rocketmq import versions

    known = setup.broker_versions(case)
    return not known or any(versions.rule("decompressesOnPutBack", version) for version in known)
