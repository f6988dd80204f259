"""client-oversize-reject: a send refused at once for its size, by the client's own limit or by the broker's answer 13.

Deciding step: the client's own refusal in its or the application's log, or the store's line from a send thread; code 13 alone has other reasons too. The client looks at the raw body
(client/Validators.checkMessage), the broker at the record or the stored body (store/CommitLog, store/MessageExtEncoder); neither is retried.
"""

from __future__ import annotations

from typing import Final

from kit.analysis.sizes import limits, refusals
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, holds, supporting
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report how many sends were refused at once for their size, and by whom."""
    found = refusals.rejects(facts)
    happened = bool(found.by_broker or found.by_client)
    looked = found.by_broker is not None or found.by_client is not None
    finding = TEXTS.finding()
    claim = TEXTS.say("refused", broker=found.by_broker, client=found.by_client)
    quoted = (*found.broker_refs, *found.client_refs)[:4]
    finding.steps = [deciding("refused-at-once", claim, holds(happened, looked), quoted if happened else ())]
    if happened and not found.sized:
        finding.steps = [supporting("refused-at-once", TEXTS.say("answered", broker=found.by_broker), True, quoted)]
    finding.figures = {
        "refused_by_broker": found.by_broker,
        "refused_by_client": found.by_client,
        "largest_refused_record": found.largest,
    }
    if happened:
        limit = limits.limits(facts)
        if found.by_broker and limit.limit is not None and limit.how == "total":  # 4.9.4+ print the limit itself
            where = (limit.where,) if limit.where else ()
            finding.steps.append(supporting("limits", TEXTS.say("words", limit=limit.limit), True, where))
        if not found.sized:
            summary = TEXTS["summary_answered"]
        elif found.by_broker is None:
            summary = TEXTS["summary_client"]
        else:
            summary = TEXTS["summary_broker"] if found.by_client is None else TEXTS["summary"]
        finding.summary = summary.say(broker=found.by_broker, client=found.by_client)
        finding.window = found.window
        finding.remedies = [TEXTS.remedy("action")]
    elif not looked:
        finding.missing = [
            collect_next.ask("producer's client log", TEXTS["want"]),
            collect_next.ask("store.log", TEXTS["want_store"]),
        ]
    return finding
