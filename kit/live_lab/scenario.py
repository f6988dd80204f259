"""The scenarios (`scenarios.yaml`): application hosts, pauses, their end, and the verdicts of `triage`."""

from collections.abc import Iterator
from typing import Any, Final

import attrs
import msgspec

from kit import data
from kit.i18n import Lang, T, labels

Settings = dict[str, str]


@attrs.frozen
class Pause:
    """The broker process stalls `at` seconds after the applications started, `times` times for `seconds`."""

    at: float
    seconds: float
    times: int = 1


@attrs.frozen
class Scenario:
    """One incident or twin, times in seconds. `neighbours`: what triage must confirm beside `roots`."""

    name: str
    title: T
    apps: dict[str, Settings]
    """The application hosts by their folder in the evidence: a role in LabClient.java and that role's settings."""
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
    looks: tuple[float, ...] = ()
    """Seconds after the applications started at which the offsets are copied and the consumers' threads are dumped."""
    lookup: str | None = None
    """The id looked up with queryMsgById at the end: `uniq_key` or `offset`."""
    neighbours: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    """Neighbours that may be confirmed too: a check may find a crashed service offline while it restarts."""

    @property
    def roots(self) -> tuple[str, ...]:
        """All root causes that triage confirms: that for which an incident is named, none of a twin."""
        return (self.name,) if self.name + FIXED in SCENARIOS else ()

    @property
    def consumers(self) -> dict[str, Settings]:
        return {folder: app for folder, app in self.apps.items() if app["role"] == "consumer"}


FIXED: Final = "-fixed"


def _rows() -> Iterator[dict[str, Any]]:
    """Yield each incident, and behind it its twin: the incident with what is `fixed`."""
    for row in data.read("live_lab/scenarios.yaml", dict[str, Any])["scenarios"]:
        yield row
        if fixed := row.get("fixed"):
            yield row | fixed | {"name": row["name"] + FIXED, "apps": row["apps"] | fixed.get("apps", {})}


_EVERY: Final = msgspec.convert([{"client": row["broker"], **row} for row in _rows()], list[Scenario])
SCENARIOS: Final = {each.name: each for each in _EVERY}


def find(name: str, lang: Lang = "en", *, fixed: bool = False) -> Scenario:
    """Return a scenario by name, with `fixed` its twin. Raise `ValueError` with one line that lists the known names."""
    wanted = name if not fixed or name.endswith(FIXED) else name + FIXED
    if wanted not in SCENARIOS:
        problem = labels("live_lab")["errors"]["no_such"]
        raise ValueError(problem.say(name=wanted[:60], known=list(SCENARIOS)).render(lang))
    return SCENARIOS[wanted]
