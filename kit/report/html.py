"""findings.json and the stories of the notebooks → one self-contained page. Every text passes `clean` and an
autoescaping template.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import resources
from pathlib import PurePath
from typing import Any, Final

import pandas as pd
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from kit import causes
from kit.analysis import noise
from kit.case.failure import Failure
from kit.causes import look_alikes, release_advice
from kit.charts import Chart, timeline
from kit.charts.safe_text import clean
from kit.charts.table import Table, cell, prose
from kit.formats.printed_times import iso
from kit.i18n import Lang, T
from kit.report.labels import COLUMNS, GLOSSARY, INNER, KEYS, PAGE, VERDICTS, page
from kit.report.notebooks import Story, embed

FOUND: Final = ("confirmed", "suspected")
MARKS: Final = {True: ("yes", "✓", "holds"), False: ("no", "✗", "fails"), None: ("maybe", "?", "open")}
MAP_STYLES: Final = re.compile(r'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)')
"""Ids of style sheets that plotly's map code would add on loading; where they are there already it does not, and the
policy stays strict."""
HEAD_NUMBERS: Final = 6
HEAD_REMEDIES: Final = 3
KEY = T("kind", "html")
NUMBER = T("value")


def environment(*packages: str) -> Environment:
    """Return the templates of these packages, of the report and of its tables, with everything escaped."""
    loaders = [PackageLoader(package) for package in (*packages, "kit.report", "kit.charts")]
    made = Environment(
        loader=ChoiceLoader(loaders), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    made.filters["prose"] = prose
    return made


_ENV: Final = environment()


def render(
    findings: Mapping[str, Any],
    tables: Mapping[str, pd.DataFrame],
    stories: Sequence[Story],
    lang: Lang = "en",
    options: Mapping[str, Any] | None = None,
    manifest_hash: str | None = None,
    failures: list[Failure] | None = None,
) -> str:
    """Return the page. `tables` may hold `inventory`, `damage`, `skipped`, `harmless`; without them the findings' own
    file list is shown. A part that fails is one sentence, and is added to `failures`.
    """
    words = page(lang)
    failures = [] if failures is None else failures
    part = partial(_part, failures, lang)
    ranked = _ranked(findings)
    views = [_view(f, stories, lang, failures) for f in ranked]
    found = [v for v in views if v["verdict"] in FOUND]
    undecided = [v for v in views if v["verdict"] == "insufficient_evidence"]
    broken = [v for v in views if v["verdict"] == "failed"]
    head = next((v for v in found if v["kind"] == "root_cause"), None)
    confirmed = [v for v in found if v["verdict"] == "confirmed" and v["kind"] == "root_cause"]
    shown = confirmed or ([head] if head else [])
    each = max(1, HEAD_NUMBERS // max(1, len(shown)))
    when = _timeline(tables, lang, failures)
    css, js = template_text("report.css"), scripts()
    plotly_js = get_plotlyjs()
    return _ENV.get_template("report.html.j2").render(
        lang_tag="zh-CN" if lang == "zh" else "en",
        words=words,
        version=clean(findings["kit_version"]),
        title=" · ".join(v["title"] for v in confirmed) or words["no_cause"],
        evidence_name=clean(PurePath(findings["evidence"]["path"]).name),
        redacted=bool((options or {}).get("redact")),
        head=head,
        answers=_answers(head, confirmed, found, undecided, broken, lang, each),
        failed=[
            *(PAGE["cause_failed"].say(title=v["title"], summary=v["summary"]).render(lang) for v in broken),
            *(PAGE["failed"].say(name=s.name).render(lang) for s in stories if s.failed),
            *(PAGE["parts_failed"].say(name=s.name, n=s.parts_failed).render(lang) for s in stories if s.parts_failed),
        ],
        found=found,
        # The first page has told these already: their sections go on with the remaining numbers, charts and the chain.
        told=[v["id"] for v in shown],
        left_numbers={v["id"]: v["numbers"][each if v in shown else 0 :] for v in found},
        links=_links(found, lang),
        look_alikes=part(_look_alikes, [v["id"] for v in found], lang),
        harmless=part(_maybe, tables, "harmless", noise.HEAD.render(lang), lang, noise.SHOWN),
        releases=part(_maybe, tables, "releases", release_advice.HEAD.render(lang), lang, release_advice.COLUMNS),
        undecided=undecided,
        undecided_table=_verdict_table(undecided, lang),
        undecided_missing=_once(undecided),
        excluded=_excluded([v for v in views if v["verdict"] == "ruled_out"], lang),
        timeline=when,
        # The timeline is first already.
        overview=[
            c for s in stories if s.cause is None for c in s.charts if not (when and c["title"] == when["title"])
        ],
        kinds=part(_kinds, findings, tables, lang),
        inventory=part(_inventory, findings, tables, lang),
        unrecognised=[clean(name) for name in findings["evidence"]["not_recognised"]],
        damage=part(_maybe, tables, "damage", words["damage"], lang),
        skipped=part(_skipped, tables, lang),
        glossary=[(term.in_(lang), meaning.in_(lang)) for term, meaning in GLOSSARY],
        command=command(findings, options or {}, lang),
        manifest_hash=manifest_hash,
        made_by=PAGE["made_by"].say(version=clean(findings["kit_version"])).render(lang),
        csp=policy(css, plotly_js, js),
        map_styles=MAP_STYLES.findall(plotly_js),
        css=Markup(css),
        plotly_js=Markup(plotly_js),
        report_js=Markup(js),
    )


def _part(failures: list[Failure], lang: Lang, make: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return make(*arguments)
    except Exception as error:
        failures.append(Failure.of(make.__name__.strip("_"), error))
        return Table(pd.DataFrame(), PAGE["part_failed"].say(type=failures[-1].type).render(lang), lang=lang).as_dict()


def _view(finding: Mapping[str, Any], stories: Sequence[Story], lang: Lang, failures: list[Failure]) -> dict[str, Any]:
    """Return `finding_view`; where it fails, the finding with its verdict and its sentence alone."""
    try:
        return finding_view(finding, stories, lang)
    except Exception as error:
        failures.append(Failure.of(finding["cause"], error))
        bare: dict[str, Any] = {"window": None, "steps": [], "figures": {}, "remedies": [], "missing": []}
        view = finding_view({**finding, **bare}, stories, lang)
        return view | {"summary": f"{view['summary']} {PAGE['part_failed'].say(type=failures[-1].type).render(lang)}"}


def drawn(chart: Chart, name: str) -> dict[str, Any]:
    """Return a chart as the page's templates take it; `name` becomes its id."""
    return chart.as_dict() | {"id": f"chart-{name}", "figure": embed(json.loads(chart.figure.to_json()))}


def _timeline(tables: Mapping[str, pd.DataFrame], lang: Lang, failures: list[Failure]) -> dict[str, Any] | None:
    frame = tables.get("timeline")
    if frame is None or frame.empty:
        return None
    try:
        return drawn(timeline.timeline(frame, lang), "timeline")
    except Exception as error:  # the page begins without it
        failures.append(Failure.of("timeline", error))
        return None


def _ranked(findings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return findings as a reader wants them: confirmed root causes by harm, then what is suspected, then
    neighbours.
    """
    verdicts = list(VERDICTS)
    kinds = ("root_cause", "neighbour", "hazard")
    harm = {slug: i for i, slug in enumerate(findings["root_causes"])}
    return sorted(
        findings["findings"],
        key=lambda f: (
            f["verdict"] not in FOUND,
            kinds.index(f["kind"]),
            verdicts.index(f["verdict"]),
            harm.get(f["cause"], len(harm)),
            f["cause"],
        ),
    )


def finding_view(finding: Mapping[str, Any], stories: Sequence[Story], lang: Lang) -> dict[str, Any]:
    told = [s for s in stories if s.cause == finding["cause"]]
    icon, name = VERDICTS[finding["verdict"]]
    numbers, number_tables, unknown = _figures(finding["figures"], lang)
    return {
        "id": clean(finding["cause"]),
        "kind": finding["kind"],
        "verdict": finding["verdict"],
        "verdict_name": name.in_(lang),
        "icon": icon,
        "title": clean(finding["title"]),
        "summary": clean(finding["summary"]),
        "window": _window(finding["window"], lang),
        "explained_by": list(finding.get("explained_by", ())),
        "steps": [_step(step, lang) for step in finding["steps"]],
        "numbers": numbers,
        "number_tables": number_tables,
        "not_known": unknown,
        "remedies": [{k: clean(v) for k, v in remedy.items()} for remedy in finding["remedies"]],
        "missing": [{k: clean(v) for k, v in missing.items()} for missing in finding["missing"]],
        "charts": [chart for s in told for chart in s.charts],
        "blocks": [block for s in told for block in s.blocks],
    }


def _step(step: Mapping[str, Any], lang: Lang) -> dict[str, Any]:
    state, mark, holds = MARKS[step["holds"]]
    return {
        "state": state,
        "mark": mark,
        "claim": clean(step["claim"]),
        "role": PAGE[step["role"]].in_(lang),
        "holds": PAGE[holds].in_(lang),
        "shown": step["holds"] is True,
        "evidence": [
            {"file": clean(ref["file"]), "place": _place(ref, lang), "text": clean(ref["text"])}
            for ref in step["evidence"]
        ],
    }


def _place(ref: Mapping[str, Any], lang: Lang) -> str:
    if ref.get("line") is not None:
        return PAGE["line"].say(n=ref["line"]).render(lang)
    return PAGE["byte"].say(n=ref["physical_offset"]).render(lang) if ref.get("physical_offset") is not None else ""


def _figures(figures: Mapping[str, Any], lang: Lang) -> tuple[list[dict[str, str]], list[dict[str, Any]], list[str]]:
    """Return single numbers as cards, the others as tables, and the names of those not known."""
    cards: list[dict[str, str]] = []
    tables: list[dict[str, Any]] = []
    unknown: list[str] = []
    known = causes.figures()
    for name, value in figures.items():
        label = known[name].label.in_(lang) if name in known else clean(name.replace("_", " "))
        if value is None:
            unknown.append(label)
        elif isinstance(value, Mapping):
            heads = KEYS.get(name, KEY).in_(lang), NUMBER.in_(lang)
            rows = [
                {heads[0]: key, **(inner if isinstance(inner, Mapping) else {heads[1]: inner})}
                for key, inner in value.items()
            ]
            if rows:
                tables.append(Table(pd.DataFrame(rows).astype(object), label, _inner(lang), lang).as_dict())
        elif isinstance(value, list):
            # Reasons are read, not counted.
            if not any("why" in item for item in value if isinstance(item, Mapping)):
                cards.append({"value": f"{len(value):,}", "label": label})
            if value and all(isinstance(item, Mapping) for item in value):
                tables.append(Table(pd.DataFrame(value).astype(object), label, _inner(lang), lang).as_dict())
        else:
            cards.append({"value": cell(value)[0], "label": label})
    return cards, tables, unknown


def _inner(lang: Lang) -> dict[str, str]:
    return {name: text.in_(lang) for name, text in INNER.items()}


def _window(window: Sequence[str] | None, lang: Lang) -> str | None:
    if not window:
        return None
    first, last = (iso(t) for t in window)
    text = PAGE["from_to"].say(
        first=f"{first:%Y-%m-%d %H:%M:%S}",
        last=f"{last:%H:%M:%S}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M:%S}",
    )
    return f"{text.render(lang)} ({PAGE['lasted'].say(span=_span((last - first).total_seconds(), lang)).render(lang)})"


def _span(seconds: float, lang: Lang) -> str:
    for size, en, zh in ((86400, "days", "天"), (3600, "hours", "小时"), (60, "minutes", "分钟")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {zh if lang == 'zh' else en}"
    return f"{seconds:.0f} {'秒' if lang == 'zh' else 'seconds'}"


def _answers(
    head: dict[str, Any] | None,
    confirmed: list[dict[str, Any]],
    found: list[dict[str, Any]],
    undecided: list[dict[str, Any]],
    broken: list[dict[str, Any]],
    lang: Lang,
    each: int,
) -> dict[str, Any]:
    """Return the first page: what, since when, how bad, why, what to do now."""
    words = page(lang)
    shown = confirmed or ([head] if head else [])
    what = [view["summary"] for view in shown]
    if not confirmed:
        roots = [view for view in undecided if view["kind"] == "root_cause"]
        lead = (
            PAGE["one_suspect"].say(title=head["title"]).render(lang)
            if head
            else words["not_examined"]
            if broken
            else words["too_little"]
            if roots
            else words["quiet"]
        )
        what = [lead, *what]
    return {
        "what": what,
        "since": next((view["window"] for view in shown if view["window"]), words["no_window"]),
        "bad": [n for view in shown for n in view["numbers"][:each]],
        "why": [step["claim"] for view in shown for step in view["steps"] if step["shown"]],
        "now": [remedy for view in shown for remedy in view["remedies"]][:HEAD_REMEDIES],
        "collect": _once(found if confirmed else found + undecided)[:6],
        "also": [view for view in found if view not in shown],
    }


def _once(views: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return each request for evidence once, however many causes want it."""
    wanted: dict[str, dict[str, str]] = {}
    for view in views:
        for missing in view["missing"]:
            wanted.setdefault(missing["command"], missing)
    return list(wanted.values())


def _verdict_table(views: list[dict[str, Any]], lang: Lang) -> dict[str, Any]:
    rows = [(view["title"], view["summary"], view["id"]) for view in views]
    names = (PAGE["cause"].in_(lang), PAGE["reason"].in_(lang), PAGE["slug"].in_(lang))
    return Table(pd.DataFrame(rows, columns=pd.Index(names)), PAGE["undecided"].in_(lang), lang=lang).as_dict()


def _excluded(views: list[dict[str, Any]], lang: Lang) -> dict[str, Any] | None:
    """Return what was ruled out with the step that is false."""
    rows = [
        (v["title"], next((s["claim"] for s in v["steps"] if s["state"] == "no"), ""), v["summary"], v["id"])
        for v in views
    ]
    names = (PAGE["cause"].in_(lang), PAGE["false_step"].in_(lang), PAGE["reason"].in_(lang), PAGE["slug"].in_(lang))
    return (
        Table(pd.DataFrame(rows, columns=pd.Index(names)), PAGE["excluded"].in_(lang), lang=lang).as_dict()
        if rows
        else None
    )


def _files(findings: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one row per file, times to the second, without columns that say nothing."""
    frame = tables.get("inventory")
    if frame is None:
        frame = pd.DataFrame(
            findings["evidence"]["files"],
            columns=pd.Index(["file", "kind", "bytes", "first", "last", "sha256", "replica_of"]),
        )
    if "source" in frame:
        pairs = zip(frame["kind"], frame["source"], strict=True)
        frame = frame.assign(
            kind=[
                kind if source in (None, kind) or source != source else f"{kind} ({source})" for kind, source in pairs
            ]
        )
        frame = frame.drop(columns="source")
    times = {name: pd.to_datetime(frame[name], utc=True, format="ISO8601") for name in ("first", "last")}
    return frame.assign(**times)


def _kinds(findings: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], lang: Lang) -> dict[str, Any]:
    """Return the evidence by kind: files, bytes, from when to when."""
    frame = _files(findings, tables)
    by = frame.groupby("kind", as_index=False).agg(
        files=("file", "size"), bytes=("bytes", "sum"), first=("first", "min"), last=("last", "max")
    )
    return Table(by, PAGE["kinds"].in_(lang), {name: text.in_(lang) for name, text in COLUMNS.items()}, lang).as_dict()


def _inventory(findings: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], lang: Lang) -> dict[str, Any]:
    frame = _files(findings, tables)
    frame = frame.dropna(axis="columns", how="all") if len(frame) else frame
    if "sha256" in frame:
        frame = frame.assign(sha256=frame["sha256"].str[:16])
    names = {name: text.in_(lang) for name, text in COLUMNS.items()}
    return Table(frame, PAGE["inventory"].in_(lang), names, lang, max_rows=500).as_dict()


def _links(found: Sequence[Mapping[str, Any]], lang: Lang) -> dict[str, list[tuple[str, list[Mapping[str, Any]]]]]:
    """Return, for each finding, what it explains and what explains it, among those found."""
    known = {view["id"]: view for view in found}
    links: dict[str, list[tuple[str, list[Mapping[str, Any]]]]] = {}
    for slug, view in known.items():
        after = [other for other in found if slug in other["explained_by"]]
        before = [known[other] for other in view["explained_by"] if other in known]
        links[slug] = [
            (PAGE[word].in_(lang), views) for word, views in (("explained_by", before), ("explains", after)) if views
        ]
    return links


def _look_alikes(slugs: Sequence[str], lang: Lang) -> dict[str, Any] | None:
    frame = look_alikes.frame(lang, slugs)
    names = {name: head.in_(lang) for name, head in look_alikes.COLUMNS.items()}
    return None if frame.empty else Table(frame, PAGE["look_alikes"].in_(lang), names, lang, max_rows=200).as_dict()


def _maybe(
    tables: Mapping[str, pd.DataFrame], name: str, caption: str, lang: Lang, heads: Mapping[str, T] = COLUMNS
) -> dict[str, Any] | None:
    frame = tables.get(name)
    if frame is None or frame.empty:
        return None
    return Table(
        frame, caption, {column: text.in_(lang) for column, text in heads.items()}, lang, max_rows=200
    ).as_dict()


def _skipped(tables: Mapping[str, pd.DataFrame], lang: Lang) -> dict[str, Any] | bool | None:
    """Return the skipped ranges; False if absent, None where nobody looked."""
    if "skipped" not in tables:
        return None
    return _maybe(tables, "skipped", PAGE["skipped"].in_(lang), lang) or False


def command(findings: Mapping[str, Any], options: Mapping[str, Any], lang: Lang, name: str = "report") -> str:
    """Return the command line that makes this page again."""
    words = [f"python -m kit {name}", shlex.quote(findings["evidence"]["path"]), "--out DIR", f"--lang {lang}"]
    for name, value in sorted(options.items()):
        for one in value if isinstance(value, list | tuple) else [value]:
            if one is True:
                words.append(f"--{name.replace('_', '-')}")
            elif one not in (None, False, ""):
                words.append(f"--{name.replace('_', '-')} {shlex.quote(str(one))}")
    return clean(" ".join(words))


def template_text(name: str) -> str:
    return resources.files("kit.report").joinpath("templates", name).read_text(encoding="utf-8")


def scripts() -> str:
    """Return what a page does by itself: its charts follow the window, its tables can be sorted and filtered."""
    return template_text("report.js") + template_text("tables.js")


def policy(css: str, *scripts: str) -> str:
    """Return the policy: nothing from anywhere, and of what is in the page only these very bytes.

    The hash of nothing is for plotly, which adds an empty style sheet and fills it rule by rule.
    """
    return (
        f"default-src 'none'; script-src {' '.join(_hash(s) for s in scripts)}; style-src {_hash(css)} {_hash('')}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
