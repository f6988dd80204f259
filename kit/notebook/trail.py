"""Tables in which every reference and every id can be clicked: what it leads to opens below, with a way back."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kit.charts import clean, controls
from kit.i18n import labels
from kit.notebook import places
from kit.notebook.places import Linked, Shown

if TYPE_CHECKING:
    from kit.case.case import Case

TEXTS: Final = labels("notebook")["trail"]


@functools.cache
def _widget() -> Any:
    import anywidget
    import traitlets

    class LinkedTable(anywidget.AnyWidget):
        _esm = Path(__file__).with_name("trail.js").read_text(encoding="utf-8")
        _css = Path(__file__).with_name("trail.css").read_text(encoding="utf-8")
        spec = traitlets.Dict().tag(sync=True)
        references: tuple[Any, ...] = ()

    return LinkedTable


def opened(case: Case, place: Shown) -> Any:
    """Return a place or a life with clickable references."""
    trail = Trail(case)
    trail.box.children = (*trail.parts(place), *trail.box.children)
    return controls.standing(trail.box, controls.outputs([*place.charts, *(each.table for each in place.tables)]))


class Trail:
    """A table, if given, and below it what was opened last."""

    def __init__(self, case: Case, given: Linked | None = None) -> None:
        import ipywidgets

        self.case, self.lang = case, case.lang
        self._steps: list[tuple[str, Any]] = []
        self._below = ipywidgets.VBox([])
        self._table = None if given is None else self._rows(given)
        self.box = ipywidgets.VBox([each for each in (self._table, self._below) if each is not None])
        self.box.add_class("rmq-kit-trail").add_class("rmq-kit-live")
        if given:
            controls.standing(self.box, controls.outputs([given.table]))

    def _rows(self, given: Linked) -> Any:
        """Return a table as a widget."""
        widget = _widget()()

        def act(_: Any, message: dict[str, Any], __: Any) -> None:
            row, id_ = message.get("row"), message.get("id")
            if isinstance(id_, str):
                self.open("id", id_)
            elif isinstance(row, int) and 0 <= row < len(widget.references) and widget.references[row] is not None:
                self.open("place", widget.references[row])

        widget.on_msg(act)
        self._fill(widget, given)
        return widget

    def _fill(self, widget: Any, given: Linked) -> None:
        spec = given.table.as_dict()
        widget.references = given.references[: len(spec["rows"])]
        named = [str(name) for name in given.table.frame.columns]
        spelled = [ref and clean(places.spelled(ref), 200) for ref in widget.references]
        widget.spec = spec | {
            # The control is in the cell with the place in the file, else in the one with the file, else in the first.
            "place": next((named.index(name) for name in ("line", "physical_offset", "file") if name in named), 0),
            "labels": [each and TEXTS["show"].say(place=each).render(self.lang) for each in spelled],
            "marked": sorted(given.marked),
            "life": TEXTS["life"].in_(self.lang),
        }

    def fill(self, given: Linked) -> None:
        """Show other rows in the table that was given; what was opened below stays."""
        self._fill(self._table, given)

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
        back = ipywidgets.Button(description=TEXTS["back"].in_(self.lang), icon="arrow-left")
        back.on_click(self.back)
        try:
            widgets = self._widgets(*self._steps[-1])
        except Exception as error:  # the reader chose what to open: show there why it cannot be opened
            output = {"output_type": "display_data", "data": {"text/plain": clean(error, 400)}, "metadata": {}}
            widgets = [ipywidgets.Output(outputs=(output,))]
        self._below.children = (back, *widgets)

    def _widgets(self, kind: str, what: Any) -> list[Any]:
        if kind == "explore":
            from kit.explorer import explore

            return [explore(self.case, message=what).widget]
        return self.parts(places.place(self.case, what) if kind == "place" else places.traced(self.case, what))

    def parts(self, place: Shown) -> list[Any]:
        """Return the widgets of a place or a life."""
        import ipywidgets

        parts = [ipywidgets.Output(outputs=controls.outputs(place.charts))] if place.charts else []
        parts += [self._rows(each) for each in place.tables]
        if place.id:
            around = ipywidgets.Button(description=TEXTS["around"].in_(self.lang), layout={"width": "auto"})
            around.on_click(lambda _: self.open("explore", place.id))
            parts.append(around)
        return parts
