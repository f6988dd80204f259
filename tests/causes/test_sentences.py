"""Sentences with a number in them are right for one as well."""

from __future__ import annotations

import re

import pytest

from kit.cli import main  # noqa: F401 - every sentence of the kit
from kit.i18n import CATALOGUE, T


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "1 line says so."), (0, "0 lines say so."), (1200, "1,200 lines say so."), (None, "unknown lines say so.")],
)
def test_words_agree_with_a_number(count: int | None, said: str) -> None:
    assert T("{count} {count:line says|lines say} so.").say(count=count).render() == said


def test_words_belong_to_a_number_that_is_shown() -> None:
    for text in CATALOGUE:
        for name in re.findall(r"\{(\w+):[^{}]*\|[^{}]*\}", text.en):
            assert f"{{{name}}}" in text.en, text.en
