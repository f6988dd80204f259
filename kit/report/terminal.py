"""What `triage`, `inventory` and `doctor` print: plain tables, with control characters stripped from all evidence."""

import datetime as dt
import difflib
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.text import Text

from kit.analysis.setup import Broker
from kit.causes import release_advice
from kit.causes.doctor import Checkup, Hazard
from kit.causes.findings import VERDICTS
from kit.formats.printed_times import is_local, iso
from kit.i18n import Lang, Sentence, T, brief, labels, on_clock, printable, rendered
from kit.inventory import zones
from kit.inventory.inventory import Inventory
from kit.inventory.model import Ref
from kit.report.console import table
from kit.report.labels import COLUMNS, PAGE, ranked, requests
from kit.rocketmq import config

TEXTS: Final = COLUMNS | labels("report")["terminal"]
FOLDED: Final = labels("report")["terminal folded"]
ADVICE: Final = COLUMNS | labels("report")["advice"]
STYLES: Final = {"confirmed": "bold red", "suspected": "yellow", "failed": "magenta"}
BRIEFLY: Final = 4
"""How many requests are shown: the first are those of the likeliest causes."""
NAMED: Final = 3
"""Most files that a warning names."""
ALIKE: Final = 0.85
"""difflib's ratio from which on a name may be a slip of the pen: one or two letters of ten."""


def heads(lang: Lang, names: Mapping[str, T], *chosen: str) -> list[str]:
    return [names[name].in_(lang) for name in chosen]


def verdicts(findings: dict[str, Any], lang: Lang, *, verbose: bool = False) -> str:
    """Return what holds as a table, the rest in a line each (`verbose`: as rows), what to collect and what to do."""
    order = ranked(findings)
    rows = [
        (f["cause"], Text(VERDICTS[f["verdict"]].in_(lang), STYLES.get(f["verdict"], "dim")), f["summary"], _first(f))
        for f in order
        if verbose or f["verdict"] not in FOLDED
    ]
    counts = Counter(f["verdict"] for f in order)
    folded = [] if verbose else [(text, counts[verdict]) for verdict, text in FOLDED.items() if counts[verdict]]
    # The requests of the most likely causes.
    requested = requests(order)[: None if verbose else BRIEFLY]
    colon = PAGE["colon"].in_(lang)
    wanted = [f"  {each['artefact']}{colon}{each['why']}\n      {each['command']}" for each in requested]
    parts = [
        table(rows, heads(lang, TEXTS, "cause", "verdict", "reason", "where")).rstrip() if rows else "",
        *(text.say(count=count).render(lang) for text, count in folded),
        *warnings(findings, lang),
        "\n".join([TEXTS["next"].in_(lang), *wanted]) if wanted else "",
        closing(findings, lang),
    ]
    if findings["evidence"]["path"] != "-":
        path = shlex.quote(findings["evidence"]["path"])
        parts.append(printable(TEXTS["read_on"].say(command=f"rmq-kit report {path} --out report/").render(lang)))
    return "\n\n".join(filter(None, parts))


def warnings(findings: Mapping[str, Any], lang: Lang) -> list[str]:
    """Return that times of findings.json are local ones, and that `--since` and `--until` do not cut some files."""
    evidence, sentences = findings["evidence"], []
    if local := [f for f in evidence["files"] if is_local(f["first"])]:
        first = iso(local[0]["first"])
        times = {"local": f"{first:%H:%M:%S}", "utc": f"{first - dt.timedelta(hours=8):%H:%M:%S}"}
        sentences.append(TEXTS["zone_unknown"].say(files=_named([f["file"] for f in local]), **times))
    if undated := evidence.get("undated"):
        sentences.append(TEXTS["undated"].say(files=_named(undated)))
    with on_clock(None):
        return [printable(sentence.render(lang)) for sentence in sentences]


def _named(files: Sequence[str]) -> Sentence:
    return TEXTS["named_files"].say(files=", ".join(files[:NAMED]), more=len(files[NAMED:]) or None)


def closing(findings: dict[str, Any], lang: Lang) -> str:
    """Return what was found in a few lines: the causes, a sentence for each, what to do next."""
    roots = [f for f in findings["findings"] if f["kind"] == "root_cause"]
    confirmed = [f for slug in findings["root_causes"] for f in roots if f["cause"] == slug]
    perhaps = [] if confirmed else [f for f in roots if f["verdict"] == "suspected"]
    beside = [f for f in ranked(findings) if f["kind"] != "root_cause" and f["verdict"] == "confirmed"]
    first = confirmed or perhaps or beside
    name = "found" if confirmed else "perhaps" if perhaps else "beside"
    causes = TEXTS[name].say(causes=", ".join(f["cause"] for f in first))
    shown = confirmed or first[:1]
    nothing = TEXTS["not_examined" if any(f["verdict"] == "failed" for f in roots) else "nothing_found"]
    sentences: list[Sentence | str] = [causes if first else nothing, *(f["summary"] for f in shown)]
    if first and not perhaps:
        actions = [brief(r["action"]) for f in first for r in f["remedies"][:1]]
        sentences += [TEXTS["do_next"].say(action=action) for action in actions[: len(shown)]]
    else:
        missing = (m["artefact"] for f in first or ranked(findings) for m in f["missing"])
        sentences += [TEXTS["to_collect"].say(artefact=artefact) for artefact in missing][:1]
    return "\n".join(printable(rendered(line, lang)) for line in sentences)


def inventory(files: Inventory, lang: Lang) -> str:
    """Return one row per file, those not recognised or refused last."""
    rows = []
    for item in files.items:
        times = (str(at.replace(microsecond=0, tzinfo=None)) if at else "" for at in (item.first, item.last))
        zone = TEXTS["local_time"].in_(lang) if zones.unknown(item) else item.zone or ""
        about = (item.called, f"{item.bytes:,}", *times, zone, (item.sha256 or "")[:16], item.replica_of or "")
        rows.append([item.file, *about])
    rows += [[name, TEXTS["not_recognised"].in_(lang)] for name in files.not_recognised]
    rows += [[refused.file, TEXTS["refused"].say(reason=refused.say(lang)).render(lang)] for refused in files.refused]
    names = heads(lang, TEXTS, "file", "kind", "bytes", "first", "last", "zone", "sha256", "replica_of")
    return table(rows, names, (2,))


def _first(finding: Mapping[str, Any]) -> str:
    """Return the place of the first evidence, within its archive."""
    refs = (Ref(**ref) for step in finding["steps"] if step["holds"] for ref in step["evidence"])
    return next((str(ref).rpartition("!/")[2] for ref in refs), "")


def checkup(examined: Checkup, lang: Lang) -> str:
    """Return hazards, faults of the releases seen, and for configuration alone a guide to its parameters."""
    parts = [_guide(broker, lang) for broker in examined.seen.brokers] if examined.seen.configuration_only else []
    hazards, notes = ([h for h in examined.hazards if h.grade == grade] for grade in ("hazard", "note"))
    settings = sum(len(broker.settings.given) for broker in examined.seen.brokers)
    sentence = "nothing" if settings or examined.seen.groups else "unchecked"
    nothing = ADVICE[sentence].say(settings=settings, groups=len(examined.seen.groups)).render(lang) + "\n"
    parts.append(_hazards(hazards, lang) if hazards else nothing)
    if notes:
        parts.append(ADVICE["notes"].in_(lang) + "\n" + _hazards(notes, lang))
    if examined.faults:
        names = [head.in_(lang) for head in (*release_advice.COLUMNS.values(), ADVICE["fitting"])]
        rows = [(*each.row(lang), ADVICE["yes"].in_(lang) if each.fits else "") for each in examined.faults]
        parts.append(ADVICE["faults"].in_(lang) + "\n" + table(rows, names))
    return "\n".join(parts)


def _hazards(hazards: Sequence[Hazard], lang: Lang) -> str:
    rows = []
    for each in hazards:
        what, becomes, instead = (text.render(lang) for text in (each.what, each.becomes, each.instead))
        becomes = f"{each.cause}: {becomes}" if each.cause else becomes
        rows.append((f"{each.slug}: {what}", each.where(lang), becomes, instead))
    return table(rows, heads(lang, ADVICE, "hazard", "where", "becomes", "set"))


def _guide(broker: Broker, lang: Lang) -> str:
    conflicts = config.conflicts(broker.settings)
    rows = []
    for own, text in broker.settings.given.items():
        known = config.PARAMETERS.get(own)
        near = [] if known else difflib.get_close_matches(own, config.PARAMETERS, 1, ALIKE)
        meaning = (known.meaning if known else ADVICE["not_here"].say(like=next(iter(near), None))).render(lang)
        unit = f" ({known.unit})" if known and known.unit != "text" else ""
        trade = known.trade.in_(lang) if known and known.trade else ""
        against = ", ".join(conflict.slug for conflict in conflicts if own in conflict.names)
        value, default = config.typed(own, text), config.default_of(own, broker.settings.version)
        rows.append((own, _value(value), _value(default), meaning + unit, trade, against))
    name, version = broker.name or ADVICE["the_broker"], broker.settings.version
    guide = ADVICE["guide"].say(broker=name, version=str(version) if version else ADVICE["any_release"])
    names = heads(lang, ADVICE, "parameter", "value", "default", "meaning", "trades", "against")
    return printable(guide.render(lang)) + "\n" + table(rows, names)


def _value(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
