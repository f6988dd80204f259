"""retry-topic-too-long: %RETRY% + consumer group exceeds what the broker stores, so no message of that group can be
sent back.

A name that the store refused is nearly always a retry topic's, since clients check those of other topics; without the
group it stays `suspected`. Limits: store/DefaultMessageStore.putMessage (127 characters, up to 5.0.0),
broker/util/HookUtils (255 bytes for %RETRY% topics from 5.1.0).
"""

from __future__ import annotations

from typing import Final

from kit.analysis import refs
from kit.analysis.transactions import send_back
from kit.causes import shown_by
from kit.causes.declared import Observed
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def observe(facts: Facts) -> Observed:
    """Measure the name of a retry topic, and count the send-backs refused for it."""
    back = send_back.examine(facts)
    long = back.reason == "name-too-long"
    why = back.reason_refs if long else refs.quote(facts, back.printed, 2)
    return Observed(
        {
            "long": long,
            "looked": shown_by.has(facts, "store.log") and back.printed_length is None,
            "groups": list(back.groups) or TEXTS["group"],
            "limit": send_back.store_limit(facts),
            "retry_topic_length": back.retry_topic_length,
            "refused_send_backs": back.refusals if long else 0,
            "printed_length": back.printed_length,
            "count": back.printed.count,
        },
        {"name-too-long": why, "send-backs-refused": back.refs},
        (back.first, back.last) if back.first and back.last and (long or back.printed_length) else None,
        actors=back.groups,
    )
