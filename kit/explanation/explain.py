"""What each line of a paste means: `explain`.

A line is looked up in this order: known problems and events (`kit.rocketmq.catalogue`), RocketMQ's own format strings, answers, settings. Ids in it are
also decoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from kit.explanation import measured, quoted_tables
from kit.i18n import Lang, T
from kit.pasted import complaints, name_servers
from kit.pasted import ids as pasted_ids
from kit.pasted.plain_lines import Line, lines
from kit.rocketmq import answers, catalogue, mqadmin_tables, upstream
from kit.rocketmq.catalogue import PROBLEMS, Event, Problem
from kit.rocketmq.config import ALIASES, PARAMETERS, default_of
from kit.rocketmq.versions import RULES

SHOWN_CLASSES: Final = 3
OVERTAKEN: Final = "check-overtakes-local"
"""The problem shown by the application's own lines if a check comes during the local transaction."""
ABOUT: Final = "rocketmq"
"""Whoever asks what a line means asks about RocketMQ: a library below a client does not say so."""
WITHOUT_NAME: Final = ("grpc-client-failed", "grpc-status")
"""Problems whose lines gRPC prints for every product."""
NO_NAME_SERVER: Final = "namesrv-unreachable"
"""The problem of a failed connect whose address the paste shows to be a name server's."""

UNKNOWN = T("not known")
NOT_KNOWN = T(
    "The kit does not know this line; it is not one of RocketMQ's own WARN or ERROR texts, nor a code, id or setting."
)
HARMLESS = T("Known benign: {why}.")
PASSES = T("Known benign around a start or stop: {why}. If it goes on without one, it is a symptom.")
ON = T("How often does it come, for how long, and what started or stopped at that time?")
PRINTED = T("RocketMQ prints this in {cls} ({how}); the catalogue has no entry for it.")
ORDINARY = T("A normal line of {where}: nothing is wrong.")
WATCHED = T("A line of {where} that the kit's causes use; what it means depends on the lines around it.")
PRINTED_BY = T("{cls} ({how}), releases {releases}")
PRINTED_ELSEWHERE = T("{project}: {cls} ({how})")
FAULT_IN = T("the fault: {since} to {until}")
FIXED = T("fixed: {fixed}")
UNLIKE = T("Do not confuse: {unlike}.")
ANSWER = T("Response code {code}, {name}")
GRPC_ANSWER = T("Answer to a gRPC client: code {code}, {name}")
STATUS = T("Send status {name}")
UNKNOWN_CODE = T("Response code {code}")
OTHER_CODE = T("A code the kit does not know; read the text after it.")
SETTING = T("Setting {name}")
SETTING_IS = T("{meaning} Unit: {unit}; default: {default}.")
DEFAULTS = T("{all}, from the release in brackets on")
NO_DEFAULT = T("none")
SETTING_TRADE = T("It trades: {trade}.")
READ_SINCE = T("read since {since}")
READ_UNTIL = T("read until {until}")
ALIAS = T("Older name of {name}; newer releases ignore it.")
TABLE = T("A table of mqadmin {command}")
TABLE_IS = T("What an administrator's command printed.")
NOTHING = T("Nothing.")
LOOK = T("Read the lines around it and the stack trace below.")

_CARRIERS: Final = frozenset(
    {
        "broker-exception",
        "client-exception",
        "send-result",
        "spring-send-failed",
        "dashboard",
        "grpc-status",
        "grpc-client-failed",
        "proxy-error",
    }
)
"""Known texts and problems that say less than what they carry: a code, a status, another problem's text."""
_CODE: Final = re.compile(r"(?<!response of )\bCODE: ?(\d{1,4})\b|\bresponse code[=: ]+(\d{1,4})\b", re.IGNORECASE)
_GRPC_CODE: Final = re.compile(
    r"\bresponse-code=(\d{5})\b|(?:\bCODE: ?|[\"'](?:code|Code)[\"']: ?[\"']?|\bcode=)(\d{5}\b|[A-Z]{2,}[A-Z_]{2,40}\b)"
)
"""What the clients of rocketmq-clients print: Java, C# and Node.js the number, Go and JSON the name."""
_PRINTED: Final = re.compile(r"^\S{0,3}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)? INFO main - ")
"""A broker or name server prints every setting at its start (common/MixAll.printObjectProperties)."""
_SETTING: Final = re.compile(
    r"^[\s\"'-]*([a-z]\w{3,50})[\"']?\s*[=:]\s*(?:\{[^\n]{0,400}\}|[\"']?([^\"'\n]{0,200}?)[\"',;]?)\s*$"
)


def explain(text: str, lang: Lang = "en") -> list[dict[str, Any]]:
    """Return what each line of a text means, in order: `line` (the first is 1), `text`, `kind` (`log`, `id`, `code`,
    `config`), `slug` (known problem or log text, None if absent), `title`, `meaning`, `versions`, `next`.

    An unknown line has kind `log` and no slug; stack trace frames and empty lines are left out.
    """
    pasted = list(lines(text))
    ids = pasted_ids.find(pasted)
    overtaken = complaints.overtaken(text)
    held = complaints.mixed(text, pasted, ids)
    commands, table_rows = quoted_tables.heads(pasted)
    unreached = name_servers.unreached(pasted)
    outputs, measurements = measured.find(pasted)
    rows: list[dict[str, Any]] = []
    for line in pasted:
        own = [row for row in ids if row.line == line.number and row.text == line.text]
        if line.frame and not own:
            rows += [
                _problem(line, each, lang)
                for each in catalogue.problems_in(line.text + "\n")
                if each.in_frame(line.text)
            ]
            continue
        if line.number in commands:
            rows.append(_table(line, commands[line.number], lang))
        elif line.number in outputs and not catalogue.problems_in(line.text + "\n"):
            rows.append(_output(line, outputs[line.number], lang))
        elif line.number in table_rows:
            pass
        elif line.number in overtaken:
            rows.append(_problem(line, PROBLEMS[OVERTAKEN], lang))
        elif line.number in unreached:
            rows.append(_problem(line, PROBLEMS[NO_NAME_SERVER], lang))
        else:
            rows += _of_line(line, lang, known=bool(own) or line.number in measurements)
        rows += [row.as_dict(lang, compared=held is not None and row.pair is None) for row in own]
    return rows


def _of_line(line: Line, lang: Lang, *, known: bool) -> list[dict[str, Any]]:
    """Return the row for a line; none if only its ids are known."""
    said = line.text + "\n"
    meant = (PROBLEMS[slug] for slug in WITHOUT_NAME)
    found = catalogue.problems_in(said) or [each for each in meant if each.in_text(said + ABOUT)]
    problems = sorted(found, key=lambda each: each.slug in _CARRIERS)
    row = _problem(line, problems[0], lang) if problems else _event(line, lang)
    if row is None or row["slug"] in _CARRIERS:
        row = _answer(line, lang) or row
    row = row or _upstream(line, lang) or _setting(line, lang)
    if row:
        return [row]
    return [] if known else [_row(line, "log", None, UNKNOWN.in_(lang), NOT_KNOWN.in_(lang), "", "")]


def _table(line: Line, command: str, lang: Lang) -> dict[str, Any]:
    meaning = mqadmin_tables.MEANINGS.get(command, TABLE_IS).in_(lang)
    return _row(line, "log", "mqadmin-table", TABLE.say(command=command).render(lang), meaning, "tools/command", "")


def _output(line: Line, tool: str, lang: Lang) -> dict[str, Any]:
    title, following = measured.TITLE.say(tool=tool).render(lang), measured.READ[tool].in_(lang)
    return _row(line, "log", "host-output", title, measured.IS.in_(lang), "", following)


def _row(line: Line, kind: str, slug: str | None, *said: str) -> dict[str, Any]:
    title, meaning, versions, following = said
    return {
        "line": line.number, "text": line.text, "kind": kind, "slug": slug, "title": title, "meaning": meaning,
        "versions": versions, "next": following,
    }  # fmt: skip


def _problem(line: Line, problem: Problem, lang: Lang) -> dict[str, Any]:
    meaning = problem.meaning.in_(lang)
    if problem.decides is not None:
        meaning += " " + problem.decides.in_(lang)
    if problem.unlike is not None:
        meaning += " " + UNLIKE.say(unlike=problem.unlike).render(lang)
    return _row(
        line,
        "log",
        problem.slug,
        problem.title.in_(lang),
        meaning,
        _releases(line, problem, lang),
        problem.next.in_(lang),
    )


def _releases(line: Line, problem: Problem | None, lang: Lang) -> str:
    """Return who prints a line, in which releases, and in which releases the fault exists."""
    said = []
    printed = [each for each in upstream.find(line.text) if each.weight > upstream.SURE]
    if printed:
        said.append(_printed_by(printed, lang))
    elif problem is not None:
        said.append(problem.printed_by.logs or problem.printed_by.source)
    if problem is not None and (problem.fault.since or problem.fault.until):
        since, until = problem.fault.since or upstream.OLDEST, problem.fault.until or upstream.NEWEST
        said.append(FAULT_IN.say(since=since, until=until).render(lang))
    if problem is not None and problem.fault.fixed:
        said.append(FIXED.say(fixed=problem.fault.fixed).render(lang))
    return "; ".join(said)


def _printed_by(printed: Sequence[upstream.FormatString], lang: Lang) -> str:
    """Return the classes that print a text and the releases in which one of them does."""
    same = [each for each in printed if each.weight == printed[0].weight and each.project == printed[0].project]
    classes = ", ".join(dict.fromkeys(each.cls for each in same[:SHOWN_CLASSES]))
    how = "/".join(dict.fromkeys(each.how for each in same))
    if project := same[0].project:
        return PRINTED_ELSEWHERE.say(cls=classes, how=how, project=project).render(lang)
    since = min((each.since for each in same), key=upstream.number)
    until = max((each.until for each in same), key=lambda each: upstream.number(each or upstream.NEWEST))
    releases = f"{since or upstream.OLDEST}–{until or upstream.NEWEST}"
    return PRINTED_BY.say(cls=classes, how=how, releases=releases).render(lang)


def _event(line: Line, lang: Lang) -> dict[str, Any] | None:
    """Return the row of a known log text."""
    event = catalogue.event_in(line.text)
    if event is None:
        return None
    meaning, following = _meaning(event, lang)
    since, until = event.printed_by.since, event.printed_by.until
    released = f" {since or upstream.OLDEST}–{until or upstream.NEWEST}" if since or until else ""
    printed = event.printed_by.source + released
    return _row(line, "log", event.slug, _title(event), meaning, printed, following)


def _title(event: Event) -> str:
    return event.slug.replace("-", " ").capitalize()


def _meaning(event: Event, lang: Lang) -> tuple[str, str]:
    if event.benign is not None:
        said, following = (PASSES, ON) if event.goes_on else (HARMLESS, NOTHING)
        return said.say(why=event.benign).render(lang), following.in_(lang)
    meaning = event.meaning or (ORDINARY if event.harmless else WATCHED).say(where=event.printed_by.source)
    return meaning.render(lang), (NOTHING if event.harmless else LOOK).in_(lang)


def _upstream(line: Line, lang: Lang) -> dict[str, Any] | None:
    """Return the row of a line that matches one of RocketMQ's own format strings."""
    for printed in upstream.find(line.text):
        if printed.weight <= upstream.SURE:
            break
        problem = upstream.problem_of_class(printed)
        if problem is not None:
            return _problem(line, problem, lang)
        meaning = PRINTED.say(cls=printed.cls, how=printed.how).render(lang)
        return _row(
            line, "log", None, printed.cls.rpartition("/")[2], meaning, _releases(line, None, lang), LOOK.in_(lang)
        )
    return None


def _answer(line: Line, lang: Lang) -> dict[str, Any] | None:
    """Return the row of a response code or a send status."""
    if answered := _GRPC_CODE.search(line.text):
        named = answered[1] or answered[2]
        number = int(named) if named.isdigit() else answers.GRPC_NAMES.get(named, -1)
        if found := answers.GRPC_CODES.get(number):
            title = GRPC_ANSWER.say(code=str(number), name=found.name).render(lang)
            said_by = "apache.rocketmq.v2.Code"
            return _row(
                line, "code", found.problem or None, title, found.meaning.in_(lang), said_by, found.next.in_(lang)
            )
    said = _CODE.search(line.text)
    if said:
        code = int(said[1] or said[2])
        answer = answers.CODES.get(code)
        if answer is None:
            title = UNKNOWN_CODE.say(code=str(code)).render(lang)
            return _row(line, "code", None, title, OTHER_CODE.in_(lang), "", LOOK.in_(lang))
        title = ANSWER.say(code=str(code), name=answer.name).render(lang)
    else:
        name = next((name for name in answers.STATUSES if name in line.text), None)
        if name is None:
            return None
        answer = answers.CODES[answers.STATUSES[name]]
        title = STATUS.say(name=name).render(lang)
    slug = answer.problem or None
    versions = PROBLEMS[slug].printed_by.source if slug else "common/protocol/ResponseCode"
    return _row(line, "code", slug, title, answer.meaning.in_(lang), versions, answer.next.in_(lang))


def _setting(line: Line, lang: Lang) -> dict[str, Any] | None:
    """Return the row of a line of broker.conf, of a properties file or of getBrokerConfig."""
    said = _SETTING.match(_PRINTED.sub("", line.text))
    if not said:
        return None
    name = said[1]
    if name in ALIASES and name not in PARAMETERS:
        return _row(
            line,
            "config",
            None,
            SETTING.say(name=name).render(lang),
            ALIAS.say(name=ALIASES[name]).render(lang),
            "",
            "",
        )
    parameter = PARAMETERS.get(name)
    if parameter is None:
        return None
    meaning = parameter.meaning.in_(lang).rstrip(".") + "."
    said_all = SETTING_IS.say(meaning=meaning, unit=parameter.unit, default=_default(name, lang)).render(lang)
    if parameter.trade is not None:
        said_all += " " + SETTING_TRADE.say(trade=parameter.trade.in_(lang).rstrip(".")).render(lang)
    read = [READ_SINCE.say(since=parameter.since).render(lang)] if parameter.since else []
    read += [READ_UNTIL.say(until=parameter.until).render(lang)] if parameter.until else []
    return _row(line, "config", None, SETTING.say(name=name).render(lang), said_all, "; ".join(read), "")


def _default(name: str, lang: Lang) -> str:
    """Return the default of a setting, or its defaults with the first release of each."""
    default, rows = default_of(name, None), RULES[name].rows if name in RULES else ()
    if default is None and len(rows) > 1:
        every = "; ".join(f"{value} ({since})" for since, value in rows if value is not None)
        return DEFAULTS.say(all=every).render(lang)
    return NO_DEFAULT.in_(lang) if default is None else str(default)


def releases_of(rows: Iterable[dict[str, Any]]) -> str | None:
    """Return the releases that print all of a paste's broker lines, None if that excludes no release."""
    first, last = upstream.OLDEST, upstream.NEWEST
    for row in rows:
        printed = [each for each in upstream.find(row["text"]) if each.weight > upstream.SURE]
        same = [each for each in printed if each.weight == printed[0].weight]
        # An answer is printed by clients too, whatever their release.
        if same and all(each.logged and each.cls.startswith(("broker/", "store/")) for each in same):
            since = min((each.since or upstream.OLDEST for each in same), key=upstream.number)
            until = max((each.until or upstream.NEWEST for each in same), key=upstream.number)
            first, last = max(first, since, key=upstream.number), min(last, until, key=upstream.number)
    narrowed = (first, last) != (upstream.OLDEST, upstream.NEWEST) and upstream.number(first) <= upstream.number(last)
    return f"{first}–{last}" if narrowed else None
