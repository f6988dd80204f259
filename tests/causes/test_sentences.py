"""Sentences with a number in them are right for one as well."""

import datetime as dt
import functools
import importlib
import pkgutil
import re
import string
from pathlib import Path

import pytest
from table import rows_of

import kit
from kit import data, i18n
from kit.i18n import CATALOGUE, T

KIT = Path(kit.__file__).parent


@pytest.mark.parametrize(("text", "values", "said"), rows_of(__file__, "said"))
def test_a_sentence_with_its_values(text, values, said):
    """Words agree with a number; what is unknown is left out with its words, in angle brackets."""
    lang = "en" if text.isascii() else "zh"
    assert T(text, text).say(**values).render(lang) == said


@functools.cache
def every_sentence():
    """Return those of the code and of every YAML file, whatever the process has read so far."""
    for module in pkgutil.walk_packages(kit.__path__, "kit."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    waiting = [data.read(path.relative_to(KIT).as_posix(), object) for path in KIT.rglob("*.yaml")]
    sentences = []
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if each.keys() & {"en", "zh"}:
                assert each["zh"].strip(), each  # an empty one would be English
                sentences.append(T(each["en"], each["zh"]))
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    code = "".join(path.read_text() for path in KIT.rglob("*.py"))
    own = [text for text in CATALOGUE if text.zh or text.en[:20] in code]  # tests make some in English only
    return list({(text.en, text.in_("zh")): text for text in [*own, *sentences]}.values())


def fields(text):
    return sorted({name for _, name, _, _ in string.Formatter().parse(text) if name})


def test_a_sentence_says_the_same_in_both_languages():
    """The same values, left out together; a word that agrees with a number stands beside it; Chinese is no English once more."""
    assert len(every_sentence()) > 3000
    for text in every_sentence():
        chinese = text.in_("zh")
        assert text.en.strip() and chinese.strip() and fields(text.en) == fields(chinese), text.en
        optional = [sorted(map(fields, re.findall(r"<([^<>]*{[^<>]*)>", said))) for said in (text.en, chinese)]
        assert optional[0] == optional[1], text.en
        assert {f"{{{n}}}" in text.en for n in re.findall(r"\{(\w+):[^{}]*\|[^{}]*\}", text.en)} <= {True}, text.en
        assert text.en != text.zh or not re.search(r"[a-z]+ [a-z]+ [a-z]+", text.en), text.en
        assert re.search("[\u4e00-\u9fff]", chinese) or not re.search(r"([a-z]+ ){3}[a-z]+", text.en), text.en


def test_chinese_has_one_term_for_a_thing():
    others = re.compile("消费组|生产组|名字服务|延迟消息|延迟级别|备节点|从库|从 Broker (?!拒绝|指定|删除|的记录)")
    assert [text.in_("zh") for text in every_sentence() if others.search(text.in_("zh"))] == []


def test_times_of_an_unknown_zone_are_never_called_utc():
    text, at = T("From {at} (UTC) on", "从{at}起，UTC时间"), dt.datetime(2026, 11, 20, 22, 34, tzinfo=dt.UTC)
    assert text.say(at=at).render("en") == "From 2026-11-20 22:34:00 UTC (UTC) on"
    with i18n.on_clock("local"):
        said = [text.say(at=at).render(lang) for lang in i18n.LANGS]
    assert [sentence.count("UTC") for sentence in said] == [0, 0]
    assert [sentence.count("2026-11-20 22:34:00") for sentence in said] == [1, 1]


@pytest.mark.parametrize(
    ("hours", "lang", "said"), rows_of(__file__, "a_time_in_a_sentence_is_in_the_zone_of_the_evidence_first")
)
def test_a_time_in_a_sentence_is_in_the_zone_of_the_evidence_first(hours, lang, said):
    text = T("From {first} to {last}.", "从 {first} 到 {last}。")
    first, last = (dt.datetime(2026, 11, 20, 14, *at, tzinfo=dt.UTC) for at in ((34, 20), (35, 50, 31_000)))
    with i18n.on_clock(dt.timezone(dt.timedelta(hours=hours))):
        assert text.say(first=first, last=last).render(lang) == said


def test_every_sentence_of_the_code_has_its_chinese_beside_it():
    alone = re.compile(r'\bT\(\s*(?:"(?:[^"\\]|\\.)+"\s*)+,?\s*\)')
    assert [said for path in KIT.rglob("*.py") for said in alone.findall(path.read_text(encoding="utf-8"))] == []
