"""From what is observed to a finding, as the YAML of a cause declares it: which steps hold, what is said and proposed.

A cause that counts, quotes and says is its YAML alone (`values`). Where more is needed, `observe(facts) -> Observed`
of the module beside it gives the values; of a neighbour the function of its name. docs/adding-a-cause.md adds one.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import attrs
import pandas as pd

from kit.analysis import refs
from kit.causes import collect_next, neighbours, shown_by
from kit.causes.findings import Finding, Moment, Step
from kit.causes.texts import Cause, StepText, Value
from kit.i18n import Filled
from kit.tables.facts import Facts


@attrs.define
class Observed:
    """What the evidence shows of a cause: `values` by name, `quotes` (references) by step or value."""

    values: dict[str, Any] = attrs.field(factory=dict)
    quotes: dict[str, Any] = attrs.field(factory=dict)
    window: tuple[dt.datetime, dt.datetime] | None = None
    window_of: Iterable[str] = ()
    actors: Iterable[str] = ()
    tables: dict[str, Any] = attrs.field(factory=dict)
    moments: list[Moment] = attrs.field(factory=list)
    consequence_of: tuple[str, ...] = ()
    steps: list[Step] = attrs.field(factory=list)
    """Steps behind the declared ones: as many as there are of something."""
    proposed: Iterable[str] | None = None
    """The remedies and their order, where it is not that of the YAML."""


def examine(facts: Facts, cause: Cause) -> Finding:
    """Examine a cause: what its module observes, said as it declares."""
    name = cause.slug.replace("-", "_")
    if cause.kind == "root_cause":
        return finding(facts, cause, import_module(f"kit.causes.root_causes.{name}").observe(facts))
    modules = (import_module(each.name) for each in iter_modules(neighbours.__path__, f"{neighbours.__name__}."))
    observe = next((getattr(module, name) for module in modules if hasattr(module, name)), None)
    return finding(facts, cause, observe and observe(facts))


def finding(facts: Facts, cause: Cause, observed: Observed | None = None) -> Finding:
    """Return the finding that a cause declares for what was observed; without a module, for its own `values`."""
    observed = observed or Observed()
    windows = [_count(facts, name, value, observed) for name, value in cause.values.items()]
    values = observed.values
    result = Finding(cause.slug, cause.kind, cause.title, cause.none or cause.title)
    conditions = Conditions(facts, values, result)
    for name, sentences in cause.phrases.items():
        values[name] = conditions.chosen(cause, sentences) or values.get(name)
    for text in cause.steps:
        result.steps += _step(cause, text, conditions, observed)
    result.steps += observed.steps
    result.actors = tuple(observed.actors)
    for name, figure in cause.figures.items():
        value = values.get(figure.value or name)
        if figure.known_if and not value:  # nothing of it: 0 where the evidence would show it, else not known
            value = (0 if value is None else value) if conditions(figure.known_if) else None
        result.figures[name] = value
        if figure.actor:
            result.actors += (value,) if isinstance(value, str) else tuple(value or ())
    result.summary = conditions.chosen(cause, cause.summary) or result.summary
    proposed = observed.proposed
    if proposed is None:
        proposed = (name for name, each in cause.remedies.items() if conditions(each.needs))
    result.remedies = [cause.remedy(name, **values) for name in proposed]
    for want in [each for each in cause.missing if conditions(each.needs)]:
        named = (values.get(name) for name in (want.group, want.topic, want.command))
        result.missing.append(collect_next.ask(want.artefact, want.why.say(**values), *named))
    result.window = observed.window or (next(filter(None, windows), None) if conditions("found") else None)
    result.window_of = tuple(observed.window_of)
    result.tables, result.moments, result.consequence_of = observed.tables, observed.moments, observed.consequence_of
    return result


def _step(cause: Cause, text: StepText, conditions: "Conditions", observed: Observed) -> list[Step]:
    """Return a step as the first of its sentences that applies says; none where it has nothing to say."""
    for holds, sentences in ((True, text.holds), (False, text.refuted), (None, text.maybe)):
        for name, needs in sentences.items():
            if conditions(needs):
                claim = cause.says[name.format_map(observed.values)]
                quoted = observed.quotes.get(text.id)
                if quoted is None:
                    words = (word for every in shown_by.alternatives(needs) for word in every)
                    quoted = [ref for word in words for ref in observed.quotes.get(word, ())]
                sentence, quotes = Filled(claim, observed.values, shown=holds is True), [*quoted][: text.quotes]
                return [Step(sentence, text.role, holds, quotes, text.id, text.shown_by)]
    if not text.open:
        return []
    would_show = text.absent or (text.shown_by if text.role == "deciding" else "")
    absent = bool(would_show) and conditions(would_show)
    sentence = Filled(cause.says[text.open], observed.values, shown=False)
    return [Step(sentence, text.role, False if absent else None, (), text.id, text.shown_by)]


@attrs.frozen
class Conditions:
    """Reads `a + not b | c`.

    A word is a value that is there and not 0; `x known`, a value that is not null; evidence of `shown_by.PRESENT`;
    `client log`, a log of that source; a verdict; `found` (confirmed or suspected); a step that `holds`, is `refuted`
    or `unknown` (`put-back-refused unknown`); `always`.
    """

    facts: Facts
    values: Mapping[str, Any]
    result: Finding

    def __call__(self, text: str) -> bool:
        return any(all(map(self._applies, every)) for every in shown_by.alternatives(text))

    def chosen(self, cause: Cause, sentences: Mapping[str, str]) -> Filled | None:
        """Return the first of a cause's sentences that applies, given with their conditions, None if none does."""
        name = next((name for name, needs in sentences.items() if self(needs)), None)
        return None if name is None else cause.say(name.format_map(self.values), **self.values)

    def _applies(self, word: str) -> bool:
        if word.startswith("not "):
            return not self._applies(word.removeprefix("not "))
        if word in shown_by.PRESENT:
            return shown_by.PRESENT[word](self.facts)
        name, _, state = word.rpartition(" ")
        if state == "known":
            return self.values.get(name) is not None
        if state == "log":
            return self.facts.has_source(name)
        if name:
            wanted = {"holds": True, "unknown": None, "refuted": False}[state]
            return any(step.id == name and step.holds is wanted for step in self.result.steps)
        if word == "found":
            return self.result.verdict in ("confirmed", "suspected")
        return word == "always" or word == self.result.verdict or bool(self.values.get(word))


def _count(facts: Facts, name: str, value: Value, observed: Observed) -> tuple[Any, Any] | None:
    """Add the number and the references of a declared value; return its first and last time, None if unknown."""
    if not value.fact:
        seen = refs.seen(facts, *value.texts)
        observed.values[name], observed.quotes[name] = seen.count, refs.quote(facts, seen, value.quotes)
        observed.window_of = observed.window_of or (() if observed.window else seen.timed)
        return seen.window
    asked = not value.texts or refs.seen(facts, *value.texts)
    rows = facts(value.fact) if asked else pd.DataFrame(columns=[*value.where])
    for column, wanted in value.where.items():
        rows = rows[rows[column] == wanted]
    observed.values[name] = 0
    if not rows.empty:
        number = rows[value.sum].sum() if value.sum else rows[value.column].iloc[0] if value.column else len(rows)
        quote: Any = refs.records_at if "physical_offset" in rows else refs.lines
        if value.within:
            quote = partial(refs.earliest, within=value.within)
        observed.values[name], observed.quotes[name] = int(number), quote(facts, rows, value.quotes)
    return None
