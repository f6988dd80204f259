"""The command `doctor`: hazards in configuration and names. Configuration alone needs no Java."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kit.cli.shared import Evidence, Refusal, answer, json_option, leave, open_case, options, outside
from kit.i18n import printable


@click.command()
@click.argument("evidence", type=Evidence())
@click.option("--broker", metavar="VERSION", help="release of the broker, if the evidence does not name it")
@json_option("write the hazards here; - is standard output")
@options
def doctor(evidence: Path, broker: str | None, json_file: Path | None, **chosen: Any) -> None:
    """List hazards in configuration and names, before or after an incident; a broker.conf alone is explained."""
    from kit.causes import doctor as examination
    from kit.report import advice
    from kit.rocketmq.versions import Version

    for written in (json_file, chosen["workspace"]):
        outside(evidence, written)
    try:
        version = Version.parse(broker) if broker is not None else None
    except ValueError as error:
        raise Refusal(printable(str(error))) from None
    case = None
    found = examination.of_files(evidence, version)
    if found is None:
        case = open_case(evidence, **chosen, eager=False)
        found = examination.of_case(case, version)
    if case is not None:
        case.progress.end()
    answer(advice.checkup(found, chosen["lang"]), found.as_dict(chosen["lang"]), json_file)
    if case is not None:
        leave(case)


COMMANDS = (doctor,)
