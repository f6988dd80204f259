"""The known texts: what RocketMQ, its clients and their hosts print, and what it means.

Each is a row of `texts/*.yaml`; the order of files and rows is the catalogue's. A row with a `title` is a `Problem`: it
is explained, and reported where nothing else judges it. Any other is an `Event`: looked for in all logs for its values.
"""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any, Final, Literal

import msgspec
from ahocorasick_rs import AhoCorasick

from kit import data
from kit.i18n import T
from kit.rocketmq.versions import OLDEST, Version, within

Verdict = Literal["confirmed", "suspected"]

ANY: Final = "{}"
"""What stands for a printed value in a text."""
GAP: Final = r"[^\n]{0,400}?"
PROBLEM: Final = "problem:"
"""Stands in front of the slug of a known problem among the texts of an entry."""

PIECES: Final = data.read("rocketmq/facts/shared_patterns.yaml", dict[str, str])
"""What several patterns share, as `{{NAME}}`."""

BROKER_STARTS: Final = ("broker-boot", "store-shutdown", "store-last-shutdown")
CONSUMER_STARTS: Final = (
    "consumer-connected", "consumer-disconnected", "client-started", "consumer-stopped", "consumer-group-changed",
    *BROKER_STARTS,
)  # fmt: skip
STARTS: Final = {
    "broker": BROKER_STARTS,
    "consumers": CONSUMER_STARTS,
    "clients": (*CONSUMER_STARTS, "producer-connected", "producer-unregistered", "producer-channel-removed"),
}
"""The texts of starts and stops, by whose they are."""


class PrintedBy(data.Row, frozen=True, kw_only=True):
    """Who prints a text, in which logs; `since`, `until`: the releases with this wording ("" = 4.3.0, 5.3.3)."""

    source: str
    logs: str = ""
    level: str = ""
    since: str = ""
    until: str = ""


class Fault(data.Row, frozen=True, kw_only=True):
    """First and last release with a fault ("" = no bound known) and by which change it was `fixed`."""

    since: str = ""
    until: str = ""
    fixed: str = ""

    def has(self, version: Version) -> bool:
        """Return whether a release is known to have it."""
        return within(version, self.since or OLDEST, self.until or None)


class Seen(data.Row, frozen=True, kw_only=True):
    """What seeing a problem's texts shows (`verdict`; None: routine, explained but never reported, as are those without
    a remedy where nothing is said).

    It is reported from `least` entries on that span at least `lasts` seconds. `by`: the gold table that counts them by
    what they are about, one row of which has to be so many and last so long. `normal_with`: an event that is printed
    beside each entry that is normal: so many do not count. `of_users`: what mqadmin alone met, in its own log, does not
    count. `cause`: the cause module that judges these texts.
    `passing`: events with `goes_on`; the problem is reported where one of these goes on, whatever `cause` says.
    """

    verdict: Verdict | None = "suspected"
    least: int = 1
    lasts: float = 0.0
    by: str = ""
    normal_with: str = ""
    of_users: bool = False
    cause: str = ""
    passing: tuple[str, ...] = ()


class GoesOn(data.Row, frozen=True, kw_only=True):
    """When a text that every start or stop brings is a symptom: judged by these numbers, never by the text alone.

    At least `least` entries are further than `around` s from every start or stop (`starts`, of its own group where they
    name one), span at least `lasts` s, and come in at least `minutes` different minutes. `title` stands in the `lane`
    of the timeline.
    """

    title: T
    starts: Literal["broker", "consumers", "clients"]
    least: int = 20
    """A refused pull is tried again after 3 s (pullTimeDelayMillsWhenException): a minute of one queue has 20."""
    around: int = 60
    """Two heartbeats (heartbeatBrokerInterval, 30 s): until then a started broker does not know its groups."""
    lasts: int = 120
    """After so long a broker forgets a client that died without a word (ClientChannelInfo, CHANNEL_EXPIRED_TIMEOUT)."""
    minutes: int = 3
    """Two restarts that left no line of their own are two bursts."""
    lane: str = "consumers"

    @property
    def start_events(self) -> tuple[str, ...]:
        return STARTS[self.starts]


class KnownText(data.Row, frozen=True, kw_only=True):
    """One row. `texts`: pieces of log lines, `{}` for a printed value; one of them in an entry is enough. Those of a
    row without any: what its `values` begin with.
    """

    slug: str
    texts: tuple[str, ...]
    printed_by: PrintedBy
    example: str = ""

    @cached_property
    def needles(self) -> tuple[str, ...]:
        return tuple(max(text.split(ANY), key=len) for text in self.texts)

    @property
    def own(self) -> bool:
        """Whether its texts are RocketMQ's alone; settings, and texts of the operating system, are not."""
        return self.printed_by.logs != "any"


class Event(KnownText, frozen=True, kw_only=True):
    """A text that is found in logs. `values`: a regular expression with `(?P<name>…)` groups that takes out the values
    that queries read, and nothing that RE2 and Python read differently.

    `harmless`: it is normal in a healthy system; true, or what it means (as if true of an INFO line without any
    meaning). `benign`: why, for what sounds like trouble; it counts for no cause. `confirm` must be found in the entry
    as well, where a text alone would say too much.
    """

    values: str = ""
    confirm: str = ""
    harmless: T | bool | None = None
    benign: T | None = None
    goes_on: GoesOn | None = None
    meaning: T | None = None

    @property
    def ordinary(self) -> T | bool:
        if self.harmless is None:
            return self.printed_by.level == "INFO" and self.meaning is None
        return self.harmless

    @cached_property
    def pattern(self) -> str:
        return re.sub(r"\{\{(\w+)\}\}", lambda name: PIECES[name[1]], self.values)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        return tuple(re.findall(r"\(\?P<(\w+)>", self.pattern))

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @property
    def conditions(self) -> list[tuple[str, bool]]:
        return [(self.confirm, True)] if self.confirm else []


NO_RISK: Final = T("None.", "无。")


class Problem(KnownText, frozen=True, kw_only=True):
    """One thing that can be wrong with a RocketMQ system, or one family of log lines that only sounds so.

    `classes`: `module/Class` whose remaining WARN and ERROR lines belong here as well; `sign`: a regular expression of
    what another project's logging prints around its remaining ones; `unless`: one of entries that are normal.
    """

    title: T
    meaning: T
    next: T
    decides: T | None = None
    remedy: T | None = None
    risk: T = NO_RISK
    unlike: T | None = None
    classes: tuple[str, ...] = ()
    sign: str = ""
    unless: str = ""
    seen: Seen = Seen()
    fault: Fault = Fault()

    @property
    def own(self) -> bool:
        return not self.printed_by.logs

    @property
    def reported(self) -> bool:
        """Return whether its texts, seen often and long enough, make a finding of its own."""
        return self.seen.verdict is not None and not self.seen.cause and not self.seen.passing

    @cached_property
    def normal(self) -> re.Pattern[str] | None:
        return re.compile(self.unless) if self.unless else None

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._expression)

    @property
    def _expression(self) -> str:
        return "|".join(GAP.join(map(re.escape, text.split(ANY))) for text in self.texts)

    @property
    def conditions(self) -> list[tuple[str, bool]]:
        unless = [(self.unless, False)] if self.unless else []
        return [*unless, (self._expression, True)] if unless or any(ANY in text for text in self.texts) else []

    def in_text(self, text: str) -> bool:
        """Return whether a log entry holds one of the texts and is not one of the normal ones."""
        return bool(self.compiled.search(text)) and not (self.normal and self.normal.search(text))


def _beginning(pattern: str) -> str:
    """Return what an expression begins with that stands for itself."""
    literal = re.match(r"(?:(?:\\\W|[^\\()\[\]{}.*+?|^$])(?![?*+]))*", pattern)
    return re.sub(r"\\(\W)", r"\1", literal[0] if literal else "")


def _rows() -> Iterator[Event | Problem]:
    """Yield the rows of every file. Raise `ValueError`, which names file and slug, for what is no row."""
    for file in sorted((data.KIT / "rocketmq" / "texts").glob("*.yaml")):
        for row in data.read(f"rocketmq/texts/{file.name}", list[dict[str, Any]]):
            kind: type[Event] | type[Problem] = Problem if "title" in row else Event
            routine = {"seen": {"verdict": None}} if "title" in row and "remedy" not in row else {}
            texts = {"texts": [_beginning(row["values"])]} if "values" in row and "texts" not in row else {}
            try:
                yield msgspec.convert(routine | texts | row, kind)
            except msgspec.ValidationError as error:
                raise ValueError(f"{file.name}: {row.get('slug')}: {error}") from error


_EVERY: Final = tuple(_rows())
EVENTS: Final[dict[str, Event]] = {row.slug: row for row in _EVERY if isinstance(row, Event)}
PROBLEMS: Final[dict[str, Problem]] = {row.slug: row for row in _EVERY if isinstance(row, Problem)}
SEARCHED: Final = tuple(problem for problem in PROBLEMS.values() if problem.reported)
"""The known problems that are looked for in every log; all others are only explained."""
PASSING: Final = {event.slug: event.goes_on for event in EVENTS.values() if event.goes_on is not None}
"""Texts that every start or stop brings and that are a symptom where they go on."""
BENIGN: Final = {event.slug: event.benign for event in EVENTS.values() if event.benign is not None}
"""Texts that sound like trouble and are normal, with the reason: they count for no cause."""
IN_LOGS: Final[tuple[Event | Problem, ...]] = (*EVENTS.values(), *SEARCHED)
"""What is looked for in every log; a group of texts is known by its place here."""
SLUGS: Final = (*EVENTS, *(PROBLEM + problem.slug for problem in SEARCHED))
"""What an entry says it holds: the slugs of `IN_LOGS`."""
BY_CLASS: Final = {cls: problem for problem in PROBLEMS.values() for cls in problem.classes}


@cache
def _search(kind: type[KnownText]) -> tuple[AhoCorasick, tuple[tuple[Any, str], ...]]:
    needles = tuple((row, needle) for row in _EVERY if isinstance(row, kind) for needle in row.needles)
    return AhoCorasick([needle for _, needle in needles]), needles


def _matches(kind: type[KnownText], text: str) -> list[tuple[Any, str]]:
    """Return the rows one of whose needles is in a text, with the needle, in the order in which they end."""
    search, needles = _search(kind)
    return [needles[number] for number, _, _ in search.find_matches_as_indexes(text, overlapping=True)]


def problems_in(text: str) -> tuple[Problem, ...]:
    """Return the problems one of whose texts is in a log entry and not normal there, the longest text first."""
    longest: dict[str, int] = {}
    for problem, needle in _matches(Problem, text):
        longest[problem.slug] = max(len(needle), longest.get(problem.slug, 0))
    slugs = sorted(longest, key=lambda slug: -longest[slug])
    return tuple(problem for problem in map(PROBLEMS.__getitem__, slugs) if problem.in_text(text))


def only_named(problem: Problem, text: str) -> bool:
    """Return whether a text has a problem's words as somebody writes them, not as RocketMQ prints them."""
    events = (match for match in _matches(Event, text) if not re.search(match[0].confirm, text))
    return any(needle in own for _, needle in events for own in problem.texts)


def event_in(text: str) -> Event | None:
    """Return RocketMQ's own event with the longest text in a log entry; of equal ones that with a second condition."""
    known = [(row, needle) for row, needle in _matches(Event, text) if row.own and re.search(row.confirm, text)]
    matches = [(len(needle) + bool(row.confirm), row) for row, needle in known]
    return max(matches, key=lambda match: match[0])[1] if matches else None
