"""The fields of a stored record with their bytes and who wrote them: what each side measures as a message's size."""

from typing import Any, Final

import pandas as pd

from kit.rocketmq import names, size

WRITERS: Final = {
    **dict.fromkeys((names.UNIQ_KEY, names.WAIT, names.TRAN_MSG, names.PGROUP, names.INSTANCE_ID), "client"),
    **dict.fromkeys((names.CLUSTER, names.MSG_REGION, names.TRACE_ON), "broker"),
    **dict.fromkeys((names.REAL_TOPIC, names.REAL_QID, names.TRANSACTION_ID), "broker"),
    **dict.fromkeys((names.CHECK_TIMES, names.PREPARED_QUEUE_OFFSET), "check"),
}
"""Who adds a property, if not the application: the client (DefaultMQProducerImpl), the broker, a check's put-back."""
FIELDS: Final = ("body", "fixed", "topic", "application", "client", "broker", "check")
"""`fixed`: everything of constant size."""


def of_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how the first half record of a frame grows: columns stage, field, bytes, limit, offset_msg_id, one row for
    each field of `FIELDS`.

    `frame`: columns of `messages`, put_back_body (bytes of the body that the put-back stores) and limit. Stages:
    `checked` (what the client checks), `sent` (on the way to the broker), `half` (as stored), `put_back` (what the
    check wants to write next).
    """
    if frame.empty:
        return frame
    record: Any = next(frame.itertuples(index=False))
    properties = dict(record.properties or {})
    half = dict.fromkeys(FIELDS, 0) | {"body": record.body_size, "topic": len(record.topic.encode())}
    for name, value in properties.items():
        half[WRITERS.get(name, "application")] += len(name.encode()) + len(value.encode()) + 2
    half["fixed"] = record.store_size - sum(half.values())
    real = properties.get(names.REAL_TOPIC, "")
    checks = properties.get(names.CHECK_TIMES, "")
    times = checks if checks.isascii() and checks.isdigit() else None
    more = size.growth(int(times or 0) + 1, int(times) if times else None)
    fields = {
        "checked": dict.fromkeys(FIELDS, 0) | {"body": record.body_size},
        "sent": half | {"topic": len(real.encode()), "broker": 0, "check": 0},
        "half": half,
        "put_back": half | {"body": int(record.put_back_body), "check": half["check"] + more},
    }
    rows = [
        (stage, field, count, record.limit, record.offset_msg_id)
        for stage, parts in fields.items()
        for field, count in parts.items()
    ]
    columns = pd.Index(["stage", "field", "bytes", "limit", "offset_msg_id"])
    return pd.DataFrame(rows, columns=columns).astype({"limit": "Int64"})
