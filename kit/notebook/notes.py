"""A team's notes on an incident: one small YAML file, read as plain text and never overwritten. What notebooks add
(`kit.notebook.hypotheses`) is appended as further YAML documents; their sections are merged.

Every scalar is a string (`22:34` is a time here, not YAML's base-60 number). Aliases are refused, as is a file too
large for people to have written.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import yaml

from kit.formats import plain_yaml, printed_times
from kit.i18n import Lang, labels

MOST_BYTES: Final = 1 << 20
YEARS: Final = range(1971, 2200)
"""Plausible years of an incident: others are typing errors."""
TEXTS: Final = ("title", "date", "status", "severity", "timezone", "summary", "impact", "detection", "resolution")
LISTS: Final = ("authors", "went_well", "went_badly", "lucky")
TABLES: Final[dict[str, tuple[str, ...]]] = {
    "timeline": ("time", "what", "who"),
    "decisions": ("time", "what", "why", "who"),
    "actions": ("what", "owner", "due", "kind", "ticket"),
    "hypotheses": ("time", "what", "who", "about", "references"),
    "overruled": ("time", "cause", "verdict", "who", "why"),
}

MESSAGES: Final = labels("notebook")["notes"]


class BadNotes(ValueError):
    """The notes cannot be read; the message says why."""


@attrs.frozen
class Notes:
    """Content of the file. `texts`, `lists`, `tables` by section, empty if nothing is written; `unknown`: sections
    that are not used.
    """

    path: Path
    texts: dict[str, str]
    lists: dict[str, list[str]]
    tables: dict[str, list[dict[str, str]]]
    unknown: tuple[str, ...]

    @property
    def zone(self) -> dt.tzinfo:
        """Zone of times without an offset. Raise `BadNotes` for an unknown zone."""
        return zone(self.texts["timezone"])


def nothing() -> Notes:
    """Return empty notes."""
    return _sorted(Path(), {})


def template(path: str | Path, lang: Lang = "en") -> Path:
    """Write an example to `path` unless the file exists; return the path. An existing file stays the same, byte for
    byte.
    """
    wanted = Path(path)
    wanted.parent.mkdir(parents=True, exist_ok=True)
    try:
        with wanted.open("x", encoding="utf-8") as file:
            file.write(MESSAGES["template"].in_(lang))
    except FileExistsError:
        pass
    return wanted


def read(path: str | Path, lang: Lang = "en") -> Notes:
    """Read notes. Raise `BadNotes` with one line that says why not, `OSError`."""
    where = Path(path)

    def bad(why: Any) -> BadNotes:
        return BadNotes(MESSAGES["bad_file"].say(path=str(where), why=why).render(lang))

    with where.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise bad(MESSAGES["too_large"].say(most=MOST_BYTES))
    try:
        every = list(plain_yaml.documents(raw.decode("utf-8-sig")))
    except UnicodeDecodeError:
        raise bad(MESSAGES["not_text"]) from None
    except plain_yaml.Endless as error:
        raise bad(MESSAGES["aliases"] if error.alias else MESSAGES["not_notes"]) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise bad(MESSAGES["not_yaml"].say(line=mark.line + 1 if mark else None)) from None
    if any(not isinstance(said, Mapping) and said not in (None, "") for said in every):
        raise bad(MESSAGES["not_notes"])
    return _sorted(where, _together(every))


def _together(documents: list[Any]) -> dict[Any, Any]:
    """Return the sections of all documents: lists joined, of anything else the first that is not empty."""
    said: dict[Any, Any] = {}
    for document in documents:
        for name, value in (document or {}).items():
            if name in LISTS or name in TABLES:
                said[name] = [*_items(said.get(name)), *_items(value)]
            else:
                said[name] = said.get(name) or value
    return said


def _sorted(path: Path, said: dict[Any, Any]) -> Notes:
    known = {*TEXTS, *LISTS, *TABLES}
    return Notes(
        path,
        {name: _text(said.get(name)) for name in TEXTS},
        {name: [text for item in _items(said.get(name)) if (text := _text(item))] for name in LISTS},
        {
            name: [row for item in _items(said.get(name)) if any((row := _row(item, columns)).values())]
            for name, columns in TABLES.items()
        },
        tuple(_text(name) for name in said if name not in known),
    )


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value in (None, "") else [value]


def _row(item: Any, columns: tuple[str, ...]) -> dict[str, str]:
    """Return the columns of an entry; a plain sentence is its `what` (`why` if it has no `what`), and unused columns are
    kept.
    """
    own = "what" if "what" in columns else "why"
    if not isinstance(item, Mapping):
        return dict.fromkeys(columns, "") | {own: _text(item)}
    row = {name: _text(item.get(name)) for name in columns}
    more = "; ".join(f"{_text(k)}: {_text(v)}" for k, v in item.items() if k not in columns)
    return row | {own: f"{row[own]} ({more})" if more else row[own]}


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{_text(k)}: {_text(v)}" for k, v in value.items())
    if isinstance(value, list):
        return "; ".join(_text(v) for v in value)
    return "" if value is None else str(value).strip()


_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?")
_DAY_TIME: Final = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T\s]+(.*))?")
_TAIL: Final = re.compile(r"(.*?)\s*(Z|UTC|GMT|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?)")


def zone(text: str) -> dt.tzinfo:
    """Return the zone a text names: an offset, an IANA name, or empty for UTC. Raise `BadNotes`."""
    try:
        return printed_times.tzinfo(text.strip())
    except ValueError:
        raise BadNotes(MESSAGES["bad_zone"].say(zone=text.strip()[:60]).render()) from None


def moment(text: str, assumed: dt.tzinfo, day: dt.date | None = None) -> dt.datetime | None:
    """Return the time a note names, None if it is not a time. `assumed`: zone of a time without an offset; `day`: date of one
    without a date.
    """
    plain = text.strip()
    where = assumed
    found = _DAY_TIME.fullmatch(plain)
    clock = plain if found is None else found[4] or ""
    if tail := _TAIL.fullmatch(clock):
        try:
            clock, where = tail[1].strip(), zone(tail[2])
        except BadNotes:
            return None
    hours = _CLOCK.fullmatch(clock)
    if (clock and hours is None) or (found is None and (hours is None or day is None)):
        return None
    try:
        date = dt.date(int(found[1]), int(found[2]), int(found[3])) if found else day
        hour, minute, second = (int(part or 0) for part in hours.groups()) if hours else (0, 0, 0)
        said = dt.datetime.combine(date or dt.date.min, dt.time(hour, minute, second), where).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None
    return said if said.year in YEARS else None
