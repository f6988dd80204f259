"""client-oversize-reject: a send refused at once for its size, by the client's own limit or by the broker's answer
13.

The client looks at the raw body (client/Validators.checkMessage), the broker at the record or the stored body
(store/CommitLog, store/MessageExtEncoder); neither is retried.
"""

from __future__ import annotations

from kit.analysis.sizes import limits, refusals
from kit.causes.declared import Observed
from kit.tables.facts import Facts


def observe(facts: Facts) -> Observed:
    """Count the sends that were refused at once for their size, by whom."""
    rejects, known = refusals.rejects(facts), limits.limits(facts)
    broker, client = rejects.by_broker, rejects.by_client
    happened = bool(broker or client)
    quoted = (*rejects.broker_refs, *rejects.client_refs)[:4] if happened else ()
    return Observed(
        {
            "broker": broker, "client": client, "happened": happened,
            "looked": broker is not None or client is not None,
            "sized": happened and rejects.sized, "largest_refused_record": rejects.largest,
            "printed_limit": known.limit if broker and known.how == "total" else None,  # 4.9.4+ print the limit itself
        },
        {"refused-at-once": quoted, "limits": (known.where,) if known.where else ()},
        rejects.window if happened else None,
    )  # fmt: skip
