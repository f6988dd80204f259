"""What a cause says and declares: `<slug>.yaml` beside its module, both languages side by side.

A module that says more reads its own: `TEXTS = read("root_causes", SLUG)`, `TEXTS.say("leaked", count=3)`.
"""

from functools import cache, cached_property
from typing import Any, Literal

import msgspec

from kit import data
from kit.causes.findings import Kind, Remedy, Role
from kit.i18n import Filled, T


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which occurrences of a sign count, by one value of their entry."""

    value: str
    is_not: tuple[str | None, ...] = ()
    contains: str = ""
    differs_from: str = ""

    def __call__(self, values: Any) -> bool:
        value = values[self.value]
        same = bool(self.differs_from) and value == values[self.differs_from]
        return not same and value not in self.is_not and self.contains in (value or "")


class Alert(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sign of a cause, and when it rings.

    It rings when `least` occurrences within `within` seconds span at least `lasts` seconds. `step` is the id of the
    cause's step that it shows. `by`: values (of the text's pattern, or `file`) that must be the same; `differ`: a
    value of which there must be two; `when`: which occurrences count (`thread` is among the values); `clears`: one that
    does not makes the others of its key harmless; `also`: a sign that must come with the same values of `by` in the
    same time; `without`: known texts in whose entries it means something else; `grows`: alert when it doubles within
    this time; `steady`: it is seen again and again without getting worse.
    """

    sign: str
    says: T
    step: str = ""
    least: int = 1
    within: float = 60.0
    lasts: float = 0.0
    severity: Literal["notice", "warning", "critical"] = "warning"
    by: tuple[str, ...] = ()
    differ: str = ""
    when: Condition | None = None
    clears: bool = False
    also: str = ""
    without: tuple[str, ...] = ()
    grows: bool = False
    steady: bool = False
    cause: str = ""
    """The slug of its cause, which `alerts.rules` gives."""

    @property
    def name(self) -> str:
        """Return what no other alert is called, the same in each run."""
        return f"{self.cause}/{self.sign}/{self.severity}"

    @property
    def needs_values(self) -> bool:
        """Return whether the values of the entries are needed, not only their number."""
        return bool(self.by or self.differ or self.when or self.also or self.without)


class RemedyTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    action: T
    why: T
    verify: T | None = None
    """How to see that it worked; that of the cause if it says nothing."""
    risk: T = T("Low.", "低。")
    needs: str = "found"
    """The condition under which it is proposed."""
    actors: str = ""
    """The value that names whom it concerns, where that is not everybody the finding concerns."""


class Figure(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A number that a cause reports. `values`: what is written for the kit's own names; `of`: what its parts are of."""

    en: str
    zh: str
    of: T | None = None
    harm: Literal["lost", "repeated", "pending"] | None = None
    values: dict[str, T] = {}
    total: bool = False
    """Whether the sum of its parts is a number to be read, beside the table of the parts."""
    largest: bool = False
    """Whether the largest of its parts is one."""
    actor: bool = False
    """Whether its value, or the keys of it, are names that headline and remedies have to say."""
    value: str = ""
    """The value it shows; its own name if empty."""
    known_if: str = ""
    """The condition under which nothing of it means 0; otherwise it is not known."""

    @cached_property
    def label(self) -> T:
        return T(self.en, self.zh)


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something to be counted: entries of known texts, or a number of a gold table.

    `fact`: the table, `where`: which of its rows; its number is their `sum` of a column, a `column` of the first, or
    how many they are. A table with `texts` is asked only where one of them occurs. `quotes`: most references;
    `within`: what the quoted line of an entry contains.
    """

    texts: tuple[str, ...] = ()
    fact: str = ""
    where: dict[str, str] = {}
    column: str = ""
    sum: str = ""
    quotes: int = 2
    within: str = ""


class StepText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step: sentences of `says` and the conditions under which they are said; the first that applies is the claim.

    `holds`: it is shown; `refuted`: it is shown false; `maybe`: neither; else `open`, which is false where the evidence
    would show the step (`shown_by`) or `absent` applies; else there is no such step. `tables` answer it.
    """

    id: str
    role: Role = "deciding"
    holds: dict[str, str] = {}
    refuted: dict[str, str] = {}
    maybe: dict[str, str] = {}
    open: str = ""
    absent: str = ""
    shown_by: str = ""
    quotes: int = 12
    tables: tuple[str, ...] = ()


class Want(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to request, a name of `collect.yaml`, and when; `group`, `topic`: values that its command names."""

    artefact: str
    why: T
    needs: str
    group: str = ""
    topic: str = ""
    command: str = ""
    """The value that is another command than that of `collect.yaml`."""


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cause, as its `<slug>.yaml` declares it; `declared.Conditions` reads the conditions."""

    title: T
    slug: str = ""
    kind: Kind = "neighbour"
    none: T | None = None
    """The summary where nothing was found."""
    says: dict[str, T] = {}
    """Claims of steps, summaries, and what sentences of a module consist of."""
    phrases: dict[str, dict[str, str]] = {}
    """Values that are sentences: of each, the first of `says` that applies; before any step."""
    summary: dict[str, str] = msgspec.field(default_factory=lambda: {"summary": "found"})
    """The sentence to begin with, and when: the first that applies."""
    remedies: dict[str, RemedyTexts] = {}
    verify: T | None = None
    """How to see that the remedies worked which do not say it themselves."""
    looks_like: dict[str, T] = {}
    """Slugs of causes that leave the same trace, and what tells the two apart; a pair stands at one of them."""
    figures: dict[str, Figure] = {}
    """The numbers it reports, in the order a reader sees them: the damage first."""
    alerts: tuple[Alert, ...] = ()
    values: dict[str, Value] = {}
    steps: tuple[StepText, ...] = ()
    missing: tuple[Want, ...] = ()
    leads_to: tuple[str, ...] = ()
    """Slugs of the causes that it explains."""

    def say(self, name: str, /, **values: Any) -> Filled:
        return self.says[name].say(**values)

    def remedy(self, name: str, /, **values: Any) -> Remedy:
        text = self.remedies[name]
        verify = text.verify or self.verify
        assert verify is not None
        action, why, risk, seen = (each.say(**values) for each in (text.action, text.why, text.risk, verify))
        return Remedy(action, why, risk, seen, tuple(values[text.actors]) if text.actors else ())


@cache
def read(folder: str, slug: str) -> Cause:
    kind: dict[str, Any] = {"kind": "root_cause"} if folder == "root_causes" else {}
    return msgspec.structs.replace(data.read(f"causes/{folder}/{slug}.yaml", Cause), slug=slug, **kind)
