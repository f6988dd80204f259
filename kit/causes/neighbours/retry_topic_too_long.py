"""retry-topic-too-long: %RETRY% + consumer group exceeds what the broker stores, so no message of that group can be sent back.

Deciding steps: the name of the retry topic is too long (group name, or the length the broker prints); a send-back was refused for it. A name that the
store refused is nearly always a retry topic's, since clients check those of other topics; without the group it stays `suspected`. Limits:
store/DefaultMessageStore.putMessage (127 characters, up to 5.0.0), broker/util/HookUtils (255 bytes for %RETRY% topics from 5.1.0).
"""

from __future__ import annotations

from typing import Final

from kit.analysis import refs
from kit.analysis.transactions import send_back
from kit.causes import collect_next, shown_by
from kit.causes.findings import Finding, deciding, holds
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report whether a retry topic's name was too long, and the send-backs refused for it."""
    back = send_back.examine(facts)
    limit = send_back.store_limit(facts)
    finding = TEXTS.finding()
    finding.actors = back.groups
    happened = back.reason == "name-too-long"
    looked = shown_by.would_show(facts, TEXTS.slug, "name-too-long") and back.printed_length is None
    groups = list(back.groups) or TEXTS["group"]
    if happened:
        claim = TEXTS.say("long", groups=groups, length=back.retry_topic_length, limit=limit)
        name = deciding("name-too-long", claim, True, back.reason_refs)
    elif back.printed_length is not None:
        claim = TEXTS.say("printed", length=back.printed_length, count=back.printed.count, limit=limit)
        name = deciding("name-too-long", claim, True, refs.quote(facts, back.printed, 2))
    else:
        name = deciding("name-too-long", TEXTS.say("not_long", limit=limit), False if looked else None)
    refused = TEXTS.say("refused", count=back.refusals) if happened else TEXTS["not_refused"]
    finding.steps = [
        name,
        deciding("send-backs-refused", refused, holds(happened, looked), back.refs if happened else ()),
    ]
    finding.figures = {
        "retry_topic_length": back.retry_topic_length,
        "refused_send_backs": back.refusals if happened else (0 if looked else None),
    }
    if happened:
        finding.summary = TEXTS.say(
            "summary", groups=groups, length=back.retry_topic_length, limit=limit, count=back.refusals
        )
    elif back.printed_length is not None:
        finding.summary = TEXTS.say(
            "summary_printed", length=back.printed_length, limit=limit, count=back.printed.count
        )
    if finding.verdict in ("confirmed", "suspected"):
        finding.remedies = [TEXTS.remedy("action")]
        if back.first and back.last:
            finding.window = (back.first, back.last)
    if not happened and not looked:
        finding.missing = [collect_next.ask("consumer's client log", TEXTS["want"])]
        if not facts.has_source("store"):
            finding.missing.append(collect_next.ask("store.log", TEXTS["want_store_log"]))
    return finding
