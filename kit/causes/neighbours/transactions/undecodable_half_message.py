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
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, supporting
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "undecodable-half-message"
KIND: Kind = "neighbour"

TITLE = T("A half message the checker cannot read stops every check round")
SUMMARY = T(
    "{messages} compressed half {messages:message was|messages were} put back uncompressed with the flag still set; check rounds abort and finished transactions are checked again."
)
NONE = T("No half message was put back in a form that cannot be read.")
COPIES = T(
    "{copies} put-back {copies:copy|copies} of {messages} compressed half {messages:message|messages} {copies:holds|hold} another body than their original."
)
NO_COPIES = T("A put-back copy of a compressed half message holds another body than its original.")
BROKEN = T(
    "Check rounds aborted ({errors} `Check error` lines; {again} {again:copy carries|copies carry} a check count that was written before)."
)
NOT_BROKEN = T("Check rounds aborted on it.")
FAULTY = T("The broker's release ({versions}) has this fault; 4.6.0 and later do not.")
WANT = T("it holds the put-back copies in the half topic")
ACTION = T("Upgrade the broker to 4.6.0 or newer.")
WHY = T("It puts the compressed body back unchanged.")
RISK = T("Unreadable copies stay in the half topic until they are discarded.")
VERIFY = T("`Check error` stops and the half offset in consumerOffset.json moves.")

LOOKS_LIKE = (
    ("message-size-mismatch", T("a put-back is refused; here it is stored and cannot be read")),
    ("half-topic-blowup", T("it grows too, but by doubling, with REAL_TOPIC = the half topic")),
    ("duplicate-commit", T("finished transactions are checked again after an aborted round and committed twice")),
)

FIGURES: Final = {"copies": Figure(T("records of them")), "messages": Figure(T("messages", "条消息"))}

ALERTS: Final = (
    Alert("check-round-error", T("A half message stops every check round with an error."), "rounds-broken", least=2, within=600),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report whether put-back copies of compressed half messages cannot be read."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    errors = refs.seen(case, "check-round-error")
    if not case.has("messages"):
        finding.steps = [deciding("other-body", NO_COPIES, None), deciding("rounds-broken", NOT_BROKEN, None)]
        finding.figures = {"messages": None, "copies": None}
        finding.missing = [collect_next.commitlog(WANT)]
        return finding
    # Only copies that a check renewed can be broken; most stores have none.
    found = case.facts("unreadable_copies") if totals.summary(case).total("renewed") and _may_have_fault(case) else None
    if found is None or found.empty:
        finding.steps = [deciding("other-body", NO_COPIES, False), deciding("rounds-broken", NOT_BROKEN, None)]
        finding.figures = {"messages": 0, "copies": 0}
        return finding
    copies, messages, again = len(found), int(found["uniq_key"].nunique()), int(found["again"].sum())
    broken = bool(again or errors)
    quoted = refs.records_at(case, found[found["again"]], 2) if again else refs.quote(case, errors, 2)
    finding.steps = [
        deciding("other-body", COPIES.say(copies=copies, messages=messages), True, refs.records_at(case, found, 2)),
        deciding(
            "rounds-broken",
            BROKEN.say(errors=errors.count, again=again) if broken else NOT_BROKEN,
            True if broken else None,
            quoted if broken else (),
        ),
        supporting(
            "faulty-release", FAULTY.say(versions=list(setup.broker_versions(case))), setup.broker_versions(case)
        ),
    ]
    finding.figures = {"messages": messages, "copies": copies}
    finding.summary = SUMMARY.say(messages=messages)
    finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
    return finding


def _may_have_fault(case: Case) -> bool:
    from kit.rocketmq import versions

    known = setup.broker_versions(case)
    return not known or any(versions.rule("decompressesOnPutBack", version) for version in known)
