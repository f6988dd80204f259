"""The meaning of an unknown table's columns, inferred from their names and values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

import attrs

from kit.formats import printed_times
from kit.formats.patterns import patterns
from kit.formats.tables import delimited
from kit.formats.values import integer

FIELDS: Final = ("key", "time", "status", "uniq_key", "offset_msg_id", "reconsume_times", "outcome", "cost_ms", "error")
SAMPLE_ROWS: Final = 20_000
_NAMES: Final = patterns("column_names")
CELLS: Final = patterns("cells")
HEX: Final = re.compile(r"[0-9A-Fa-f]{32}(?:[0-9A-Fa-f]{24})?$")


def is_offset_id(text: str) -> bool:
    """Return whether an id is an offset message id, not a UNIQ_KEY of the same length: an int32 port, then an int64
    offset (`MessageDecoder.createMessageId`).
    """
    if not HEX.match(text):
        return False
    host = len(text) - 24
    port, offset = int(text[host : host + 8], 16), int(text[host + 8 :], 16)
    return 0 < port < 65536 and offset < 1 << 48


@attrs.frozen
class Columns:
    """The role of a table and the fields of its columns (by position). `keys`: other columns that could be the key,
    best first.
    """

    role: str
    at: dict[str, int]
    keys: tuple[int, ...] = ()
    month_first: bool = False


def guess(names: tuple[str, ...], sample: list[list[str | None]]) -> Columns | None:
    """Return the role of a table and of its columns from a sample of its rows; None if no column can be a key, an id or
    an outcome.
    """
    columns = [
        _Column(name, [(row[i] or "").strip() for row in sample if i < len(row)]) for i, name in enumerate(names)
    ]
    free = {i for i, c in enumerate(columns) if c.values}
    at: dict[str, int] = {}

    def take(field: str, fits: Callable[[_Column], float]) -> None:
        scored = [
            (fits(columns[i]) + (0.3 if fits(columns[i]) > 0 and columns[i].hints(field) else 0), -i) for i in free
        ]
        best = max(scored, default=(0.0, 0))
        if best[0] > 0:
            at[field] = -best[1]
            free.discard(-best[1])

    take("uniq_key", lambda c: c.share(lambda v: not is_offset_id(v.split(",")[0])) if c.hex > 0.9 else 0)
    take("offset_msg_id", lambda c: c.share(lambda v: is_offset_id(v.split(",")[0])) if c.hex > 0.9 else 0)
    for i in [i for i in free if columns[i].hex > 0.9]:
        free.discard(i)
    if times := sorted(i for i in free if columns[i].times > 0.9):
        # Of several times the first one, unless a name says better: created before updated.
        at["time"] = next((i for i in times if CELLS["first"].search(columns[i].name)), times[0])
        free.difference_update(times)
    take("outcome", lambda c: 1.0 if c.seen(CELLS["send"]) and c.distinct <= max(50, c.n // 5) else 0.0)
    sends = "outcome" in at or any(columns[i].seen(CELLS["send"]) for i in free)
    answered = any(columns[i].seen(CELLS["answered"]) for i in (*free, *at.values()))

    def retries(column: _Column) -> float:
        """Return how likely a column counts redeliveries; a sender's milliseconds and attempts, which may be as small,
        do not count.
        """
        if column.hints("cost_ms") or (answered and not CELLS["delivered_again"].search(column.name)):
            return 0.0
        named = "uniq_key" in at or "offset_msg_id" in at or column.hints("reconsume_times")
        return column.small_counts if named else 0.0

    take("reconsume_times", retries)
    take("cost_ms", lambda c: 0.5 if c.ints > 0.95 and (c.hints("cost_ms") or sends) and not c.hints("key") else 0.0)
    take("error", lambda c: 0.5 if c.seen(CELLS["error"]) and c.spaced else 0.0)
    keys = sorted((i for i in free if columns[i].key_score > 0.5), key=lambda i: (-columns[i].key_score, i))
    if keys:
        at["key"] = keys[0]
        free.discard(keys[0])
    if sends and "outcome" not in at:
        take("outcome", lambda c: c.enum_score("outcome"))
    if not sends:
        take("status", lambda c: c.enum_score("status"))
    role = _role(at, columns, sends=sends)
    if role is None:
        return None
    if role == "sends" and "outcome" not in at and "status" in at:
        at["outcome"] = at.pop("status")
    texts = columns[at["time"]].values if "time" in at else []
    return Columns(role, at, tuple(keys[1:4]), printed_times.month_first(texts))


def _role(at: dict[str, int], columns: list[_Column], *, sends: bool) -> str | None:
    ids = "uniq_key" in at or "offset_msg_id" in at
    if sends and "reconsume_times" not in at:
        return None if _exported(at, columns) else "sends"
    if "reconsume_times" in at and (ids or "key" in at):
        return "deliveries"
    if ids and "cost_ms" in at:
        return "sends"
    if (
        ids
        and {"status", "time", "key"} <= at.keys()
        and columns[at["status"]].distinct <= 4
        and columns[at["key"]].repeats
    ):
        return "deliveries"
    if "key" not in at:
        return None
    return "business" if "status" in at else "tx_log"


def _exported(at: dict[str, int], columns: list[_Column]) -> bool:
    """Return whether a table is an exported log search rather than a ledger of sends: it has failures alone and nothing
    that names a send, or whole log lines in its cells.
    """
    if any(column.seen(CELLS["sent"]) for column in columns):
        return False
    told = [columns[at[field]] for field in ("outcome", "error") if field in at]
    if any(column.share(lambda v: bool(CELLS["log_line"].match(v))) > 0.5 for column in told):
        return True
    return not {"key", "uniq_key", "offset_msg_id", "cost_ms"} & at.keys()


class _Column:
    """The values of one column, and what they look like."""

    def __init__(self, name: str, values: list[str]) -> None:
        self.name = name
        self.values = [v for v in values if v and v.lower() not in ("null", "none", "nil", "\\n", "nan")]
        self.n = len(self.values)
        self.counts = Counter(self.values)
        self.distinct = len(self.counts)
        self.repeats = self.distinct < self.n
        self.hex = self.share(lambda v: bool(HEX.match(v.split(",")[0])))
        self.times = self.share(lambda v: printed_times.when(v) is not None or bool(delimited.BEYOND.fullmatch(v)))
        self.ints = self.share(lambda v: integer(v) is not None)
        self.spaced = any(" " in v for v in self.values[:2000])

    def share(self, fits: Callable[[str], bool]) -> float:
        picked = self.values[:: max(1, self.n // 500)][:500]
        return sum(map(fits, picked)) / len(picked) if picked else 0.0

    def seen(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.search(v) for v in self.counts)

    def hints(self, field: str) -> bool:
        found = _NAMES.get(field)
        return bool(found and found.search(self.name))

    @property
    def small_counts(self) -> float:
        if self.ints < 1 or self.hints("key") or self.hints("status"):
            return 0.0
        # Only some of the values were looked at: among thousands one may be `N/A`.
        numbers = [n for n in map(integer, self.counts) if n is not None]
        return 0.5 if numbers and min(numbers) >= 0 and max(numbers) <= 64 else 0.0

    @property
    def key_score(self) -> float:
        """Return how much a column looks like a business key: nearly every value different, one token, of one form."""
        if not self.n or self.spaced or self.share(lambda v: len(v) > 255) > 0.1:
            return 0.0
        unique = self.distinct / self.n
        decimal = self.share(lambda v: bool(re.match(r"-?\d+\.\d+$", v)))
        digits = self.share(lambda v: any(c.isdigit() for c in v))
        if unique < (0.02 if self.hints("key") else 0.5) or decimal > 0.5 or digits < 0.5:
            return 0.0
        score = 0.4 + 0.4 * unique + (0.3 if self.hints("key") else 0)
        letters = self.share(lambda v: any(c.isalpha() or c in "-_" for c in v))
        score += 0.2 * digits + 0.2 * letters
        if self.ints > 0.9:
            # Row numbers and counts are short numbers; order numbers are long ones.
            score -= 0.5 if max(map(len, self.counts)) < 8 else 0.05
        if self.name.lower() == "id" and self.ints > 0.9:
            score -= 0.2
        return score

    def enum_score(self, field: str) -> float:
        """Return how much a column looks like a status: few values, known words for states, or a name that suggests it."""
        if (
            not self.n
            or self.distinct > max(12, self.n // 20)
            or self.share(lambda v: len(v) > 64) > 0.1
            or self.hints("time")
        ):
            return 0.0
        words = self.share(lambda v: bool(CELLS["status_word"].search(v)))
        if self.hints(field):
            return 0.7 + 0.2 * words
        if words > 0.5:
            return 0.6
        # An unnamed code that takes several short values: better than nothing, worse than any other sign.
        return 0.2 if 2 <= self.distinct <= 12 and self.ints > 0.9 and max(map(len, self.counts)) <= 3 else 0.0
