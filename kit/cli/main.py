"""The command line. Work is imported when a command runs, so `--help` stays quick.

Exit codes: 0 done · 1 a bug · 2 wrong usage or nothing to read · 3 done, but some evidence is damaged or could not be
read.
"""

from __future__ import annotations

import sys

import click

from kit.cli import doctor, evidence, lab, offline, postmortem


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


for command in (*evidence.COMMANDS, *postmortem.COMMANDS, *doctor.COMMANDS, *offline.COMMANDS, *lab.COMMANDS):
    cli.add_command(command)


def main() -> None:
    """Entry point: no traceback reaches a user except for a bug."""
    from kit.spark.sessions import JavaMissing

    try:
        cli(prog_name="rmq-kit")
    except JavaMissing as missing:
        click.echo(str(missing), err=True)
        sys.exit(2)
