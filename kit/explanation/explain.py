"""What each line of a paste means: `explain`; as a terminal shows it, one block for each known problem, text, code,
setting or id: `blocks`.

A line is looked up in this order: known problems and events (`kit.rocketmq.catalogue`), RocketMQ's own format strings,
answers, settings. Ids in it are also decoded.
"""

import re
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Final

import attrs

from kit.explanation import context
from kit.explanation.paste import PastedId, ids_in, lines
from kit.i18n import Lang, Sentence, T, labels, printable, rendered
from kit.rocketmq import answers, catalogue, ids, upstream
from kit.rocketmq.catalogue import PROBLEMS, Problem
from kit.rocketmq.config import PARAMETERS, default_of
from kit.rocketmq.versions import NEWEST, OLDEST, RULES, Version

OVERTAKEN: Final = "check-overtakes-local"
"""The problem shown by the application's own lines if a check comes during the local transaction."""
ABOUT: Final = "rocketmq"
"""Whoever asks what a line means asks about RocketMQ: a library below a client does not say so."""
WITHOUT_NAME: Final = ("grpc-client-failed", "grpc-status")
"""Problems whose lines gRPC prints for every product."""
NO_NAME_SERVER: Final = "namesrv-unreachable"
"""The problem of a failed connect whose address the paste shows to be a name server's."""

TEXTS: Final = labels("explanation")["explain"]
IDS: Final = labels("explanation")["ids"]
ID_KINDS: Final = labels("explanation")["id kinds"]
PARTS: Final = labels("charts")["ids parts"]
ID_NEXT: Final = labels("explanation")["id next"]

_CARRIERS: Final = frozenset({
    "broker-exception", "client-exception", "send-result", "spring-send-failed", "dashboard", "grpc-status",
    "grpc-client-failed", "proxy-error",
})  # fmt: skip
"""Known texts and problems that say less than what they carry: a code, a status, another problem's text."""
_CODE: Final = re.compile(r"(?<!response of )\bCODE: ?(\d{1,4})\b|\bresponse ?code[=: ]+(\d{1,4})\b", re.IGNORECASE)
_GRPC_CODE: Final = re.compile(
    r"\bresponse-code=(\d{5})\b|(?:\bCODE: ?|[\"'](?:code|Code)[\"']: ?[\"']?|\bcode=)(\d{5}\b|[A-Z]{2,}[A-Z_]{2,40}\b)"
)
"""What the clients of rocketmq-clients print: Java, C# and Node.js the number, Go and JSON the name."""
_PRINTED: Final = re.compile(r"^\S{0,3}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)? INFO main - ")
"""A broker or name server prints every setting at its start (common/MixAll.printObjectProperties)."""
_SETTING: Final = re.compile(
    r"^(?:[^\x00-\x7f]+|[\s\"'-]*)([a-z][A-Za-z0-9_]{3,50})[\"']?\s*[=:]\s*(?:\{[^\n]{0,400}\}|[\"']?([^\"'\n]{0,200}?)[\"',;]?)\s*$"
)


@attrs.frozen
class Meaning:
    """What a line means, in no language yet. `kind`: `log`, `id`, `code`, `config`; `slug`: problem or event."""

    title: Sentence | str
    meaning: tuple[Sentence, ...] = ()
    next: Sentence | str = ""
    versions: tuple[Sentence | str, ...] = ()
    kind: str = "log"
    slug: str | None = None

    def row(self, number: int, text: str, lang: Lang) -> dict[str, Any]:
        meaning = [each.render(lang) for each in self.meaning]
        if self.kind == "id":  # what is said of ids elsewhere is a part of a sentence
            meaning = [each[:1].upper() + each[1:] for each in meaning]
        return {
            "line": number, "text": text, "kind": self.kind, "slug": self.slug, "title": rendered(self.title, lang),
            "meaning": " ".join(meaning),
            "versions": "; ".join(rendered(each, lang) for each in self.versions), "next": rendered(self.next, lang),
        }  # fmt: skip


def explain(text: str, lang: Lang = "en") -> list[dict[str, Any]]:
    """Return what each line of a text means, in order: `line` (the first is 1), `text`, `kind` (`log`, `id`, `code`,
    `config`), `slug` (known problem or event, None if absent), `title`, `meaning`, `versions`, `next`.

    An unknown line has kind `log` and no slug; stack trace frames and empty lines are left out.
    """
    pasted = list(lines(text))
    pasted_ids = ids_in(pasted)
    compared = context.compared(pasted, pasted_ids) is not None
    reasons = dict.fromkeys(context.unreached(pasted), NO_NAME_SERVER)
    reasons |= dict.fromkeys(context.overtaken(text), OVERTAKEN)
    outputs, cells = context.outputs(pasted)
    rows: list[dict[str, Any]] = []
    for line in pasted:
        own = [each for each in pasted_ids if each.line == line.number and each.text == line.text]
        problems = catalogue.problems_in(line.text + "\n")
        meanings: list[Meaning] = []
        if line.frame and not own:
            # Of a frame only texts that are about frames: a method with the file behind it.
            about = [p for p in problems if any(text.endswith(".java") and text in line.text for text in p.texts)]
            meanings = [_problem(line.text, each) for each in about]
        elif line.number in outputs and not problems:
            meanings = [_output(outputs[line.number])]
        elif line.number in reasons:
            meanings = [_problem(line.text, PROBLEMS[reasons[line.number]])]
        elif meaning := _of_line(line.text, problems):
            meanings = [meaning]
        elif line.number not in cells and not any(each.info.text in line.text.upper() for each in pasted_ids):
            meanings = [Meaning(TEXTS["unknown"], (TEXTS["not_known"],))]
        rows += [meaning.row(line.number, line.text, lang) for meaning in meanings]
        rows += [_id(each, compared=compared).row(each.line, each.info.text, lang) for each in own]
    return rows


def _id(pasted: PastedId, *, compared: bool) -> Meaning:
    """Return what an id is. `compared`: whether somebody compares ids of both kinds."""
    info = pasted.info
    fields = [
        T("{name} {value}", "{name} {value}").say(name=PARTS.get(name, name), value=value)
        for name, value in ids.fields(info)
    ]
    meaning = [IDS["part"].say(text=text) for text in (info.why, fields, *info.notes)]
    if pasted.pair is not None:
        other, line = pasted.pair
        meaning.append(IDS["paired"].say(other=other.text, line=str(line), kind=IDS[other.kind]))
    elif compared:
        meaning.append(IDS["compared"].say())
    return Meaning(ID_KINDS[info.kind], tuple(meaning), ID_NEXT[info.kind], kind="id")


def _of_line(text: str, problems: Sequence[Problem]) -> Meaning | None:
    """Return what a line means by itself; `problems`: those that it shows."""
    if not problems:
        problems = [PROBLEMS[slug] for slug in WITHOUT_NAME if PROBLEMS[slug].in_text(f"{text}\n{ABOUT}")]
    first = min(problems, key=lambda each: each.slug in _CARRIERS, default=None)
    known = _problem(text, first) if first else _event(text)
    if known is None or known.slug in _CARRIERS:
        known = _answer(text) or known
    if known is None and (other := upstream.problem_of(text)):
        known, own = _problem(text, other), upstream.find(text)
        if own:  # known only by the class that prints it
            title, by = TEXTS["nearest"].say(title=other.title), TEXTS["by_class"].say(cls=own.classes)
            known = attrs.evolve(known, title=title, meaning=(by, *known.meaning))
    return known or _setting(text)


def _output(tool: str) -> Meaning:
    """Return what an output of a host's tool is, or a table of mqadmin."""
    if tool not in context.OUTPUT_NEXT:
        meaning = answers.MQADMIN_MEANINGS.get(tool, TEXTS["table_is"])
        return Meaning(TEXTS["table"].say(command=tool), (meaning,), versions=("tools/command",), slug="mqadmin-table")
    title, which = context.OUTPUT["title"].say(tool=tool), "threads" if tool == context.DUMP else "meaning"
    return Meaning(title, (context.OUTPUT[which],), context.OUTPUT_NEXT[tool], slug="host-output")


def _problem(text: str, problem: Problem) -> Meaning:
    """Return what a line means, who prints it in which releases, and which have the fault."""
    meaning: list[Sentence] = [problem.meaning]
    meaning += [problem.decides] if problem.decides else []
    meaning += [TEXTS["unlike"].say(unlike=problem.unlike)] if problem.unlike else []
    fault, printed = problem.fault, upstream.printed(text)
    by = printed and TEXTS["printed_by"].say(cls=printed.classes, how=printed.how, releases=printed.releases)
    versions: list[Sentence | str] = [by or problem.printed_by.logs or problem.printed_by.source]
    if fault.since or fault.until:
        versions.append(TEXTS["fault_in"].say(since=fault.since or str(OLDEST), until=fault.until or str(NEWEST)))
    versions += [TEXTS["fixed"].say(fixed=fault.fixed)] if fault.fixed else []
    return Meaning(problem.title, tuple(meaning), problem.next, tuple(versions), slug=problem.slug)


def _event(text: str) -> Meaning | None:
    event = catalogue.event_in(text)
    if event is None:
        return None
    harmless = event.ordinary
    routine = TEXTS["ordinary" if harmless else "watched"].say(where=event.printed_by.source)
    meaning: Sentence = harmless if isinstance(harmless, T) else event.meaning or routine
    following = TEXTS["nothing"] if harmless else TEXTS["look"]
    if event.benign is not None:
        meaning, following = (TEXTS["passes"], TEXTS["on"]) if event.goes_on else (TEXTS["harmless"], TEXTS["nothing"])
        meaning = meaning.say(why=event.benign)
    since, until = event.printed_by.since, event.printed_by.until
    released = f" {upstream.span(since, until)}" if since or until else ""
    title = event.slug.replace("-", " ").capitalize()
    return Meaning(title, (meaning,), following, (event.printed_by.source + released,), slug=event.slug)


def _answer(text: str) -> Meaning | None:
    """Return what a response code or a send status means."""
    if answered := _GRPC_CODE.search(text):
        named = answered[1] or answered[2]
        code = int(named) if named.isdigit() else answers.GRPC_NAMES.get(named, -1)
        if code in answers.GRPC_CODES:
            title = TEXTS["grpc_answer"].say(code=str(code), name=answers.GRPC_CODES[code].name)
            return _code(title, answers.GRPC_CODES[code], "apache.rocketmq.v2.Code")
    if match := _CODE.search(text):
        code = int(match[1] or match[2])
        if code not in answers.CODES:
            title = TEXTS["unknown_code"].say(code=str(code))
            return Meaning(title, (TEXTS["other_code"],), TEXTS["look"], kind="code")
        title = TEXTS["answer"].say(code=str(code), name=answers.CODES[code].name)
    else:
        name = next((name for name in answers.STATUSES if name in text), None)
        if name is None:
            return None
        code, title = answers.STATUSES[name], TEXTS["status"].say(name=name)
    answer = answers.CODES[code]
    source = PROBLEMS[answer.problem].printed_by.source if answer.problem else "common/protocol/ResponseCode"
    return _code(title, answer, source)


def _code(title: Sentence, answer: answers.Answer, source: str) -> Meaning:
    return Meaning(title, (answer.meaning,), answer.next, (source,), "code", answer.problem or None)


def _setting(text: str) -> Meaning | None:
    """Return what a line of broker.conf, of a properties file or of getBrokerConfig sets."""
    match = _SETTING.match(_PRINTED.sub("", text))
    parameter = PARAMETERS.get(match[1]) if match else None
    if match is None or parameter is None:
        return None
    name = match[1]
    about = {"meaning": parameter.meaning, "unit": parameter.unit, "default": _default(name)}
    meaning: list[Sentence] = [TEXTS["setting_is"].say(**about)]
    meaning += [TEXTS["setting_trade"].say(trade=parameter.trade)] if parameter.trade else []
    read: list[Sentence] = [TEXTS["read_since"].say(since=parameter.since)] if parameter.since else []
    read += [TEXTS["read_until"].say(until=parameter.until)] if parameter.until else []
    return Meaning(TEXTS["setting"].say(name=name), tuple(meaning), versions=tuple(read), kind="config")


def _default(name: str) -> Sentence | str:
    """Return the default of a setting, or its defaults with the first release of each."""
    default, values = default_of(name, None), RULES[name].values if name in RULES else {}
    if default is None and len(values) > 1:
        by_release = (f"{value} ({since})" for since, value in values.items() if value is not None)
        return TEXTS["defaults"].say(all="; ".join(by_release))
    return TEXTS["no_default"] if default is None else str(default)


def releases_of(rows: Iterable[dict[str, Any]]) -> str | None:
    """Return the releases that print all of a paste's broker lines, None if that excludes no release."""
    texts = filter(None, (upstream.printed(row["text"]) for row in rows))
    printed = [each for each in texts if each.classes.startswith(("broker/", "store/"))]
    first = max((each.since for each in printed if each.since), key=Version.parse, default="")
    last = min((each.until for each in printed if each.until), key=Version.parse, default="")
    narrowed = Version.parse(first) <= Version.parse(last) if first and last else bool(first or last)
    return upstream.span(first, last) if narrowed else None


# --- blocks -----------------------------------------------------------------------------------------------------------

WIDE: Final = 100
SHOWN: Final = 160
LINES: Final = 6
UNKNOWN_SHOWN: Final = 10

SAYS: Final = labels("explanation")["shown"]


def blocks(rows: Sequence[dict[str, Any]], lang: Lang) -> str:
    """Return the rows of `explain` for a terminal; the same answer for several lines is printed once."""
    if not rows:
        return SAYS["nothing"].in_(lang)
    answers: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    unknown = []
    for row in rows:
        if row["kind"] == "log" and row["slug"] is None and not row["versions"]:
            unknown.append(row)
        else:
            answers.setdefault((row["kind"], row["title"], row["meaning"]), []).append(row)
    parts = [_block(same, lang) for same in answers.values()]
    if unknown:
        lines = [SAYS["not_known"].say(n=len(unknown)).render(lang)]
        lines += [f"  {row['line']}: {_cut(row['text'])}" for row in unknown[:UNKNOWN_SHOWN]]
        lines += ["  …"] if len(unknown) > UNKNOWN_SHOWN else []
        parts.append("\n".join(lines))
    if releases := releases_of(rows):
        parts.append(SAYS["releases"].say(releases=releases).render(lang))
    return "\n\n".join(parts)


def _block(same: Sequence[dict[str, Any]], lang: Lang) -> str:
    row = same[0]
    numbers = list(dict.fromkeys(str(each["line"]) for each in same))
    listed = ", ".join(numbers[:LINES])
    if len(numbers) > LINES:
        listed = SAYS["and_more"].say(numbers=listed, n=len(numbers) - LINES).render(lang)
    slug = f" [{row['slug']}]" if row["slug"] else ""
    head = f"{row['title']}{slug} · {SAYS['line'].say(numbers=listed).render(lang)}"
    lines = [printable(head), f"  > {_cut(row['text'])}", *_wrapped(row["meaning"])]
    if row["next"]:
        lines += _wrapped(f"{SAYS['next'].in_(lang)}: {row['next']}")
    if row["versions"]:
        lines += _wrapped(f"{SAYS['printed'].in_(lang)}: {row['versions']}")
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    wide = min(WIDE, shutil.get_terminal_size((WIDE, 50)).columns)
    return textwrap.wrap(printable(text), wide, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _cut(text: str) -> str:
    return printable(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
