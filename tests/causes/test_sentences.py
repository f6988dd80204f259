"""Sentences with a number in them are right for one as well."""

from __future__ import annotations

import re

import pytest

from kit import i18n
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


def test_catalogue_entries_are_read_as_gettext_means_them() -> None:
    text = """# A comment with "quotes".
msgid ""
msgstr "Language: zh\\n"

#: kit/a.py:1
#, python-format
msgid "One \\"line\\"\\n"
"and a second"
msgstr "第一行\\n"
"第二行"

msgctxt "timeline"
msgid "Same"
msgstr "甲"

msgid "Same"
msgstr "乙"

#, fuzzy, python-format
msgid "Guessed"
msgstr "猜"

msgid "Open"
msgstr ""

#~ msgid "Old"
#~ msgstr "旧"
"""
    found = i18n.entries_of(text)
    del found["", ""]
    assert found == {("", 'One "line"\nand a second'): "第一行\n第二行", ("timeline", "Same"): "甲", ("", "Same"): "乙"}
