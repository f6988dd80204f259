"""Log entries and records → signs, counted by second → episodes → alerts.

An episode is one cause at one place (one group, queue, address …), by the signs that causes declare. It begins when a
rule's count is reached, rings once, again at ten times that or more severe, and ends `CLEAR` seconds after its last sign.
"""

import datetime as dt
import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

import attrs
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.causes.alerts import STAGE, Alert, rules
from kit.formats.logs import known_texts
from kit.i18n import Lang, T, labels
from kit.inventory.model import Ref

LATE: Final = 120.0
"""How many seconds an entry's time may be before it is read; beyond that the time of reading counts."""
QUARTER: Final = 900
FARTHEST: Final = 14 * 3600
VALUED: Final = 2_000
"""Most entries of one sign and batch whose values are read; further entries are ignored."""
ENTRY_COLUMNS: Final = ("file", "line", "message", "thread", "events", "second")
RECORD_COLUMNS: Final = (
    "file", "physical_offset", "store_timestamp", "topic", "queue_id", "queue_offset", "uniq_key", "stage",
    "consumer_group",
)  # fmt: skip
TEXT: Final = 300
"""Most characters kept of an entry."""


@attrs.frozen
class Sign:
    """`count` occurrences of a sign in one second (`at`, since 1970), the first of them at `ref`.

    `values` of the one entry if a rule needs them; `beside`: other known texts in that entry.
    """

    name: str
    at: int
    count: int
    ref: Ref
    values: dict[str, str | None] = attrs.field(factory=dict)
    beside: frozenset[str] = frozenset()


@attrs.frozen
class Moment:
    """When entries are read: those since `since` count at their own times; `drops`: older ones do not count."""

    now: float
    since: float
    drops: bool = False


@cache
def watched() -> dict[str, tuple[Alert, ...]]:
    """Return the rules of each sign, also of those that others require."""
    by_sign: dict[str, tuple[Alert, ...]] = {}
    for rule in rules():
        for sign in filter(None, (rule.sign, rule.also)):
            by_sign[sign] = (*by_sign.get(sign, ()), rule)
    return by_sign


def of_entries(batch: pa.RecordBatch, moment: Moment) -> Iterator[Sign]:
    """Yield the signs in log entries with the column `events`."""
    for texts in known_texts.printed(_timed(batch, "ts", moment), ENTRY_COLUMNS):
        for sign in filter(watched().__contains__, pc.unique(texts["event"]).to_pylist()):
            own = pa.table(texts.select([*ENTRY_COLUMNS, "values"])).filter(pc.equal(texts["event"], sign))
            if any(rule.needs_values for rule in watched()[sign]):
                for row in own.slice(0, VALUED).to_pylist():
                    values = {"thread": row["thread"], "file": row["file"], **_plain(row["values"] or ())}
                    yield Sign(sign, row["second"], 1, _line(row), values, frozenset(row["events"]))
            else:
                for row, count in _by_second(own):
                    yield Sign(sign, row["second"], count, _line(row))


def of_records(batch: pa.RecordBatch, moment: Moment) -> Iterator[Sign]:
    """Yield the stages of records as signs, those of each consumer group by themselves."""
    for row, count in _by_second(pa.table(_timed(batch, "store_timestamp", moment)), "stage", "consumer_group"):
        if (sign := f"{STAGE}{row['stage']}") in watched():
            text = f"{row['topic']} queue {row['queue_id']} UNIQ_KEY={row['uniq_key']}"[:TEXT]
            ref = Ref(row["file"], physical_offset=row["physical_offset"], text=text)
            yield Sign(sign, row["second"], count, ref, {"group": row["consumer_group"], "thread": None})


def _by_second(table: pa.Table, *names: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the first row of each second of each of these, and how many there are."""
    keys = {name: pc.cast(table[name], pa.string()) for name in names}
    numbered = pa.table({**keys, "second": table["second"], "row": np.arange(len(table))})
    grouped = numbered.group_by([*names, "second"], use_threads=False).aggregate([("row", "min"), ("row", "count")])
    yield from zip(table.take(grouped["row_min"]).to_pylist(), grouped["row_count"].to_pylist(), strict=True)


def _timed(batch: pa.RecordBatch, time: str, moment: Moment) -> pa.RecordBatch:
    """Return the rows that count, with `second`: of their own time if plausible, else of now. Python may not hold it."""
    own, now = np.asarray(pc.fill_null(pc.cast(batch[time], pa.int64()), -1)) // 1_000_000, moment.now
    # Applications print local time: a difference of whole quarters of an hour means another zone.
    zones = np.round((now - own) / QUARTER) * QUARTER
    here = np.where(np.abs(zones) <= FARTHEST, own + zones, own)
    here = np.where((here >= now - LATE) & (here <= now + 1), here, int(now))
    seconds = np.where((own >= moment.since) & (own <= now + 1), own, here).astype(np.int64)
    counts = ~((own >= 0) & (own < moment.since) & moment.drops)
    return batch.drop_columns([time]).append_column("second", pa.array(seconds)).filter(pa.array(counts))


def _plain(values: Iterable[tuple[str, str | None]]) -> dict[str, str | None]:
    """Return values by name: in patterns with alternatives, `group_2` is the group of the second."""
    plain: dict[str, str | None] = {}
    for name, value in values:
        alike = re.sub(r"_\d+$", "", name)
        plain[alike] = plain.get(alike) or value
    return plain


def _line(entry: dict[str, Any]) -> Ref:
    return Ref(entry["file"], line=entry["line"], text=(entry["message"] or "")[:TEXT])


# --- episodes ---------------------------------------------------------------------------------------------------------

TEXTS: Final = labels("watch")["notes"]

CLEAR: Final = 180.0
"""Seconds without a sign after which an episode is over: longer than the interval of check rounds and heartbeats."""
WORSE: Final = 10
"""It rings again at this multiple of the last count."""
MOST: Final = 2_000
"""Most places kept where nothing rings; beyond that those quiet for longest are forgotten."""
RANK: Final = {"": 0, "notice": 1, "warning": 2, "critical": 3}
"""What needs attention is more than a notice."""


class Tally(msgspec.Struct):
    """What one rule has seen at one place: occurrences by second (the last `within` seconds), and in total.

    `different`: the last values of `differ`; `beside`: the last second of the sign that must come with it; `cleared`:
    one occurrence made the others harmless; `ref`: of the first occurrence.
    """

    sign: str
    seconds: dict[int, int] = {}
    total: int = 0
    different: list[str] = []
    beside: int = 0
    cleared: bool = False
    ref: dict[str, Any] = {}

    def add(self, alert: Alert, sign: Sign) -> bool:
        """Count a sign; return whether it changes anything."""
        if sign.name == alert.also:
            self.beside = sign.at
        elif alert.clears and alert.when and not alert.when(sign.values):
            self.cleared, self.seconds = True, {}
        elif self.cleared or sign.beside.intersection(alert.without) or (alert.when and not alert.when(sign.values)):
            return False
        else:
            self.ref = self.ref or sign.ref.as_dict()
            self.seconds[sign.at] = self.seconds.get(sign.at, 0) + sign.count
            self.total += sign.count
            value = str(sign.values.get(alert.differ))
            if alert.differ and value not in self.different:
                self.different = [*self.different, value][-4:]
        return True

    def reached(self, alert: Alert) -> bool:
        """Return whether `within` seconds hold enough that lasts long enough; forget what no later span reaches."""
        at = np.array(sorted(self.seconds))
        first = np.searchsorted(at, at - alert.within, "right")
        before = np.cumsum([0, *(self.seconds[second] for second in at.tolist())])
        enough = (before[1:] - before[first] >= alert.least) & (at - at[first] >= alert.lasts)
        together = not alert.also or (np.abs(at - self.beside) <= alert.within).any()
        self.seconds = {second: self.seconds[second] for second in at[first[-1] :].tolist()}
        return bool(enough.any() and together and (not alert.differ or len(self.different) > 1))


class Episode(msgspec.Struct):
    """One cause at one place (the values its rules tell apart), and what they have seen there; an `id` once it rings.

    `rule`: the one it began with; `rung`: the count at which it rang last; `marks`: when that was 1, 2, 4, 8 …
    """

    cause: str
    place: list[str]
    tallies: dict[str, Tally] = {}
    last: float = 0.0
    id: str = ""
    rule: str = ""
    severity: str = ""
    rung: int = 0
    marks: list[float] = []

    @property
    def counts(self) -> dict[str, int]:
        return {each.sign: each.total for each in self.tallies.values() if each.total}

    @property
    def count(self) -> int:
        return max(self.counts.values(), default=0)

    def add(self, rule: Alert, sign: Sign, now: float) -> bool:
        """Count a sign; return whether its rule may ring now."""
        tally = self.tallies.setdefault(rule.name, Tally(rule.sign))
        changes = tally.add(rule, sign)
        if changes and (tally.seconds or not self.id):  # what makes others harmless does not prolong an episode
            self.last = now
        return changes

    def rings(self, rule: Alert, now: float) -> bool:
        """Return whether it begins or gets worse, by what a rule has seen."""
        tally = self.tallies[rule.name]
        reached = bool(tally.seconds) and tally.reached(rule)
        if not (reached or (self.id and tally.seconds)):
            return False
        while self.count >= 2 ** len(self.marks):
            self.marks.append(now)
        graver = reached and RANK[rule.severity] > RANK[self.severity]
        if not graver and (rule.steady or self.count < WORSE * self.rung):
            return False
        self.severity, self.rung = rule.severity if graver else self.severity, self.count
        return True

    @property
    def lasts(self) -> float:
        """How many seconds without a sign it lasts; that an occurrence made others harmless is not forgotten."""
        return CLEAR if self.id else math.inf if any(t.cleared for t in self.tallies.values()) else 4 * CLEAR

    def alert(self, state: str, rule: str, now: float, lang: Lang) -> dict[str, Any]:
        """Return an alert: {id, time, state, cause, severity, step, summary, evidence, figures}.

        `id` is the same for one moment of one episode, however often it is sent.
        """
        alerts = (each for each in rules() if each.name == rule)
        alert = next(alerts, Alert("", T(self.cause, self.cause)))  # the state may be of a kit with other rules
        first, ref = (self.tallies[name].ref for name in (self.rule, rule))
        doubling = None
        if alert.grows and len(self.marks) > 3 and self.marks[-1] > self.marks[-2]:
            doubling = round(self.marks[-1] - self.marks[-2], 1)
        summary = TEXTS["cleared" if state == "cleared" else "rings"].say(
            says=alert.says.in_(lang).rstrip(".。"), place=self.place or None, quiet=int(CLEAR // 60),
            worse=self.count if state == "worse" else None, doubling=doubling,
        )  # fmt: skip
        return {
            "id": f"{self.id}-{state}-{self.count}",
            "time": _utc(now),
            "state": state,
            "cause": self.cause,
            "severity": self.severity,
            "step": alert.step,
            "summary": summary.render(lang),
            "evidence": [first, *([ref] if ref != first else [])],
            "figures": {"counts": self.counts, "since": _utc(self.marks[0]), "doubling_seconds": doubling},
        }


class Episodes(msgspec.Struct, forbid_unknown_fields=True):
    """What was seen of each cause by place, kept between runs. `began`: how many episodes so far."""

    places: dict[str, Episode] = {}
    began: int = 0

    @property
    def open(self) -> list[Episode]:
        return [each for each in self.places.values() if each.id]

    def feed(self, signs: Iterable[Sign], now: float, lang: Lang = "en") -> list[dict[str, Any]]:
        """Count signs and return the alerts due now."""
        touched: dict[tuple[str, str], tuple[Episode, Alert]] = {}
        for sign in sorted(signs, key=lambda each: each.at):
            for rule in watched().get(sign.name, ()):
                place = [sign.values.get(name) or "" for name in rule.by]
                key = "\x1f".join([rule.cause, *place])
                episode = self.places.setdefault(key, Episode(rule.cause, [*filter(None, place)]))
                if episode.add(rule, sign, now):
                    touched[rule.name, key] = episode, rule
        alerts = []
        for episode, rule in touched.values():
            if episode.rings(rule, now):
                state = "worse" if episode.id else "raised"
                if not episode.id:
                    self.began += 1
                    episode.id, episode.rule = f"{rule.cause}-{int(now)}-{self.began}", rule.name
                alerts.append(episode.alert(state, rule.name, now, lang))
        over = {key: each for key, each in self.places.items() if now - each.last >= each.lasts}
        alerts += [each.alert("cleared", each.rule, now, lang) for each in over.values() if each.id]
        quiet = sorted((each.last, key) for key, each in self.places.items() if not each.id)
        for key in {*over, *(key for _, key in quiet[:-MOST])}:
            del self.places[key]
        return alerts


def _utc(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat(timespec="milliseconds")
