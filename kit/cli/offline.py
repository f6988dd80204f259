"""Commands that need no evidence and no engine, and answer within a second."""

import errno
import re
import sys
import time
from pathlib import Path
from typing import IO, Any, Final

import click

from kit.cli import shared
from kit.evidence import workspace as ws
from kit.i18n import Lang, labels, printable

TEXTS: Final = labels("cli")["offline"]
FILE_NAME: Final = re.compile(
    r"(?:~|\.{0,2})/\S*/\S*|\S+\.(?:log|txt|csv|json|conf|md|ya?ml|out|gz|zip|tar|zst)(?:\.\d+)?"
)
"""What looks like the path or the name of a file of evidence."""
INT: Final = (1 << 31) - 1  # Java's


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@click.option("--near", help="ISO date or time near the message: selects the month of a UNIQ_KEY")
@shared.in_language
def msgid(ids: tuple[str, ...], near: str | None, lang: Lang) -> None:
    """Decode message ids: kind, every field, and both times if two months are possible."""
    from kit.case.options import instant
    from kit.report import console
    from kit.rocketmq.ids import BadId, decode_each

    with shared.user_errors(ValueError):
        about = instant(near or None)
    every = list(decode_each(ids, about))
    click.echo("\n".join(console.decoded(each, lang) for each in every))
    if any(isinstance(each, BadId) for each in every):
        sys.exit(2)


@click.command()
@click.option("--body", type=click.IntRange(0, INT), required=True, help="bytes of the stored body, maybe compressed")
@click.option("--topic", type=shared.TEXT, required=True, help="the topic it is sent to")
@click.option("--properties", multiple=True, metavar="K=V…", help="the application's; PGROUP=… is the producer group")
@click.argument("more", nargs=-1, metavar="")
@click.option("--broker", metavar="VERSION", help="release of the broker (default: the newest known)")
@click.option("--client", metavar="VERSION", help="release of the client (default: that of the broker)")
@click.option("--limit", type=click.IntRange(1, INT), help="the broker's maxMessageSize (default: that of the release)")
@click.option("--group", type=shared.TEXT, help="consumer group that sends it back (default: the longest allowed)")
@click.option("--check-max", type=click.IntRange(1, INT), help="transactionCheckMax (default: that of the release)")
@click.option("--dledger", is_flag=True, help="a DLedger broker")
@shared.in_language
def size(body: int, topic: str, lang: Lang, **chosen: Any) -> None:
    """Compute the stored size of a message, now and after each rewrite, and the largest safe body."""
    from kit.report import console
    from kit.rocketmq import size as sizes
    from kit.rocketmq.versions import NEWEST, OLDEST, Version

    pairs = [item.partition("=") for item in (*chosen.pop("properties"), *chosen.pop("more"))]
    wrong = next((name for name, equals, _ in pairs if not (name and equals)), None)
    if wrong is not None:
        raise shared.Refusal(TEXTS["bad_property"].say(text=wrong))
    set_ = {name: value for name, _, value in pairs}
    given = [chosen.pop(name) for name in ("broker", "client")]
    with shared.user_errors(ValueError):
        release, sender = (Version.parse(text) if text is not None else None for text in given)
    for old in (v for v in (release, sender) if v is not None and v < OLDEST):
        raise shared.Refusal(TEXTS["too_old"].say(version=str(old), oldest=str(OLDEST)))
    common = {name: value for name, value in chosen.items() if value is not None}
    producer_group = set_.pop("PGROUP", None)
    spec = sizes.rewrites(
        body, topic, set_, broker=release or NEWEST, client=sender, producer_group=producer_group or "", **common
    )
    known = {"broker": release is not None, "client": sender is not None, "group": producer_group is not None}
    click.echo(console.size(spec, lang, **known))


@click.command()
@click.option("--since", help="ISO time; UTC if it has no zone")
@click.option("--until", help="ISO time")
@click.option("--topic", type=shared.TEXT, help="only the consume queues of this topic")
@shared.in_language
def collect(since: str | None, until: str | None, topic: str | None, lang: Lang) -> None:
    """Print a shell script that collects evidence on a broker's or client's host; nothing is collected here."""
    from kit.collection.collect import script

    with shared.user_errors(ValueError):
        click.echo(script(since, until, topic, lang), nl=False)


@click.command()
@click.argument("before", type=shared.Evidence(pasted=True))
@click.argument("after", type=shared.Evidence(pasted=True))
@shared.in_language
def compare(before: Path, after: Path, lang: Lang) -> None:
    """Show which verdicts and figures changed between two findings.json; - reads one."""
    from kit.report.compare import compare, read, render

    sides = []
    for path in (before, after):
        try:
            sides.append(read(Path(path)))
        except (OSError, ValueError, RecursionError):
            pasted = path == click.get_current_context().meta.get("pasted")
            raise shared.Refusal(TEXTS["not_findings"].say(path=shared.STDIO if pasted else path)) from None
    click.echo(render(compare(*sides), lang))


@click.command()
@click.argument("folder", metavar="DIR", type=shared.PATH)
@shared.in_language
def gallery(folder: Path, lang: Lang) -> None:
    """Write DIR/index.html, an offline and searchable page over every report below DIR."""
    from kit.incidents import history as pages

    click.echo(pages.write(folder, lang))


@click.group()
def workspace() -> None:
    """The Parquet caches: list them with size, age and evidence, or remove them."""


@workspace.command("list")
@shared.at_workspace
def list_(workspace: Path | None) -> None:
    """List every workspace: bytes, hours since it was used, evidence."""
    for one in ws.every_workspace(workspace):
        click.echo(f"{one['bytes']:>15,}  {(time.time() - one['used']) / 3600:8.1f} h  {printable(one['evidence'])}")


@workspace.command("clean")
@shared.at_workspace
@shared.in_language
def clean_(workspace: Path | None, lang: Lang) -> None:
    """Remove every workspace and all unpacked files, except those in use and files that are not the kit's."""
    click.echo(TEXTS["freed"].say(bytes=ws.clean(workspace)).render(lang))
    if left := ws.every_workspace(workspace):
        shared.note(TEXTS["in_use"].say(n=len(left)))


@click.command()
@click.argument("text", nargs=-1, metavar="[FILE|-|TEXT…]")
@shared.json_option("write the rows to this file; - is standard output")
@shared.in_language
def explain(text: tuple[str, ...], json_file: Path | None, lang: Lang) -> None:
    """Explain pasted log lines, codes, ids and settings.

    They are those of a text file, of standard input (-, the default), or the words themselves.
    """
    from kit.explanation import explain as explained

    if not (rows := explained.explain(_pasted(text), lang)):
        raise shared.Refusal(explained.blocks(rows, lang))
    shared.answer(explained.blocks(rows, lang), rows, json_file)


def _pasted(text: tuple[str, ...]) -> str:
    """Return the text of a file or of standard input, or the words themselves where they name no file: one that looks
    like the name of a file is said to be none.
    """
    if text in ((), (shared.STDIO,)):
        return _beginning(shared.STDIO, sys.stdin.buffer if sys.stdin else None)
    try:
        if len(text) == 1 and text[0] and Path(text[0]).exists():
            with Path(text[0]).open("rb") as file:
                return _beginning(text[0], file)
    except OSError as error:
        if error.errno not in (errno.ENAMETOOLONG, errno.EINVAL):
            raise shared.Refusal(f"{text[0]}: {error.strerror}") from None
    if len(text) == 1 and FILE_NAME.fullmatch(text[0]):
        shared.note(shared.TEXTS["not_there"].say(path=text[0]))
    return ("\n" if any(" " in each for each in text) else " ").join(text)


def _beginning(path: str, stream: IO[bytes] | None) -> str:
    """Return the text that a file begins with: that it goes on is said."""
    from kit.explanation.paste import MOST, decoded, unpacked

    raw = unpacked(stream.read(MOST + 1) if stream else b"")
    text = decoded(raw)
    if "\0" in text.lstrip("\0")[:1000]:
        raise shared.Refusal(TEXTS["not_text"].say(path=path))
    if len(raw) > MOST:
        shared.note(TEXTS["beginning"].say(most=MOST))
    return text


COMMANDS = (explain, msgid, size, collect, compare, gallery, workspace)
