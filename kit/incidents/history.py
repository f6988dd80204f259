"""Many incidents, each a findings.json, as tables: an overview, which resemble each other and why; and as an index page
over their reports: offline, searchable, one card for each.

The likeness is the shared weight of traits by the weight of all (a weighted Jaccard index): 1 for the same findings.
"""

import contextlib
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, Final

import attrs
import msgspec
import pandas as pd
from markupsafe import Markup

from kit import __version__, data
from kit.case import output
from kit.charts import Chart, Table, pictures
from kit.charts.table import environment
from kit.evidence import disk
from kit.formats.printed_times import iso
from kit.i18n import Filled, Lang, Sentence, labels
from kit.report import compare, html
from kit.report.labels import COLUMNS, VERDICTS
from kit.rocketmq.names import is_system_topic

READING: Final = labels("incidents")["reading"]
SAYS: Final = labels("incidents")["history"]
HEADS: Final = COLUMNS | labels("incidents")["columns"]
LIKE: Final = labels("incidents")["likeness"]
WORDS: Final = labels("incidents")["words"]
GALLERY: Final = labels("incidents")["gallery"]
WEIGHTS: Final = {"cause": 4.0, "name": 2.0, "suspected": 1.5, "step": 1.0}
"""A confirmed cause weighs most; a common name shows that it is the same system; a step alone means little."""
LEAST: Final = 0.05
NAMES_SHOWN: Final = 4
PAGES: Final = ("report.html", "postmortem.html")
_NAMED: Final = re.compile(
    r"\b(?:REAL_TOPIC|RETRY_TOPIC|PGROUP|topic|consumerGroup|producerGroup|group)\s*[=:]\s*\"?([^\s,;\"'}\])]+)"
    r"|%(?:RETRY|DLQ)%([\w%|-]+)"
)


@attrs.frozen
class Incident:
    """One findings.json. `name`: its folder, relative to the one read. `pages`: report and postmortem next to it."""

    name: str
    pages: tuple[Path, ...]
    findings: Mapping[str, Any] = attrs.field(repr=False)

    @property
    def root_causes(self) -> list[str]:
        return [str(slug) for slug in self.findings.get("root_causes") or ()]

    @property
    def evidence(self) -> str:
        """Return the name of the evidence, without its folder."""
        return PurePath(str(self._about("path") or "")).name

    @property
    def began(self) -> dt.datetime | None:
        """Return when its first root cause began, else when its evidence begins; None if nothing has a time."""
        windows = [f["window"][0] for f in self.with_verdict() if f.get("window") and f["cause"] in self.root_causes]
        firsts = [file.get("first") for file in self._about("files") or ()]
        return min(_instants(windows), default=None) or min(_instants(firsts), default=None)

    def with_verdict(self, *verdicts: str) -> list[Mapping[str, Any]]:
        """Return the findings with one of these verdicts, confirmed or suspected unless named."""
        return [f for f in self.findings["findings"] if f.get("verdict") in (verdicts or html.FOUND)]

    def _about(self, field: str) -> Any:
        return (self.findings.get("evidence") or {}).get(field)

    @cached_property
    def traits(self) -> set[tuple[str, str]]:
        """Return what it shows, as (kind, what): causes, steps that held, topics and groups it names."""
        traits = set()
        for finding in self.with_verdict():
            slug, figures = finding["cause"], finding.get("figures") or {}
            steps = [step for step in finding.get("steps") or () if step.get("holds") is True]
            texts = [str(ref.get("text") or "") for step in steps for ref in step.get("evidence") or ()]
            traits.add(("cause" if finding["verdict"] == "confirmed" else "suspected", slug))
            traits |= {("step", f"{slug}/{step.get('id') or ''}") for step in steps}
            lag, per_queue, *named = map(figures.get, ("lag", "lag_per_queue", "group", "topic", "advertised"))
            keys = (str(key) for lags in (lag, per_queue) if isinstance(lags, Mapping) for key in lags)
            lags = [part for key in keys for part in key.split("@", 1)]
            measured = [name for name in named if isinstance(name, str)]
            traits |= {("name", name) for name in (*_quoted(texts), *measured, *filter(None, lags))}
        return traits


def _quoted(texts: list[str]) -> Iterator[str]:
    """Yield the topics and groups in quoted lines and records, without RocketMQ's own."""
    for hit in (hit for text in texts for hit in _NAMED.finditer(text)):
        name = (hit[1] or hit[2]).removeprefix("%RETRY%").removeprefix("%DLQ%")
        if name and name != "null" and not is_system_topic(name):
            yield name


def _of_kind(kind: str, traits: Iterable[tuple[str, str]]) -> list[str]:
    return sorted(what for its, what in traits if its == kind)


def _weight(traits: Iterable[tuple[str, str]]) -> float:
    return sum(WEIGHTS[kind] for kind, _ in traits)


def _instants(times: list[Any]) -> Iterator[dt.datetime]:
    for time in times:
        with contextlib.suppress(ValueError, OverflowError):
            yield iso(str(time)).astimezone(dt.UTC)


def read(root: Path) -> tuple[list[Incident], list[Filled]]:
    """Read each findings.json below a folder; return incidents in order of time, and a sentence for each unread file.

    Links and hidden folders, of killed runs, are not followed.
    """
    incidents: list[Incident] = []
    unread = [] if root.is_dir() else [SAYS["no_folder"].say(path=str(root))]
    for path in sorted(root.rglob("findings.json")):
        inside = path.relative_to(root)
        if path.is_symlink() or any(part.startswith(".") for part in inside.parts):
            continue
        try:
            pages = tuple(page for name in PAGES if (page := path.with_name(name)).is_file())
            incidents.append(Incident(inside.parent.as_posix(), pages, compare.read(path)))
        except msgspec.ValidationError:
            unread.append(READING["not_findings"].say(file=inside.as_posix()))
        except (OSError, ValueError, RecursionError) as error:
            unread.append(READING["not_read"].say(file=inside.as_posix(), why=type(error).__name__))
    last = dt.datetime.max.replace(tzinfo=dt.UTC)
    return sorted(incidents, key=lambda one: (one.began or last, one.name)), unread


def start(folder: str | Path, lang: Lang = "en", interactive: bool = True) -> "History":
    """Read every findings.json below a folder; anything but a folder counts as unreadable."""
    from kit.notebook import prose
    from kit.notebook.inquiry import locate

    prose.speak("92", lang, interactive)
    with contextlib.suppress(FileNotFoundError):
        folder = locate(folder)
    return History(*read(Path(folder)), lang)


class History:
    """Many incidents, as tables and a chart. `incidents`: in the order in which they began."""

    def __init__(self, incidents: list[Incident], unread: list[Filled], lang: Lang = "en") -> None:
        self.incidents, self.unread, self.lang = incidents, unread, lang

    def incident(self, name: str = "") -> Incident | None:
        """Return an incident by its folder or evidence, else the latest. Raise `KeyError` with the known names."""
        if not name:
            return self.incidents[-1] if self.incidents else None
        for one in self.incidents:
            if name in (one.name, one.evidence):
                return one
        names = [one.name for one in self.incidents]
        raise KeyError(SAYS["no_such"].say(name=name, names=names).render(self.lang))

    def likeness(self, name: str) -> pd.DataFrame:
        """Return the incidents that resemble this one, most similar first: name, began, likeness, why."""
        one, rows = self.incident(name), []
        own: set[tuple[str, str]] = one.traits if one else set()
        for other in self.incidents:
            if other is not one and (shared := own & other.traits):
                whats = ((LIKE[kind], _of_kind(kind, shared)[:NAMES_SHOWN]) for kind in WEIGHTS)
                why = "; ".join(like.say(what=", ".join(what)).render(self.lang) for like, what in whats if what)
                rows.append((other.name, other.began, _weight(shared) / _weight(own | other.traits), why))
        frame = pd.DataFrame(rows, columns=pd.Index(["name", "began", "likeness", "why"]))
        frame = frame[frame["likeness"] >= LEAST]
        return frame.sort_values(["likeness", "name"], ascending=[False, True], ignore_index=True)

    def overview(self) -> Table:
        rows = []
        for one in self.incidents:
            suspected = [f["cause"] for f in one.with_verdict("suspected") if f.get("kind") == "root_cause"]
            neighbours = [f["cause"] for f in one.with_verdict("confirmed") if f.get("kind") != "root_cause"]
            rows.append((one.began, one.name, one.evidence, *map(", ".join, (one.root_causes, suspected, neighbours))))
        columns = ["began", "name", "evidence", "root_causes", "suspected", "neighbours"]
        return self._table(pd.DataFrame(rows, columns=pd.Index(columns)), SAYS["overview"])

    def chart(self) -> Chart:
        rows = [
            (one.began, str(f.get("title") or f["cause"]), one.name, f["verdict"])
            for one in self.incidents
            for f in one.with_verdict()
            if f.get("kind") == "root_cause" and one.began
        ]
        frame = pd.DataFrame(rows, columns=pd.Index(["time", "cause", "incident", "verdict"]))
        return pictures.lanes(frame.assign(time=pd.to_datetime(frame["time"], utc=True)), self.lang)

    def alike(self, name: str = "") -> Table:
        """Return the incidents that resemble this one (default: the latest), and what they share."""
        one, like = self.incident(name), self.likeness(name).round({"likeness": 2})
        return self._table(like, SAYS["alike"].say(name=one.name if one else name))

    def not_read(self) -> Table:
        frame = pd.DataFrame({"file": [sentence.render(self.lang) for sentence in self.unread]})
        return self._table(frame, SAYS["unread"])

    def _table(self, frame: pd.DataFrame, caption: Sentence) -> Table:
        return Table(frame, caption, HEADS, self.lang, max_rows=500)


# --- the index page ---------------------------------------------------------------------------------------------------

PAGE_NAME: Final = "index.html"
MARK: Final = '<meta name="generator" content="rmq-kit'
ALIKE_SHOWN: Final = 3


def write(folder: Path, lang: Lang = "en") -> Path:
    """Write `index.html` into the folder of the reports and return its path.

    Raise `OutputRefused` if it is no folder, if something the kit did not write has that name, or if the folder is a
    single report's: it contains only what `report` wrote.
    """
    target = folder / PAGE_NAME
    if not folder.is_dir():
        raise output.refused("not_folder", folder, lang)
    if (folder / output.MARKER).exists():
        raise output.OutputRefused(GALLERY["one_report"].say(path=str(folder)).render(lang))
    is_own = target.is_file() and MARK in target.read_text(encoding="utf-8", errors="replace")[:4096]
    if target.is_symlink() or (target.exists() and not is_own):
        raise output.OutputRefused(GALLERY["foreign"].say(path=str(target)).render(lang))
    disk.write_text(target, page(History(*read(folder), lang), folder))
    return target


def page(history: History, folder: Path) -> str:
    """Return the page; links are relative to `folder`."""
    lang = history.lang
    css = data.text("report/templates/report.css") + data.text("incidents/templates/gallery.css")
    script = data.text("incidents/templates/gallery.js")
    template = environment("kit.incidents", "kit.report").get_template("gallery.html.j2")
    return template.render(
        lang_tag="zh-CN" if lang == "zh" else "en",
        words={name: text.in_(lang) for name, text in WORDS.items()},
        verdicts={verdict: (icon, name.in_(lang)) for verdict, (icon, name) in VERDICTS.items()},
        version=__version__,
        made=WORDS["made"].say(version=__version__).render(lang),
        cards=[_card(history, one, folder) for one in reversed(history.incidents)],
        unread=[sentence.render(lang) for sentence in history.unread],
        csp=html.policy(css, script),
        css=Markup(css),
        script=Markup(script),
    )


def _card(history: History, one: Incident, folder: Path) -> dict[str, Any]:
    lang, causes = history.lang, one.with_verdict()
    confirmed = [f for f in causes if f["cause"] in one.root_causes]
    lead = confirmed or [f for f in causes if f.get("kind") == "root_cause"] or causes
    names = _of_kind("name", one.traits)
    return {
        "id": one.name,
        "name": one.name if one.name != "." else WORDS["unnamed"].in_(lang),
        "evidence": one.evidence,
        "began": WORDS["began"].say(when=one.began).render(lang) if one.began else WORDS["undated"].in_(lang),
        "title": " · ".join(str(f.get("title") or f["cause"]) for f in confirmed) or WORDS["no_cause"].in_(lang),
        "summary": [f.get("summary") or "" for f in lead[:3]],
        "causes": causes,
        "names": ", ".join(names[:12]),
        "words": " ".join([one.name, one.evidence, *names, *(f["cause"] for f in causes)]),
        "pages": [page.relative_to(folder) for page in one.pages],
        "alike": history.likeness(one.name).head(ALIKE_SHOWN).to_dict("records"),
    }
