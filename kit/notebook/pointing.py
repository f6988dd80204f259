"""What an `Inquiry` does on a click: open a place or a message, explore, add a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit.charts import Table
from kit.notebook import places

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case
    from kit.explorer import Explorer, Selection
    from kit.i18n import Lang
    from kit.notebook.places import Reference
    from kit.notebook.trail import Trail


class Pointing:
    """The part of an `Inquiry` that follows references and takes notes."""

    case: Case
    lang: Lang
    interactive: bool
    notes: str | Path

    def finding(self, cause: str) -> Mapping[str, Any]:
        """Return the finding of a cause as in findings.json."""
        raise NotImplementedError

    def place(self, said: Reference | str | tuple[str, int]) -> Any:
        """Show the line of a reference with 20 lines around it, or the record with all its properties and its copies
        before and after: a reference of findings.json, (file, line), `FILE:LINE` or `FILE @ BYTE`. Raise `BadReference`.
        """
        return self._opened(places.place(self.case, said))

    def trace(self, id: str, within: Selection | None = None) -> Any:  # noqa: A002 - as in `kit.trace`
        """Show the life of a message, or the part of it in a selection."""
        return self._opened(places.traced(self.case, id, within))

    def note(self, text: str, about: Any = None, who: str = "") -> Table:
        """Add a hypothesis to the notes and return all of them. `about`: a reference as `place` takes it, a step as (cause,
        id), or an explorer's selection. Raise `BadReference` if it leads nowhere, `WorkspaceInside`, `BadNotes`.
        """
        from kit.notebook import hypotheses

        return hypotheses.note(self, text, about, who)

    def overrule(self, cause: str, who: str, why: str) -> Table:
        """Add to the notes that the team overrules a verdict; the finding stays the same, and is marked."""
        from kit.notebook import hypotheses

        return hypotheses.overrule(self, cause, who, why)

    def _opened(self, shown: places.Shown) -> Any:
        from kit.notebook.trail import opened

        return opened(self.case, shown) if self.interactive else shown

    def _linked(self, table: Table, references: Sequence[Reference | None]) -> Any:
        """Return a table whose references can be clicked, if interactive."""
        if not self.interactive or not any(references):
            return table
        from kit.notebook.trail import Trail

        return Trail(self.case, places.Linked(table, tuple(references))).box

    def explore(self, **narrowed: Any) -> Explorer:
        """Return the linked views of the whole case, narrowed by the arguments of `kit.explore`."""
        from kit.explorer import explore

        explorer = explore(self.case, **{"interactive": self.interactive, **narrowed})
        explorer.linked = self._rows_of_explorer
        return explorer

    def _rows_of_explorer(self, table: Table, frame: pd.DataFrame, shown: Trail | None) -> Trail:
        """Return a trail of rows that open, the one shown already if there is one."""
        from kit.notebook.trail import Trail

        given = places.Linked(table, tuple(places.place_of(row) for row in frame.to_dict("records")))
        if shown is None:
            return Trail(self.case, given)
        shown.fill(given)
        return shown
