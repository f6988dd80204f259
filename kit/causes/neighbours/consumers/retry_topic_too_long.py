"""retry-topic-too-long: %RETRY% + consumer group exceeds what the broker stores, so no message of that group can be sent back.

Deciding steps: the name of the retry topic is too long (group name, or the length the broker prints); a send-back was refused for it. A name that the
store refused is nearly always a retry topic's, since clients check those of other topics; without the group it stays `suspected`. Limits:
store/DefaultMessageStore.putMessage (127 characters, up to 5.0.0), broker/util/HookUtils (255 bytes for %RETRY% topics from 5.1.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis import refs
from kit.analysis.transactions import send_back
from kit.causes import collect_next, shown_by
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, holds
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "retry-topic-too-long"
KIND: Kind = "neighbour"
LEADS_TO = ("half-topic-blowup", "send-back-refused")

TITLE = T("The retry topic's name is too long for the broker")
SUMMARY = T(
    "%RETRY% + {groups} is {length} characters long ({limit} allowed): {count} {count:send-back was|send-backs were} refused."
)
SUMMARY_PRINTED = T(
    "The store refused a topic name of {length} characters {count} {count:time|times} ({limit} allowed). Names as long as that are retry topics: %RETRY% + consumer group."
)
NONE = T("No send-back was refused because its retry topic's name is too long.")
LONG = T("%RETRY% + {groups} is {length} characters long; the broker stores names up to {limit}.")
PRINTED = T(
    "The store refused a topic name of {length} characters {count} {count:time|times}; it stores up to {limit}. Which group's retry topic it is, this evidence does not show."
)
REFUSED = T("The broker refused {count} {count:send-back|send-backs} for it.")
GROUP = T("the consumer group")
NOT_LONG = T("%RETRY% + group is longer than the {limit} characters up to which the broker stores names.")
NOT_REFUSED = T("The broker refused send-backs for it.")
WANT = T("its sendMessageBack Exception names the group and the broker's answer")
WANT_STORE_LOG = T("`putMessage message topic length too long` names the length")
ACTION = T("Shorten the group's name, or split its tags over several groups.")
WHY = T("The broker accepts a retry topic within the limit; retries reach the consumer again.")
RISK = T("A new group starts at its own offsets: set them before switching.")
VERIFY = T("Let one message fail: a record appears in the retry topic.")

LOOKS_LIKE = (
    (
        "client-oversize-reject",
        T(
            "the same MESSAGE_ILLEGAL, but for properties that are too long: `putMessage message properties length too long`"
        ),
    ),
    (
        "send-back-refused",
        T("its consequence with clients from 4.6.1 on; with older ones transactional messages leak instead"),
    ),
    ("half-topic-blowup", T("its consequence with clients before 4.6.1 and transactional messages")),
)

FIGURES: Final = {
    "retry_topic_length": Figure(T("characters in the retry topic's name (127 allowed)")),
    "refused_send_backs": Figure(T("send-backs refused by the broker")),
}

ALERTS: Final = (
    Alert("topic-too-long", T("The broker refuses messages because their topic's name is too long; a retry topic's easily is."), "name-too-long"),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report whether a retry topic's name was too long, and the send-backs refused for it."""
    back = send_back.examine(case)
    limit = send_back.store_limit(case)
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    happened = back.reason == "name-too-long"
    looked = shown_by.would_show(case, SLUG, "name-too-long") and back.printed_length is None
    groups = list(back.groups) or GROUP
    if happened:
        claim = LONG.say(groups=groups, length=back.retry_topic_length, limit=limit)
        name = deciding("name-too-long", claim, True, back.reason_refs)
    elif back.printed_length is not None:
        claim = PRINTED.say(length=back.printed_length, count=back.printed.count, limit=limit)
        name = deciding("name-too-long", claim, True, refs.quote(case, back.printed, 2))
    else:
        name = deciding("name-too-long", NOT_LONG.say(limit=limit), False if looked else None)
    refused = REFUSED.say(count=back.refusals) if happened else NOT_REFUSED
    finding.steps = [
        name,
        deciding("send-backs-refused", refused, holds(happened, looked), back.refs if happened else ()),
    ]
    finding.figures = {
        "retry_topic_length": back.retry_topic_length,
        "refused_send_backs": back.refusals if happened else (0 if looked else None),
    }
    if happened:
        finding.summary = SUMMARY.say(groups=groups, length=back.retry_topic_length, limit=limit, count=back.refusals)
    elif back.printed_length is not None:
        finding.summary = SUMMARY_PRINTED.say(length=back.printed_length, limit=limit, count=back.printed.count)
    if finding.verdict in ("confirmed", "suspected"):
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
        if back.first and back.last:
            finding.window = (back.first, back.last)
    if not happened and not looked:
        finding.missing = [collect_next.client_log(collect_next.CONSUMER, WANT)]
        if not case.has_source("store"):
            finding.missing.append(collect_next.broker_log("store.log", WANT_STORE_LOG))
    return finding
