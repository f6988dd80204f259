"""acl-denied: the broker's access control refuses a client: a wrong secret, an unknown user, a missing right.

Deciding step: an AclException (plain ACL, 4.4.0 and later) or an authentication or authorization exception (5.3.0 and later) in any log. Secrets are never quoted:
configuration files are not (reference: operators' incidents §7).
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.analysis import refs
from kit.analysis.access import reach
from kit.analysis.sends import sends
from kit.case import setup
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, supporting
from kit.i18n import T
from kit.rocketmq.log_layouts import BROKER_SIDE

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

SLUG = "acl-denied"
KIND: Kind = "neighbour"

TITLE = T("Access control refuses a client")
NONE = T("No client was refused by access control.")
SUMMARY = T("Access control refused clients: {reasons}. {failed} {failed:send|sends} failed.")
SUMMARY_ALONE = T("Access control refused clients: {reasons}.")
DENIED = T("Access control refused requests ({count} {count:line|lines}): {reasons}.")
NOT_DENIED = T("Access control refused a request.")
REASON = T("{reason} {names} ({count} {count:line|lines})")
IN_BROKER = T("The broker's own log holds the refusals ({count} {count:line|lines}).")
NO_LIST = T(
    "A refused consumer is not registered, so it got no list of its group's clients ({count} {count:line|lines})."
)
ON = T("aclEnable is true.")
WANT_CLIENT = T("the broker's answer names the user or the resource")
WORDS = {
    "wrong-secret": T("invalid signature, wrong secret of"),
    "unknown-user": T("unknown user"),
    "no-right": T("no right on"),
    "other": T("refused:"),
}

QUOTED: Final = {
    "wrong-secret": ("ignature", "ignature failed"),
    "unknown-user": ("No acl config|not found", "Exception: "),
    "no-right": ("ermission for|no permission", "ermission "),
    "other": ("", "Exception: "),
}
"""Of each reason what a refusal that is quoted names, and what is in the line of it."""

FIXES = {
    "wrong-secret": Remedy(
        T("Give the client the secret of its account."),
        T("The signature is made with the secret; the client retries after a refusal although it cannot succeed."),
        T("Low."),
        T("A test send of this client answers SEND_OK."),
    ),
    "unknown-user": Remedy(
        T("Add the account to the broker's plain_acl.yml, or correct the client's accessKey."),
        T("The broker knows no account of that name."),
        T("Low: the broker reloads the file without a restart."),
        T("A test send of this client answers SEND_OK."),
    ),
    "no-right": Remedy(
        T(
            "Add the missing right to the account: topicPerms topic=SUB or PUB, and the group; never admin: true for an application."
        ),
        T(
            "A consumer without SUB is refused already at its heartbeat: it starts without an error and consumes nothing."
        ),
        T("Low: the broker reloads the file without a restart."),
        T("consumerConnection lists the client; its lag falls."),
    ),
}

LOOKS_LIKE = (
    (
        "broker-not-available",
        T('code 16 "sending message is forbidden" is the permission of the broker or topic, not of a user'),
    ),
    ("topic-missing", T("there the client finds no route; here the broker answers")),
    ("consumer-backlog", T("a group without any right has no connection at all")),
)

FIGURES: Final = {
    "failed_sends": Figure(T("sends that failed for it")),
    "denied": Figure(T("refusals by access control")),
    "reasons": Figure(T("refused clients, by reason")),
}

ALERTS: Final = (
    Alert("access-denied", T("Access control refuses a client's requests."), "denied", least=3, within=120),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report whom access control refused, and why."""
    seen = refs.seen(case, "access-denied")
    finding = Finding(SLUG, KIND, TITLE, NONE)
    ledger = sends.ledger(case)
    if not seen:
        looked = reach.client_logs(case) or ledger.knows_kinds
        finding.steps = [deciding("denied", NOT_DENIED, False if looked else None)]
        finding.figures = {
            "denied": 0 if looked else None,
            "reasons": {} if looked else None,
            "failed_sends": 0 if looked else None,
        }
        finding.missing = [] if looked else [collect_next.client_log(collect_next.PRODUCER, WANT_CLIENT)]
        return finding
    entries = case.facts("denials")
    every = _by_reason(case.fact_rows("denials"))
    said: list[Any] = [REASON.say(reason=WORDS[why], names=names, count=count) for why, (names, count) in every.items()]
    by_broker = entries["source"].isin(BROKER_SIDE)
    own = entries if by_broker.all() else entries[~by_broker]
    quoted = [ref for why in every for ref in _quote(case, own, why)]
    finding.steps = [deciding("denied", DENIED.say(count=seen.count, reasons=said), True, tuple(quoted))]
    logged = sum(refs.count(case, "access-denied", source) for source in ("remoting", "broker", "broker_default"))
    if logged:
        first = refs.earliest(case, entries[by_broker], 1, within="AclException")
        finding.steps.append(supporting("in-broker-log", IN_BROKER.say(count=logged), True, first))
    alone = refs.seen(case, "no-consumer-list")
    if alone:
        finding.steps.append(
            supporting("no-consumer-list", NO_LIST.say(count=alone.count), True, refs.quote(case, alone, 1))
        )
    setting = setup.setting(case, "aclEnable")
    if setting.value == "true" and setting.where is not None:
        finding.steps.append(supporting("acl-on", ON, True, (setting.where,)))
    failed = _failed_sends(case)
    reasons = {why: names for why, (names, _) in every.items()}
    finding.figures = {"denied": seen.count, "reasons": reasons, "failed_sends": failed}
    finding.summary = SUMMARY_ALONE.say(reasons=said) if failed is None else SUMMARY.say(reasons=said, failed=failed)
    finding.window = None if seen.first is None or seen.last is None else (seen.first, seen.last)
    finding.remedies = [FIXES[why] for why in every if why in FIXES]
    return finding


def _by_reason(rows: list[dict[str, Any]]) -> dict[str, tuple[list[str], int]]:
    """Return {reason: (accounts or resources, entries)}, in the order of `WORDS`."""
    names: dict[str, set[str]] = {why: set() for why in WORDS}
    counts = dict.fromkeys(WORDS, 0)
    for row in rows:
        why, name = _why(row)
        names[why].add(name)
        counts[why] += row["n"]
    return {why: (sorted(names[why] - {""}), counts[why]) for why in WORDS if counts[why]}


def _why(row: dict[str, Any]) -> tuple[str, str]:
    reason = row["reason"] or ""
    if row["access_key"] or "ignature" in reason:
        return "wrong-secret", row["access_key"] or ""
    if row["unknown_key"] or row["unknown_user"] or " not found." in reason:
        return "unknown-user", row["unknown_key"] or row["unknown_user"] or reason
    if row["permission"]:
        return "no-right", f"{(row['kind'] or '').lower()} {row['permission']} ({row['user']})"
    if row["resource"] or "no permission" in reason:
        return "no-right", f"{row['resource_type']} {row['resource']}" if row["resource"] else reason
    return "other", reason


def _quote(case: Case, entries: pd.DataFrame, why: str) -> tuple[Ref, ...]:
    words, within = QUOTED[why]
    return refs.earliest(case, entries[entries["reason"].fillna("").str.contains(words)], 1, within=within)


def _failed_sends(case: Case) -> int | None:
    """Return how many sends access control refused: the rows of ledgers in whose client's folder it refused, else by
    application logs; None if unknown.
    """
    ledger = sends.ledger(case)
    if ledger.source is None:
        return None
    folders = {str(PurePosixPath(file).parent) for file, _ in refs.seen(case, "access-denied").places}
    inside = ledger.failed["file"].map(lambda file: str(PurePosixPath(str(file)).parent) in folders)
    failed = ledger.failed[inside.astype(bool) & (ledger.failed["kind"] != "CLIENT_TIMEOUT")]
    place = failed["file"].astype(str) + failed["line"].astype(str)
    return int(failed["key"].fillna(failed["uniq_key"]).fillna(place).nunique())
