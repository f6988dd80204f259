"""message-size-mismatch: a half message that was just small enough is refused when the check puts it back with more properties, and the check loops.

Deciding step: a put-back of a half message refused for its size: the check thread's "message size exceeded", or "PutBackToHalfQueueReturnResult write
failed" for a record whose put-back exceeds the known limit. Source: client/Validators.checkMessage (raw body), store/CommitLog
(whole record, up to 4.9.3), broker/transaction/queue/TransactionalMessageServiceImpl.check (no advance after a failed put-back, all releases).
"""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace
from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import refs
from kit.analysis.sizes import half_records, limits, refusals
from kit.causes import collect_next
from kit.causes.findings import Finding, Missing, Remedy, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.formats.commitlog.schema import TEXT, as_dict
from kit.inventory.references import Ref
from kit.rocketmq import names, record_fields, size
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)

SHOWN = 5
"""Most looping records that are examined one by one."""


@attrs.frozen
class Seen:
    """What the case shows. `named`: lines of the store that print a size; `failed`: lines of the check; `records`: the
    first looping half records.
    """

    limits: limits.Limits
    named: pd.DataFrame
    failed: pd.DataFrame
    records: list[Any]
    looping: int | None
    risk: pd.DataFrame | None
    topics: pd.DataFrame

    @property
    def lines(self) -> pd.DataFrame:
        some = [lines for lines in (self.named, self.failed) if len(lines)]
        return pd.concat(some) if some else self.failed

    @property
    def count(self) -> int:
        """Number of refusals: each leaves a line in both logs, so the log with more lines counts."""
        return max(int(self.named["count"].sum()), int(self.failed["count"].sum()))

    @property
    def at_risk(self) -> int | None:
        return None if self.risk is None else int(self.risk["transactions"].max()) if len(self.risk) else 0

    @property
    def over(self) -> list[Any]:
        return [row for row in self.records if row.next_refused is not None]


def examine(facts: Facts) -> Finding:
    """Report whether put-backs were refused for their size, which will be, and the largest safe body."""
    finding = TEXTS.finding()
    found = _seen(facts)
    refused = _refused(facts, found)
    happened = refused.holds is True
    shown = happened or bool(found.at_risk)
    rejects = refusals.rejects(facts)
    finding.steps = [
        _limit_step(found, shown),
        _rejects_step(rejects, shown),
        _risk_step(facts, found),
        refused,
        _tied_step(facts, found),
        _queue_step(facts, found),
        _volume_step(facts, found),
        *_failed_step(facts, refused),
    ]
    finding.figures = _figures(found, rejects)
    finding.actors = tuple(dict.fromkeys(row.real_topic for row in found.records if row.real_topic))
    if happened:
        counts = {"records": found.looping or len(found.records) or None, "count": found.count, "risk": found.at_risk}
        finding.summary = TEXTS.say("summary", limit=found.limits.limit, **counts)
        finding.window = refusals.window(found.lines)
    elif found.at_risk:
        finding.summary = TEXTS.say("summary_risk", risk=found.at_risk, limit=found.limits.limit)
    elif len(found.failed) and refused.holds is None:
        finding.summary = TEXTS.say("summary_unknown", records=found.looping, count=found.count)
    elif found.limits.how in ("body", "body+64k") and refused.holds is False:
        finding.summary = TEXTS.say("body_only", version=found.limits.version)
    if shown:
        finding.tables = _tables(facts, found)
        finding.remedies = _remedies(found)
    finding.missing = _missing(facts, found, refused.holds is None)
    return finding


def _seen(facts: Facts) -> Seen:
    rows = facts("size_refusals")
    stuck, count = half_records.looping(facts)
    records = [SimpleNamespace(**row) for row in stuck[:SHOWN]]
    failed = rows[rows["event"] == "put-back-failed"]
    return Seen(
        limits.limits(facts),
        refusals.for_size(rows, "put_back"),
        failed,
        records,
        count if count or not _looked(facts) else 0,
        half_records.at_risk(facts),
        half_records.topics(facts),
    )


def _looked(facts: Facts) -> bool:
    """Return whether the evidence has a log that would show a refused put-back."""
    return facts.has_source("transaction") or (facts.has_source("store") and facts.has("messages"))


def _refused(facts: Facts, found: Seen) -> Step:
    """Return the deciding step; see the docstring of the module."""
    sure = found.limits.known in ("evidence", "printed")
    if len(found.named) or (found.over and sure):
        quoted = (
            *refs.lines(facts, found.named, 2),
            *refs.lines(facts, found.failed, 2),
            *_quote(facts, (found.over or found.records)[:1]),
        )
        first, last = found.lines["first"].min(), found.lines["last"].max()
        totals = found.named["total"].dropna()
        wanted = int(totals.iloc[0]) if len(totals) else max((row.next_size for row in found.over), default=None)
        rate = refusals.rate(found.named if len(found.named) else found.failed)
        span = {"first": _moment(first), "last": _moment(last), "rate": rate}
        said = TEXTS.say("refused", count=found.count, total=wanted, limit=found.limits.limit, **span)
        return deciding("put-back-refused", said, True, quoted)
    if len(found.failed):
        # Only a default limit, a missing record, or no store.log: the reason stays open.
        known = sure and found.limits.how is not None and found.records and facts.has_source("store")
        said = (TEXTS["other_reason"] if known else TEXTS["failed"]).say(count=found.count)
        return deciding("put-back-refused", said, False if known else None)
    if found.at_risk:
        return deciding("put-back-refused", TEXTS["not_refused"], None)
    logs = facts.has_source("transaction") or facts.has_source("store")
    records = facts.has("messages") and found.limits.known == "evidence" and not int(found.topics["refused"].sum())
    return deciding("put-back-refused", TEXTS["not_refused"], False if logs or records else None)


def _failed_step(facts: Facts, refused: Step) -> list[Step]:
    """Return the step that a put-back failed for an open reason, even if the line is cut: size is the common reason."""
    seen = refs.seen(facts, "put-back-failed")
    if not seen or refused.holds is not None:
        return []
    return [supporting("put-back-failed", TEXTS.say("failed", count=seen.count), True, refs.quote(facts, seen))]


def _moment(when: Any) -> dt.datetime | None:
    return None if pd.isna(when) else when


def _limit_step(found: Seen, shown: bool) -> Step:
    known = found.limits
    what = TEXTS[f"measures-{known.how}"] if known.how else TEXTS["unknown"]
    claim = TEXTS.say("limit", limit=known.limit, what=what, version=known.version)
    # A limit alone proves nothing.
    holds = shown and known.limit is not None and known.how
    return supporting("limit", claim, holds, (known.where,) if known.where else ())


def _rejects_step(rejects: refusals.Rejects, shown: bool) -> Step:
    if not rejects.by_broker:
        return supporting("refused-at-once", TEXTS["not_rejected"], None)
    claim = TEXTS.say("rejected", count=rejects.by_broker, largest=rejects.largest)
    return supporting("refused-at-once", claim, shown, rejects.broker_refs)


def _risk_step(facts: Facts, found: Seen) -> Step:
    last = found.limits.check_max
    if found.risk is None or found.risk.empty:
        return supporting("at-risk", TEXTS["at_risk_open"], None)
    claim = TEXTS.say("at_risk", count=found.at_risk, check_max=last, first=size.growth(1), last=size.growth(last))
    return supporting("at-risk", claim, True, refs.records_at(facts, found.risk.head(3)))


def _tied_step(facts: Facts, found: Seen) -> Step:
    row = next(iter(found.over or found.records), None)
    if row is None or found.limits.limit is None:
        return supporting("record", TEXTS["not_tied"], None)
    over = max(row.next_size - found.limits.limit, 0)
    claim = TEXTS.say(
        "tied", msg_id=row.offset_msg_id, topic=row.real_topic, stored=row.store_size, wanted=row.next_size, over=over
    )
    return supporting("record", claim, found.over, _quote(facts, found.over[:3]))


def _queue_step(facts: Facts, found: Seen) -> Step:
    if not found.records and not found.at_risk:
        return supporting("queue-stands", TEXTS["not_stands"], None)
    at = facts.rows("half_waiting")[0]
    before = [value for _, value in half_records.saved(facts) if value <= at["stuck"]]
    if not before:
        return supporting("queue-stands", TEXTS["not_stands"], None)
    claim = TEXTS.say("stands", saved=max(before), offset=at["stuck"], waiting=at["waiting"])
    return supporting("queue-stands", claim, True, half_records.saved_refs(facts))


def _quote(facts: Facts, records: list[Any]) -> tuple[Ref, ...]:
    return tuple(refs.record(facts, row.file, row.physical_offset) for row in records)


def _volume_step(facts: Facts, found: Seen) -> Step:
    if found.lines.empty or found.count < 2:
        return supporting("log-volume", TEXTS["no_volume"], None)
    rows = found.lines
    volume = refusals.volume(facts, rows)
    begun, gaps = refusals.rolled(rows)
    lost = TEXTS["begin_lost"] if begun else TEXTS.say("gap_lost", seconds=gaps) if gaps else TEXTS["complete"]
    last = rows.assign(line=rows["last_line"]).sort_values("last").tail(1)
    claim = TEXTS.say("volume", lines=int(rows["count"].sum()), megabytes=round(volume / 1e6, 1), lost=lost)
    return supporting("log-volume", claim, True, (*refs.lines(facts, rows, 1), *refs.lines(facts, last, 1)))


def _figures(found: Seen, rejects: refusals.Rejects) -> dict[str, Any]:
    safe = dict(zip(found.topics["topic"], found.topics["safe_body"], strict=True))
    return {
        "broker_limit": found.limits.limit,
        "at_risk_half_messages": found.at_risk,
        "looping_half_messages": found.looping,
        "direct_rejects": rejects.by_broker,
        "safe_body_bytes": safe if len(found.topics) else None,
    }


def _tables(facts: Facts, found: Seen) -> dict[str, Any]:
    tables = {
        "size_refusals": facts("size_refusals"),
        "size_near_limit": facts("half_near_limit"),
        "size_half_queue": half_records.timeline(facts),
    }
    if found.risk is not None:
        tables["size_at_risk"] = found.risk
    first = next(iter(found.over or found.records), None)
    if first is None and found.at_risk:
        row = facts.rows("half_misfits")[0]
        first = SimpleNamespace(**row, real_topic=row["topic"])
    if first is not None:
        first.topic = names.HALF_TOPIC
        first.properties = as_dict(facts.record(first.file, first.physical_offset, (TEXT,))[TEXT])
        tables["size_fields"] = record_fields.stages(first, first.put_back_body, found.limits.limit)
        safe = dict(zip(found.topics["topic"], found.topics["safe_body"], strict=True))
        tables["size_what_if"] = half_records.start(first, found.limits, safe.get(first.real_topic))
    return tables


def _remedies(found: Seen) -> list[Remedy]:
    wanted = [row.last_size for row in found.over]
    if found.risk is not None and len(found.risk):
        wanted = [int(found.risk["largest"].max())]
    more = max(wanted) - found.limits.limit if wanted and found.limits.limit is not None else None
    remedies = [TEXTS.remedy("raise", bytes=more)]
    safe = [body for body in found.topics["safe_body"] if body is not None]
    if safe:
        remedies.append(TEXTS.remedy("client", bytes=str(size.max_message_size(min(safe)))))
    if found.limits.how == "total":
        remedies.append(TEXTS.remedy("upgrade"))
    return remedies


def _missing(facts: Facts, found: Seen, undecided: bool) -> list[Missing]:
    wanted = [] if facts.has("messages") else [collect_next.ask("commitlog", TEXTS["want_store"])]
    if undecided:
        for source, why in (("transaction", TEXTS["want_transaction_log"]), ("store", TEXTS["want_store_log"])):
            if not facts.has_source(source):
                wanted.append(collect_next.ask(f"{source}.log", why))
        if found.limits.known != "evidence" or found.limits.how is None:
            wanted.append(collect_next.ask("broker's configuration", TEXTS["want_config"]))
    return wanted
