"""A report with pseudonyms of every name, address, key and path, made and checked in the workspace before it leaves."""

import datetime as dt
import ipaddress
import itertools
import secrets
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import kit
from kit import data
from kit.case import bug_report, output
from kit.case.case import Case
from kit.case.tables import AS_MAP
from kit.causes import results
from kit.charts import MIME as CHART
from kit.charts import PLOTLY_MIME, offline
from kit.charts.table import BEHIND, drawn, spelled
from kit.charts.table import MIME as TABLE
from kit.evidence import disk
from kit.evidence import workspace as ws
from kit.i18n import Lang, labels, on_clock
from kit.redaction import leaks, ordinary
from kit.redaction.forms import MENTIONED, NOBODYS, PATTERNS, WORD, opened
from kit.redaction.redactor import GONE, Redactor, host, mapped
from kit.report import build, notebooks, write
from kit.report.notebook_format import nbformat
from kit.rocketmq import names
from kit.rocketmq.ids import IN_TEXT

SAYS: Final = labels("redaction")["report"]


def run(case: Case, out: Path, *, cause: str = "auto") -> Path:
    """Write the report with pseudonyms; return the page's path. Raise `click.ClickException` where an original is left."""
    started = dt.datetime.now(dt.UTC)
    place = case.workspace.folder / "tmp"
    place.mkdir(exist_ok=True)
    with (
        output.into(out, "report", case.lang) as target,
        results.one_run(),
        tempfile.TemporaryDirectory(prefix="redact-", dir=place) as folder,
    ):
        staged = Path(folder)
        findings = kit.triage(case)
        case.progress.begin("writing")
        parameters = build.parameters(case)
        options = build.declared(case, cause)
        chosen = notebooks.chosen(findings, cause)
        executed = notebooks.execute(chosen, staged / "notebooks", parameters, case.failures)
        books = {path: notebooks.read(path) for path in executed}
        tables = {name: results.table(case, name) for name in results.names(case)}
        evidence = build.evidence_tables(case)
        # What notebooks show of the evidence, not their own prose and code.
        outputs = [each for book in books.values() for cell in book.cells for each in cell.get("outputs", ())]
        shown = [each for each in outputs if not notebooks.marks(each).get("library")]
        everything = [findings, parameters, options, *shown, *tables.values(), *evidence.values()]
        paths = {findings["evidence"]["path"], parameters["evidence"], parameters["workspace"], str(Path.home())}
        redactor = redactor_of(case, everything, paths)

        replaced = redactor.value(findings)
        disk.write_json(staged / "findings.json", replaced)
        for name, frame in tables.items():
            write.csv(redactor.value(frame), staged / "tables" / f"{name}.csv")
        for path, book in books.items():
            notebook(redactor, book, build.neutral(case), case.lang)
            nbformat.write(book, path)
        frames = {name: redactor.value(frame) for name, frame in evidence.items()}
        with on_clock(case.clock):
            shown = redactor.value(options) | {"redact": True}
            build.build(replaced, frames, executed, staged, case.lang, shown, case.failures)
        build.write_run(staged / "run.json", started, {})

        if case.failures:
            report = bug_report.text(case.failures, case, redactor.value(options))
            (staged / output.BUG_REPORT).write_text(redactor.text(report), encoding="utf-8")
        files = {path: path.relative_to(staged) for path in staged.rglob("*") if path.is_file()}
        older = {out / name: name for name in output.written_by_others(out, "report") if name not in files.values()}
        originals = leaks.of(case, [*files, *older], paths, redactor.is_pseudonym)
        leaks.check(originals, files, SAYS["leak"], case.lang)
        leaks.check(originals, older, SAYS["stale"], case.lang)
        for path, relative in files.items():  # `copytree` hides which error it was, `copyfile` which disk
            (target / relative).parent.mkdir(parents=True, exist_ok=True)
            (target / relative).write_bytes(path.read_bytes())
    return out / build.PAGE_NAME


def notebook(redactor: Redactor, book: nbformat.NotebookNode, parameters: Mapping[str, Any], lang: Lang) -> None:
    """Replace originals in a notebook, in place; HTML is drawn anew: the output behind a chart shows its table."""
    notebooks.settle(book, redactor.value(parameters))
    for cell in book.cells:
        chart: dict[str, Any] = {}
        for one in cell.get("outputs", ()):
            for part in {"text", "evalue", "traceback"}.intersection(one):
                one[part] = redactor.value(one[part])
            data, marks = one.get("data", {}), notebooks.marks(one)
            if marks.get("library"):
                continue
            data.pop("text/html", None)
            data |= {mime: redactor.value(data[mime], is_figure=mime == PLOTLY_MIME) for mime in data}
            if TABLE in data:
                data.update({"text/html": drawn(data[TABLE]), "text/plain": spelled(data[TABLE])})
            elif PLOTLY_MIME in data and CHART in data:
                data["text/html"] = offline.drawn(data[PLOTLY_MIME], data[CHART]["alt"], data[CHART]["min_width"])
            elif chart and marks.get("twin"):
                data["text/html"] = drawn(chart["table"], chart["reading"], BEHIND.render(lang))
            chart = data.get(CHART, chart)


# --- the names to replace ---------------------------------------------------------------------------------------------
# Only names whose first word is shown are kept, so a hundred thousand business keys cost no more than the few quoted.

SALT: Final = "redact-salt"
"""File of the workspace that holds the salt, in hex: whoever keeps it gets the same pseudonyms again."""
LONGEST: Final = 400
"""Most characters of a name."""

_WHERE: Final = data.read("redaction/names.yaml", list[tuple[str, str]])
"""(kind of name, what is selected)."""
PRINTED: Final = "(select explode(values) as (name, value) from all_events)"


def redactor_of(case: Case, shown: Iterable[Any], paths: Iterable[str]) -> Redactor:
    """Return the redactor of a case for findings, frames, notebooks. `paths`: of this machine, replaced whole."""
    whole: dict[str, str] = {}
    mapped(list(shown), lambda text, field: whole.setdefault(text, text))
    texts = whole.keys() | {opened(text)[0] for text in whole}
    words = {word for text in texts for word in WORD.findall(text)}
    kinds: dict[str, str] = {}
    for name, kind in itertools.chain(_tables(case), mentioned(texts)):
        word = WORD.search(name)
        if kind == "address" or ((not word or word.group() in words) and len(name) <= LONGEST):
            kinds.setdefault(name, kind)
    files, inventory = {*paths, *case.unzoned.not_recognised}, case.unzoned
    files |= {item.file for item in (*inventory.items, *inventory.archives)} | {r.file for r in inventory.refused}
    redactor = Redactor(salt(case.workspace), kinds, exact=files)
    # Lines of business tables and ledgers are left out, their place remains.
    for item in case.unzoned.of_kind("rows", "sends"):
        if item.has_lines:
            with Path(item.path).open(encoding=item.encoding, errors="replace") as lines:
                redactor.exact |= {line: GONE for raw in lines if (line := raw.rstrip("\r\n")) in texts}
    return redactor


def salt(workspace: ws.Workspace) -> bytes:
    """Return the salt of a workspace, created on first use."""
    path = workspace.folder / SALT
    with disk.locked(workspace.folder / "locks" / f"{SALT}.lock"):
        if not path.exists():
            disk.write_text(path, secrets.token_hex(32) + "\n", private=True)
        return path.read_text(encoding="utf-8").strip().encode()


def _tables(case: Case) -> Iterator[tuple[str, str]]:
    """Yield (name, kind) of the names that the tables of a case hold: a hundred million keys are never held at once."""
    own = ", ".join(f"'{name}'" for name in sorted(names.PROPERTIES))
    for kind, query in _WHERE:
        rows = case.sql(f"select distinct {query.format(properties=AS_MAP, own=own, printed=PRINTED)}")
        yield from (each for row in rows.toLocalIterator() if row[0] for each in _plain(str(row[0]), kind))
    for item in case.unzoned.of_kind("rows", "sends"):
        for column in item.detail.get("other_keys") or ():
            rows = case.sql(f"select distinct try_element_at(cells, :column) from all_{item.kind}", column=column)
            yield from (each for row in rows.toLocalIterator() if row[0] for each in _plain(str(row[0]), "key"))


def _plain(value: str, kind: str) -> Iterator[tuple[str, str]]:
    """Yield what is replaced of a value: the group behind a prefix, each key of several, nothing of RocketMQ's."""
    text = value.strip()
    if kind == "key":
        yield from (
            (key, kind) for key in text.split() if not (IN_TEXT.fullmatch(key) or PATTERNS["quad"].fullmatch(key))
        )
    elif kind in _ADDRESSES:
        if ip := _ADDRESSES[kind](text):
            yield str(ip), "address"
    elif kind == "cell":
        if not (NOBODYS["cell"].fullmatch(text) or ordinary.is_ambiguous(text) or text.startswith(ordinary.VENDORS)):
            yield from _plain(text, "value")
    else:
        text, prefixed = PATTERNS["prefix"].subn("", text)
        kind = "group" if prefixed else kind
        if kind == "client":
            text = text.partition("@")[2].partition("#")[0] if PATTERNS["quad"].match(text) else text
        if not (NOBODYS.get(kind, NOBODYS["name"]).fullmatch(text) or ordinary.is_stock(text)):
            yield text, kind


_ADDRESSES: Final[dict[str, Callable[[str], Any]]] = {
    "address": lambda text: host(text)[0],
    "hex": lambda text: ipaddress.ip_address(bytes.fromhex(text)),
    "number": lambda text: ipaddress.IPv4Address(int(text) % (1 << 32)),
}
"""How a text of a kind spells an address."""


def mentioned(texts: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, kind) of the names that texts show by the words before them, or by their form."""
    for kind, within, form in MENTIONED:
        parts = (part[1] for text in texts for part in within.finditer(text))
        for name in (hit[hit.lastindex or 0].strip("|.@#-") for part in parts for hit in form.finditer(part)):
            is_file = name.startswith(ordinary.VENDORS) or name.rpartition(".")[2] in ordinary.EXTENSIONS
            if not (ordinary.is_ordinary(name) or (kind == "host" and (is_file or name in ordinary.FOLDERS))):
                yield from _plain(name, kind)
