"""The evidence of a lab: cases opened and triaged once, and views that give no verdict away."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import pandas as pd

from kit import data
from kit.charts import Chart, Table
from kit.i18n import Lang, Sentence, labels
from kit.notebook import inquiry as notebook

ARCHIVES: Final = (".tar.zst", ".tar.gz", ".tgz", ".tar", ".zip")
SAYS: Final = labels("training")["bench"]


@attrs.define
class Bench:
    """One or several evidence sets, numbered from 1 as in their questions."""

    paths: Sequence[Path]
    workspace: str = ""
    lang: Lang = "en"
    interactive: bool = True
    options: Mapping[str, Any] | None = None
    _inquiries: dict[int, notebook.Inquiry] = attrs.field(init=False, factory=dict)

    def inquiry(self, n: int = 1) -> notebook.Inquiry:
        """Return evidence number `n`, opened and triaged on first use. Raise `IndexError` for an unknown number."""
        if not 1 <= n <= len(self.paths):
            raise IndexError(n)
        if n not in self._inquiries:
            given = self.workspace, self.lang, self.interactive, self.options or {}
            self._inquiries[n] = notebook.start(self.paths[n - 1], *given, book=None)
        return self._inquiries[n]

    def draw(self, chart: Callable[..., Chart], rows: Any) -> Any:
        """Draw a table by its name, or rows, without the sentence that reads it: reading it is the task."""
        drawn = self.inquiry().draw(chart, rows) if isinstance(rows, str) else chart(rows, lang=self.lang)
        return attrs.evolve(drawn, reading="") if isinstance(drawn, Chart) else drawn

    def answer(self, query: str, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return the first row that answers a query over the case; {} without one, or if a `:name` is not `known`."""
        values = {name: known.get(name) for name in re.findall(r":(\w+)", query)}
        return {} if None in values.values() else next(iter(self.inquiry().case.tables.answers(query, **values)), {})

    # --- to look at ---------------------------------------------------------------------------------------------------

    def files(self, n: int = 1) -> Table:
        """Return the files of the evidence by kind, without archive names, which could give too much away."""
        items = [(i.file.rpartition("!/")[2], i.kind, i.source, i.bytes) for i in self.inquiry(n).case.inventory.items]
        frame = pd.DataFrame(items, columns=pd.Index(["file", "kind", "source", "bytes"]))
        return Table(frame, SAYS["files"], lang=self.lang)

    def topics(self, n: int = 1) -> Table:
        return self.sql(data.text("training/topics.sql"), n, SAYS["topics"])

    def warnings(self, n: int = 1, most: int = 15) -> Table:
        """Return the most common warnings and errors, with digits and ids folded."""
        return self.sql(data.text("training/warnings.sql"), n, SAYS["warnings"], most=most)

    def lines(self, text: str, n: int = 1, most: int = 8) -> Table:
        """Return the first log entries that contain a text, including their stack traces."""
        return self.sql(data.text("training/lines.sql"), n, SAYS["found"].say(text=text), text=text, most=most)

    def records(self, condition: str = "true", n: int = 1, most: int = 8) -> Table:
        """Return the first records that meet a condition in SQL, such as `topic = 'X' and property_DELAY is not null`."""
        query = data.text("training/records.sql").format(condition=condition)
        return self.sql(query, n, SAYS["records"], most=most)

    def sql(self, query: str, n: int = 1, caption: Sentence | str = "", /, **values: Any) -> Table:
        return Table(self.inquiry(n).sql(query, **values).toPandas(), caption, lang=self.lang)


def evidences(evidence: str | Path | Sequence[str], cases: int | None = None, draw: int = 1) -> list[Path]:
    """Return the evidence of a lab; for one on several sets those named, or `cases` archives drawn from a folder.

    In the order of a hash of draw and content, which gives nothing away. Raise `FileNotFoundError`.
    """
    if not isinstance(evidence, str | Path):
        return [notebook.locate(one) for one in evidence]
    path = notebook.locate(evidence)
    inside = path.rglob("*") if cases and path.is_dir() else ()
    archives = [p for p in inside if p.name.endswith(ARCHIVES) and p.is_file()]
    drawn = sorted(archives, key=lambda p: hashlib.sha256(b"%d" % draw + p.read_bytes()).hexdigest())
    return drawn[:cases] or [path]
