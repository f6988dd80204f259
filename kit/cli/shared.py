"""What all commands share: options, opening a case, refusals in one line, exit codes."""

import contextlib
import json
import re
import resource
import shutil
import signal
import socket
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from kit.cli import BUG, CONDITION, DAMAGED, NOTHING_MATCHES
from kit.evidence import disk
from kit.evidence import workspace as ws
from kit.evidence.remote import is_remote
from kit.i18n import Filled, Lang, Sentence, T, labels, printable, rendered
from kit.interrupts import Interrupts

if TYPE_CHECKING:
    from kit.case.case import Case

STDIO = "-"
"""Standard input or output, wherever a file is taken."""

TEXTS: Final = labels("cli")["shared"]
LIMITS = ((resource.RLIMIT_AS, "ulimit -v", 4 << 20, 1024), (resource.RLIMIT_NOFILE, "ulimit -n", 64, 1))
"""Limits that an engine needs: (which, how a shell calls it, the least in the shell's unit, its unit in bytes)."""
DECLARABLE = frozenset({"lang", "tz_broker", "tz_app", "workspace", "master", "remote"})


class Refusal(click.ClickException):
    """Wrong usage: one line fit for a terminal, in the user's language, no usage text, exit code 2."""

    exit_code = 2

    def __init__(self, line: Sentence | str) -> None:
        super().__init__(printable(rendered(line, spoken())))

    def show(self, file: Any = None) -> None:
        click.echo(self.message, err=True)


@contextlib.contextmanager
def user_errors(*errors: type[Exception]) -> Iterator[None]:
    """Refuse in one line what a user can change."""
    try:
        yield
    except errors as error:
        raise Refusal(message_of(error)) from None


def message_of(error: Exception) -> str:
    """Return what an error says, in the user's language where it is a sentence of the kit."""
    first = error.args[0] if error.args else ""
    return first.render(spoken()) if isinstance(first, Filled) else str(error)


def spoken() -> Lang:
    """Return the user's language, English until the command line is read."""
    lang: Lang = click.get_current_context().meta.get("lang", "en")
    return lang


class Text(click.types.StringParamType):
    """A name, an id or a place; "" (of an unset variable), blanks alone and bytes that are not UTF-8 are refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not re.fullmatch(r"(?s)(?=.*\S)[^\ud800-\udfff]+", value):
            raise Refusal(TEXTS["no_text"].say(name=param.opts[0] if param else ""))
        return value


class Place(click.Path):
    """A path, with `exists` of what is there: an unset variable gives "", which does not mean the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value) or (self.exists and not Path(value).exists()):
            raise Refusal(TEXTS["not_there"].say(path=value or '""'))
        return super().convert(value, param, ctx)


class Folder(Place):
    """A folder that the engine writes to: it takes no control characters and no bytes other than UTF-8 in its path."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if re.search(r"[\0-\x1f\x7f\ud800-\udfff]", str(Path(value).absolute())):
            raise Refusal(TEXTS["odd_path"].say(path=value))
        return super().convert(value, param, ctx)


TEXT: Final = Text()
FOLDER: Final = Folder(path_type=Path)
PATH: Final = Place(path_type=Path)
THERE: Final = Place(path_type=Path, exists=True)


class Evidence(click.ParamType):
    """A path that exists, or with `pasted` the text on standard input; the error is in the reader's language."""

    name = "evidence"

    def __init__(self, *, pasted: bool = False) -> None:
        self.pasted = pasted

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path | str:
        if is_remote(str(value)):
            return str(value)
        if self.pasted and str(value) == STDIO and ctx is not None:
            return ctx.meta.get("pasted") or _standard_input(ctx)
        return Path(THERE.convert(value, param, ctx))


def _standard_input(ctx: click.Context) -> Path:
    """Return a private file, gone with the command, that holds what was pasted."""
    folder = Path(ctx.with_resource(tempfile.TemporaryDirectory(prefix="rmq-kit-")))
    path = folder / "pasted.txt"
    with path.open("wb") as file:
        if sys.stdin:
            shutil.copyfileobj(sys.stdin.buffer, file)
    ctx.meta["pasted"] = path
    return path


def declared() -> dict[str, Any]:
    """Return the options that the user declared once, in `config.toml`. Refuse a file that is no TOML."""
    path = Path(click.get_app_dir("rmq-kit", force_posix=False), "config.toml")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise Refusal(f"{path}: {error}") from None
    if unknown := sorted(values.keys() - DECLARABLE):
        lang: Lang = "zh" if values.get("lang") == "zh" else "en"
        names, known = list(map(printable, unknown)), sorted(DECLARABLE)
        click.echo(TEXTS["unknown"].say(path=printable(str(path)), names=names, known=known).render(lang), err=True)
    return {name: value for name, value in values.items() if name in DECLARABLE}


OPTIONS: Final = {
    "--tz-broker": ("RMQ_KIT_TZ_BROKER", "zone of the broker's host, for log layouts without one"),
    "--tz-app": ("RMQ_KIT_TZ_APP", "zone of client and application logs and tables, e.g. Asia/Shanghai or +08:00"),
    "--since": (None, "ISO time; earlier records and lines are ignored"),
    "--until": (None, "ISO time; later records and lines are ignored"),
    "--rows": (None, "FILE:key=…,time=…,status=… names the columns of a table"),
    "--master": (None, "Spark master URL"),
    "--remote": (None, "Spark Connect URL"),
}
"""Options of every command on evidence: the variable of the environment that declares it, what it is."""
in_language = click.option(
    "--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, envvar="RMQ_KIT_LANG", is_eager=True,
    help="language of the sentences", callback=lambda ctx, _, lang: ctx.meta.setdefault("lang", lang),
)  # fmt: skip
at_workspace = click.option(
    "--workspace", type=FOLDER, envvar="RMQ_KIT_WORKSPACE", help="folder of the cache (default: that of the user)"
)


class OnEvidence(click.Command):
    """A command on evidence: its path comes first, the options that every such command takes last."""

    def __init__(self, name: str, *, params: list[click.Parameter], pasted: bool = False, **about: Any) -> None:
        path = click.Argument(["evidence"], type=Evidence(pasted=pasted))
        super().__init__(name, params=[path, *params], **about)
        in_language(self)
        at_workspace(self)
        for option, (variable, text) in OPTIONS.items():
            click.option(option, envvar=variable, help=text, multiple=option == "--rows")(self)


def exported(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of commands that write the evidence itself for other programs."""
    formats = click.Choice(["parquet", "jsonl", "csv"])
    command = click.option("--format", "form", type=formats, default="parquet", show_default=True)(command)
    return click.option("--out", type=FOLDER, required=True)(command)


def json_option(text: str) -> Callable[..., Any]:
    """Return the option `--json FILE`; `-` is standard output, which then holds nothing else."""
    return click.option("--json", "json_file", type=click.Path(path_type=Path, allow_dash=True), help=text)


def say(text: Any, *, err: bool = False) -> None:
    """Print a command's result after ending the display of its progress."""
    if case := click.get_current_context().meta.get("case"):
        case.progress.end()
    click.echo(text, err=err)


def answer(text: Any, value: Any, json_file: Path | None) -> None:
    """Print the text for people, and write the value for programs where it is wanted."""
    if str(json_file) == STDIO:
        say(json.dumps(value, ensure_ascii=False, indent=1))
        return
    say(text)
    if json_file is not None:
        disk.write_json(json_file, value)


def note(sentence: Sentence) -> None:
    """Print a sentence beside a command's result."""
    click.echo(printable(sentence.render(spoken())), err=True)


def nothing_matches(sentence: Sentence) -> NoReturn:
    note(sentence)
    sys.exit(NOTHING_MATCHES)


def open_case(evidence: Path | str, out: Path | None = None, **chosen: Any) -> "Case":
    """Open the case, or exit with one line that names the path."""
    import kit
    from kit.case import output
    from kit.case.progress import Progress

    meta = click.get_current_context().meta
    meta.update(out=out, workspace=chosen.get("workspace"))
    outside(evidence, out)
    outside(evidence, chosen.get("workspace"))
    if out is not None:
        output.check(out, chosen["lang"])
    eager, hashes = chosen.pop("eager", True), chosen.pop("hashes", True)
    if eager:
        java(chosen.get("master"), chosen.get("remote"))
    progress = Progress(chosen["lang"], sys.stderr, is_live=sys.stderr is not None and sys.stderr.isatty(), leave=True)
    if progress.is_live:
        progress.begin("reading")
    click.get_current_context().call_on_close(progress.end)
    try:
        case = meta["case"] = kit.open_case(evidence, chosen.pop("workspace", None), **chosen)
        case.eager, case.hashes, case.progress = eager, hashes, progress
        if isinstance(handler := signal.getsignal(signal.SIGINT), Interrupts):
            handler.stop = case.cancel  # else queries and threads would go on, and the command wait for them
        if meta.get("pasted") == evidence:
            case.name = STDIO
        recognised = case.unzoned.recognised
    except FileNotFoundError as error:
        named = "" if isinstance(evidence, str) else f"{error.filename}: "
        raise Refusal(f"{named}{error.strerror}") from None
    except ws.WorkspaceUnusable as error:
        raise Refusal(str(error)) from None
    except (ValueError, PermissionError) as error:
        raise Refusal(message_of(error) if isinstance(evidence, str) else f"{evidence}: {message_of(error)}") from None
    if not recognised:
        line = TEXTS["nothing"].say(path=case.name).render(case.lang)
        first = next(iter(case.unzoned.refused), None)
        raise Refusal(f"{line} ({first.file}: {first.say(case.lang)})" if first else line)
    return case


def read_ahead(case: "Case") -> None:
    """Begin to read the records in the background, if there are any, while what examines the case is imported."""

    def read() -> None:
        with contextlib.suppress(Exception, KeyboardInterrupt):  # who needs the records gets the error again
            case.folder("messages")

    if case.unzoned.of_kind("commitlog", "dledger") and not case.has_read("messages"):
        Thread(target=read, daemon=True).start()


def java(master: str | None, remote: str | None) -> None:
    """Exit with one line if an engine cannot start: below a limit it would abort the process without a word."""
    for limit, option, least, unit in LIMITS:
        if 0 <= (given := resource.getrlimit(limit)[0] // unit) < least:
            raise Refusal(TEXTS["limit"].say(option=option, given=given, least=least))
    from kit.spark.sessions import require_java

    try:
        if not master and not remote:
            with socket.create_server(("127.0.0.1", 0)) as server:
                socket.create_connection(server.getsockname(), timeout=5).close()
    except OSError as error:
        raise Refusal(TEXTS["loopback"].say(why=error.strerror or str(error))) from None
    require_java(master, remote)


def outside(evidence: Path | str, out: Path | None, refusal: T = TEXTS["out_inside"]) -> None:
    """Refuse to write into the evidence."""
    if out is None or isinstance(evidence, str) or str(out) == STDIO:
        return
    if out.resolve().is_relative_to(evidence.resolve()):
        raise Refusal(refusal.say(path=out))


def leave(ctx: click.Context) -> None:
    """Exit with 1 if a part of the kit failed, 4 if what the caller waits for is so, 3 if evidence is damaged."""
    case: Case | None = ctx.meta.get("case")
    if case is None:
        return
    from kit.case import output, unreadable

    damage = unreadable.of(case)
    case.progress.end()
    if damage:
        note(TEXTS["damage"].say(n=len(damage)))
    for place in damage[:20]:
        click.echo(f"  {printable(place.sentence)}", err=True)
    if len(damage) > 20:
        click.echo(f"  … +{len(damage) - 20}", err=True)
    if case.failures:
        names = [failure.what for failure in case.failures]
        report = (ctx.meta["out"] or case.workspace.folder) / output.BUG_REPORT
        note(TEXTS["failed"].say(names=names, path=report))
        sys.exit(BUG)
    condition = ctx.meta.get("condition")
    if condition or damage:
        sys.exit(CONDITION if condition else DAMAGED)
