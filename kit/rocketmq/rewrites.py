"""Follow a message through every rewrite: its size at each stage, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kit.i18n import T, labels
from kit.rocketmq import names, size
from kit.rocketmq.versions import NEWEST, Version, rule

STAGES: Final = labels("rocketmq")["rewrites"]
LONGEST_GROUP: Final = "g" * 120
"""The longest consumer group whose retry topic every broker accepts: 127 − len("%RETRY%")."""


def table(
    body: int, topic: str, properties: Mapping[str, str] | None = None, *, broker: str | Version = NEWEST, client: str | Version | None = None,
    limit: int | None = None, dledger: bool = False, group: str = LONGEST_GROUP, producer_group: str = "", check_max: int | None = None,
    cluster: str = names.DEFAULT_CLUSTER, v6: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Follow a message of `body` stored bytes through every rewrite.

    Return `rows` (stage, text, topic, bytes, growth over the first copy of its kind, refused: reasons, limit), and what is safe: `safe_stored_body`
    (every put-back fits), `safe_plain_body` (a plain send fits), `max_message_size` (raw body for setMaxMessageSize on a transaction producer), None if
    no body is; and the `rule`, `limit`, `check_max`, `broker` used.
    """
    version = Version.parse(broker)
    limit = rule("maxMessageSize", version) if limit is None else limit
    last = rule("transactionCheckMax", version) if check_max is None else check_max
    common: dict[str, Any] = {"broker": version, "client": client, "cluster": cluster}
    common |= dict.fromkeys(("v6_key", "born_v6", "store_v6"), v6)
    plain = size.sent(topic, body, properties, **common)
    of_transaction = {**(properties or {}), names.TRAN_MSG: "true", names.PGROUP: producer_group}
    half = size.prepared(size.sent(topic, body, of_transaction, transaction=True, **common), 0, version)
    final = size.put_back(half, last)
    waiting, committed = size.sent_back(plain, group, 0), size.committed(final)
    steps: list[tuple[str, T | Any, size.Record, size.Record]] = [
        ("sent", STAGES["sent"], plain, plain),
        ("scheduled", STAGES["scheduled"], size.scheduled(plain, 18), plain),
        ("prepared", STAGES["prepared"], half, half),
        *[
            ("put_back", STAGES["put_back"].say(name=f"{names.CHECK_TIMES}={n}"), size.put_back(half, n), half)
            for n in sorted({1, min(10, last), last})
        ],
        ("put_back_immune", STAGES["put_back_immune"], size.put_back(half, last, first_offset=10**9), half),
        ("committed", STAGES["committed"], committed, half),
        ("committed_retry", STAGES["committed_retry"], size.delivered(size.sent_back(committed, group, 0)), half),
        ("sent_back", STAGES["sent_back"], waiting, plain),
        ("retry", STAGES["retry"], size.delivered(waiting), plain),
        ("dead_lettered", STAGES["dead_lettered"], size.dead_lettered(size.delivered(waiting), group, version), plain),
    ]
    rows = [
        {"stage": slug, "text": text, "topic": each.topic, "bytes": each.size, "growth": each.size - first.size,
         "refused": size.refusals(each, version, limit, dledger=dledger), "limit": limit}
        for slug, text, each, first in steps
    ]  # fmt: skip
    safe = _safe(final, version, limit, dledger=dledger)
    return {
        "rows": rows, "broker": str(version), "rule": size.size_rule(version, dledger=dledger), "limit": limit, "check_max": last,
        "safe_stored_body": safe, "safe_plain_body": _safe(plain, version, limit, dledger=dledger),
        "max_message_size": None if safe is None else size.max_message_size(safe),
    }  # fmt: skip


def _safe(record: size.Record, broker: Version, limit: int, *, dledger: bool) -> int | None:
    """Return the largest body of such a record, None if it is refused whatever its body."""
    if {"properties", "topic"} & set(size.refusals(record, broker, limit, dledger=dledger)):
        return None
    most = size.safe_stored_body(record.size - record.body, broker, limit, dledger=dledger)
    return most if most >= 0 else None
