"""The command line: options, exit codes, and nothing else. Work is imported when a command runs, so `--help` stays quick.

Exit codes: 0 done · 1 a bug · 2 wrong usage or nothing to read · 3 done, but some evidence is damaged or could not be read.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kit.texts import Lang, T

if TYPE_CHECKING:
    from collections.abc import Callable

    from kit.case import Case

DAMAGED = 3

NOT_THERE = T("{path}: no such file or folder", "{path}：没有这个文件或文件夹")
OUT_INSIDE = T("{path}: --out lies inside the evidence; nothing is written there", "{path}：--out 位于证据目录之内；不会向其中写入")
NOTHING = T("{path}: nothing in it is recognised as RocketMQ evidence", "{path}：其中没有可识别的 RocketMQ 证据")
BAD_PROPERTY = T("`{text}` is no property; write it as NAME=VALUE", "“{text}”不是属性；请写成 NAME=VALUE")
TOO_OLD = T("{version} is older than {oldest}, the first release whose sizes are known", "{version} 早于 {oldest}，后者是已知大小规则的最早版本")
DAMAGE = T("{n} places of the evidence are damaged or could not be read:", "证据中有 {n} 处损坏或无法读取：")
BAD_DATE = T(
    "`{text}` is not an ISO date, such as 2024-05-14 or 2024-05-14T10:00:00+08:00",
    "“{text}”不是 ISO 日期，例如 2024-05-14 或 2024-05-14T10:00:00+08:00",
)
FORMATS = click.Choice(["parquet", "jsonl", "csv"])


class Evidence(click.ParamType):
    """A path that exists; says so in the reader's language."""

    name = "evidence"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if not path.exists():
            self.fail(NOT_THERE.say(path=str(path)).render(), param, ctx)
        return path


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that every command on evidence takes."""
    for option in reversed(
        [
            click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="language of the sentences"),
            click.option("--tz-broker", help="zone of the broker's host, for what its layouts do not fix"),
            click.option("--tz-app", help="zone of client and application logs and tables, e.g. Asia/Shanghai or +08:00"),
            click.option("--since", help="ISO time; earlier records and lines are left out"),
            click.option("--until", help="ISO time; later records and lines are left out"),
            click.option("--rows", multiple=True, help="FILE:key=…,time=…,status=… names the columns of a table"),
            click.option("--workspace", type=click.Path(path_type=Path), help="folder of the cache (default: the user's cache folder)"),
            click.option("--master", help="Spark master URL"),
            click.option("--remote", help="Spark Connect URL"),
        ]
    ):
        command = option(command)
    return command


def open_case(evidence: Path, out: Path | None = None, **chosen: Any) -> Case:
    """Open the case or leave with one line that names the path."""
    import kit

    _outside(evidence, out)
    _outside(evidence, chosen.get("workspace"))
    case = kit.open_case(evidence, chosen.pop("workspace", None), **chosen)
    if not case.found.recognised:
        raise click.UsageError(NOTHING.say(path=str(evidence)).render(chosen["lang"]))
    return case


def _outside(evidence: Path, out: Path | None) -> None:
    if out is None:
        return
    here, there = evidence.resolve(), out.resolve()
    if there == here or (here.is_dir() and here in there.parents):
        raise click.UsageError(OUT_INSIDE.say(path=str(out)).render())


def _leave(case: Case) -> None:
    """End with 3 where evidence is damaged, after naming each place on stderr."""
    damage = case.damage()
    if not damage:
        return
    click.echo(DAMAGE.say(n=len(damage)).render(case.lang), err=True)
    for place in damage[:20]:
        click.echo(f"  {clean(str(place))}", err=True)
    if len(damage) > 20:
        click.echo(f"  … +{len(damage) - 20}", err=True)
    sys.exit(DAMAGED)


def clean(text: str) -> str:
    """Return evidence text fit for a terminal: control and direction characters replaced."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="rmq-kit")
def cli() -> None:
    """Say which root cause an Apache RocketMQ incident had, with evidence anyone can check.

    \b
    Examples:
      rmq-kit triage incident/                      one table of verdicts
      rmq-kit report incident.zip --out report/     the offline report
      rmq-kit trace incident/ 0A140D151A0C0C387F4466B0BCE60000
    """


@cli.command()
@click.argument("evidence", type=Evidence())
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="write findings.json here")
@click.option("--out", type=click.Path(path_type=Path), help="write findings.json and tables/ into this folder")
@options
def triage(evidence: Path, json_file: Path | None, out: Path | None, **chosen: Any) -> None:
    """Run every cause on everything found."""
    import kit
    from kit.report import terminal, write

    _outside(evidence, json_file)
    case = open_case(evidence, out, **chosen)
    findings = kit.triage(case)
    click.echo(terminal.verdicts(findings, case.lang))
    if json_file:
        write.findings(findings, json_file)
    if out:
        write.findings(findings, out / "findings.json")
        write.tables(case, out / "tables")
    _leave(case)


@cli.command()
@click.argument("evidence", type=Evidence())
@click.option("--out", type=click.Path(path_type=Path), required=True, help="folder of the report")
@click.option("--cause", default="auto", show_default=True, help="a cause's slug, or auto: those confirmed or suspected")
@click.option("--redact", is_flag=True, help="replace hosts, keys, bodies, groups and paths by stable pseudonyms")
@options
def report(evidence: Path, out: Path, cause: str, redact: bool, **chosen: Any) -> None:
    """Write the offline report."""
    import kit.report

    case = open_case(evidence, out, **chosen)
    click.echo(kit.report.run(case, out, cause=cause, redact=redact))
    _leave(case)


@cli.command()
@click.argument("evidence", type=Evidence())
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--body", is_flag=True, help="with the decompressed bodies")
@click.option("--format", "form", type=FORMATS, default="parquet", show_default=True)
@options
def decode(evidence: Path, out: Path, body: bool, form: str, **chosen: Any) -> None:
    """Decode the commitlog into OUT/messages and OUT/skipped."""
    from kit.report import terminal, write

    case = open_case(evidence, out, **chosen)
    click.echo(terminal.counts(write.decoded(case, out, body=body, form=form)))
    _leave(case)


@cli.command()
@click.argument("evidence", type=Evidence())
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--format", "form", type=FORMATS, default="parquet", show_default=True)
@options
def logs(evidence: Path, out: Path, form: str, **chosen: Any) -> None:
    """Write every text log into OUT/logs."""
    from kit.report import terminal, write

    case = open_case(evidence, out, **chosen)
    click.echo(terminal.counts(write.parsed_logs(case, out, form=form)))
    _leave(case)


@cli.command()
@click.argument("evidence", type=Evidence())
@options
def inventory(evidence: Path, **chosen: Any) -> None:
    """List what was found: kind, size, time span, zone, SHA-256, replicas."""
    from kit.report import terminal

    case = open_case(evidence, **chosen)
    click.echo(terminal.inventory(case.inventory, case.lang))
    _leave(case)


@cli.command()
@click.argument("evidence", type=Evidence())
@click.argument("id")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="write the whole life here")
@options
def trace(evidence: Path, id: str, json_file: Path | None, **chosen: Any) -> None:  # noqa: A002
    """Tell the life of one message: by UNIQ_KEY, offset message id or business key."""
    import json

    import kit
    from kit.report import told

    _outside(evidence, json_file)
    case = open_case(evidence, **chosen)
    life = kit.trace(case, id)
    click.echo(told.life(life, case.lang))
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(life, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    _leave(case)


@cli.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@click.option("--near", help="ISO date or time near the message: chooses the month of a UNIQ_KEY")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="language of the sentences")
def msgid(ids: tuple[str, ...], near: str | None, lang: Lang) -> None:
    """Take message ids apart: which kind, every field, both times where two months fit."""
    import datetime as dt

    from kit.ids import msgid_report
    from kit.report import told

    try:
        about = dt.datetime.fromisoformat(near) if near else None
    except ValueError:
        raise click.UsageError(BAD_DATE.say(text=clean(near or "")).render(lang)) from None
    rows = msgid_report(ids, about)
    click.echo(told.ids(rows, lang))
    if any("error" in row for row in rows):
        sys.exit(2)


@cli.command()
@click.option("--body", type=click.IntRange(min=0), required=True, help="bytes of the body as stored: compressed, if the client compresses it")
@click.option("--topic", required=True, help="the topic it is sent to")
@click.option("--properties", multiple=True, metavar="K=V…", help="what the application sets, such as KEYS=… TAGS=…; PGROUP=… is the producer group")
@click.argument("more", nargs=-1, metavar="")
@click.option("--broker", metavar="VERSION", help="release of the broker (default: the newest known)")
@click.option("--client", metavar="VERSION", help="release of the client (default: that of the broker)")
@click.option("--limit", type=click.IntRange(min=1), help="maxMessageSize of the broker (default: that of its release, 4194304)")
@click.option("--group", help="consumer group that sends it back (default: the longest that is allowed)")
@click.option("--check-max", type=click.IntRange(min=1), help="transactionCheckMax (default: that of the release)")
@click.option("--dledger", is_flag=True, help="a DLedger broker")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="language of the sentences")
def size(body: int, topic: str, properties: tuple[str, ...], more: tuple[str, ...], broker: str | None, client: str | None, lang: Lang, **chosen: Any) -> None:
    """Say how many bytes a message is stored in, now and after each rewrite, and the largest safe body."""
    from kit import size as sizes
    from kit.facts.versions import NEWEST, OLDEST, Version
    from kit.report.sizes import card

    pairs = [item.partition("=") for item in (*properties, *more)]
    wrong = next((name for name, equals, _ in pairs if not (name and equals)), None)
    if wrong is not None:
        raise click.UsageError(BAD_PROPERTY.say(text=clean(wrong)).render(lang))
    set_ = {name: value for name, _, value in pairs}
    try:
        release, sender = (Version.parse(text) if text is not None else None for text in (broker, client))
    except ValueError as error:
        raise click.UsageError(clean(str(error))) from None
    for old in (v for v in (release, sender) if v is not None and v < OLDEST):
        raise click.UsageError(TOO_OLD.say(version=str(old), oldest=str(OLDEST)).render(lang))
    common = {name: value for name, value in chosen.items() if value is not None}
    producer_group = set_.pop("PGROUP", None)
    spec = sizes.table(body, topic, set_, broker=release or NEWEST, client=sender, producer_group=producer_group or "", **common)
    click.echo(card(spec, lang, broker=release is not None, client=sender is not None, group=producer_group is not None))


def main() -> None:
    """Entry point: no traceback reaches a user except for a bug."""
    from kit.spark import JavaMissing

    try:
        cli(prog_name="rmq-kit")
    except JavaMissing as missing:
        click.echo(str(missing), err=True)
        sys.exit(2)
