"""Declared neighbours: names that fit each other, and what each of them finds."""

from __future__ import annotations

import pytest

from kit.causes import Cause, collect_next, discover, shown_by

DECLARED = [cause for cause in discover() if cause.texts.steps]


@pytest.mark.parametrize("cause", DECLARED, ids=lambda cause: cause.slug)
def test_names_of_a_declaration_are_there(cause: Cause) -> None:
    texts = cause.texts
    assert {name for step in texts.steps for name in step.any} <= set(texts.values)
    assert {figure.value for figure in texts.figures.values()} <= set(texts.values)
    for step in texts.steps:
        assert (cause.slug, step.id) in shown_by.table()
    words = {want.unless for want in texts.missing} | {figure.known_if for figure in texts.figures.values()}
    assert {each for word in words for every in shown_by.alternatives(word) for each in every} <= set(shown_by.PRESENT)
    assert {want.artefact for want in texts.missing} <= set(collect_next.artefacts())
