"""Declarations and sentences: names that fit each other, look-alikes that are there and the page made of them, words that are right for one and for many."""

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
from kit import causes, data, i18n
from kit.causes import collect_next, look_alikes, shown_by, triage
from kit.causes.findings import VERDICTS
from kit.causes.root_causes import broker_busy
from kit.i18n import CATALOGUE, T
from kit.rocketmq.versions import FIXED
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
    """A word is evidence, a verdict, a declared value, or one that the module, what it calls or a table it reads gives."""
    assert all(each.verify or cause.verify for each in cause.remedies.values())
    module, analysis = source(cause), (Path(causes.__file__).parents[1] / "analysis").rglob("*.py")
    called = " ".join(
        name for path in analysis for name in re.findall(r'(?<=")\w+(?=")|(?m:^    \w+(?=: ))', path.read_text("utf-8"))
    )
    given = module + called + "".join(query.text for query in catalogue().values() if query.layer == "gold")
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


def test_names_of_causes_and_explanations_are_there_and_the_page_of_look_alikes_is_up_to_date():
    slugs = {cause.slug for cause in EVERY}
    pairs = [(cause.slug, other, apart) for cause in EVERY for other, apart in cause.looks_like.items()]
    assert {slug for one, other, _ in pairs for slug in (one, other)} == slugs
    assert len({frozenset(pair) for *pair, _ in pairs if len({*pair}) == 2}) == len(pairs)
    assert all(len(apart.en.split()) >= 4 for *_, apart in pairs)
    assert {*triage.LONGEST, *(slug for fix in FIXED for slug in fix.leads_to)} <= slugs
    page = Path(__file__).parents[2] / "docs" / "look-alikes.md"
    assert page.read_text("utf-8") == look_alikes.page(), "python -m kit.causes.look_alikes > docs/look-alikes.md"
    # A reader is told what a figure is by its name alone.
    named = {(name, figure.label) for cause in EVERY for name, figure in cause.figures.items()}
    assert len(named) == len({name for name, _ in named})
    # Every explanation of a stall has a name and a remedy; a half topic that feeds itself has those of its own finding.
    assert set(broker_busy.TEXTS.figures["explanations"].values) == {*broker_busy.FIXES, "half-topic"}
    assert set(broker_busy.FIXES.values()) <= set(broker_busy.TEXTS.remedies)


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


def test_a_sentence_says_the_same_in_both_languages_and_chinese_has_one_term_for_a_thing():
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
    others = re.compile("消费组|生产组|名字服务|延迟消息|延迟级别|备节点|从库|从 Broker (?!拒绝|指定|删除|的记录)")
    assert [text.in_("zh") for text in every_sentence() if others.search(text.in_("zh"))] == []
    alone = re.compile(r'\bT\(\s*(?:"(?:[^"\\]|\\.)+"\s*)+,?\s*\)')
    assert [said for path in KIT.rglob("*.py") for said in alone.findall(path.read_text(encoding="utf-8"))] == []


def test_times_of_an_unknown_zone_are_never_called_utc():
    text, at = T("From {at} (UTC) on", "从{at}起，UTC时间"), dt.datetime(2026, 11, 20, 22, 34, tzinfo=dt.UTC)
    assert text.say(at=at).render("en") == "From 2026-11-20 22:34:00 UTC (UTC) on"
    with i18n.on_clock("local"):
        said = [text.say(at=at).render(lang) for lang in i18n.LANGS]
    assert [sentence.count("UTC") for sentence in said] == [0, 0]
    assert [sentence.count("2026-11-20 22:34:00") for sentence in said] == [1, 1]


@pytest.mark.parametrize(("hours", "lang", "said"), rows_of(__file__, "times_in_a_zone"))
def test_a_time_in_a_sentence_is_in_the_zone_of_the_evidence_first(hours, lang, said):
    text = T("From {first} to {last}.", "从 {first} 到 {last}。")
    first, last = (dt.datetime(2026, 11, 20, 14, *at, tzinfo=dt.UTC) for at in ((34, 20), (35, 50, 31_000)))
    with i18n.on_clock(dt.timezone(dt.timedelta(hours=hours))):
        assert text.say(first=first, last=last).render(lang) == said


@pytest.mark.parametrize("cause", EVERY, ids=lambda cause: cause.slug)
def test_what_is_not_shown_has_no_count_of_nothing(cause):
    """A count in the claim of an open step is left out where it is 0, or its condition says that it is not."""
    for step in cause.steps:
        for name, needs in {**({step.open: ""} if step.open else {}), **step.maybe}.items():
            text = cause.says[name].en
            printed = {*re.findall(r"\{(\w+)\}", re.sub(r"<[^<>]*\{[^<>]*>", "", text))}
            counted = printed & {*re.findall(r"\{(\w+):", text)}
            assert all(counted <= {*every} for every in shown_by.alternatives(needs)), (step.id, name)
