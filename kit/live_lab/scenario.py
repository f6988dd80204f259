"""The parts of a scenario: application hosts, pauses, when it is over, and the verdicts `triage` must return."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kit.i18n import T

Settings = Mapping[str, str]


@attrs.frozen
class App:
    """An application host: its folder in the evidence, its role in LabClient.java and that role's settings."""

    folder: str
    role: str
    settings: Settings
    restart: bool = False
    """Restarted once after a crash, with the remaining orders."""

    def with_settings(self, **more: str) -> App:
        """Return the same host with other settings."""
        return attrs.evolve(self, settings={**self.settings, **more})


@attrs.frozen
class Pause:
    """The broker process stalls: `at` seconds after the applications started, `times` times for `seconds`, with a short interval."""

    at: float
    seconds: float
    times: int = 1


@attrs.frozen
class Scenario:
    """One incident or one twin. Times in seconds. `roots` must be exactly what triage confirms as root causes,
    `neighbours` must be confirmed as well.
    """

    name: str
    title: T
    apps: tuple[App, ...]
    broker: str
    client: str
    config: Settings = attrs.field(factory=dict)
    pauses: tuple[Pause, ...] = ()
    settle: float = 8
    """Time for checks, retries and late answers after the applications are done."""
    until_half: int | None = None
    """Over as soon as the half topic holds this many records."""
    until_errors: int | None = None
    """Over as soon as this many errors are in transaction.log."""
    deadline: float = 60
    """Over at this time after the start of the applications in any case."""
    store_limit: int = 400 << 20
    """Over as soon as the store takes this many bytes on disk."""
    looks: tuple[float, ...] = ()
    """Seconds after the applications started at which the offsets are copied and the consumers' threads are dumped."""
    lookup: str | None = None
    """The id looked up with queryMsgById at the end: `uniq_key` or `offset`."""
    roots: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    """Neighbours that may be confirmed too, depending on timing: a check may find a crashed service offline while it restarts."""
    fixes: str | None = None
    """The incident whose twin this is."""

    def twin(self, suffix: str, title: T, **changed: object) -> Scenario:
        """Return the same scenario with the remedy: no root causes any more, and nothing has to grow."""
        healthy = {"roots": (), "neighbours": (), "fixes": self.name}
        return attrs.evolve(self, name=f"{self.name}-{suffix}", title=title, **{**healthy, **changed})  # type: ignore[arg-type]
