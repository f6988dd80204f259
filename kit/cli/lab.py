"""The commands `lab run` and `lab list`: reproduce an incident on a real broker, and triage it."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any, Final

import click

from kit.cli.shared import PATH, Refusal, at_workspace, in_language, leave, open_case
from kit.i18n import Lang, labels, printable

TEXTS: Final = labels("cli")["lab"]
OVER: Final = labels("cli")["lab over"]


@click.group()
def lab() -> None:
    """Reproduce an incident on a real broker.

    \b
    Examples:
      rmq-kit lab list
      rmq-kit lab run half-topic-blowup --watch
      rmq-kit lab run half-topic-blowup --fixed
    """


@lab.command()
@click.argument("scenario")
@click.option("--fixed", is_flag=True, help="the twin with the remedy applied, same as SCENARIO-fixed")
@click.option(
    "--broker", metavar="VERSION", help="release of name server and broker, e.g. 4.6.0 (default: the scenario's)"
)
@click.option("--client", metavar="VERSION", help="release of the applications' client (default: the scenario's)")
@click.option("--out", type=PATH, help="a new folder for the evidence (default: out/lab/SCENARIO-TIME)")
@click.option("--watch", is_flag=True, help="show the half topic, the errors and the growth while it runs")
@at_workspace
@in_language
def run(
    scenario: str,
    fixed: bool,
    broker: str | None,
    client: str | None,
    out: Path | None,
    watch: bool,
    workspace: Path | None,
    lang: Lang,
) -> None:
    """Run SCENARIO on stock RocketMQ processes on loopback, collect the evidence and triage it.

    Needs Java 17, javac and Maven, which fetches the jars once. Takes about a minute and at most some hundred MB below
    OUT. Ctrl-C ends it and every process it started.

    \b
    Examples:
      rmq-kit lab run half-topic-blowup --watch
      rmq-kit lab run half-topic-blowup --client 4.6.1
      rmq-kit lab run healthy --broker 5.1.4 --client 4.9.4 --out out/healthy-5
    """
    running, scenarios = _lab("run", lang), _lab("scenario", lang)
    LabError, watching = _lab("jars", lang).LabError, _lab("watch", lang).watching  # noqa: N806
    try:
        chosen = scenarios.find(scenario, lang, fixed=fixed)
    except KeyError as error:
        raise Refusal(printable(str(error.args[0]))) from None
    folder = out or Path("out", "lab", f"{chosen.name}-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        with watching(chosen, lang, live=watch, folder=folder / running.RUN) as tell:
            done = running.run(chosen, folder, broker, client, tell)
    except LabError as error:
        raise Refusal(printable(error.sentence.render(lang))) from None
    except ValueError as error:
        raise Refusal(printable(str(error))) from None
    except KeyboardInterrupt:
        raise Refusal(TEXTS["interrupted"].say(path=printable(str(folder))).render(lang)) from None
    values: dict[str, Any] = {
        "name": chosen.name,
        "broker": str(done.broker),
        "client": str(done.client),
        "seconds": done.seconds,
        "over": OVER[done.over],
    }
    click.echo(TEXTS["ran"].say(**values, evidence=str(done.evidence)).render(lang))
    if broker is None and client is None:
        click.echo(
            TEXTS["expected"]
            .say(roots=list(chosen.roots) or TEXTS["nothing"], neighbours=list(chosen.neighbours) or TEXTS["nothing"])
            .render(lang)
        )
    _triage(done.evidence, workspace, lang)


def _triage(evidence: Path, workspace: Path | None, lang: Lang) -> None:
    import kit
    from kit.report import terminal

    case = open_case(evidence, workspace=workspace, lang=lang)
    click.echo(terminal.verdicts(kit.triage(case), lang))
    leave(case)


def _lab(module: str, lang: Lang) -> Any:
    """Return a module of the live lab, which a source tree has and the installed package has not."""
    try:
        return importlib.import_module(f"kit.live_lab.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("kit.live_lab"):
            raise Refusal(TEXTS["not_here"].render(lang)) from None
        raise


@lab.command("list")
@in_language
def list_(lang: Lang) -> None:
    """List the scenarios: name, releases, what happens."""
    for one in _lab("scenario", lang).scenarios().values():
        click.echo(f"{one.name:30} {one.broker} / {one.client}   {one.title.in_(lang)}")


COMMANDS = (lab,)
