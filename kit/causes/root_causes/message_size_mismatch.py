"""message-size-mismatch: a half message just small enough is refused when a check puts it back with more properties.

Source: client/Validators.checkMessage (raw body), store/CommitLog (whole record, up to 4.9.3),
broker/transaction/queue/TransactionalMessageServiceImpl.check (no advance after a failed put-back, all releases).
"""

from types import SimpleNamespace
from typing import Any, Final

import pandas as pd

from kit.analysis import refs, sizes
from kit.causes.declared import Observed
from kit.rocketmq import names, size
from kit.tables.facts import Facts

CHECKED: Final = f'"{names.HALF_TOPIC}@{names.TRANSACTION_GROUP}"'
"""How consumerOffset.json names the position of the check: broker/offset/ConsumerOffsetManager."""
SHOWN = 5
"""Most looping records that are examined one by one."""


def observe(facts: Facts) -> Observed:
    known, rejects, stored = sizes.limits(facts), sizes.rejects(facts), facts.has("messages")
    topics = facts.rows("half_topics") if stored else []
    refused, safe = any(row["refused"] for row in topics), {row["topic"]: row["safe_body"] for row in topics}
    # The open transactions whose record some put-back would exceed; None if unknown.
    limits = facts.rows("size_limits") if stored else []
    limits = [row for row in limits if row["broker"]] or limits
    unknown = not stored or any(row["how" if refused else "max_size"] is None for row in limits)
    risk = None if unknown else facts("half_misfits") if refused else pd.DataFrame()
    at_risk = None if risk is None else int(risk["transactions"].max()) if len(risk) else 0
    rows, failing = facts("size_refusals"), refs.seen(facts, "put-back-failed")
    named, failed = sizes.for_size(rows, "put_back"), rows[rows["event"] == "put-back-failed"]
    lines = rows.loc[[*named.index, *failed.index]]
    of_properties = bool(len(named)) and bool((named["event"] == "properties-too-long").all())
    limit = known.properties_max if of_properties else known.max_size
    # The half messages that a log names as refused, by their ids or sizes.
    ids = failed["msg_id"].dropna().str.upper().nunique()
    by_size = not named[["total", "body"]].dropna().empty
    stuck = facts.rows("half_looping") if stored and (ids or by_size) else []
    looping, records = ids or len(stuck) or None, [SimpleNamespace(**row) for row in stuck[:SHOWN]]
    over = [row for row in records if row.next_refused is not None]
    store_log, check_log = facts.has_source("store"), facts.has_source("transaction")
    sure = known.known in ("evidence", "printed")
    none_refused = stored and known.known == "evidence" and not refused
    wanted = [int(risk["largest"].max())] if risk is not None and len(risk) else [row.last_size for row in over]
    happened = bool(len(named) or (over and sure))
    applies = happened or bool(at_risk)
    if not (applies or sure or of_properties or facts.has("configs")):
        limit, safe, at_risk = None, {}, None  # without any configuration the default is an assumption
    bodies = [body for body in safe.values() if body is not None]
    values = {
        "happened": happened, "shown": applies, "limit": limit, "how": "properties" if of_properties else known.how,
        "of_properties": of_properties, "version": known.version, "check_max": known.check_max,
        "limit_sure": known.known == "evidence" and known.how is not None,
        "whole_record": known.how == "total" and not of_properties,
        "body_only": known.how in ("body", "body+64k"), "direct_rejects": rejects.by_broker,
        "largest": rejects.largest,
        "at_risk_half_messages": at_risk, "growth": size.growth(1), "most_growth": size.growth(known.check_max),
        "looping_half_messages": looping if looping or not (check_log or (store_log and stored)) else 0,
        "failed": len(failed), "failing": failing.count,
        "other_reason": sure and known.how and records and store_log, "over": len(over),
        # Each refusal leaves a line in both logs, so the log with more lines counts.
        "count": max(int(named["count"].sum()), int(failed["count"].sum())) or failing.count,
        "looked": check_log or store_log or none_refused,
        "safe_body_bytes": safe or None, "safest": str(size.max_message_size(min(bodies))) if bodies else None,
        "more": max(wanted) - known.max_size if wanted and known.max_size is not None else None,
    }  # fmt: skip
    quotes = {
        "limit": (known.where,) if known.where and not of_properties else (), "refused-at-once": rejects.broker_refs,
        "at-risk": refs.records_at(facts, risk.head(3)) if risk is not None and at_risk else (),
        "record": [refs.record(facts, row.file, row.physical_offset) for row in over[:3]],
        "put-back-failed": refs.quote(facts, failing),
    }  # fmt: skip
    observed = Observed(values, quotes, actors=dict.fromkeys(row.real_topic for row in records if row.real_topic))
    observed.values["looping"] = observed.values["looping_half_messages"] or len(records) or None
    if happened:
        _refused(facts, observed, lines, over or records)
    if (row := next(iter(over or records), None)) and known.max_size is not None and not of_properties:
        observed.values |= {"record": row, "wanted": row.next_size, "over": max(row.next_size - known.max_size, 0)}
    if records or at_risk:
        _queue(facts, observed)
    if len(lines) and observed.values["count"] > 1:
        _volume(facts, observed, lines)
    if at_risk:
        observed.tables["size_at_risk"] = risk
    return observed


def _refused(facts: Facts, observed: Observed, lines: pd.DataFrame, records: list[Any]) -> None:
    by_check = lines["event"] == "put-back-failed"
    named, failed = lines[~by_check], lines[by_check]
    printed, span = named["total"].fillna(named["length"]).dropna(), refs.span(lines["first"], lines["last"])
    observed.values |= {
        "first": span and span[0], "last": span and span[1],
        "refused_bytes": int(printed.iloc[0]) if len(printed) else max((row.next_size for row in records), default=None),
    }  # fmt: skip
    first = [refs.record(facts, row.file, row.physical_offset) for row in records[:1]]
    observed.quotes["put-back-refused"] = (*refs.lines(facts, named, 2), *refs.lines(facts, failed, 2), *first)
    observed.window = span


def _queue(facts: Facts, observed: Observed) -> None:
    at, saved = facts.rows("half_waiting")[0], facts("half_queue").query("line == 'saved'").sort_values("file")
    before = saved[saved["offset"] <= at["stuck"]]
    observed.values |= {
        "saved": int(before["offset"].max()) if len(before) else None, "offset": at["stuck"], "waiting": at["waiting"],
    }  # fmt: skip
    quoted = (refs.first_with(facts, str(file), CHECKED) for file in saved["file"]) if len(before) else ()
    observed.quotes["queue-stands"] = tuple(filter(None, quoted))


def _volume(facts: Facts, observed: Observed, rows: pd.DataFrame) -> None:
    """Add how much the refusals wrote into the logs, and whether logs begin amid them: their beginning is gone."""
    earliest = rows.dropna(subset=["first"]).sort_values(["first", "line"]).drop_duplicates("event")
    rolled = bool((earliest["line"] == 1).any())
    # Roughly: the first line of each text times its count.
    most = rows.sort_values("count", ascending=False).head(20)
    printed = zip(refs.lines(facts, most, len(most)), most["count"], strict=True)
    megabytes = round(sum((len(ref.text.encode()) + 1) * int(count) for ref, count in printed) / 1e6, 1)
    observed.values |= {"lines": int(rows["count"].sum()), "megabytes": megabytes, "rolled": rolled}
    last = rows.assign(line=rows["last_line"]).sort_values("last").tail(1)
    observed.quotes["log-volume"] = (*refs.lines(facts, rows, 1), *refs.lines(facts, last, 1))
