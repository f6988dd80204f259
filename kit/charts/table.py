"""A small table for readers: typed columns, formatted cells, a caption; notebooks and report draw the same JSON."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import attrs
import pandas as pd
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kit.charts.safe_text import clean
from kit.i18n import Lang, Sentence, T, brief, rendered

MIME: Final = "application/vnd.rmq-kit.table+json"
MAX_ROWS: Final = 60
MAX_CELL: Final = 600
LONG: Final = 24
"""A column with cells at least this long may wrap."""

MORE = T("The first {shown} of {total} rows.", "共 {total} 行，此处为前 {shown} 行。")
BEHIND = T("The table behind the chart", "图表背后的数据")
NONE = T("None.", "无。")
UTC_NOTE = T("Times are UTC.", "时间均为 UTC。")

PERCENT: Final = re.compile(r"[\d.,]+ ?%")
_QUOTED: Final = re.compile(r"`([^`\n]{1,200})`")


def prose(text: Any) -> Markup:
    """Return a sentence with text between backticks as code; nothing else becomes markup."""
    return Markup(_QUOTED.sub(r"<code>\1</code>", str(escape(clean(text)))))


def environment(*packages: str) -> Environment:
    """Return the templates of these packages and of the charts: all they show is cleaned and escaped."""
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "kit.charts")]),
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else clean(value),
    )  # fmt: skip
    templates.filters |= {"prose": prose, "brief": brief}
    return templates


TEMPLATES: Final = environment()


def cell(value: Any) -> tuple[str, str]:
    """Return a value as text, and its kind (`text`, `number`, `time` or `none`). Unknown is a dash, never 0.

    A value that cannot be shown is named by its type, so that one cell never breaks the table.
    """
    try:
        return _cell(value)
    except Exception:
        return f"({type(value).__name__})", "text"


def _cell(value: Any) -> tuple[str, str]:
    if isinstance(value, list | tuple) and not any(isinstance(each, list | tuple | dict | set) for each in value):
        return clean("; ".join(_cell(each)[0] for each in value), MAX_CELL), "text"
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and value != value):
        return "–", "none"
    if isinstance(value, pd.Timestamp) or hasattr(value, "isoformat"):
        stamp = pd.Timestamp(value)
        stamp = stamp.tz_convert("UTC") if stamp.tzinfo else stamp
        # Most logs print seconds: milliseconds of zero are left out.
        return stamp.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3].removesuffix(".000"), "time"
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return str(value).lower(), "text"
    if isinstance(value, int):
        return f"{value:,}", "number"
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1 else f"{value:,.1f}", "number"
    return clean(value, MAX_CELL), "number" if PERCENT.fullmatch(str(value)) else "text"


@attrs.define
class Table:
    """`frame`, shown under `caption`; `names` are the column headings (default: the frame's own), in `lang` like it.

    `marked`: the columns that decide, or {column: value} for the cells that do. `failure`: why there is no chart.
    `references`: the reference behind each row, or None; `here`: the numbers of the rows that are meant.
    """

    frame: pd.DataFrame
    caption: Sentence | str
    names: Mapping[str, Sentence | str] = attrs.field(factory=dict)
    lang: Lang = "en"
    max_rows: int = MAX_ROWS
    marked: Sequence[str] | Mapping[str, Any] = ()
    failure: Mapping[str, str] | None = None
    references: Sequence[Mapping[str, Any] | None] = ()
    here: Collection[int] = ()
    clock: str = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.caption = rendered(self.caption, self.lang)
        self.names = {name: rendered(text, self.lang) for name, text in self.names.items()}
        self.clock = UTC_NOTE.render(self.lang)  # now: a notebook shows it later, when no clock is set any more

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON: columns, formatted rows, caption, notes."""
        rows = self.frame.head(self.max_rows)
        columns, texts = [], []
        for name, values in rows.items():
            cells = [cell(value) for value in values]
            kinds = {kind for _, kind in cells} - {"none"}
            texts.append([text for text, _ in cells])
            kind = kinds.pop() if len(kinds) == 1 else "text"
            kind = "long" if kind == "text" and max(map(len, texts[-1]), default=0) > LONG else kind
            columns.append({"name": clean(self.names.get(str(name), name), 80), "kind": kind})
        notes = [self.clock] if any(c["kind"] == "time" for c in columns) else []
        if self.frame.empty:
            notes.append(NONE.render(self.lang))
        if len(self.frame) > len(rows):
            notes.append(MORE.say(shown=len(rows), total=len(self.frame)).render(self.lang))
        return {
            "caption": clean(self.caption),
            "columns": columns,
            "rows": [list(row) for row in zip(*texts, strict=True)],
            "notes": notes,
        } | ({"decides": self._deciding(rows)} if self.marked else {})

    def _deciding(self, rows: pd.DataFrame) -> list[list[int]]:
        """Return row and column of each cell that decides: those with the value that is marked, or with any."""
        values = self.marked if isinstance(self.marked, Mapping) else dict.fromkeys(self.marked)
        columns, cells = [str(name) for name in rows.columns], list[list[int]]()
        for name in [name for name in values if name in rows]:
            hits = rows[name].notna() if values[name] is None else rows[name] == values[name]
            cells += [[row, columns.index(name)] for row in hits.fillna(False).to_numpy(bool).nonzero()[0].tolist()]
        return cells

    def as_html(self, reading: str = "", folded: bool = False) -> str:
        """Return the table for a notebook, every cell escaped; optionally under a sentence and folded."""
        return drawn(self.as_dict(), reading, BEHIND.render(self.lang) if folded else "")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        spec = self.as_dict()
        data = {MIME: spec, "text/html": drawn(spec), "text/plain": spelled(spec)}
        # The metadata tell the report that something failed.
        return (data, {"rmq-kit": {"failure": dict(self.failure)}}) if self.failure else data


def drawn(spec: dict[str, Any], reading: str = "", folded: str = "") -> str:
    """Return a table (a `Table.as_dict`) as HTML; `folded`: the label of the fold it is under."""
    return TEMPLATES.get_template("notebook_table.html.j2").render(table=spec, reading=clean(reading), folded=folded)


def spelled(spec: dict[str, Any]) -> str:
    lines = [
        *([spec["caption"]] if spec["caption"] else []),
        *([" | ".join(c["name"] for c in spec["columns"])] if spec["columns"] else []),
        *(" | ".join(row) for row in spec["rows"]),
        *spec["notes"],
    ]
    return "\n".join(lines)
