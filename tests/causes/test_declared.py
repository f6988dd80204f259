"""Declarations: names that fit each other, look-alikes that are there, and the page made of them."""

import re
from pathlib import Path

import pytest

from kit import causes
from kit.causes import collect_next, discover, look_alikes, shown_by, triage
from kit.causes.findings import VERDICTS
from kit.causes.root_causes import broker_busy
from kit.tables.queries import catalogue

EVERY = causes.discover()
SAID = re.compile(r'"([a-z_](?:[\w+.-]|{[^{}"]*})*)"')
"""What may be the name of a sentence in a module."""


def words_of(cause):
    """Yield every word of the conditions of a declaration."""
    steps = [
        text
        for step in cause.steps
        for text in (step.absent, step.shown_by, *step.holds.values(), *step.refuted.values(), *step.maybe.values())
    ]
    others = [
        *cause.summary.values(),
        *(needs for sentences in cause.phrases.values() for needs in sentences.values()),
        *(want.needs for want in cause.missing),
        *(each.needs for each in cause.remedies.values()),
    ]
    for text in (*steps, *others, *(figure.known_if for figure in cause.figures.values())):
        yield from (word.removeprefix("not ") for every in shown_by.alternatives(text) for word in every if word)


def source(cause):
    """Return the module that observes a cause, nothing if its declaration is all there is."""
    name, folder = cause.slug.replace("-", "_"), Path(causes.__file__).parent
    texts = {path.stem: path.read_text("utf-8") for path in folder.glob("*s/*.py")}
    return "".join(text for stem, text in texts.items() if stem == name or f"def {name}(" in text)


@pytest.mark.parametrize("cause", EVERY, ids=lambda cause: cause.slug)
def test_words_and_sentences_of_a_declaration_are_there_and_used(cause):
    """A word is evidence, a verdict, a declared value, or one that the module or a table it reads gives."""
    module = source(cause)
    given = module + "".join(query.text for query in catalogue().values() if query.layer == "gold")
    steps = {f"{step.id} {state}" for step in cause.steps for state in ("holds", "unknown", "refuted")}
    known = {*shown_by.PRESENT, *steps, *VERDICTS, *cause.values, *cause.phrases, "found", "always", "never"}
    unknown = {word.removesuffix(" known") for word in words_of(cause)} - known
    assert {word for word in unknown if not word.endswith(" log") and not re.search(rf"\b{word}\b", given)} == set()
    assert {word for word in shown_by.PRESENT if f'"{word}":' in module} == set(), "a value hides evidence of that name"
    assert {want.artefact for want in cause.missing} <= set(collect_next.ARTEFACTS)
    said = {*SAID.findall(module)}
    named = {name for s in cause.steps for name in (*s.holds, *s.refuted, *s.maybe, s.open)}
    named |= {*cause.summary, *said, *(name for each in cause.phrases.values() for name in each)}
    ready = [re.sub(r"\\\{[^}]*\\\}", ".*", re.escape(name)) for name in named]
    assert {n for n in cause.says if not any(re.fullmatch(each, n) for each in ready)} == set()
    assert {n for n in named if "{" not in n and n not in (*cause.says, "", "none")} <= said


PAGE = Path(__file__).parents[2] / "docs" / "look-alikes.md"


def test_every_cause_names_its_look_alikes():
    slugs = {cause.slug for cause in discover()}
    for cause in discover():
        others = list(cause.looks_like)
        assert others, cause.slug
        assert set(others) <= slugs - {cause.slug}, cause.slug
        assert all(len(apart.en.split()) >= 4 for apart in cause.looks_like.values())


def test_causes_that_begin_first_are_there():
    assert set(triage.LONGEST) <= {cause.slug for cause in discover()}


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == look_alikes.page(), (
        "python -m kit.causes.look_alikes > docs/look-alikes.md"
    )


def test_every_explanation_of_a_stall_has_a_name_and_a_remedy():
    names = broker_busy.TEXTS.figures["explanations"].values
    assert set(names) == set(broker_busy.FIXES)
    assert set(broker_busy.FIXES.values()) <= set(broker_busy.TEXTS.remedies)
