"""From a claim to its place in the evidence: the line with its context, the record with its properties and copies; and a message's
life. Each as tables whose references can be followed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd

from kit.analysis.messages.trace import trace
from kit.charts import Chart, Table, clean, messages
from kit.formats.commitlog import schema
from kit.i18n import Lang, Sentence, labels
from kit.inventory import quotes

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.explorer import Selection

Reference = Mapping[str, Any]
"""As in findings.json: {"file", "line"} or {"file", "physical_offset"}; other keys are ignored."""
AROUND: Final = 20
"""Lines shown before and after the one meant."""
COPIES: Final = 10
"""Copies of a message shown before and after the one meant."""
MANY: Final = 2000
"""Up to this many copies are all shown; a message in a loop can have a hundred thousand, of which the first are drawn."""
PIECE: Final = 500
"""Characters of a line in one row; the line meant is shown in full, the others are cut."""
PREVIEW: Final = 1000
"""Bytes of a body that are shown."""
SHOWN: Final = tuple(name for name in schema.FIELDS if name not in ("body", "properties"))
HERE: Final = "▶"
_AT: Final = re.compile(r"(?P<file>.*?)(?:\s*@\s*(?P<offset>\d+)|:(?P<line>\d+))", re.DOTALL)

TEXTS: Final = labels("notebook")["places"]
NAMES: Final = labels("notebook")["places names"]


_AROUND: Final = """
with copies as (
  select store_timestamp, stage, topic, offset_msg_id, file, physical_offset,
    row_number() over (order by store_timestamp nulls last, file, physical_offset) as nth, count(*) over () as n
  from records where uniq_key = :key
)
select c.* from copies c join (select min(nth) as nth from copies where offset_msg_id = :offset_msg_id) m
  on c.nth between m.nth - :copies and m.nth + :copies
order by c.nth
"""
"""The copies of a message around one of them, in store order; those without a time come last."""


class BadReference(ValueError):
    """A text that is not a reference, or a reference to nothing in the evidence."""


@attrs.frozen
class Linked:
    """A table, and for each of its rows the reference behind it, or None. `marked`: the rows meant."""

    table: Table
    references: tuple[Reference | None, ...] = ()
    marked: frozenset[int] = frozenset()


@attrs.frozen
class Shown:
    """What is shown of a place or a message: charts, then tables. `id`: the message, if it is one."""

    tables: tuple[Linked, ...]
    charts: tuple[Chart, ...] = ()
    id: str = ""

    def as_text(self) -> str:
        return "\n\n".join(each.table.as_text() for each in self.tables)

    def as_html(self) -> str:
        return "\n".join(each.table.as_html() for each in self.tables)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        for each in (*self.charts, *(linked.table for linked in self.tables)):
            display(each)


def reference(said: Reference | str | tuple[str, int]) -> Reference:
    """Return a reference from one of findings.json, from (file, line), or from a text `FILE:LINE` or `FILE @ BYTE`. Raise
    `BadReference`.
    """
    if isinstance(said, Mapping) and said.get("file") and (said.get("line") or said.get("physical_offset") is not None):
        return said
    if isinstance(said, tuple) and len(said) == 2:
        return {"file": said[0], "line": int(said[1])}
    found = _AT.fullmatch(said.strip()) if isinstance(said, str) else None
    if found is None or not found["file"]:
        raise BadReference(TEXTS["bad"].say(text=clean(said, 200)).render())
    where = {"line": int(found["line"])} if found["line"] else {"physical_offset": int(found["offset"])}
    return {"file": found["file"], **where}


def place(case: Case, said: Reference | str | tuple[str, int]) -> Shown:
    """Return the line of a reference with `AROUND` lines before and after it, or the record with all its properties,
    the start of its body and its copies before and after it. Raise `BadReference`.
    """
    ref = known(case, reference(said))
    try:
        if ref.get("line"):
            return Shown((_line(case, ref["file"], int(ref["line"])),))
        return _record(case, ref["file"], int(ref["physical_offset"]))
    except (KeyError, IndexError, OSError):
        raise BadReference(TEXTS["gone"].say(file=clean(ref["file"], 200)).render(case.lang)) from None


def known(case: Case, ref: Reference) -> Reference:
    """Return a reference whose file may be given by the end of its path. Raise `BadReference` where several end so."""
    files = [item.file for item in case.found.items]
    ends = [file for file in files if file.endswith("/" + ref["file"].lstrip("/"))]
    if ref["file"] in files or not ends:
        return ref
    if len(ends) > 1:
        raise BadReference(TEXTS["several"].say(file=clean(ref["file"], 200), files=ends[:9]).render(case.lang))
    return {**ref, "file": ends[0]}


def _line(case: Case, file: str, line: int) -> Linked:
    rows: list[tuple[str, str, str]] = []
    marked: set[int] = set()
    for number, text in quotes.around(case.found, file, line, AROUND).items():
        pieces = [text[at : at + PIECE] for at in range(0, max(len(text), 1), PIECE)] if number == line else [text]
        for n, piece in enumerate(pieces):
            if number == line:
                marked.add(len(rows))
            rows.append((HERE if number == line else "", str(number) if n == 0 else "", piece))
    frame = pd.DataFrame(rows, columns=pd.Index(["here", "line", "text"]))
    return Linked(_table(frame, TEXTS["line"].say(file=file, line=line), case.lang), (), frozenset(marked))


def stored_record(case: Case, file: str, physical_offset: int) -> dict[str, Any]:
    """Return {field: value} of a record, its `stage`, `properties` as {name: value} and `body`: the first `PREVIEW`
    decompressed bytes, None where they cannot be read. Raise `KeyError` for a file or an offset without a record.
    """
    record = case.facts.record(file, physical_offset, (*SHOWN, "stage", schema.TEXT, "body"))
    body = record["body"]
    properties = schema.as_dict(record.pop(schema.TEXT) or "")
    return record | {"properties": properties, "body": None if body is None else bytes(body[:PREVIEW])}


def _record(case: Case, file: str, offset: int) -> Shown:
    found = stored_record(case, file, offset)
    rows = [(name, found[name]) for name in ("stage", *SHOWN) if found[name] is not None]
    rows += [(f"properties.{name}", value) for name, value in found["properties"].items()]
    if found["body"] is not None:
        text = found["body"].decode("utf-8", "backslashreplace")
        pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)] or [""]
        heads = [TEXTS["body"].say(bytes=len(found["body"])).render(case.lang), *[""] * (len(pieces) - 1)]
        rows += list(zip(heads, pieces, strict=True))
    frame = pd.DataFrame([(name, _said(value)) for name, value in rows], columns=pd.Index(["field", "value"]))
    fields = Linked(_table(frame, TEXTS["record"].say(file=file, offset=str(offset)), case.lang))
    key = found["uniq_key"]
    return Shown((fields, *([_lineage(case, key, found["offset_msg_id"])] if key else [])), id=key or "")


def _said(value: Any) -> Any:
    # Ids and offsets are printed without thousands separators, so that searching for them works.
    return str(value) if isinstance(value, int) else value


def _lineage(case: Case, key: str, offset_msg_id: str) -> Linked:
    """Return the copies of a message around one of them; for a message in a loop without why each was written, which is slow."""
    copies = case.answers(_AROUND, key=key, offset_msg_id=offset_msg_id, copies=COPIES)
    told = copies if copies and copies[0]["n"] > MANY else trace(case, key)["records"]
    ids = [record["offset_msg_id"] for record in told]
    at = ids.index(offset_msg_id) if offset_msg_id in ids else 0
    near = told[max(0, at - COPIES) : at + COPIES + 1]
    shown = messages.copies({"id": key, "records": near}, case.lang)
    table = attrs.evolve(
        shown, caption=TEXTS["lineage"].render(case.lang), frame=shown.frame.dropna(axis="columns", how="all")
    )
    here = frozenset(n for n, record in enumerate(near) if record["offset_msg_id"] == offset_msg_id)
    return Linked(table, _places(near), here)


def traced(case: Case, id: str, within: Selection | None = None) -> Shown:  # noqa: A002 - as in `kit.trace`
    """Return the life of a message; `within`: only its copies and deliveries in a selection."""
    told = trace(case, id)
    if within is not None:
        told = told | {name: _left(told[name], within) for name in ("records", "handled")}
    tables = (
        Linked(messages.copies(told, case.lang), _places(told["records"])),
        Linked(messages.deliveries(told, case.lang), _places(told["handled"])),
        Linked(messages.mentions(told, case.lang), _places([*told["mentions"], *told["traces"]])),
        Linked(messages.gaps(told, case.lang)),
    )
    kept = tuple(linked for n, linked in enumerate(tables) if n == 0 or len(linked.table.frame))
    drawn = told | {"records": told["records"][:MANY]}
    return Shown(kept, (messages.traced(drawn, case.lang),), told["id"] if told["records"] else "")


def _left(rows: Sequence[dict[str, Any]], within: Selection) -> list[dict[str, Any]]:
    return [rows[n] for n in within.keep(pd.DataFrame(rows)).index] if rows else []


def _places(rows: Sequence[Mapping[str, Any]]) -> tuple[Reference | None, ...]:
    return tuple(place_of(row) for row in rows)


def place_of(row: Mapping[Any, Any]) -> Reference | None:
    """Return the reference of a row with columns `file` and `line` or `physical_offset`, None if absent."""
    file = row.get("file")
    if not isinstance(file, str) or not file:
        return None
    for name in ("line", "physical_offset"):
        value = row.get(name)
        if value is not None and not pd.isna(value) and str(value).isdigit():
            return {"file": file, name: int(value)}
    return None


def _table(frame: pd.DataFrame, caption: Sentence, lang: Lang) -> Table:
    return Table(frame, caption, {"here": " ", **NAMES}, lang, len(frame))


def spelled(ref: Reference) -> str:
    """Return a reference as a text that `place` accepts."""
    return f"{ref['file']}:{ref['line']}" if ref.get("line") else f"{ref['file']} @ {ref['physical_offset']}"
