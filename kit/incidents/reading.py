"""Every findings.json below a folder, as `Incident`s in the order in which they began."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

import attrs

from kit.formats.printed_times import iso
from kit.i18n import Filled, labels
from kit.report.compare import is_findings

NAME: Final = "findings.json"
PAGES: Final = ("report.html", "postmortem.html")
MOST_BYTES: Final = 64 << 20
"""A findings.json has a few hundred kilobytes; a file of this size is something else."""

SAYS: Final = labels("incidents")["reading"]

HELD: Final = ("confirmed", "suspected")


@attrs.frozen
class Incident:
    """One findings.json. `name`: its folder, relative to the one that was read. `pages`: report and postmortem next to it."""

    name: str
    path: Path
    pages: tuple[Path, ...]
    findings: Mapping[str, Any] = attrs.field(repr=False)

    @property
    def root_causes(self) -> list[str]:
        return [str(slug) for slug in self.findings.get("root_causes") or ()]

    @property
    def evidence(self) -> str:
        """Return the name of the evidence, without its folder."""
        return PurePath(str(self._evidence.get("path") or "")).name

    @property
    def began(self) -> dt.datetime | None:
        """Return when its first root cause began, else when its evidence begins; None if nothing has a time."""
        windows = [f["window"][0] for f in self.held() if f.get("window") and f["cause"] in self.root_causes]
        firsts = [file.get("first") for file in self._evidence.get("files") or () if isinstance(file, Mapping)]
        return min(_instants(windows), default=None) or min(_instants(firsts), default=None)

    def held(self, *verdicts: str) -> list[Mapping[str, Any]]:
        """Return the findings with one of these verdicts, confirmed or suspected unless named."""
        return [f for f in self.findings["findings"] if f.get("verdict") in (verdicts or HELD)]

    @property
    def _evidence(self) -> Mapping[str, Any]:
        evidence = self.findings.get("evidence")
        return evidence if isinstance(evidence, Mapping) else {}


class Incidents(NamedTuple):
    """What was read: `incidents` in order of time, and a sentence for each file that could not be read."""

    incidents: list[Incident]
    unread: list[Filled]


def read(folder: str | Path) -> Incidents:
    """Read every findings.json below a folder. Links are not followed. Raise `FileNotFoundError`, `NotADirectoryError`."""
    root = Path(folder)
    if not root.is_dir():
        raise (NotADirectoryError if root.exists() else FileNotFoundError)(str(root))
    incidents, unread = [], []
    for path in _below(root):
        shown = path.relative_to(root).as_posix()
        try:
            size = path.stat().st_size
            if size > MOST_BYTES:
                unread.append(SAYS["too_big"].say(file=shown, bytes=size))
                continue
            findings = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            unread.append(SAYS["not_read"].say(file=shown, why=type(error).__name__))
            continue
        if not is_findings(findings):
            unread.append(SAYS["not_findings"].say(file=shown))
            continue
        pages = tuple(page for name in PAGES if (page := path.with_name(name)).is_file())
        incidents.append(Incident(path.parent.relative_to(root).as_posix(), path, pages, findings))
    last = dt.datetime.max.replace(tzinfo=dt.UTC)
    return Incidents(sorted(incidents, key=lambda one: (one.began or last, one.name)), unread)


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        # A killed run leaves its staged files in a hidden folder.
        folders[:] = [name for name in folders if not name.startswith(".")]
        path = Path(folder, NAME)
        if NAME in names and not path.is_symlink():
            yield path


def _instants(times: list[Any]) -> Iterator[dt.datetime]:
    for time in times:
        try:
            yield iso(str(time))
        except ValueError:
            continue
