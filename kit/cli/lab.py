"""The commands `lab run` and `lab list`: reproduce an incident on a real broker, and triage it."""

import importlib
import time
from pathlib import Path
from typing import Any, Final

import click

from kit.cli.shared import PATH, Refusal, at_workspace, in_language, open_case, user_errors
from kit.i18n import Lang, labels

TEXTS: Final = labels("cli")["lab"]
OVER: Final = labels("cli")["lab over"]


@click.group()
def lab() -> None:
    """Reproduce an incident on a real broker.

    \b
    Examples:
      rmq-kit lab list
      rmq-kit lab run half-topic-blowup
      rmq-kit lab run half-topic-blowup --fixed
    """


@lab.command()
@click.argument("scenario")
@click.option("--fixed", is_flag=True, help="the twin with the remedy applied, same as SCENARIO-fixed")
@click.option("--broker", metavar="VERSION", help="release of the servers, e.g. 4.6.0 (default: the scenario's)")
@click.option("--client", metavar="VERSION", help="release of the applications' client (default: the scenario's)")
@click.option("--out", type=PATH, help="a new folder for the evidence (default: out/lab/SCENARIO-TIME)")
@at_workspace
@in_language
def run(scenario: str, lang: Lang, **chosen: Any) -> None:
    """Run SCENARIO on stock RocketMQ processes on loopback, collect the evidence and triage it.

    Needs Java 17, javac and Maven, which fetches the jars once. Takes about a minute and at most some hundred MB below
    OUT. Ctrl-C ends it and every process it started.

    \b
    Examples:
      rmq-kit lab run half-topic-blowup
      rmq-kit lab run half-topic-blowup --client 4.6.1
      rmq-kit lab run healthy --broker 5.1.4 --client 4.9.4 --out out/healthy-5
    """
    jars, running, scenarios, view = (_lab(name) for name in ("jars", "run", "scenario", "watch"))
    with user_errors(ValueError):
        one = scenarios.find(scenario, lang, fixed=chosen["fixed"])
    folder = chosen["out"] or Path("out", "lab", f"{one.name}-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        with user_errors(jars.LabError, ValueError):
            done = running.run(one, folder, chosen["broker"], chosen["client"], view.watching(one, lang))
    except KeyboardInterrupt:
        raise Refusal(TEXTS["interrupted"].say(path=folder)) from None
    texts = {name: str(getattr(done, name)) for name in ("broker", "client", "evidence")}
    click.echo(TEXTS["ran"].say(name=one.name, seconds=done.seconds, over=OVER[done.over], **texts).render(lang))
    if chosen["broker"] is None and chosen["client"] is None:
        expected = {name: list(getattr(one, name)) or TEXTS["nothing"] for name in ("roots", "neighbours")}
        click.echo(TEXTS["expected"].say(**expected).render(lang))
    import kit
    from kit.report import terminal

    case = open_case(done.evidence, workspace=chosen["workspace"], lang=lang)
    click.echo(terminal.verdicts(kit.triage(case), lang))


def _lab(module: str) -> Any:
    """Return a module of the live lab, which a source tree has and the installed package has not."""
    try:
        return importlib.import_module(f"kit.live_lab.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("kit.live_lab"):
            raise Refusal(TEXTS["not_here"]) from None
        raise


@lab.command("list")
@in_language
def list_(lang: Lang) -> None:
    """List the scenarios: name, releases, what happens."""
    for one in _lab("scenario").SCENARIOS.values():
        click.echo(f"{one.name:30} {one.broker} / {one.client}   {one.title.in_(lang)}")
