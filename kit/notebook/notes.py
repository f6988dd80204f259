"""A team's notes on an incident: one small YAML file, read as plain text.

Every scalar is a string (`22:34` is a time here, not YAML's base-60 number).
"""

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import yaml

from kit.formats import printed_times
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
}
MESSAGES: Final = labels("notebook")["notes"]


class BadNotes(ValueError):
    """The notes cannot be read; the message says why."""


class _Alias(yaml.YAMLError):
    """A line of aliases expands to a page, and a few hundred bytes of them never end."""


class _Plain(yaml.BaseLoader):
    """Texts, lists and mappings whatever the tags say, without aliases."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise _Alias
        return super().compose_node(parent, index)


@attrs.frozen
class Notes:
    """`texts`, `lists`, `tables` by section, empty if nothing is written; `unknown`: sections that are not used."""

    path: Path
    texts: dict[str, str]
    lists: dict[str, list[str]]
    tables: dict[str, list[dict[str, str]]]
    unknown: tuple[str, ...]

    @property
    def zone(self) -> dt.tzinfo:
        """Zone of times without an offset. Raise `BadNotes` for an unknown zone."""
        try:
            return printed_times.tzinfo(self.texts["timezone"])
        except ValueError as error:
            raise BadNotes(str(error)) from None


def template(path: str | Path, lang: Lang = "en") -> Path:
    """Write an example to `path` unless there is a file; return the path."""
    wanted = Path(path)
    wanted.parent.mkdir(parents=True, exist_ok=True)
    if not wanted.exists():
        text = MESSAGES["template"].say(**labels("notebook")["notes template"])
        wanted.write_text(text.render(lang), encoding="utf-8")
    return wanted


def read(path: str | Path, lang: Lang = "en") -> Notes:
    """Read notes; empty ones where there is no file yet. Raise `BadNotes` with one line, `OSError`."""
    where = Path(path)
    raw = where.read_bytes() if where.is_file() else b""
    try:
        if len(raw) > MOST_BYTES:
            why = MESSAGES["too_large"].say(most=MOST_BYTES)
        else:
            document = yaml.load(raw.decode("utf-8-sig"), _Plain) or {}
            if isinstance(document, Mapping):
                return _sections(where, document)
            why = MESSAGES["not_notes"].say()
    except UnicodeDecodeError:
        why = MESSAGES["not_text"].say()
    except _Alias:
        why = MESSAGES["aliases"].say()
    except RecursionError:
        why = MESSAGES["not_notes"].say()
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # PyYAML does not look at the number in "\UFFFFFFFF"
        mark = getattr(error, "problem_mark", None)
        why = MESSAGES["not_yaml"].say(line=mark.line + 1 if mark else None)
    raise BadNotes(MESSAGES["bad_file"].say(path=str(where), why=why).render(lang))


def _sections(path: Path, document: Mapping[Any, Any]) -> Notes:
    sections = {
        name: [item for item in (value if isinstance(value, list) else [value]) if item not in (None, "")]
        for name, value in document.items()
    }
    rows = {name: [_row(item, columns) for item in sections.get(name, ())] for name, columns in TABLES.items()}
    return Notes(
        path,
        {name: next(map(text, sections.get(name, ())), "") for name in TEXTS},
        {name: list(filter(None, map(text, sections.get(name, ())))) for name in LISTS},
        {name: [row for row in each if any(row.values())] for name, each in rows.items()},
        tuple(text(name) for name in sections if name not in {*TEXTS, *LISTS, *TABLES}),
    )


def _row(item: Any, columns: tuple[str, ...]) -> dict[str, str]:
    """Return the columns of an entry; a plain sentence is its `what`, to which unused columns are added."""
    item = item if isinstance(item, Mapping) else {"what": item}
    row = {name: text(item.get(name)) for name in columns}
    more = text({name: value for name, value in item.items() if name not in columns})
    return row | {"what": f"{row['what']} ({more})" if more else row["what"]}


def text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{text(k)}: {text(v)}" for k, v in value.items())
    if isinstance(value, list):
        return "; ".join(map(text, value))
    return "" if value is None else str(value).strip()


def moment(text: str, zone: dt.tzinfo, day: dt.date | None = None) -> dt.datetime | None:
    """Return the time a note names, if it is one. `zone`: of a time without an offset; `day`: of one without a date."""
    plain = text.strip()
    if re.fullmatch(r"\d{1,2}:\d\d.*", plain):
        plain = f"{day} {plain}" if day else ""
    at = printed_times.when(f"{plain} 00:00" if re.fullmatch(r"\d{4}[-/]\d\d?[-/]\d\d?", plain) else plain)
    try:
        at = at and at.replace(tzinfo=at.tzinfo or zone).astimezone(dt.UTC)
    except OverflowError:
        return None
    return at if at and at.year in YEARS else None
