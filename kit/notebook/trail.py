"""Tables in which every reference and every id can be clicked: what it leads to opens below, with a way back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kit.charts import clean, controls
from kit.i18n import Lang, labels
from kit.notebook import places
from kit.notebook.places import Linked, Shown

if TYPE_CHECKING:
    from kit.case.case import Case

TEXTS: Final = labels("notebook")["trail"]

SCRIPT: Final = r"""
const ID = /(?<![0-9A-Za-z])(?:[0-9A-F]{56}|01[0-9A-F]{32}|[0-9A-F]{32})(?![0-9A-Za-z])/g;

function control(text, label, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "rmq-kit-link";
  button.textContent = text;
  button.setAttribute("aria-label", label);
  button.addEventListener("click", act);
  return button;
}

// All text of the evidence is set by textContent.
function render({ model, el }) {
  const again = () => { el.replaceChildren(); draw(model, el); };
  model.on("change:spec", again);
  again();
  return () => model.off("change:spec", again);
}

function draw(model, el) {
  const spec = model.get("spec");
  const box = document.createElement("div");
  box.className = "jp-RenderedHTMLCommon rmq-kit-linked";
  const table = document.createElement("table");
  const caption = document.createElement("caption");
  caption.textContent = [spec.caption, ...spec.notes].join(" ").trim();
  const head = table.createTHead().insertRow();
  for (const column of spec.columns) {
    const th = document.createElement("th");
    th.scope = "col";
    th.textContent = column.name;
    head.append(th);
  }
  const body = table.createTBody();
  spec.rows.forEach((cells, n) => {
    const row = body.insertRow();
    if (spec.marked.includes(n)) row.setAttribute("aria-current", "true");
    cells.forEach((text, c) => {
      const cell = row.insertCell();
      cell.className = spec.columns[c].kind;
      if ((spec.decides || []).some(([r, k]) => r === n && k === c)) cell.className += " decides";
      if (c === spec.place && spec.labels[n]) {
        cell.append(control(text, spec.labels[n], () => model.send({ row: n })));
        return;
      }
      let last = 0;
      for (const hit of text.matchAll(ID)) {
        cell.append(text.slice(last, hit.index));
        cell.append(control(hit[0], spec.life.replace("{id}", hit[0]), () => model.send({ id: hit[0] })));
        last = hit.index + hit[0].length;
      }
      cell.append(text.slice(last));
    });
  });
  table.prepend(caption);
  box.append(table);
  el.append(box);
  const here = body.querySelector("tr[aria-current]");
  if (here) requestAnimationFrame(() => { box.scrollTop = here.offsetTop - box.clientHeight / 2; });
}

export default { render };
"""
STYLE: Final = """
.rmq-kit-linked { overflow-x: auto; max-height: 32em; overflow-y: auto; }
.rmq-kit-linked caption { text-align: left; font-weight: 600; caption-side: top; }
.rmq-kit-linked th, .rmq-kit-linked td { text-align: left !important; white-space: nowrap; vertical-align: top; }
.rmq-kit-linked td.long { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 14em; }
.rmq-kit-linked td.decides { background: var(--jp-warn-color3, #fff3cd); font-weight: 600; }
.rmq-kit-linked tr[aria-current] { font-weight: 600; background: var(--jp-warn-color3, #fff3cd) !important; }
.rmq-kit-link { font: inherit; color: var(--jp-content-link-color, #0b5cad); background: none; border: 0; padding: 0; cursor: pointer; text-decoration: underline; text-align: left; overflow-wrap: anywhere; }
.rmq-kit-link:focus-visible { outline: 2px solid var(--jp-content-link-color, #0b5cad); outline-offset: 1px; }
"""


@functools.cache
def _widget() -> Any:
    import anywidget
    import traitlets

    class LinkedTable(anywidget.AnyWidget):
        _esm = SCRIPT
        _css = STYLE
        spec = traitlets.Dict().tag(sync=True)

    return LinkedTable


class LinkedRows:
    """A table as a widget that calls `open_("place", reference)` and `open_("id", id)`; `fill` shows other rows in it.

    The browser gives up a new widget after two seconds of other work: what shows again and again is one widget.
    """

    def __init__(self, given: Linked, open_: Callable[[str, Any], None], lang: Lang) -> None:
        self._open, self._lang = open_, lang
        self.widget = _widget()()
        self.widget.on_msg(self._act)
        self.fill(given)

    def fill(self, given: Linked) -> None:
        """Show other rows."""
        spec = given.table.as_dict()
        self._references = given.references[: len(spec["rows"])]
        named = [str(name) for name in given.table.frame.columns]
        # The control is in the cell with the place in the file, else in the one with the file, else in the first.
        place = next((named.index(name) for name in ("line", "physical_offset", "file") if name in named), 0)
        labels = [
            None if ref is None else TEXTS["show"].say(place=clean(places.spelled(ref), 200)).render(self._lang)
            for ref in self._references
        ]
        more = {"place": place, "labels": labels, "marked": sorted(given.marked), "life": TEXTS["life"].in_(self._lang)}
        self.widget.spec = spec | more

    def _act(self, _: Any, said: Any, __: Any) -> None:
        row = said.get("row")
        if isinstance(said.get("id"), str):
            self._open("id", said["id"])
        elif isinstance(row, int) and 0 <= row < len(self._references) and self._references[row] is not None:
            self._open("place", self._references[row])


def opened(case: Case, shown: Shown) -> Any:
    """Return a place or a life with clickable references."""
    trail = Trail(case)
    trail.box.children = (*trail.parts(shown), *trail.box.children)
    return controls.standing(trail.box, controls.outputs([*shown.charts, *(each.table for each in shown.tables)]))


class Trail:
    """A table, if given, and below it what was opened last."""

    def __init__(self, case: Case, given: Linked | None = None) -> None:
        import ipywidgets

        self.case = case
        self.lang: Lang = case.lang
        self._steps: list[tuple[str, Any]] = []
        self._below = ipywidgets.VBox([])
        self._rows = None if given is None else LinkedRows(given, self.open, self.lang)
        above = [self._rows.widget] if self._rows else []
        self.box = ipywidgets.VBox([*above, self._below])
        self.box.add_class("rmq-kit-trail").add_class("rmq-kit-live")
        if given:
            controls.standing(self.box, controls.outputs([given.table]))

    def fill(self, given: Linked) -> None:
        """Show other rows in the table that was given; what was opened below stays."""
        assert self._rows is not None
        self._rows.fill(given)

    def open(self, kind: str, what: Any) -> None:
        """Show a `place`, the life of an `id`, or the `explore`r around one, below the table."""
        self._steps.append((kind, what))
        self._draw()

    def back(self, _: Any = None) -> None:
        """Show what was open before; in the end nothing."""
        del self._steps[-1:]
        self._draw()

    def _draw(self) -> None:
        import ipywidgets

        if not self._steps:
            self._below.children = ()
            return
        kind, what = self._steps[-1]
        back = ipywidgets.Button(description=TEXTS["back"].in_(self.lang), icon="arrow-left")
        back.on_click(self.back)
        try:
            shown = self._shown(kind, what)
        except Exception as error:  # the reader chose what to open: show there why it cannot be opened
            said = {"output_type": "display_data", "data": {"text/plain": clean(error, 400)}, "metadata": {}}
            shown = [ipywidgets.Output(outputs=(said,))]
        self._below.children = (back, *shown)

    def _shown(self, kind: str, what: Any) -> list[Any]:
        if kind == "explore":
            from kit.explorer import explore

            return [explore(self.case, message=what).widget]
        return self.parts(places.place(self.case, what) if kind == "place" else places.traced(self.case, what))

    def parts(self, found: Shown) -> list[Any]:
        """Return the widgets of a place or a life."""
        import ipywidgets

        parts = [ipywidgets.Output(outputs=controls.outputs(found.charts))] if found.charts else []
        parts += [LinkedRows(each, self.open, self.lang).widget for each in found.tables]
        if found.id:
            around = ipywidgets.Button(description=TEXTS["around"].in_(self.lang), layout={"width": "auto"})
            around.on_click(lambda _: self.open("explore", found.id))
            parts.append(around)
        return parts
