"""findings.json and executed notebooks → one page, a finding with its steps and numbers; templates escape all texts."""

import base64
import hashlib
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import PurePath
from typing import Any, Final

import pandas as pd
from markupsafe import Markup

from kit import causes, data
from kit.analysis import noise
from kit.causes import look_alikes, release_advice
from kit.charts import offline, overview
from kit.charts.table import Table, cell, environment
from kit.evidence.failure import Failure
from kit.formats.printed_times import is_local, iso
from kit.i18n import CLOCK, Lang, T, on_clock
from kit.report.console import command
from kit.report.labels import COLUMNS, GLOSSARY, HOLDS, INNER, PAGE, VERDICTS, page, ranked, requests
from kit.report.notebooks import Story, chart_block
from kit.report.terminal import TEXTS, warnings

FOUND: Final = ("confirmed", "suspected")
HEAD_NUMBERS: Final = 6
HEAD_CLAIMS: Final = 3
HEAD_REMEDIES: Final = 3
COUNTED: Final = "次条个种"
"""Measure words: a Chinese label begins with the one that its number takes, and has none where there is no number."""
MOMENT: Final = re.compile(r"^(\d{4,}-\d\d-\d\d)T([\d:.]+)Z$")
SPANS: Final = ((86_400, "days"), (3_600, "hours"), (60, "minutes"), (1, "seconds"))
View = dict[str, Any]
"""What a template shows of something."""

_ENV: Final = environment("kit.report")
_ENV.globals["holds"] = HOLDS


def shell(
    template: str,
    findings: Mapping[str, Any],
    lang: Lang,
    options: Mapping[str, Any],
    manifest_hash: str | None,
    name: str = "report",
    **values: Any,
) -> str:
    """Return a page of `template`, which extends `base.html.j2`. `name`: the command that makes the page again."""
    chosen = dict(sorted(options.items()))
    return _ENV.get_template(template).render(
        lang_tag="zh-CN" if lang == "zh" else "en",
        words=page(lang),
        name=name,
        findings=findings,
        options=options,
        evidence_name=PurePath(findings["evidence"]["path"]).name,
        command=command(f"python -m kit {name}", findings["evidence"]["path"], {"out": "DIR", "lang": lang, **chosen}),
        manifest_hash=manifest_hash,
        **bundled(),
        **values,
    )


def render(
    findings: Mapping[str, Any],
    tables: Mapping[str, pd.DataFrame],
    stories: Sequence[Story],
    lang: Lang = "en",
    options: Mapping[str, Any] | None = None,
    manifest_hash: str | None = None,
    failures: list[Failure] | None = None,
) -> str:
    """Return the report. `tables` may hold `inventory`, `damage`, `skipped`, `harmless`, `releases`, `timeline`.

    A part that fails is replaced by one sentence and added to `failures`.
    """
    failures = [] if failures is None else failures
    options = options or {}
    part = partial(_part, failures, lang)
    order = ranked(findings)
    # A notebook about several causes belongs to the one that was asked for, else to the foremost.
    asked = options.get("cause", "")
    owners = {s.name: next((c for c in (asked, *(f["cause"] for f in order)) if c in s.causes), None) for s in stories}
    views = [_view(f, [s for s in stories if owners[s.name] == f["cause"]], lang, failures) for f in order]
    of = {verdict: [v for v in views if v["verdict"] == verdict] for verdict in VERDICTS}
    concluded = [v for v in views if v["verdict"] in FOUND]
    confirmed = [v for v in of["confirmed"] if v["kind"] == "root_cause"]
    # As `terminal.closing`: what is confirmed beside the root causes comes first where none of these is shown.
    first = confirmed or [v for v in concluded if v["kind"] == "root_cause"][:1] or of["confirmed"][:1]
    drawn = part(_timeline, tables, concluded, lang)
    lists = [
        part(summaries, of["ruled_out"], "ruled_out", lang),
        part(apart, {v["id"]: v["title"] for v in views}, [v["id"] for v in concluded], lang),
        part(rows_of, tables.get("harmless"), noise.HEAD, lang, noise.SHOWN),
        part(rows_of, tables.get("releases"), release_advice.HEAD, lang, release_advice.COLUMNS),
    ]
    return shell(
        "report.html.j2", findings, lang, options, manifest_hash,
        title=" · ".join(v["title"] for v in first if v["verdict"] == "confirmed") or page(lang)["no_cause"],
        head=first[0] if first else None,
        answers=_answers(first, bool(confirmed), concluded, of, lang),
        stories=stories,
        warnings=warnings(findings, lang),
        failed=of["failed"],
        found=[*concluded, *(v for v in views if v["id"] == asked and v not in concluded)],
        first=[v["id"] for v in first],
        lists=[table for table in lists if table],
        undecided=of["insufficient_evidence"],
        undecided_table=part(summaries, of["insufficient_evidence"], "undecided", lang),
        undecided_missing=requests(of["insufficient_evidence"]),
        timeline=drawn,
        # The timeline comes first already.
        overview=[
            block for s in stories if not s.causes for block in s.blocks
            if block["kind"] == "chart" and not (drawn and block["title"] == drawn.get("title"))
        ],
        inventory=part(inventory, findings, tables, lang),
        damage=part(rows_of, tables.get("damage"), PAGE["damage"], lang),
        skipped=part(rows_of, tables.get("skipped"), PAGE["skipped"], lang),
        nothing_skipped="skipped" in tables and tables["skipped"].empty
        and any(each["kind"] == "commitlog" for each in findings["evidence"]["files"]),
        glossary=[text.in_(lang).split(PAGE["colon"].in_(lang), 1) for text in GLOSSARY],
    )  # fmt: skip


def _part(failures: list[Failure], lang: Lang, make: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return make(*arguments)
    except Exception as error:
        failures.append(Failure.of(make.__name__.strip("_"), error))
        return Table(pd.DataFrame(), PAGE["part_failed"].say(type=failures[-1].type).render(lang), lang=lang).as_dict()


def _view(finding: Mapping[str, Any], stories: Sequence[Story], lang: Lang, failures: list[Failure]) -> dict[str, Any]:
    """Return `finding_view`; if it fails, only the finding's verdict and summary."""
    try:
        return finding_view(finding, stories, lang)
    except Exception as error:
        failures.append(Failure.of(finding["cause"], error))
        summary = f"{finding['summary']} {PAGE['part_failed'].say(type=failures[-1].type).render(lang)}"
        none = dict.fromkeys(("steps", "remedies", "missing"), ())
        return finding_view({**finding, **none, "summary": summary, "figures": {}, "window": None}, stories, lang)


def finding_view(finding: Mapping[str, Any], stories: Sequence[Story], lang: Lang) -> dict[str, Any]:
    """Return a finding for the page, with its `stories`. The templates clean and escape every text."""
    icon, name = VERDICTS[finding["verdict"]]
    return {
        "id": finding["cause"], "explained_by": (), **finding, "verdict_name": name.in_(lang), "icon": icon,
        "window": when(finding["window"], lang), **_figures(finding, lang),
        "charts": [block for s in stories for block in s.blocks if block["kind"] == "chart"],
        "blocks": [block for s in stories for block in s.blocks if block["kind"] != "chart"],
    }  # fmt: skip


def _figures(finding: Mapping[str, Any], lang: Lang) -> dict[str, Any]:
    """Return `numbers` (cards), `number_tables` and `not_known` (names), in the order that the cause declares."""
    cards: list[dict[str, str]] = []
    tables: list[dict[str, Any]] = []
    unknown: list[str] = []
    for name, value in finding["figures"].items():
        known = causes.figures().get(name)
        label = known.label.in_(lang) if known else name.replace("_", " ")
        alone = label.lstrip(COUNTED) if lang == "zh" else label
        words = {own: text.in_(lang) for own, text in known.values.items()} if known else {}
        number: Any = None
        rows: list[dict[str, Any]] = []
        if value is None:
            unknown.append(alone)
        elif isinstance(value, Mapping):
            if value and known and known.total:
                number = sum(value.values())
            elif value and known and known.largest:
                largest = max(value, key=value.__getitem__)
                number, label = value[largest], f"{label}: {largest}"
            heads = ((known and known.of) or PAGE["of_kind"]).in_(lang), PAGE["value"].in_(lang)
            rows = [
                {heads[0]: key, **(each if isinstance(each, Mapping) else {heads[1]: each})}
                for key, each in value.items()
            ]
        elif isinstance(value, list):
            rows = [{key: _readable(words.get(str(each), each), key) for key, each in item.items()} for item in value
                    if isinstance(item, Mapping)]  # fmt: skip
            # Reasons are shown as text, not counted.
            number = None if words else len(value)
        else:
            number = _readable(words.get(str(value), value))
        if number is not None:
            cards.append({"value": cell(number)[0], "label": label})
        if rows:
            tables.append(Table(pd.DataFrame(rows).astype(object), alone, INNER, lang).as_dict())
    return {"numbers": cards, "number_tables": tables, "not_known": unknown}


def _readable(value: Any, name: str = "") -> Any:
    """Return a time of findings.json as the page writes times, a share in percent; anything else as it is."""
    if name == "share" and isinstance(value, float):
        return f"{value:.0%}"
    return MOMENT.sub(r"\1 \2 UTC", value) if isinstance(value, str) else value


def when(window: Sequence[str] | None, lang: Lang) -> str | None:
    """Return the first and last time of a finding as a sentence, a single time where less than a second is between."""
    if not window:
        return None
    first, last = map(iso, window)
    seconds = (last - first).total_seconds()
    with on_clock("local" if is_local(window[0]) else CLOCK.get()):
        if seconds < 1:
            return PAGE["from_to"].say(first=first).render(lang)
        size, unit = next(((size, unit) for size, unit in SPANS if seconds >= 2 * size), SPANS[-1])
        span = f"{seconds / size:.{int(size > 1 or seconds < 10)}f}"
        return PAGE["from_to"].say(first=first, last=last, span=span, unit=PAGE[unit]).render(lang)


def _timeline(tables: Mapping[str, pd.DataFrame], findings: Sequence[View], lang: Lang) -> View | None:
    frame = tables.get("timeline")
    if frame is None or frame.empty:
        return None
    return chart_block(overview.timeline(frame, lang, {view["id"]: view["title"] for view in findings}), "timeline")


def summaries(views: Sequence[Mapping[str, Any]], caption: str, lang: Lang) -> dict[str, Any] | None:
    heads = {name: PAGE[name] for name in ("cause", "reason")}
    frame = pd.DataFrame([(v["title"], v["summary"]) for v in views], columns=pd.Index(list(heads)))
    return rows_of(frame, PAGE[caption], lang, heads)


def inventory(findings: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], lang: Lang) -> dict[str, Any]:
    """Return one row per file, times to the second, without empty columns."""
    names = ["file", "kind", "bytes", "first", "last", "sha256", "replica_of"]
    frame = tables.get("inventory", pd.DataFrame(findings["evidence"]["files"], columns=pd.Index(names)))
    times = {name: pd.to_datetime(frame[name], utc=True, format="ISO8601") for name in ("first", "last")}
    frame = frame.assign(**times)
    frame = frame.dropna(axis="columns", how="all") if len(frame) else frame
    if "sha256" in frame:
        frame = frame.assign(sha256=frame["sha256"].str[:16])
    return Table(frame, PAGE["inventory"], COLUMNS, lang, max_rows=500).as_dict()


def apart(titles: Mapping[str, str], slugs: Sequence[str], lang: Lang) -> dict[str, Any] | None:
    return rows_of(look_alikes.frame(lang, slugs).replace(titles), PAGE["look_alikes"], lang, look_alikes.COLUMNS)


def rows_of(
    frame: pd.DataFrame | None, caption: T, lang: Lang, heads: Mapping[str, T] = COLUMNS
) -> dict[str, Any] | None:
    """Return a table for the page, None without rows."""
    return None if frame is None or frame.empty else Table(frame, caption, heads, lang, max_rows=200).as_dict()


def _answers(
    first: list[View], confirmed: bool, findings: list[View], of: Mapping[str, list[View]], lang: Lang
) -> View:
    """Return the first page: what, since when, how bad, why, what to do now."""
    words, undecided = page(lang), of["insufficient_evidence"]
    what = [view["summary"] for view in first]
    if not confirmed:
        open_ = any(view["kind"] == "root_cause" for view in undecided)
        quiet = "not_examined" if of["failed"] else "too_little" if open_ else "quiet"
        title = first[0]["title"] if first else ""
        beside = bool(first) and first[0]["verdict"] == "confirmed"
        lead = TEXTS["beside"].say(causes=title) if beside else PAGE["one_suspect"].say(title=title)
        what.insert(0, lead.render(lang) if first else words[quiet])
    times = [(f"{view['title']}{words['colon']}" if first[1:] else "", view["window"]) for view in first]
    since = [title + window for title, window in times if window]
    remedies = itertools.zip_longest(*(view["remedies"] for view in first))
    of_each = max(1, len(first))
    claims = max(1, HEAD_CLAIMS // of_each)
    steps = [
        [(f"{view['id']}-{n}", step["claim"]) for n, step in enumerate(view["steps"], 1) if step["holds"]]
        for view in first
    ]
    return {
        "what": what,
        "since": since or [words["no_window"]],
        "bad": [number for view in first for number in view["numbers"][: max(1, HEAD_NUMBERS // of_each)]],
        "why": [step for each in steps for step in each[:claims]],
        "more": [step for each in steps for step in each[claims:]],
        # The first of each cause, then the second ones.
        "now": [each for some in remedies for each in some if each][: max(HEAD_REMEDIES, len(first))],
        "collect": requests(findings if confirmed else findings + undecided)[:6],
        "also": [view for view in findings if view not in first],
    }


@cache
def bundled() -> dict[str, Any]:
    """Return the style, the scripts and the compressed library of a page, and the policy that allows exactly these."""
    css, *scripts = (data.text(f"report/templates/{name}") for name in ("report.css", "report.js", "tables.js"))
    js = "".join(scripts)
    return {
        "csp": policy(css, offline.source(), js),
        "css": Markup(css),
        "library": Markup(offline.packed()),
        "report_js": Markup(js),
    }


def policy(css: str, *scripts: str) -> str:
    """Return the content security policy: nothing external, and only exactly these scripts and styles, by hash.

    The hash of the empty text is for plotly, which adds an empty style sheet and fills it rule by rule.
    """
    return (
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; style-src {_hash(css)} {_hash('')}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
