"""Every findings.json below a folder, as `Incident`s in the order in which they began, and what each of them shows."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, Final

import attrs

from kit.formats.printed_times import iso
from kit.i18n import Filled, labels
from kit.report.compare import is_findings
from kit.rocketmq.names import is_system_topic

PAGES: Final = ("report.html", "postmortem.html")
SAYS: Final = labels("incidents")["reading"]
HELD: Final = ("confirmed", "suspected")
_NAMED: Final = re.compile(
    r"\b(?:REAL_TOPIC|RETRY_TOPIC|PGROUP|topic|consumerGroup|producerGroup|group)\s*[=:]\s*\"?([^\s,;\"'}\])]+)"
    r"|%(?:RETRY|DLQ)%([\w%|-]+)"
)


@attrs.frozen
class Incident:
    """One findings.json. `name`: its folder, relative to the one read. `pages`: report and postmortem next to it."""

    name: str
    pages: tuple[Path, ...]
    findings: Mapping[str, Any] = attrs.field(repr=False)

    @property
    def root_causes(self) -> list[str]:
        return [str(slug) for slug in self.findings.get("root_causes") or ()]

    @property
    def evidence(self) -> str:
        """Return the name of the evidence, without its folder."""
        return PurePath(str(self.about("path") or "")).name

    @property
    def began(self) -> dt.datetime | None:
        """Return when its first root cause began, else when its evidence begins; None if nothing has a time."""
        windows = [f["window"][0] for f in self.held() if f.get("window") and f["cause"] in self.root_causes]
        firsts = [file.get("first") for file in self.about("files") or () if isinstance(file, Mapping)]
        return min(_instants(windows), default=None) or min(_instants(firsts), default=None)

    def held(self, *verdicts: str) -> list[Mapping[str, Any]]:
        """Return the findings with one of these verdicts, confirmed or suspected unless named."""
        return [f for f in self.findings["findings"] if f.get("verdict") in (verdicts or HELD)]

    def about(self, field: str) -> Any:
        """Return what findings.json says about its evidence."""
        evidence = self.findings.get("evidence")
        return evidence.get(field) if isinstance(evidence, Mapping) else None

    def traits(self) -> set[tuple[str, str]]:
        """Return what it shows, as (kind, what): causes, steps that held, topics and groups it names, releases."""
        traits = set()
        for finding in self.held():
            slug = str(finding["cause"])
            traits.add(("cause" if finding["verdict"] == "confirmed" else "suspected", slug))
            steps = [step for step in finding.get("steps") or () if step.get("holds") is True]
            traits |= {("step", f"{slug}/{step.get('id') or ''}") for step in steps}
            texts = [str(ref.get("text") or "") for step in steps for ref in step.get("evidence") or ()]
            names = [name for text in texts for name in _names(text)] + [*_figures(finding.get("figures") or {})]
            traits |= {("name", name) for name in names}
        releases = self.about("releases")
        for side, versions in releases.items() if isinstance(releases, Mapping) else ():
            traits |= {("release", f"{side} {version}") for version in versions}
        return traits


def _names(text: str) -> Iterator[str]:
    """Return the topics and groups in a quoted line or record, without RocketMQ's own."""
    for hit in _NAMED.finditer(text):
        name = (hit[1] or hit[2]).removeprefix("%RETRY%").removeprefix("%DLQ%")
        if name and name != "null" and not is_system_topic(name):
            yield name


def _figures(figures: Mapping[str, Any]) -> Iterator[str]:
    yield from (figures[name] for name in ("group", "topic", "advertised") if isinstance(figures.get(name), str))
    lags = [figures[name] for name in ("lag", "lag_per_queue") if isinstance(figures.get(name), Mapping)]
    yield from (part for lag in lags for key in lag for part in str(key).split("@", 1) if part)


def _instants(times: list[Any]) -> Iterator[dt.datetime]:
    for time in times:
        try:
            yield iso(str(time))
        except ValueError:
            continue


def read(folder: str | Path) -> tuple[list[Incident], list[Filled]]:
    """Read every findings.json below a folder; return the incidents in order of time, and a sentence for each unread
    file.

    Links are not followed, nor hidden folders, in which a killed run leaves its files.
    Raise `FileNotFoundError`, `NotADirectoryError`.
    """
    root = Path(folder)
    if not root.is_dir():
        raise (NotADirectoryError if root.exists() else FileNotFoundError)(str(root))
    incidents, unread = [], []
    for path in sorted(root.rglob("findings.json")):
        inside = path.relative_to(root)
        if path.is_symlink() or any(part.startswith(".") for part in inside.parts):
            continue
        try:
            findings = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            unread.append(SAYS["not_read"].say(file=inside.as_posix(), why=type(error).__name__))
            continue
        if not is_findings(findings):
            unread.append(SAYS["not_findings"].say(file=inside.as_posix()))
            continue
        pages = tuple(page for name in PAGES if (page := path.with_name(name)).is_file())
        incidents.append(Incident(inside.parent.as_posix(), pages, findings))
    last = dt.datetime.max.replace(tzinfo=dt.UTC)
    return sorted(incidents, key=lambda one: (one.began or last, one.name)), unread
