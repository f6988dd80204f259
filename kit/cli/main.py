"""The command line. Modules are imported when a command runs, so `--help` stays fast."""

import contextlib
import errno
import traceback
from typing import Final

import click

from kit.cli import BUG, INTERRUPTED, evidence, lab, offline, watch
from kit.cli.shared import Refusal, declared, leave, message_of, note, spoken
from kit.evidence import disk
from kit.evidence import workspace as ws
from kit.i18n import labels, printable

PLACES = (
    errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EFBIG,
)  # fmt: skip
"""Errors of a path that the user named, not of the kit."""
TEXTS: Final = labels("cli")["main"]


class Kit(click.Group):
    """A group whose commands fail with one line: exit code 2 for what a user can change, 1 for a fault of the kit."""

    def invoke(self, ctx: click.Context) -> None:
        try:
            ctx.default_map = dict.fromkeys(self.commands, declared())
            super().invoke(ctx)
            leave(ctx)
        except (KeyboardInterrupt, click.Abort):
            note(TEXTS["stopped"])
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            line = refused(error, ctx)
            if line is not None:
                raise Refusal(line) from None
            click.echo(bug(error, ctx), err=True)
            ctx.exit(BUG)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what one wants to do, each group with one example."""
        for title, (example, names) in GROUPS.items():
            rows = [(name, self.commands[name].get_short_help_str(limit=64)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)
                formatter.write_text(f"e.g. {example}")


GROUPS: Final = {
    "Look": (
        "rmq-kit triage incident/",
        ("triage", "report", "notebook", "trace", "explain", "doctor", "inventory", "compare", "postmortem", "gallery"),
    ),
    "Decode": ("rmq-kit size --body 65000 --topic orders", ("decode", "logs", "msgid", "size", "cut", "collect")),
    "Watch": ("rmq-kit watch /data/rocketmq --alerts -", ("watch", "workspace")),
    "Learn": ("rmq-kit lab run half-topic-blowup", ("lab",)),
}


def refused(error: Exception, ctx: click.Context) -> str | None:
    """Return the line for an error that a user can fix (no Java, a full disk, …), else None."""
    from kit.case.output import OutputRefused
    from kit.spark.sessions import JavaMissing

    if isinstance(error, (JavaMissing, OutputRefused, ws.WorkspaceUnusable)):
        return message_of(error)
    if disk.is_full(error):
        places = [place for place in (ctx.meta.get("out"), ctx.meta.get("workspace") or ws.default_base()) if place]
        place = getattr(error, "filename", None) or min(places, key=disk.free)
        last = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
        if isinstance(error, OSError) and not error.filename and last.co_qualname == click.echo.__qualname__:
            place = TEXTS["output"].render(spoken())
        return TEXTS["full"].say(path=str(place)).render(spoken())
    if isinstance(error, MemoryError):
        return TEXTS["memory"].render(spoken())
    if isinstance(error, OSError) and error.errno in PLACES and error.filename:
        return f"{error.filename}: {error.strerror}"
    return None


def bug(error: Exception, ctx: click.Context) -> str:
    """Write bug-report.txt; return the line that names it."""
    from kit.case import bug_report, output
    from kit.evidence.failure import Failure

    case, out = ctx.meta.get("case"), ctx.meta.get("out")
    failure = Failure.of(str(ctx.invoked_subcommand), error)
    written = bug_report.text([failure, *(case.failures if case else ())], case)
    path = "-"
    with contextlib.suppress(Exception):
        where = ctx.meta.get("workspace") or ws.default_base()
        disk.write_text(where / output.BUG_REPORT, written, private=True)
        path = str(where / output.BUG_REPORT)
    with contextlib.suppress(Exception):
        if out is not None:
            with output.into(out, "bug report") as place:
                (place / output.BUG_REPORT).write_text(written, encoding="utf-8")
            path = str(out / output.BUG_REPORT)
    return TEXTS["failed"].say(type=failure.type, where=failure.where, path=printable(path)).render(spoken())


@click.group(cls=Kit, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="rmq-kit")
def cli() -> None:
    """Say which root cause an Apache RocketMQ incident had, with evidence anyone can check.

    EVIDENCE is a folder, an archive or one file. Language, zones and folders can be declared once: in config.toml of
    the user's configuration folder for rmq-kit, or as RMQ_KIT_LANG, RMQ_KIT_TZ_BROKER, RMQ_KIT_TZ_APP,
    RMQ_KIT_WORKSPACE.
    """


for command in (*evidence.COMMANDS, *offline.COMMANDS, lab.lab, watch.watch):
    cli.add_command(command)
