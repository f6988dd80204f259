"""Commands that read evidence: triage, report, notebook, decode, logs, inventory, trace, cut, doctor, postmortem."""

import contextlib
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import kit
from kit.cli import shared
from kit.evidence import disk
from kit.evidence.workspace import WorkspaceInside
from kit.i18n import Lang, labels

if TYPE_CHECKING:
    from kit.case.case import Case

TEXTS: Final = labels("cli")["evidence"]


@click.command(cls=shared.OnEvidence, pasted=True)
@shared.json_option("write findings.json here; - is standard output")
@click.option("--out", type=shared.PATH, help="write findings.json and tables/ into this folder")
@click.option("--fail-on", type=click.Choice(["confirmed", "suspected"]), help="exit with 4 where a root cause is")
@click.option("-v", "--verbose", is_flag=True, help="list what was ruled out and what could not be decided too")
def triage(
    evidence: Path, json_file: Path | None, out: Path | None, fail_on: str | None, verbose: bool, **chosen: Any
) -> None:
    """Examine the evidence for every cause; - reads pasted lines."""
    shared.outside(evidence, json_file)
    first = _first_answer(evidence, chosen["lang"])
    if first and str(json_file) != shared.STDIO:
        click.echo(first + "\n")
    # Only now: these imports take longer than a paste takes to be explained.
    from kit.case import bug_report, output

    case = shared.open_case(evidence, out, **chosen)
    shared.read_ahead(case)
    with output.into(out, "triage", case.lang) if out else contextlib.nullcontext() as folder:
        findings = kit.triage(case)
        if folder:
            from kit.report import write  # and all that draws charts

            disk.write_json(folder / "findings.json", findings)
            write.tables(case, folder / "tables")
            bug_report.write(folder, case)
    from kit.report import terminal  # and with it the charts' table

    shared.answer(terminal.verdicts(findings, case.lang, verbose=verbose), findings, json_file)
    wanted = {None: (), "confirmed": ("confirmed",), "suspected": ("confirmed", "suspected")}[fail_on]
    met = any(f["kind"] == "root_cause" and f["verdict"] in wanted for f in findings["findings"])
    click.get_current_context().meta["condition"] = met


PASTE: Final = 64 << 10
"""Largest single text file, in bytes, that counts as a paste and is explained before anything else is done."""


def _first_answer(evidence: Path | str, lang: Lang) -> str:
    """Return what the lines of a paste mean, "" if the evidence is something else or nothing in it is known."""
    raw = b""
    with contextlib.suppress(OSError):
        if isinstance(evidence, Path) and evidence.is_file() and evidence.stat().st_size <= PASTE:
            raw = evidence.read_bytes()
    # A store or an archive: bytes that do not occur in text.
    if not raw or (b"\0" in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff"))):
        return ""
    from kit.explanation.explain import blocks, explain
    from kit.explanation.paste import decoded

    rows = [row for row in explain(decoded(raw), lang) if row["slug"] or row["kind"] != "log" or row["versions"]]
    return blocks(rows, lang) if rows else ""


@click.command(cls=shared.OnEvidence)
@click.option("--out", type=shared.PATH, required=True, help="folder of the report")
@click.option("--cause", default="auto", show_default=True, help="a slug, or auto: the causes confirmed or suspected")
@click.option("--open", "opens", is_flag=True, help="open the report in the browser")
@click.option("--redact", is_flag=True, help="replace hosts, keys, bodies, groups and paths by stable pseudonyms")
def report(evidence: Path, out: Path, cause: str, opens: bool, redact: bool, **chosen: Any) -> None:
    """Write the offline report."""
    from kit import causes
    from kit.report import terminal
    from kit.rocketmq.catalogue import PROBLEMS

    known = {each.slug: each.kind for each in causes.discover()}
    if cause not in {"auto", *known, *PROBLEMS}:
        roots = [slug for slug, kind in known.items() if kind == "root_cause"]
        raise shared.Refusal(TEXTS["no_cause"].say(cause=cause, roots=roots))
    case = shared.open_case(evidence, out, **chosen)
    shared.read_ahead(case)
    writer = importlib.import_module("kit.redaction.report" if redact else "kit.report.build")
    page = writer.run(case, out, cause=cause)
    # Only the path goes to standard output, for scripts.
    shared.say(terminal.closing(json.loads((out / "findings.json").read_text(encoding="utf-8")), case.lang), err=True)
    click.echo(page)
    if opens:
        click.launch(str(page))


def written(case: "Case", rows: list[tuple[str, Any]], out: Path) -> None:
    from kit.report.console import table

    shared.say(table([(name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in rows]))
    shared.note(TEXTS["written"].say(path=out))


@click.command(cls=shared.OnEvidence)
@shared.exported
@click.option("--body", is_flag=True, help="with the decompressed bodies")
def decode(evidence: Path, out: Path, body: bool, form: str, **chosen: Any) -> None:
    """Decode the commitlog into OUT/messages and OUT/skipped."""
    from kit.report import write

    # Complete Parquet is written without the workspace, which alone needs the digests.
    passing = form == "parquet" and not (body or chosen["since"] or chosen["until"])
    case = shared.open_case(evidence, out, hashes=not passing, **chosen)
    written(case, write.decoded(case, out, body=body, form=form), out)


@click.command(cls=shared.OnEvidence)
@shared.exported
def logs(evidence: Path, out: Path, form: str, **chosen: Any) -> None:
    """Write every text log into OUT/logs."""
    from kit.report import write

    case = shared.open_case(evidence, out, **chosen)
    written(case, write.parsed_logs(case, out, form=form), out)


@click.command(cls=shared.OnEvidence)
def inventory(evidence: Path, **chosen: Any) -> None:
    """List what was found: kind, size, time span, zone, SHA-256, replicas."""
    from kit.report import terminal

    case = shared.open_case(evidence, eager=False, **chosen)
    shared.say(terminal.inventory(case.inventory, case.lang))


@click.command(cls=shared.OnEvidence)
@click.argument("ids", metavar="ID...", nargs=-1, required=True, type=shared.TEXT)
@shared.json_option("write the complete life to this file, for several ids a list; - is standard output")
def trace(evidence: Path, ids: tuple[str, ...], json_file: Path | None, **chosen: Any) -> None:
    """Show the life of a message, by UNIQ_KEY, offset message id or business key.

    Several ids give one line each; `-` reads ids from standard input, one per line.
    """
    from kit.report import console

    shared.outside(evidence, json_file)
    # Nothing is on a standard input that is closed; what is there may be no text.
    piped = sys.stdin.buffer.read().decode(errors="replace") if shared.STDIO in ids and sys.stdin else ""
    given = [piped if each == shared.STDIO else each for each in ids]
    wanted = [line for each in given for line in each.split("\n") if line.strip()]
    if not wanted:
        raise shared.Refusal(TEXTS["no_id"])
    case = shared.open_case(evidence, **chosen)
    lives = kit.traces(case, wanted)
    single = len(wanted) == 1
    text = console.life(lives[0], case.lang) if single else console.lives(lives, case.lang)
    shared.answer(text, lives[0] if single else lives, json_file)
    if not any(life[kind] for life in lives for kind in ("records", "ops", "handled", "traces", "mentions")):
        shared.nothing_matches(TEXTS["no_copy"].say(ids=", ".join(wanted[:4])))


@click.command(cls=shared.OnEvidence)
@click.option("--out", type=shared.PATH, required=True, help="folder of the smaller evidence: empty, or not there yet")
@click.option("--topic", type=shared.TEXT, help="only messages sent to this topic, wherever their copies are")
@click.option("--id", "ids", type=shared.TEXT, multiple=True, help="only this message, by any id or key; repeatable")
def cut(evidence: Path, out: Path, topic: str | None, ids: tuple[str, ...], **chosen: Any) -> None:
    """Write a smaller evidence folder; commitlog records stay unchanged, at their own offsets."""
    from kit.case.options import instant
    from kit.collection import cut as cutting

    since, until = chosen.pop("since"), chosen.pop("until")
    case = shared.open_case(evidence, out, **chosen)
    with shared.user_errors(ValueError):
        counts = cutting.cut(case, out, cutting.Wish(instant(since), instant(until), topic, ids))
    texts = {name: cutting.KEPT_OF.say(kept=kept, of=before) for name, (kept, before) in counts.items()}
    written(case, [(cutting.NAMES[name].in_(case.lang), text.render(case.lang)) for name, text in texts.items()], out)
    chosen_by = ("records",) if topic or ids else ("records", "entries") if since or until else ()
    asked = [counts[name] for name in chosen_by if name in counts]
    if asked and not any(kept for kept, _ in asked):
        shared.nothing_matches(TEXTS["no_record"].say(out=out))


@click.command(cls=shared.OnEvidence)
@click.option("--out", type=shared.PATH, help="folder for the notebooks (default: NAME-notebooks)")
@click.option("--open", "first", default="10_triage", show_default=True, help="which to open, e.g. 50_broker_busy")
def notebook(evidence: Path | str, out: Path | None, first: str, **chosen: Any) -> None:
    """Open JupyterLab on copies of the notebooks that name the evidence; copies that are there are kept."""
    from kit.report.notebooks import copies

    case = shared.open_case(evidence, eager=False, **chosen)
    case.progress.end()
    folder = out or Path(f"{Path(case.name).name}-notebooks")
    shared.outside(evidence, folder)
    workspace = chosen["workspace"]
    parameters = {
        "evidence": case.name if isinstance(evidence, str) else str(evidence.resolve()),
        "workspace": str(workspace.resolve()) if workspace else "",
        "lang": case.lang,
        "options": case.options.declared(),
    }
    opened = next((path for path in copies(folder, parameters) if path.stem == first), folder)
    click.echo(opened)
    sys.exit(subprocess.run([sys.executable, "-m", "jupyter", "lab", str(opened)], check=False).returncode)


@click.command(cls=shared.OnEvidence)
@click.option("--broker", metavar="VERSION", help="release of the broker, if the evidence does not name it")
@shared.json_option("write the hazards here; - is standard output")
def doctor(evidence: Path, broker: str | None, json_file: Path | None, **chosen: Any) -> None:
    """List hazards in configuration and names, before or after an incident; a broker.conf alone is explained."""
    from kit.causes import doctor as examination
    from kit.report import terminal
    from kit.rocketmq.versions import Version

    for place in (json_file, chosen["workspace"]):
        shared.outside(evidence, place)
    with shared.user_errors(ValueError):
        version = Version.parse(broker) if broker is not None else None
    checkup = examination.of_files(evidence, version)
    if checkup is None:
        checkup = examination.of_case(shared.open_case(evidence, **chosen, eager=False), version)
    shared.answer(terminal.checkup(checkup, chosen["lang"]), checkup.as_dict(chosen["lang"]), json_file)


@click.command(cls=shared.OnEvidence)
@click.option("--out", type=shared.PATH, required=True, help="folder of the postmortem")
@click.option("--notes", type=shared.PATH, help="YAML file with the team's notes; if absent, an example is written")
def postmortem(evidence: Path, out: Path, notes: Path | None, **chosen: Any) -> None:
    """Write the blameless postmortem: timeline, causes, impact, the team's notes and actions."""
    from kit.notebook import postmortem as team
    from kit.report import build

    case = shared.open_case(evidence, out, **chosen)
    with shared.user_errors(team.notes.BadNotes, WorkspaceInside, IsADirectoryError):
        title = team.written(notes, case).texts["title"] if notes else ""
    page = build.postmortem(case, out, notes, title)
    shared.say(page)


COMMANDS = (triage, report, notebook, decode, logs, inventory, trace, cut, postmortem, doctor)
