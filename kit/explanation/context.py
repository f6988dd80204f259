"""What a paste tells beyond its single lines: ids of both kinds that are compared, checks that overtake a local
transaction, name servers not reached, outputs of host tools and of mqadmin, whose rows are no log lines.
"""

import itertools
import re
from collections.abc import Sequence
from typing import Final

import attrs

from kit.explanation.paste import Line, PastedId, ids_in, lines
from kit.formats.patterns import patterns
from kit.formats.tables import metrics
from kit.i18n import labels
from kit.rocketmq import answers, catalogue, upstream

_WORDS: Final = patterns("paste_words")
ASKED: Final = ("RouteInfoFromNameServer", "MQClientAPIImpl.getBrokerClusterInfo", "BrokerOuterAPI.registerBroker")
"""Frames of a request to a name server: client/impl/MQClientAPIImpl, MQClientInstance, broker/out/BrokerOuterAPI."""


@attrs.frozen
class Mixed:
    """Ids of both kinds compared. `paired`: two certainly belong to one message; `at`: line numbers from 1."""

    offset_ids: int
    uniq_keys: int
    paired: bool
    at: tuple[int, ...]


def speaks(text: str) -> bool:
    """Return whether a text without RocketMQ lines has something to explain: an id, a transaction listener."""
    if _WORDS["check_named"].search(text) and _WORDS["local"].search(text):
        return True
    ids = (each.info for each in ids_in(list(lines(text))))
    return any(info.kind != "uniq" or info.how_sure == "certain" for info in ids)


def mixed(text: str) -> Mixed | None:
    """Return what `compared` returns of a text."""
    pasted = list(lines(text))
    return compared(pasted, ids_in(pasted))


def compared(pasted: Sequence[Line], ids: Sequence[PastedId]) -> Mixed | None:
    """Return the ids of both kinds that the lines of a paste compare, None if they do not. `ids`: all in these lines.

    A line that prints both (a SendResult, a message) is normal, and so are two lines of RocketMQ's own logs: in those
    cases the words around them must show that somebody compares or searches.
    """
    kinds = {each.info.text: each.info.kind == "offset" for each in ids}
    if len(set(kinds.values())) < 2:
        return None
    by_line = [(line, {name for name in kinds if name in line.text.upper()}) for line in pasted]
    alone = [(line, {kinds[name] for name in names}) for line, names in by_line if names]
    one_kind = [(line, next(iter(each))) for line, each in alone if len(each) == 1]
    offsets, keys = ([line for line, kind in one_kind if kind is wanted] for wanted in (True, False))
    # What people wrote themselves: neither lines that RocketMQ printed nor ids.
    written = (line for line in pasted if not line.frame and not _printed(line) and "SendResult [" not in line.text)
    own = "\n".join(line.text for line in written)
    searched = bool(_WORDS["compared"].search(re.sub("|".join(map(re.escape, kinds)), "", own, flags=re.IGNORECASE)))
    if offsets and keys and (searched or not (_printed(offsets[0]) and _printed(keys[0]))):
        at = sorted({offsets[0].number, keys[0].number})
    elif searched:
        at = sorted({line.number for line, _ in alone})[:2]
    else:
        return None
    pair = {each.pair[0].text for each in ids if each.pair is not None}
    return Mixed(sum(kinds.values()), sum(not kind for kind in kinds.values()), bool(pair), tuple(at))


def _printed(line: Line) -> bool:
    """Return whether RocketMQ printed a line."""
    text = line.text + "\n"
    events = map(catalogue.event_in, (text, text.partition(" - ")[2]))  # some texts begin the message of an entry
    return bool(catalogue.problems_in(text) or any(events) or upstream.find(text) or upstream.problem_of(text))


def overtaken(text: str) -> tuple[int, ...]:
    """Return the numbers of the lines where a check comes between two of one local transaction, or somebody says so."""
    numbered = [(n, line) for n, line in enumerate(text.split("\n"), 1) if not _WORDS["declared"].match(line)]
    lines = [n for n, line in numbered if all(_WORDS[name].search(line) for name in ("check", "local", "still"))]
    checks = [(n, line) for n, line in numbered if _WORDS["check_named"].search(line)]
    locals_ = [(n, line) for n, line in numbered if _WORDS["local"].search(line)]
    between: list[int] = []
    for n, line in checks:
        own = [(other, words) for other, words in locals_ if _of_one(line, words)]
        before, after = [other for other, _ in own if other < n], [other for other, _ in own if other > n]
        if before and after:
            between += [before[-1], n, after[0]]
    return tuple(sorted(dict.fromkeys([*lines, *between[:3]])))[:3]


def _of_one(one: str, other: str) -> bool:
    """Return whether two lines may concern one transaction: they share a number, or one of them has none."""
    first, second = (set(_WORDS["numbered"].findall(_WORDS["time"].sub(" ", line))) for line in (one, other))
    return not first or not second or bool(first & second)


def unreached(pasted: Sequence[Line]) -> frozenset[int]:
    """Return the lines (numbers) of failed connects to a name server, by settings, commands or frames of the paste."""
    named = (match[1] or match[2] for line in pasted for match in _WORDS["given"].finditer(line.text))
    servers, unreached = {part for text in named for part in re.split(r"[;,]", text) if ":" in part}, set()
    for at, line in enumerate(pasted):
        tried = None if line.frame else _WORDS["connect"].search(line.text)
        if tried is None:
            continue
        frames = [below.text for below in itertools.takewhile(lambda below: below.frame, pasted[at + 1 :])]
        if tried[1] in servers or any(name in frame for frame in frames for name in ASKED):
            unreached.add(line.number)
    return frozenset(unreached)


# --- outputs of host tools and of mqadmin -----------------------------------------------------------------------------

OUTPUT: Final = labels("explanation")["host output"]
OUTPUT_NEXT: Final = labels("explanation")["host output next"]
"""What to look at in each, for a broker."""
DUMP: Final = "jstack"
_OUTPUTS: Final = patterns("paste_outputs")
_COMMANDS: Final = patterns("paste_commands")


def outputs(lines: Sequence[Line]) -> tuple[dict[int, str], frozenset[int]]:
    """Return what begins at each head (a host's tool or mqadmin's command), and the lines that may be rows: numbers."""
    begun: dict[int, str] = {}
    rows: set[int] = set()
    last, inside = 0, ""
    for line in lines:
        head = _command(line.text) or (DUMP if _OUTPUTS["dumped"].match(line.text) else metrics.of_line(line.text))
        if head and head != inside:
            begun[line.number] = inside = head
        # A row has two numbers, or cells apart; brokerStatus and topicRoute print names and values, the latter also
        # lines of brackets.
        form = _OUTPUTS["named"] if inside in ("brokerStatus", "topicRoute", "queryMsgBy…") else _OUTPUTS["row"]
        goes_on = (
            inside
            and line.number - last <= 1 + 4 * (inside == "topicRoute")
            and (len(_OUTPUTS["cell"].findall(line.text)) > 1 or form.match(line.text))
        )
        if head or goes_on or _OUTPUTS["alone"].match(line.text):
            rows.add(line.number)
            last = line.number
        else:
            inside = ""
    return begun, frozenset(rows)


def _command(text: str) -> str | None:
    if command := next((command for command, form in _COMMANDS.items() if form.match(text)), None):
        return command
    return answers.command_of(" ".join(text.split())) if _OUTPUTS["head"].match(text) else None
