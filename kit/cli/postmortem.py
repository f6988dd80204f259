"""The command that writes the postmortem."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kit.cli.shared import Evidence, Refusal, leave, open_case, options
from kit.i18n import printable


@click.command()
@click.argument("evidence", type=Evidence())
@click.option("--out", type=click.Path(path_type=Path), required=True, help="folder of the postmortem")
@click.option(
    "--notes", type=click.Path(path_type=Path), help="YAML file with the team's notes; if absent, an example is written"
)
@options
def postmortem(evidence: Path, out: Path, notes: Path | None, **chosen: Any) -> None:
    """Write the blameless postmortem: timeline, causes, impact, the team's notes and actions."""
    import kit
    from kit import postmortem as pages
    from kit.evidence.workspace import WorkspaceInside
    from kit.notebook import Inquiry

    case = open_case(evidence, out, **chosen)
    try:
        written = pages.noted(notes, case) if notes else None
    except (pages.BadNotes, WorkspaceInside, IsADirectoryError) as error:
        raise Refusal(printable(str(error))) from None
    inquiry = Inquiry(case, kit.triage(case), case.lang, interactive=False)
    click.echo(pages.Postmortem(inquiry, written).write_all(out))
    leave(case, out)


COMMANDS = (postmortem,)
