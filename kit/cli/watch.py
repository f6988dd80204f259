"""The command `watch`: live alerts from growing logs and stores."""

import contextlib
import math
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from kit.cli import CONDITION
from kit.cli.shared import PATH, TEXT, THERE, Refusal, in_language, note, outside, user_errors
from kit.i18n import Lang, labels

TEXTS: Final = labels("cli")["watch"]
PORT: Final = re.compile(r"(?:([^/]*):)?([0-9]{1,9})")  # anything else is a file
complain = partial(click.echo, err=True)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=THERE)
@click.option("--alerts", type=TEXT, metavar="FILE|-", help="append alerts as JSON lines; - is standard output")
@click.option(
    "--prometheus", type=TEXT, metavar="PORT|FILE", help="metrics on a loopback port, ADDRESS:PORT, or in FILE"
)
@click.option("--capture", type=PATH, metavar="DIR", help="copy the evidence around each alert into this folder")
@click.option("--once", is_flag=True, help="read what is new and exit: with 4 while an alert is active, else with 0")
@click.option("--from", "since", metavar="TIME", help="also read what exists, from this time on (default: what is new)")
@click.option("--state", type=PATH, metavar="DIR", help="state for a restart (default: the user's cache folder)")
@click.option("--every", type=click.FloatRange(0.2, 3600), default=2.0, show_default=True, help="seconds between looks")
@click.option("--tz-broker", help="zone of broker logs, if not GMT+8")
@click.option("--tz-app", help="zone of application logs")
@in_language
def watch(paths: tuple[Path, ...], lang: Lang, **chosen: Any) -> None:
    """Follow growing logs and stores and report alerts.

    PATH is a broker's home, a folder of logs, or one file; several may be given. Nothing there is ever written.

    \b
    Examples:
      rmq-kit watch ~/logs/rocketmqlogs ~/store
      rmq-kit watch /data/rocketmq --alerts alerts.jsonl --prometheus 9105
      rmq-kit watch /data/rocketmq --once --state /var/lib/rmq-kit-watch || page-somebody
    """
    from kit.watch import outlets, run
    from kit.watch.episodes import RANK

    folder = chosen["state"] or run.default(paths)
    alerts = None if chosen["alerts"] in (None, "-") else Path(chosen["alerts"])
    target = chosen["prometheus"] or "0"
    for place in (folder, chosen["capture"], alerts, None if PORT.fullmatch(target) else Path(target)):
        for path in paths:
            outside(path, place, TEXTS["inside"])
    if alerts is not None and (alerts.is_symlink() or (alerts.exists() and not alerts.is_file())):
        raise Refusal(TEXTS["a_link"].say(path=alerts))
    run.begin()
    with contextlib.suppress(KeyboardInterrupt), run.alone(folder, lang):
        watching = _watch(paths, folder, lang, chosen)
        listeners: list[Any] = [outlets.lines(chosen["alerts"])] if chosen["alerts"] else []
        if into := chosen["capture"]:
            listeners.append(lambda alert: alert["state"] == "raised" and outlets.capture(watching, alert["id"], into))
        sender = run.Sender(watching, folder, listeners, complain)
        if chosen["prometheus"]:
            _metrics(sender, chosen["prometheus"])
        run.forever(sender, run.showing(watching, lang), chosen["every"], once=chosen["once"])
        if chosen["once"] and any(RANK[each.severity] > RANK["notice"] for each in watching.state.episodes.open):
            sys.exit(CONDITION)


def _watch(paths: tuple[Path, ...], folder: Path, lang: Lang, chosen: dict[str, Any]) -> Any:
    from kit.case.options import instant
    from kit.formats.logs.schema import Options
    from kit.formats.printed_times import tzinfo, zone
    from kit.watch import run
    from kit.watch.loop import Watch

    with user_errors(ValueError):
        since = instant(chosen["since"])
        for named in ("tz_broker", "tz_app"):
            tzinfo(chosen[named])
        options = Options(zone(chosen["tz_broker"]), zone(chosen["tz_app"]), events=True)
    begins = since.timestamp() if since else math.inf
    state = run.load(folder, complain, lang)
    return Watch([path.resolve() for path in paths], state, begins, lang, options=options)


def _metrics(sender: Any, target: str) -> None:
    """Serve the figures on a port, or write them into a file after each step."""
    from kit.watch import outlets

    if not (port := PORT.fullmatch(target)):
        sender.after = lambda: outlets.write_figures(sender.watch, Path(target))
        return
    try:
        at = outlets.serve_figures(sender.watch, int(port[2]), address := port[1] or outlets.LOOPBACK)
    except (OSError, OverflowError) as error:
        raise Refusal(f"{target}: {getattr(error, 'strerror', '') or error}") from None
    note(TEXTS["metrics"].say(where=f"http://{address}:{at}/metrics"))
