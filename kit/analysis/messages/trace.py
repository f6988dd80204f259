"""The life of one message: every copy of it, what wrote each, who handled it, what mentions it, and what is missing."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from kit.analysis.consumers import outcomes
from kit.analysis.messages import copies
from kit.evidence import disk
from kit.evidence.failure import Failure
from kit.formats.logs.schema import LogFile
from kit.formats.printed_times import utc_text
from kit.inventory import mentions
from kit.rocketmq import ids, stages
from kit.tables.facts import Facts

if TYPE_CHECKING:
    from kit.case.case import Case

Row = dict[str, Any]
TOLD: Final = ("type", "group", "client_host", "time", "cost_ms", "success", "retry_times", "state", "request_id")
TEXTS: Final = ("log", "text", "mqadmin", "rows", "sends")


def trace(case: Case, id: str) -> dict[str, Any]:  # noqa: A002 - the public name of the argument
    """Return the life of the message with this UNIQ_KEY, offset id of any copy, or business key (then of every message
    that has it).

    Return {"id", "kind" (`uniq`, `offset`, `grpc`, `key`), "uniq_keys", "records", "ops", "handled", "consumers",
    "traces", "mentions", "gaps"}. `records` are the copies in store order, each with `stage`, `why` and `copied_from`;
    `ops` the op records that ended its half messages; `traces` what clients wrote about it into the message trace
    topic; `consumers` what became of it in each group that could have consumed it, with the `fate` and why
    (`kit.analysis.consumers.outcomes`). An id that is nowhere gives empty lists. Times are ISO 8601 in UTC. Texts are
    in the case's language.
    """
    return traces(case, [id])[0]


def traces(case: Case, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the lives of several messages, as `trace` does for one; records and texts are searched once for all."""
    facts = case.facts
    wanted = list(dict.fromkeys(each.strip() for each in ids))
    stored = copies.of(facts, [each for each in wanted if each]) if any(wanted) and facts.has("messages") else {}
    lives = {each: _Life(facts, each, stored.get(each, [])) for each in wanted}
    texts = mentions.search(_texts(facts), {each: life.words() for each, life in lives.items()})
    return [lives[each.strip()].as_dict(*texts[each.strip()], case.failures) for each in ids]


class _Life:
    """One message: its copies, what ended them, who handled it."""

    def __init__(self, facts: Facts, wanted: str, rows: list[Row]) -> None:
        self.facts, self.wanted = facts, wanted
        self.keys = list(dict.fromkeys(r["uniq_key"] for r in rows if r["uniq_key"])) or _keys_elsewhere(facts, wanted)
        self.ops = copies.ops(facts, [r for r in rows if r["stage"] in (stages.HALF, stages.CHECK_BACK)])
        self.records = copies.with_lineage(rows)
        self.handled = _handled(facts, self.keys, self.records, wanted)

    def words(self) -> set[str]:
        """Return its ids and keys, which texts may contain."""
        business = {key for r in self.records if r["stage"] != stages.OP for key in (r["keys"] or "").split()}
        return {self.wanted, *self.keys, *business, *(r["offset_msg_id"] for r in (*self.records, *self.ops))}

    def as_dict(self, texts: list[mentions.Mention], counts: dict[str, int], failures: list[Failure]) -> dict[str, Any]:
        """Return all of it as `trace` does. `texts`: the lines that mention it; `counts`: how many of each file do."""
        traces = _traces(self.facts, self.keys, self.wanted, itself=not self.records)
        missing = list(self._gaps()) if self.records or not traces else []
        listed = Counter(m.file for m in texts)
        missing += [
            copies.gap("unquoted", None, file=file, count=n, kept=listed[file])
            for file, n in counts.items()
            if listed[file] < n
        ]
        lists = {
            "records": self.records, "ops": self.ops, "handled": self.handled, "consumers": self._consumers(failures),
            "traces": traces, "mentions": [{"file": m.file, "line": m.line, "text": m.text, "word": m.word} for m in texts],
            "gaps": missing,
        }  # fmt: skip
        plain = {name: [_plain(row, self.facts.lang) for row in rows] for name, rows in lists.items()}
        return {"id": self.wanted, "kind": self._kind(), "uniq_keys": self.keys} | plain

    def _kind(self) -> str:
        up = self.wanted.upper()
        if any(r["offset_msg_id"] == up for r in self.records):
            return "offset"
        if up in self.keys:
            return "grpc" if len(up) == 34 else "uniq"
        if self.records:
            return "key" if any(self.wanted in (r["keys"] or "").split() for r in self.records) else "offset"
        try:
            return ids.classify(self.wanted)[0]
        except ids.BadId:
            return "key"

    def _consumers(self, failures: list[Failure]) -> list[Row]:
        """Return what became of the message in each group."""
        own = [r for r in self.records if r["uniq_key"] in (None, *self.keys)]
        try:
            return outcomes.of(self.facts, own, self.handled, [*self.keys, self.wanted])
        except Exception as error:
            # The journey is worth showing without it; the bug report says what broke.
            if disk.is_full(error):
                raise
            failures.append(Failure.of("consumers", error))
            return []

    def _gaps(self) -> Iterator[Row]:
        if not self.records:
            yield copies.gap("not-found" if self.facts.has("messages") else "no-store", None)
        elif len(self.records) >= copies.MOST_RECORDS:
            # What follows is not listed, so nothing can be said to be missing.
            yield copies.gap("cut", None, count=copies.MOST_RECORDS)
        else:
            times = [row["last"] for row in self.facts.rows("store_extent") if row["last"]]
            end = max(times, default=None)
            yield from copies.gaps(self.records, self.ops, end)
            yield from self._unhandled(end)
        if 0 < len(self.wanted) < mentions.MIN_KEY:
            yield copies.gap("short-key", None)

    def _unhandled(self, end: dt.datetime | None) -> Iterator[Row]:
        """Name copies in topics whose consumers wrote down their deliveries, but not this one; and one that failed last
        and was not stored again.
        """
        seen = {row["offset_msg_id"] for row in self.handled}
        visible = [r for r in self.records if r["stage"] in outcomes.VISIBLE and r["offset_msg_id"] not in seen]
        covered = {row["topic"] for row in self.facts.rows("delivery_counts") if not row["logged"]} if visible else ()
        for record in visible:
            stored = record["store_timestamp"]
            if record["topic"] in covered and stored and end and stored + dt.timedelta(seconds=2) < end:
                yield copies.gap("never-handled", record)
        by_copy = {r["offset_msg_id"]: r for r in self.records}
        timed = [row for row in self.handled if row["time"] is not None and row["offset_msg_id"] in by_copy]
        last = max(timed, key=lambda row: row["time"], default=None)
        if last is not None and last["success"] is False:
            copy = by_copy[last["offset_msg_id"]]
            if not any(r["copied_from"] == copy["offset_msg_id"] for r in self.records):
                yield copies.gap("failed-last", copy, at=copies.when(last["time"]))


def example(facts: Facts) -> str | None:
    """Return the UNIQ_KEY of the message with the longest journey; None where no record has one."""
    rows = facts.rows("journeys") if facts.has("messages") else []
    longest = min(rows, key=lambda row: (-len(row["path"]), row["example"]), default=None)
    return None if longest is None else str(longest["example"])


def lives(facts: Facts, keys: Sequence[str]) -> list[Row]:
    """Return the copies and deliveries of messages of `identity_records`, as in `trace`; `row`: `copy` or `delivery`;
    `id`: the UNIQ_KEY.
    """
    rows = [copies.completed(row) for row in facts.rows("identity_records")]
    records = [r for key in keys for r in copies.with_lineage([row for row in rows if row["uniq_key"] == key])]
    handled = [row for row in facts.rows("identity_deliveries") if row["uniq_key"] in set(keys)]
    of_kind = [("copy", row) for row in records] + [("delivery", row) for row in handled]
    return [{"row": kind, "id": row["uniq_key"], **_plain(row, facts.lang)} for kind, row in of_kind]


def _keys_elsewhere(facts: Facts, wanted: str) -> list[str]:
    """Return the UNIQ_KEYs that tables of senders and consumers give for an id or key no record has."""
    up = wanted.upper()
    if rows := facts.answers("keys_elsewhere", id=up, key=wanted) if facts.has("rows") or facts.has("sends") else ():
        return [row["uniq_key"] for row in rows]
    try:
        return [up] if ids.classify(wanted)[0] != "offset" else []
    except ids.BadId:
        return []


def _traces(facts: Facts, keys: list[str], wanted: str, *, itself: bool) -> list[Row]:
    """Return what clients wrote about this message into the message trace topic, at most `mentions.MOST` entries.

    `itself`: `wanted` may be the id of a trace record; then its entries are returned.
    """
    if not facts.has("traces"):
        return []
    rows = facts.answers("trace_entries", keys=keys, id=wanted.upper() if itself else "")
    return [row | {"text": ", ".join(f"{n}={row[n]}" for n in TOLD if row[n] is not None)} for row in rows]


def _handled(facts: Facts, keys: list[str], records: list[Row], wanted: str) -> list[Row]:
    """Return each delivery a consumer wrote down: file, line, consumer, copy, result, whether it took effect."""
    if not facts.has("rows") and not facts.has_source("app"):
        return []
    keyless = sorted({r["offset_msg_id"] for r in records if r["uniq_key"] is None})[: copies.MOST_LINKED]
    return facts.answers("deliveries_of", keys=keys, offset_ids=[*keyless, wanted.upper()])


def _texts(facts: Facts) -> Iterable[LogFile]:
    for item in facts.files.of_kind(*TEXTS, replicas=False):
        dialect = item.detail.get("dialect") or {}
        if item.kind in ("rows", "sends") and not dialect:
            continue  # Parquet has no lines
        yield LogFile(item.file, item.path, encoding=item.detail.get("encoding") or dialect.get("encoding"))


def _plain(row: Row, lang: Any) -> Row:
    """Return one row as JSON takes it: times as text, sentences rendered, a retry's number in its stage."""
    rendered = {name: value.render(lang) if hasattr(value, "render") else value for name, value in row.items()}
    plain = {name: utc_text(value) if isinstance(value, dt.datetime) else value for name, value in rendered.items()}
    if plain.get("stage") == stages.RETRY:
        plain["stage"] = f"{stages.RETRY} {plain['reconsume_times']}"
    return plain
