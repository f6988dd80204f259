"""What a cause returns, a `Finding` as in findings.json (schema 1), and the rule that makes a verdict of its steps."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

import attrs

from kit.formats.printed_times import local_text, utc_text
from kit.i18n import Lang, Sentence, labels
from kit.inventory.model import Ref
from kit.rocketmq import names

Kind = Literal["root_cause", "neighbour", "hazard"]
Role = Literal["deciding", "supporting"]
Side = Literal["broker", "producer", "consumer", "anywhere"]
Verdict = Literal["confirmed", "suspected", "ruled_out", "insufficient_evidence", "failed"]
VERDICTS: Final = labels("causes")["verdicts"]
"""The label of each verdict, in the order in which findings are shown."""
SAYS: Final = labels("causes")["findings"]
MOST_ACTORS: Final = 3


@attrs.frozen
class Step:
    """One link of a chain. `holds`: shown true, shown false, or None: not known from this evidence."""

    claim: Sentence
    role: Role
    holds: bool | None
    evidence: tuple[Ref, ...] = attrs.field(default=(), converter=tuple[Ref, ...])
    id: str = ""
    """The name notebooks and tests use for this step: `leak-begins`, `put-back-refused`."""
    shown_by: str = ""
    """The evidence in which it would be seen (`shown_by.PRESENT`), where its absence shows that it did not happen."""

    def as_dict(self, lang: Lang) -> dict[str, Any]:
        return {
            "id": self.id, "claim": self.claim.render(lang), "role": self.role, "holds": self.holds,
            "evidence": [ref.as_dict() for ref in self.evidence],
        }  # fmt: skip


@attrs.frozen
class Missing:
    """Evidence that would decide, a command that gets it, and whose host has it (`side`, `where`)."""

    artefact: Sentence
    why: Sentence
    command: str
    side: Side
    where: Sentence | None = None

    def as_dict(self, lang: Lang) -> dict[str, Any]:
        why = SAYS["missing"].say(why=self.why, where=self.where)
        return {"artefact": self.artefact.render(lang), "why": why.render(lang), "command": self.command}


@attrs.frozen
class Remedy:
    """What to do, why it helps, its risk, how to see that it worked."""

    action: Sentence
    why: Sentence
    risk: Sentence
    verify: Sentence
    actors: tuple[str, ...] = ()
    """Whom it concerns, where that is not everybody the finding concerns."""

    def as_dict(self, lang: Lang) -> dict[str, Any]:
        return {name: getattr(self, name).render(lang) for name in ("action", "why", "risk", "verify")}


@attrs.frozen
class Moment:
    """Something that happened, for the timeline: `at`, or from `at` until `until` (naive: UTC); `count`: entries."""

    at: dt.datetime
    what: Sentence
    ref: Ref | None = None
    until: dt.datetime | None = None
    decides: bool = False
    count: int | None = None


def _window(span: tuple[dt.datetime, dt.datetime] | None) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the span if both of its times are known: pandas has NaT, which is not equal to itself."""
    return None if span is None or any(t is None or t != t for t in span) else span


@attrs.define
class Finding:
    """The result of one cause on one case. `tables`: name → small pandas frame behind the charts."""

    cause: str
    kind: Kind
    title: Sentence
    summary: Sentence
    """As given: what it says where nothing was found."""

    steps: list[Step] = attrs.field(factory=list)
    figures: dict[str, Any] = attrs.field(factory=dict)
    window: tuple[dt.datetime, dt.datetime] | None = attrs.field(default=None, converter=_window)
    missing: list[Missing] = attrs.field(factory=list)
    remedies: list[Remedy] = attrs.field(factory=list)
    tables: dict[str, Any] = attrs.field(factory=dict)
    moments: list[Moment] = attrs.field(factory=list)
    """What happened when, beyond the window and the evidence of the steps."""
    consequence_of: tuple[str, ...] = ()
    """Slugs of causes that led to this one in this case, beyond what `LEADS_TO` says."""

    actors: tuple[str, ...] = ()
    """Groups, topics, brokers, accounts that it concerns."""

    window_of: tuple[str, ...] = ()
    """Files whose times `window` is of; none: those that its steps refer to."""

    local: bool = False
    """Whether `window` is in the local time of hosts whose zone is not known."""

    error: Mapping[str, str] | None = None
    """If examining the cause failed: `type`, `message` and `where` of the error."""

    _nothing: Sentence = attrs.field(init=False, default=attrs.Factory(lambda self: self.summary, takes_self=True))

    @property
    def verdict(self) -> Verdict:
        return verdict(self.steps) if self.error is None else "failed"

    @property
    def says_nothing(self) -> bool:
        """Whether its summary is what it says where nothing was found."""
        return self.summary is self._nothing

    @property
    def shown_summary(self) -> Sentence:
        """The summary; what was seen, where something is suspected and the cause says no more than its `none`."""
        if self.says_nothing and self.verdict == "suspected":
            return next(step.claim for step in self.steps if step.holds)
        return self.summary

    def _concerned(self) -> list[str]:
        """Return whom it concerns: as its cause says, else whom the lines name that show it, those that decide first."""
        texts = [(step.role, ref.text) for step in self.steps if step.holds for ref in step.evidence]
        quoted = [(role, name) for role, text in texts for name in names.labelled(text)]
        deciding = [name for role, name in quoted if role == "deciding"]
        return list(self.actors) or deciding or [name for _, name in quoted]

    def _naming(self, text: Sentence, lang: Lang, own: tuple[str, ...] = ()) -> str:
        """Return a sentence that says whom it concerns, once, where something was found."""
        named = list(own) or self._concerned()
        rendered = text.render(lang)
        if not named or self.verdict not in ("confirmed", "suspected") or any(each in rendered for each in named):
            return rendered
        return SAYS["concerns"].say(text=rendered, actors=list(dict.fromkeys(named))[:MOST_ACTORS]).render(lang)

    def as_dict(self, lang: Lang = "en", explained_by: Iterable[str] = ()) -> dict[str, Any]:
        """Return it as in findings.json. `explained_by`: the confirmed causes it follows from."""
        clock = local_text if self.local else utc_text
        return {
            "cause": self.cause,
            "kind": self.kind,
            "verdict": self.verdict,
            **({} if self.error is None else {"error": dict(self.error)}),
            "title": self.title.render(lang),
            "summary": self._naming(self.shown_summary, lang),
            "window": self.window and [clock(at) for at in self.window],
            "explained_by": list(explained_by),
            "steps": [step.as_dict(lang) for step in self.steps],
            "figures": self.figures,
            "missing": [m.as_dict(lang) for m in self.missing],
            "remedies": [r.as_dict(lang) | {"action": self._naming(r.action, lang, r.actors)} for r in self.remedies],
        }


def supporting(id_: str, claim: Sentence, holds: object, evidence: Iterable[Ref] = ()) -> Step:
    """Return a supporting step: shown, or not known."""
    return Step(claim, "supporting", True if holds else None, evidence, id_)


def verdict(steps: list[Step]) -> Verdict:
    """Derive the verdict from the steps; the module docstring of each cause lists its deciding steps.

    A step without a reference cannot confirm: a claim nobody can check is not evidence.
    """
    deciding = [step for step in steps if step.role == "deciding"]
    if any(step.holds is False for step in deciding):
        return "ruled_out"
    proven = bool(deciding) and all(step.holds is True and step.evidence for step in deciding)
    if proven and not any(step.holds is False for step in steps):
        return "confirmed"
    if any(step.holds is True for step in steps):
        return "suspected"
    return "insufficient_evidence"
