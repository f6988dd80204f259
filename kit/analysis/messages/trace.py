"""The life of one message: every copy of it, what wrote each, who handled it, what mentions it, and what is missing."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from kit.analysis.consumers import outcomes
from kit.analysis.messages import copies
from kit.evidence import disk
from kit.evidence.failure import Failure
from kit.formats.printed_times import utc_text
from kit.inventory import mentions
from kit.rocketmq import ids, stages
from kit.tables.facts import Facts

if TYPE_CHECKING:
    from kit.case.case import Case

TOLD: Final = ("type", "group", "client_host", "time", "cost_ms", "success", "retry_times", "state", "request_id")
TEXTS: Final = ("log", "text", "mqadmin", "rows", "sends")


def trace(case: Case, id: str) -> dict[str, Any]:  # noqa: A002 - the public name of the argument
    """Return the life of the message with this UNIQ_KEY, offset id of any copy, or business key (then of every message that has it).

    Return {"id", "kind" (`uniq`, `offset`, `grpc`, `key`), "uniq_keys", "records", "ops", "handled", "consumers", "traces", "mentions", "gaps"}.
    `records` are the copies in store order, each with `stage`, `why` and `copied_from`; `ops` the op records that ended its half messages; `traces`
    what clients wrote about it into the message trace topic; `consumers` what became of it in each group that could have consumed it, with the `fate`
    and why (`kit.analysis.consumers.outcomes`). An id that is nowhere gives empty lists. Times are ISO 8601 in UTC. Texts are in the case's language.
    """
    return traces(case, [id])[0]


def traces(case: Case, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the lives of several messages, as `trace` does for one; records and texts are searched once for all."""
    facts = case.facts
    wanted = list(dict.fromkeys(each.strip() for each in ids))
    stored = copies.of(facts, [each for each in wanted if each]) if any(wanted) and facts.has("messages") else {}
    lives = {each: _Life(facts, each, stored.get(each, []), case.failures) for each in wanted}
    texts = mentions.search_each(_texts(facts), {each: life.words() for each, life in lives.items()})
    return [lives[each.strip()].as_dict(*texts[each.strip()]) for each in ids]


class _Life:
    """One message: its copies, what ended them, who handled it."""

    def __init__(self, facts: Facts, wanted: str, found: list[dict[str, Any]], failures: list[Failure]) -> None:
        self.facts, self.wanted, self.found, self.failures = facts, wanted, found, failures
        known = list(dict.fromkeys(r["uniq_key"] for r in found if r["uniq_key"]))
        self.keys = known or _keys_elsewhere(facts, wanted)
        halves = [r for r in found if r["stage"] in (stages.HALF, stages.CHECK_BACK)]
        self.ops = copies.ops(facts, halves)
        self.records = copies.with_lineage(found)
        self.handled = _handled(facts, self.keys, self.records, wanted)

    def words(self) -> set[str]:
        """Return its ids and keys, which texts may contain."""
        business = {key for r in self.records if r["stage"] != stages.OP for key in (r["keys"] or "").split()}
        return {self.wanted, *self.keys, *business, *(r["offset_msg_id"] for r in (*self.records, *self.ops))}

    def as_dict(self, texts: list[mentions.Mention], counts: dict[str, int]) -> dict[str, Any]:
        """Return all of it as `trace` does. `texts`: the lines that mention it; `counts`: how many of each file do."""
        facts, wanted = self.facts, self.wanted
        traces = _traces(facts, self.keys, wanted, itself=not self.found)
        missing = _gaps(facts, wanted, self.records, self.ops, self.handled) if self.found or not traces else []
        kept = Counter(m.file for m in texts)
        missing += [
            copies.gap("unquoted", None, file=file, count=n, kept=kept[file])
            for file, n in counts.items()
            if kept[file] < n
        ]
        own = [r for r in self.records if r["uniq_key"] in (None, *self.keys)]
        return {
            "id": wanted, "kind": _kind(wanted, self.found, self.keys), "uniq_keys": self.keys,
            "records": [_shown(r, facts.lang) for r in self.records],
            "ops": [_shown(op, facts.lang) for op in self.ops],
            "handled": [_shown(h, facts.lang) for h in self.handled],
            "consumers": self._consumers(own),
            "traces": [_shown(t, facts.lang) for t in traces],
            "mentions": [{"file": m.file, "line": m.line, "text": m.text, "word": m.word} for m in texts],
            "gaps": [_shown(g, facts.lang) for g in missing],
        }  # fmt: skip

    def _consumers(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return what became of the message in each group."""
        try:
            every = outcomes.of(self.facts, records, self.handled, [*self.keys, self.wanted])
        except Exception as error:
            # The journey is worth showing without it; the bug report says what broke.
            if disk.is_full(error):
                raise
            self.failures.append(Failure.of("consumers", error))
            every = []
        names = ("group", "topic", "queue_id", "queue_offset", "offset_msg_id", "fate")
        return [
            {name: getattr(one, name) for name in names}
            | {"text": one.why.render(self.facts.lang), "evidence": [ref.as_dict() for ref in one.evidence]}
            for one in every
        ]


def example(facts: Facts) -> str | None:
    """Return the UNIQ_KEY of the message with the longest journey; None where no record has one."""
    if not facts.has("messages"):
        return None
    every = facts("journeys")
    longest = every.assign(n=-every["path"].str.len()).sort_values(["n", "example"]) if len(every) else every
    return str(longest["example"].iloc[0]) if len(longest) else None


def lives(facts: Facts, keys: Sequence[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return (records, deliveries) of messages of `identity_records`, as in `trace` without texts and op records; each row has `id`, the UNIQ_KEY."""
    listed = set(keys)
    rows = [copies.completed(row) for row in facts.rows("identity_records") if row["uniq_key"] in listed]
    records = [
        {"id": key, **_shown(row, facts.lang)}
        for key in keys
        for row in copies.with_lineage([row for row in rows if row["uniq_key"] == key])
    ]
    handled = [_delivery(row) for row in facts.rows("identity_deliveries") if row["uniq_key"] in listed]
    return records, [{"id": row["uniq_key"], **_shown(row, facts.lang)} for row in handled]


def _kind(wanted: str, found: list[dict[str, Any]], keys: list[str]) -> str:
    up = wanted.upper()
    if any(r["offset_msg_id"] == up for r in found):
        return "offset"
    if up in keys:
        return "grpc" if len(up) == 34 else "uniq"
    if found:
        return "key" if any(wanted in (r["keys"] or "").split() for r in found) else "offset"
    try:
        return ids.classify(wanted)[0]
    except ids.BadId:
        return "key"


def _keys_elsewhere(facts: Facts, wanted: str) -> list[str]:
    """Return the UNIQ_KEYs that tables of senders and consumers give for an id or key no record has."""
    up = wanted.upper()
    found: list[str] = []
    for table in ("rows", "sends"):
        if facts.has(table):
            found += [row["uniq_key"] for row in facts.answers(f"keys_in_{table}", id=up, key=wanted)]
    if found:
        return list(dict.fromkeys(found))
    try:
        return [up] if ids.classify(wanted)[0] != "offset" else []
    except ids.BadId:
        return []


def _traces(facts: Facts, keys: list[str], wanted: str, *, itself: bool) -> list[dict[str, Any]]:
    """Return what clients wrote about this message into the message trace topic, at most `mentions.MOST` entries.

    `itself`: `wanted` may be the id of a trace record; then its entries are returned.
    """
    if not facts.has("traces"):
        return []
    rows = facts.answers("trace_entries", keys=keys, id=wanted.upper() if itself else "")
    for row in rows:
        row["time"] = copies.utc(row["time"])
        row["text"] = ", ".join(f"{name}={row[name]}" for name in TOLD if row[name] is not None)
    return rows


def _handled(facts: Facts, keys: list[str], records: list[dict[str, Any]], wanted: str) -> list[dict[str, Any]]:
    """Return each delivery a consumer wrote down: file, line, consumer, copy, result, whether it took effect."""
    if not facts.has("rows") and not facts.has_source("app"):
        return []
    keyless = sorted({r["offset_msg_id"] for r in records if r["uniq_key"] is None})[: copies.MOST_LINKED]
    rows = facts.answers("deliveries_of", keys=keys, offset_ids=[*keyless, wanted.upper()])
    return [_delivery(row) for row in rows]


def _delivery(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "time": copies.utc(row["time"])}


def _texts(facts: Facts) -> Iterable[mentions.Text]:
    for item in facts.files.of_kind(*TEXTS, replicas=False):
        dialect = item.detail.get("dialect") or {}
        if item.kind in ("rows", "sends") and not dialect:
            continue  # Parquet has no lines
        yield mentions.Text(item.file, item.path, item.detail.get("encoding") or dialect.get("encoding"))


def _gaps(
    facts: Facts, wanted: str, records: list[dict[str, Any]], ops: list[dict[str, Any]], told: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    if not records:
        found = [copies.gap("not-found" if facts.has("messages") else "no-store", None)]
    elif len(records) >= copies.MOST_RECORDS:
        # What follows is not listed, so nothing can be said to be missing.
        found = [copies.gap("cut", None, count=copies.MOST_RECORDS)]
    else:
        end = copies.utc(facts.rows("last_stored")[0]["last"])
        found = (
            copies.gaps(records, ops, end)
            + list(_never_handled(facts, records, told, end))
            + list(_failed_last(records, told))
        )
    if 0 < len(wanted) < mentions.MIN_KEY:
        found.append(copies.gap("short-key", None))
    return found


def _never_handled(
    facts: Facts, records: list[dict[str, Any]], told: list[dict[str, Any]], end: dt.datetime | None
) -> Iterable[dict[str, Any]]:
    """Name copies in topics whose consumers wrote down their deliveries, but not this one."""
    seen = {row["offset_msg_id"] for row in told}
    visible = [
        r
        for r in records
        if r["stage"] in (stages.ORIGINAL, stages.COMMIT, stages.DUE, stages.RETRY) and r["offset_msg_id"] not in seen
    ]
    if not visible:
        return
    counts = facts("delivery_counts")
    covered = set(counts["topic"][~counts["logged"]].dropna())
    for record in visible:
        stored = record["store_timestamp"]
        if record["topic"] in covered and stored and end and stored + dt.timedelta(seconds=2) < end:
            yield copies.gap("never-handled", record)


def _failed_last(records: list[dict[str, Any]], told: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    by_copy = {r["offset_msg_id"]: r for r in records}
    last = max(
        (row for row in told if row["time"] is not None and row["offset_msg_id"] in by_copy),
        key=lambda row: row["time"],
        default=None,
    )
    if last is not None and last["success"] is False:
        copy = by_copy[last["offset_msg_id"]]
        if not any(r["copied_from"] == copy["offset_msg_id"] for r in records):
            yield copies.gap("failed-last", copy, at=copies.when(last["time"]))


def _shown(row: dict[str, Any], lang: Any) -> dict[str, Any]:
    """Return one row as JSON takes it: times as text, sentences rendered, a retry's number in its stage."""
    shown: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dt.datetime):
            shown[name] = utc_text(value)
        elif hasattr(value, "render"):
            shown[name] = value.render(lang)
        else:
            shown[name] = value
    if shown.get("stage") == stages.RETRY:
        shown["stage"] = f"{stages.RETRY} {shown['reconsume_times']}"
    return shown
