"""findings.json and the stories of the notebooks → one self-contained page. Every text passes `clean` and an
autoescaping template.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import resources
from pathlib import PurePath
from typing import Any, Final

import pandas as pd
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kit.analysis import noise
from kit.causes import look_alikes, release_advice
from kit.charts import Chart, offline, timeline
from kit.charts.safe_text import clean
from kit.charts.table import Table, prose
from kit.evidence.failure import Failure
from kit.i18n import Lang, T
from kit.report.finding_view import finding_view
from kit.report.labels import COLUMNS, GLOSSARY, PAGE, VERDICTS, page
from kit.report.notebooks import Story, embed
from kit.report.terminal import zone_warning

FOUND: Final = ("confirmed", "suspected")
HEAD_NUMBERS: Final = 6
HEAD_CLAIMS: Final = 3
HEAD_REMEDIES: Final = 3


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
    file list is shown. A part that fails is replaced by one sentence and added to `failures`.
    """
    words = page(lang)
    failures = [] if failures is None else failures
    part = partial(_part, failures, lang)
    ranked = _ranked(findings)
    # A notebook about several causes belongs to the foremost.
    owners = {s.name: next((f["cause"] for f in ranked if f["cause"] in s.causes), None) for s in stories}
    views = [_view(f, [s for s in stories if owners[s.name] == f["cause"]], lang, failures) for f in ranked]
    found = [v for v in views if v["verdict"] in FOUND]
    undecided = [v for v in views if v["verdict"] == "insufficient_evidence"]
    broken = [v for v in views if v["verdict"] == "failed"]
    head = next((v for v in found if v["kind"] == "root_cause"), None)
    confirmed = [v for v in found if v["verdict"] == "confirmed" and v["kind"] == "root_cause"]
    shown = confirmed or ([head] if head else [])
    each = max(1, HEAD_NUMBERS // max(1, len(shown)))
    first = {
        v["id"]: [n for n in v["numbers"] if "word" not in n][: each if v in shown else HEAD_NUMBERS] for v in found
    }
    when = _timeline(tables, found, lang, failures)
    lists = [
        excluded([v for v in views if v["verdict"] == "ruled_out"], lang),
        part(apart, [v["id"] for v in found], lang),
        part(maybe, tables, "harmless", noise.HEAD.render(lang), lang, noise.SHOWN),
        part(maybe, tables, "releases", release_advice.HEAD.render(lang), lang, release_advice.COLUMNS),
    ]
    return _ENV.get_template("report.html.j2").render(
        lang_tag="zh-CN" if lang == "zh" else "en",
        words=words,
        version=clean(findings["kit_version"]),
        title=" · ".join(v["title"] for v in confirmed) or words["no_cause"],
        evidence_name=clean(PurePath(findings["evidence"]["path"]).name),
        redacted=bool((options or {}).get("redact")),
        head=head,
        answers=_answers(head, confirmed, found, undecided, broken, lang, first),
        failed=[
            *([warning] if (warning := zone_warning(findings, lang)) else []),
            *(PAGE["cause_failed"].say(title=v["title"], summary=v["summary"]).render(lang) for v in broken),
            *(PAGE["failed"].say(name=s.name).render(lang) for s in stories if s.failed),
            *(PAGE["parts_failed"].say(name=s.name, n=s.parts_failed).render(lang) for s in stories if s.parts_failed),
        ],
        found=found,
        # The first page has these already: their sections continue with the charts, the chain and the remaining numbers.
        told=[v["id"] for v in shown],
        first_numbers=first,
        left_numbers={v["id"]: [n for n in v["numbers"] if n not in first[v["id"]]] for v in found},
        links=_links(found, lang),
        lists=[table for table in lists if table],
        undecided=undecided,
        undecided_table=verdict_table(undecided, lang),
        undecided_missing=_once(undecided),
        timeline=when,
        # The timeline comes first already.
        overview=[c for s in stories if not s.causes for c in s.charts if not (when and c["title"] == when["title"])],
        kinds=part(kinds, findings, tables, lang),
        inventory=part(inventory, findings, tables, lang),
        unrecognised=[clean(name) for name in findings["evidence"]["not_recognised"]],
        damage=part(maybe, tables, "damage", words["damage"], lang),
        skipped=part(skipped, tables, lang),
        glossary=[(term.in_(lang), meaning.in_(lang)) for term, meaning in GLOSSARY],
        command=command(findings, options or {}, lang),
        manifest_hash=manifest_hash,
        made_by=PAGE["made_by"].say(version=clean(findings["kit_version"])).render(lang),
        **bundled(),
    )


def verdict_table(views: list[dict[str, Any]], lang: Lang) -> dict[str, Any]:
    rows = [(view["title"], view["summary"]) for view in views]
    names = (PAGE["cause"].in_(lang), PAGE["reason"].in_(lang))
    return Table(pd.DataFrame(rows, columns=pd.Index(names)), PAGE["undecided"], lang=lang).as_dict()


def excluded(views: list[dict[str, Any]], lang: Lang) -> dict[str, Any] | None:
    """Return the causes ruled out, each with what refutes it."""
    rows = [(v["title"], v["summary"]) for v in views]
    names = (PAGE["cause"].in_(lang), PAGE["reason"].in_(lang))
    return Table(pd.DataFrame(rows, columns=pd.Index(names)), PAGE["ruled_out"], lang=lang).as_dict() if rows else None


def _files(findings: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one row per file, times to the second, without empty columns."""
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


def kinds(findings: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], lang: Lang) -> dict[str, Any]:
    """Return the evidence by kind: files, bytes, first and last time."""
    frame = _files(findings, tables)
    by = frame.groupby("kind", as_index=False).agg(
        files=("file", "size"), bytes=("bytes", "sum"), first=("first", "min"), last=("last", "max")
    )
    return Table(by, PAGE["kinds"], COLUMNS, lang).as_dict()


def inventory(findings: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], lang: Lang) -> dict[str, Any]:
    frame = _files(findings, tables)
    frame = frame.dropna(axis="columns", how="all") if len(frame) else frame
    if "sha256" in frame:
        frame = frame.assign(sha256=frame["sha256"].str[:16])
    return Table(frame, PAGE["inventory"], COLUMNS, lang, max_rows=500).as_dict()


def apart(slugs: Sequence[str], lang: Lang) -> dict[str, Any] | None:
    frame = look_alikes.frame(lang, slugs)
    return None if frame.empty else Table(frame, PAGE["look_alikes"], look_alikes.COLUMNS, lang, max_rows=200).as_dict()


def maybe(
    tables: Mapping[str, pd.DataFrame], name: str, caption: str, lang: Lang, heads: Mapping[str, T] = COLUMNS
) -> dict[str, Any] | None:
    frame = tables.get(name)
    if frame is None or frame.empty:
        return None
    return Table(frame, caption, heads, lang, max_rows=200).as_dict()


def skipped(tables: Mapping[str, pd.DataFrame], lang: Lang) -> dict[str, Any] | bool | None:
    """Return the skipped ranges; False if nothing was skipped, None if they were not determined."""
    if "skipped" not in tables:
        return None
    return maybe(tables, "skipped", PAGE["skipped"].in_(lang), lang) or False


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
        bare: dict[str, Any] = {"window": None, "steps": [], "figures": {}, "remedies": [], "missing": []}
        view = finding_view({**finding, **bare}, stories, lang)
        return view | {"summary": f"{view['summary']} {PAGE['part_failed'].say(type=failures[-1].type).render(lang)}"}


def drawn(chart: Chart, name: str) -> dict[str, Any]:
    """Return a chart for the page templates; `name` becomes its id."""
    return chart.as_dict() | {"id": f"chart-{name}", "figure": embed(json.loads(chart.figure.to_json()))}


def _timeline(
    tables: Mapping[str, pd.DataFrame], found: Sequence[Mapping[str, Any]], lang: Lang, failures: list[Failure]
) -> dict[str, Any] | None:
    frame = tables.get("timeline")
    if frame is None or frame.empty:
        return None
    try:
        chart = drawn(timeline.timeline(frame, lang, {view["id"]: view["title"] for view in found}), "timeline")
        return chart | {"targets": _targets(frame[frame["decides"].astype(bool)], found, lang)}
    except Exception as error:  # the page starts without it
        failures.append(Failure.of("timeline", error))
        return None


def _targets(moments: pd.DataFrame, found: Sequence[Mapping[str, Any]], lang: Lang) -> list[str]:
    """Return the id of the claim, else of the cause, that each moment that decides belongs to; the claim gets the moment's number."""
    steps = {(view["id"], step["claim"]): step for view in found for step in view["steps"]}
    targets = []
    for number, (lane, what) in enumerate(zip(moments["lane"], moments[lang], strict=True), 1):
        step = steps.get((lane, clean(what)))
        if step:
            step["moments"].append(number)
        targets.append(step["place"] if step else clean(lane))
    return targets


def _ranked(findings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return findings in reading order: confirmed root causes by harm, then suspected causes, then
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


def _answers(
    head: dict[str, Any] | None,
    confirmed: list[dict[str, Any]],
    found: list[dict[str, Any]],
    undecided: list[dict[str, Any]],
    broken: list[dict[str, Any]],
    lang: Lang,
    numbers: Mapping[str, list[dict[str, str]]],
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
    claims = max(1, HEAD_CLAIMS // max(1, len(shown)))
    left = [step for view in shown for step in _shown(view)[claims:]]
    more = {"place": left[0]["place"], "said": PAGE["more_claims"].say(n=len(left)).render(lang)} if left else None
    return {
        "what": what,
        "since": next((view["window"] for view in shown if view["window"]), words["no_window"]),
        "bad": [n for view in shown for n in numbers[view["id"]]],
        "why": [step for view in shown for step in _shown(view)[:claims]],
        "more": more,
        "now": [remedy for view in shown for remedy in view["remedies"]][:HEAD_REMEDIES],
        "collect": _once(found if confirmed else found + undecided)[:6],
        "also": [view for view in found if view not in shown],
    }


def _shown(view: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [step for step in view["steps"] if step["shown"]]


def _once(views: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return each request for evidence once, however many causes need it."""
    wanted: dict[str, dict[str, str]] = {}
    for view in views:
        for missing in view["missing"]:
            wanted.setdefault(missing["command"], missing)
    return list(wanted.values())


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


def command(findings: Mapping[str, Any], options: Mapping[str, Any], lang: Lang, name: str = "report") -> str:
    """Return the command line that creates this page again."""
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


@cache
def bundled() -> dict[str, Any]:
    """Return the style, the scripts and the compressed library of a page, and the policy that allows exactly these."""
    css, js = template_text("report.css"), template_text("report.js") + template_text("tables.js")
    return {
        "csp": policy(css, offline.source(), js),
        "css": Markup(css),
        "library": Markup(offline.packed()),
        "report_js": Markup(js),
    }


def policy(css: str, *scripts: str) -> str:
    """Return the content security policy: nothing external, and inside the page only exactly these scripts and styles, by hash.

    The hash of the empty text is for plotly, which adds an empty style sheet and fills it rule by rule.
    """
    return (
        f"default-src 'none'; script-src {' '.join(_hash(s) for s in scripts)}; style-src {_hash(css)} {_hash('')}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
