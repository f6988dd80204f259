"""From a claim to its place in the evidence: the line with its context, the record with its properties and copies; and
a message's messages. Each as tables whose references can be followed: where they can be clicked, what one leads to
opens below, with a way back.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import anywidget
import attrs
import ipywidgets
import pandas as pd
import traitlets
from IPython.display import display

from kit import data
from kit.analysis.messages.trace import trace
from kit.case.case import Case
from kit.charts import Chart, Table, clean, controls, messages
from kit.formats.commitlog import schema
from kit.i18n import labels
from kit.inventory import quotes
from kit.notebook.answers import HEADS

Reference = Mapping[str, Any]
"""As in findings.json: {"file", "line"} or {"file", "physical_offset"}; other keys are ignored."""
AROUND: Final = 20
"""Lines shown before and after the one meant."""
MANY: Final = 2000
"""Up to this many copies are drawn; a message in a loop can have a hundred thousand."""
PREVIEW: Final = 500
"""Bytes of a body that are shown."""
FIELDS: Final = tuple(name for name in schema.FIELDS if name not in ("body", "properties"))
HERE: Final = "▶"
_AT: Final = re.compile(r"(?P<file>.*?)(?:\s*@\s*(?P<offset>\d+)|:(?P<line>\d+))", re.DOTALL)
TEXTS: Final = labels("notebook")["places"]
TRAIL: Final = labels("notebook")["trail"]


class BadReference(ValueError):
    """A text that is not a reference, or a reference to nothing in the evidence."""


@attrs.frozen
class View:
    """What is shown of a place or a message: charts, then tables. `id`: the message, if it is one."""

    tables: tuple[Table, ...]
    charts: tuple[Chart, ...] = ()
    id: str = ""

    def _ipython_display_(self) -> None:
        for each in (*self.charts, *self.tables):
            display(each)


def reference(at: Reference | str | tuple[str, int]) -> Reference:
    """Return a reference of findings.json, (file, line), `FILE:LINE` or `FILE @ BYTE`. Raise `BadReference`."""
    if isinstance(at, Mapping) and at.get("file") and (at.get("line") or at.get("physical_offset") is not None):
        return at
    if isinstance(at, tuple) and len(at) == 2:
        return {"file": at[0], "line": int(at[1])}
    match = _AT.fullmatch(at.strip()) if isinstance(at, str) else None
    if match is None or not match["file"]:
        raise BadReference(TEXTS["bad"].say(text=clean(at, 200)).render())
    where = {"line": int(match["line"])} if match["line"] else {"physical_offset": int(match["offset"])}
    return {"file": match["file"], **where}


def spelled(ref: Reference) -> str:
    """Return a reference as a text that `place` accepts."""
    return f"{ref['file']}:{ref['line']}" if ref.get("line") else f"{ref['file']} @ {ref['physical_offset']}"


def place(case: Case, at: Reference | str | tuple[str, int]) -> View:
    """Return a line amid `AROUND` others, or a record with properties, body and copies. Raise `BadReference`."""
    ref = known(case, reference(at))
    try:
        if ref.get("line"):
            return View((_line(case, ref["file"], int(ref["line"])),))
        return _record(case, ref["file"], int(ref["physical_offset"]))
    except (KeyError, IndexError, ValueError, OSError):
        raise BadReference(TEXTS["gone"].say(file=clean(ref["file"], 200)).render(case.lang)) from None


def known(case: Case, ref: Reference) -> Reference:
    """Return a reference whose file may be given by the end of its path. Raise `BadReference` where several end so."""
    files = [item.file for item in case.unzoned.items]
    ends = [file for file in files if file.endswith("/" + ref["file"].lstrip("/"))]
    if ref["file"] in files or not ends:
        return ref
    if len(ends) > 1:
        raise BadReference(TEXTS["several"].say(file=clean(ref["file"], 200), files=ends[:9]).render(case.lang))
    return {**ref, "file": ends[0]}


def _line(case: Case, file: str, line: int) -> Table:
    near = quotes.around(case.unzoned, file, line, AROUND)
    rows = [(HERE if number == line else "", str(number), text) for number, text in near.items()]
    frame = pd.DataFrame(rows, columns=pd.Index(["here", "line", "text"]))
    caption = TEXTS["line"].say(file=file, line=line)
    return Table(frame, caption, {"here": " ", **HEADS}, case.lang, here=[list(near).index(line)])


def _record(case: Case, file: str, offset: int) -> View:
    record = case.facts.record(file, offset, ("stage", *FIELDS, schema.TEXT, "body"))
    properties, body = schema.as_dict(record.pop(schema.TEXT) or ""), record.pop("body")
    rows = [(name, value) for name, value in record.items() if value is not None]
    rows += [(f"properties.{name}", value) for name, value in properties.items()]
    if body is not None:
        text = bytes(body[:PREVIEW]).decode("utf-8", "backslashreplace")
        rows.append((TEXTS["body"].say(bytes=len(body[:PREVIEW])).render(case.lang), text))
    # Ids and offsets are printed without thousands separators, so that searching for them works.
    texts = [(name, str(value) if isinstance(value, int) else value) for name, value in rows]
    frame = pd.DataFrame(texts, columns=pd.Index(["field", "value"]))
    caption = TEXTS["record"].say(file=file, offset=str(offset))
    fields, key = Table(frame, caption, HEADS, case.lang, len(frame)), record["uniq_key"]
    return View((fields, *([_lineage(case, key, record["offset_msg_id"])] if key else [])), id=key or "")


def _lineage(case: Case, key: str, offset_msg_id: str) -> Table:
    near = case.facts.answers("copies_around", key=key, offset_msg_id=offset_msg_id)
    chart = messages.copies({"id": key, "records": near}, case.lang)
    frame = chart.frame.dropna(axis="columns", how="all")
    here = [n for n, record in enumerate(near) if record["offset_msg_id"] == offset_msg_id]
    caption, references = TEXTS["lineage"].render(case.lang), places_of(near)
    return attrs.evolve(chart, caption=caption, frame=frame, references=references, here=here)


def traced(case: Case, id: str) -> View:  # noqa: A002 - as in `kit.trace`
    life = trace(case, id)
    parts = (
        (messages.copies, life["records"]), (messages.deliveries, life["handled"]),
        (messages.mentions, [*life["mentions"], *life["traces"]]), (messages.gaps, ()),
    )  # fmt: skip
    tables = [attrs.evolve(show(life, case.lang), references=places_of(rows)) for show, rows in parts]
    filled = tuple(table for n, table in enumerate(tables) if n == 0 or len(table.frame))
    journey = messages.traced(life | {"records": life["records"][:MANY]}, case.lang)
    return View(filled, (journey,), life["id"] if life["records"] else "")


def places_of(rows: Iterable[Mapping[Any, Any]]) -> tuple[Reference | None, ...]:
    """Return the reference of each row with columns `file` and `line` or `physical_offset`, None if absent."""
    places: list[Reference | None] = []
    for row in rows:
        file, numbers = row.get("file"), {name: str(row.get(name)) for name in ("line", "physical_offset")}
        place = {name: int(number) for name, number in numbers.items() if number.isdigit()}
        places.append({"file": file, **place} if file and isinstance(file, str) and place else None)
    return tuple(places)


# --- tables that can be clicked ---------------------------------------------------------------------------------------


class LinkedTable(anywidget.AnyWidget):
    _esm = data.text("notebook/trail.js")
    _css = data.text("notebook/trail.css")
    spec = traitlets.Dict().tag(sync=True)
    references: tuple[Any, ...] = ()


class Trail:
    """A table, a place or a life, if given, and below it what was opened last."""

    def __init__(self, case: Case, given: Table | View | None = None) -> None:
        self.case, self.lang = case, case.lang
        self._steps: list[tuple[str, Any]] = []
        self._below = ipywidgets.VBox([])
        view = View((given,)) if isinstance(given, Table) else given or View(())
        above = self.parts(view)
        self._table = above[-1] if isinstance(given, Table) else None
        self.box = ipywidgets.VBox([*above, self._below])
        self.box.add_class("rmq-kit-trail")
        if above:
            controls.standing(self.box, controls.outputs([*view.charts, *view.tables]))

    def _rows(self, given: Table) -> Any:
        widget = LinkedTable()

        def act(_: Any, message: dict[str, Any], __: Any) -> None:
            row, id_ = message.get("row"), message.get("id")
            if isinstance(id_, str):
                self.open("id", id_)
            elif isinstance(row, int) and 0 <= row < len(widget.references) and widget.references[row] is not None:
                self.open("place", widget.references[row])

        widget.on_msg(act)
        self.fill(given, widget)
        return widget

    def fill(self, given: Table, widget: Any = None) -> None:
        """Show other rows in a table, else in the one that was given; what was opened below stays."""
        widget, spec = widget or self._table, given.as_dict()
        widget.references = given.references[: len(spec["rows"])]
        named = [str(name) for name in given.frame.columns]
        texts = [ref and clean(spelled(ref), 200) for ref in widget.references]
        widget.spec = spec | {
            # The control is in the cell with the place in the file, else in the one with the file, else in the first.
            "place": next((named.index(name) for name in ("line", "physical_offset", "file") if name in named), 0),
            "labels": [each and TRAIL["show"].say(place=each).render(self.lang) for each in texts],
            "marked": sorted(given.here),
            "life": TRAIL["life"].in_(self.lang),
        }

    def open(self, kind: str, what: Any) -> None:
        """Show a `place`, the life of an `id`, or the `explore`r around one, below the table."""
        self._steps.append((kind, what))
        self._draw()

    def back(self, _: Any = None) -> None:
        """Show what was open before; in the end nothing."""
        del self._steps[-1:]
        self._draw()

    def _draw(self) -> None:
        if not self._steps:
            self._below.children = ()
            return
        back = ipywidgets.Button(description=TRAIL["back"].in_(self.lang), icon="arrow-left")
        back.on_click(self.back)
        kind, what = self._steps[-1]
        try:
            if kind == "explore":
                from kit.explorer.explorer import explore

                widgets = [explore(self.case, message=what).widget]
            else:
                widgets = self.parts(place(self.case, what) if kind == "place" else traced(self.case, what))
        except Exception as error:  # the reader chose what to open: show there why it cannot be opened
            output = {"output_type": "display_data", "data": {"text/plain": clean(error, 400)}, "metadata": {}}
            widgets = [ipywidgets.Output(outputs=(output,))]
        self._below.children = (back, *widgets)

    def parts(self, place: View) -> list[Any]:
        parts = [ipywidgets.Output(outputs=controls.outputs(place.charts))] if place.charts else []
        parts += [self._rows(each) for each in place.tables]
        if place.id:
            around = ipywidgets.Button(description=TRAIL["around"].in_(self.lang), layout={"width": "auto"})
            around.on_click(lambda _: self.open("explore", place.id))
            parts.append(around)
        return parts
