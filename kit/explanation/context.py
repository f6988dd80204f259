"""What a paste tells beyond its single lines: ids of both kinds that are compared, checks that overtake a local
transaction, name servers not reached, outputs of host tools and of mqadmin, whose rows are no log lines.
"""

import itertools
import re
from collections.abc import Sequence
from typing import Final

import attrs

from kit.explanation import pasted_ids
from kit.explanation.pasted_lines import Line, lines
from kit.formats.tables import metrics
from kit.i18n import labels
from kit.rocketmq import catalogue, upstream
from kit.rocketmq.answers import MQADMIN_HEADS, MQADMIN_PAIRS

_COMPARED: Final = re.compile(
    r"differ|mismatch|not (?:the )?same|same message|which|why|search|look(?:ed|ing)? ?(?:it )?up|query|find|found|compar|"
    r"[!=]=|≠|dedup|idempoten|duplicate|twice|console|dashboard|"
    r"不一[样致]|不同|不相同|不匹配|区别|对应|对不上|[查搜]|为什么|哪个|去重|幂等|重复|控制台",
    re.IGNORECASE,
)
"""Words of comparing or searching."""
_CHECK: Final = re.compile(
    r"checkLocalTransaction|check[- ]?back|transaction check|check(?:ed|s)? (?:the |a |by )|回查", re.IGNORECASE
)
_CHECK_NAMED: Final = re.compile(r"checkLocalTransaction|check[- ]?back|transaction check|回查", re.IGNORECASE)
_LOCAL: Final = re.compile(r"executeLocalTransaction|local transaction|本地事务", re.IGNORECASE)
_STILL: Final = re.compile(
    r"\b(?:still|before|while|until|during|overt\w+|running|too (?:slow|long)|not (?:yet )?(?:\w+ )?(?:finished|completed?|done|committed|over)|"
    r"(?:isn't|wasn't|has ?n[o']t) (?:\w+ )?(?:finished|completed?|done|committed))\b|"
    r"还[没未在]|尚未|未(?:执行)?(?:完|提交|结束)|没(?:有)?(?:执行)?(?:完|提交|结束)|就.{0,8}回查|先于|早于|提前|期间|正在",
    re.IGNORECASE,
)
"""Words that say one thing came while the other was still running."""
_DECLARED: Final = re.compile(r"^\s*(?:@Override|public|private|protected|class|import|\*|//)|^\s*at [\w.$]+\(")
_TIME: Final = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?|\[[^\]\n]{0,80}\]")
_NUMBERED: Final = re.compile(r"(?<![\w-])(?=[\w-]{0,60}\d)[A-Za-z0-9_-]{2,64}(?![\w-])")
_GIVEN: Final = re.compile(
    r"(?:name-?_?srv(?:-?_?addr\w*)?|name-?_?server(?:-?_?addr\w*)?|namesrv\.addr)[\"']?\s*[:=]\s*[\"']?([^\s\"']{4,400})|\s-n\s+[\"']?([^\s\"']{4,400})",
    re.IGNORECASE,
)
_CONNECT: Final = re.compile(r"connect to [<\[]?([^\s>\],，]{4,200}?)[>\]]?(?: failed|，|,|$)")
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
    if _CHECK_NAMED.search(text) and _LOCAL.search(text):
        return True
    ids = (each.info for each in pasted_ids.find(list(lines(text))))
    return any(info.kind != "uniq" or info.how_sure == "certain" for info in ids)


def mixed(text: str) -> Mixed | None:
    """Return what `compared` returns of a text."""
    pasted = list(lines(text))
    return compared(pasted, pasted_ids.find(pasted))


def compared(pasted: Sequence[Line], ids: Sequence[pasted_ids.PastedId]) -> Mixed | None:
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
    searched = bool(_COMPARED.search(re.sub("|".join(map(re.escape, kinds)), "", own, flags=re.IGNORECASE)))
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
    numbered = [(n, line) for n, line in enumerate(text.split("\n"), 1) if not _DECLARED.match(line)]
    lines = [n for n, line in numbered if _CHECK.search(line) and _LOCAL.search(line) and _STILL.search(line)]
    checks = [(n, line) for n, line in numbered if _CHECK_NAMED.search(line)]
    locals_ = [(n, line) for n, line in numbered if _LOCAL.search(line)]
    between: list[int] = []
    for n, line in checks:
        own = [(other, words) for other, words in locals_ if _of_one(line, words)]
        before, after = [other for other, _ in own if other < n], [other for other, _ in own if other > n]
        if before and after:
            between += [before[-1], n, after[0]]
    return tuple(sorted(dict.fromkeys([*lines, *between[:3]])))[:3]


def _of_one(one: str, other: str) -> bool:
    """Return whether two lines may concern one transaction: they share a number, or one of them has none."""
    first, second = (set(_NUMBERED.findall(_TIME.sub(" ", line))) for line in (one, other))
    return not first or not second or bool(first & second)


def unreached(pasted: Sequence[Line]) -> frozenset[int]:
    """Return the lines (numbers) of failed connects to a name server, by settings, commands or frames of the paste."""
    named = (match[1] or match[2] for line in pasted for match in _GIVEN.finditer(line.text))
    servers, unreached = {part for text in named for part in re.split(r"[;,]", text) if ":" in part}, set()
    for at, line in enumerate(pasted):
        tried = None if line.frame else _CONNECT.search(line.text)
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
_CELL: Final = re.compile(r"(?<![\w.])\d[\d.,]*(?:[KMGTkmgt]i?B?|%|/s)?(?!\w)")
DUMP: Final = "jstack"
_DUMPED: Final = re.compile(
    r'Full thread dump \S|"[^"]{1,400}" (?:#\d+ |(?:daemon )?(?:os_)?prio=\d|(?:daemon )?Id=\d+ )|java\.lang\.Thread\.State: [A-Z_]+|Locked ownable synchronizers:$|JNI global ref'
)
_ALONE: Final = re.compile(
    r"Linux \d\S* \(.{1,80}\).*\(\d+ CPU\)|(?:Consume TPS|Diff Total|Consume Inflight Total|ConsumeType|MessageModel|ConsumeFromWhere): |Below is subscription:"
)
"""The first line of sysstat's tools, and what mqadmin prints around its tables."""
_HEAD: Final = re.compile(r"#\w[\w ()]*(?:\s+#\w[\w ()]*)+$")
_PAIR: Final = re.compile(r"#(?:brokerName|Master\w+|SyncStateSet\w+)\s+[^\s#]|(?:Not)?InSyncReplica:\s")
_SECTION: Final = re.compile(r"#(?:Consumer [\w&]+(?: [\w&]+)?|User Consume Info)#$")
"""What stands above each part of a client's consumerStatus."""
_STATUS: Final = re.compile(
    r"(?:\S+:\d+ +)?(?:EndTransactionQueueSize|bootTimestamp|brokerActive|brokerVersion(?:Desc)?|commitLog(?:DiskRatio|M\w+Offset)|dispatchBehindBytes|msgPutTotal\w+|pageCacheLockTimeMills|putMessageDistributeTime|remain(?:HowMany|Transient)\w+|scheduleMessageOffset_\d+|sendThreadPoolQueue(?:HeadWaitTimeMills|Size)) *: ?\S"
)
_ROUTE: Final = re.compile(r'\{?\s*"(?:brokerDatas|queueDatas)"\s*:\s*\[')
"""What topicRoute prints as JSON: remoting/protocol/route/TopicRouteData."""
MESSAGE: Final = "queryMsgBy…"
_MESSAGE: Final = re.compile(r"(?:OffsetID|Topic): {10,}\S")
"""How a message begins that mqadmin prints: tools/command/message/QueryMsgByIdSubCommand."""
_NAMED: Final = re.compile(r"(?:\S+:\d+ +)?\w+ *: ?\S|[A-Z][\w ]+: {2,}\S|[\"{\[}\]]")
"""A line of brokerStatus (tools/command/broker/BrokerStatusSubCommand), or of JSON."""
_ROW: Final = re.compile(r"[^\s:]+(?: [^\s:]+)?\s{2,}\S|\S+\t\S")
"""Cells with more than one blank between them."""


def outputs(lines: Sequence[Line]) -> tuple[dict[int, str], frozenset[int]]:
    """Return what begins at each head (a host's tool or mqadmin's command), and the lines that may be rows: numbers."""
    begun: dict[int, str] = {}
    rows: set[int] = set()
    last, inside = 0, ""
    for line in lines:
        head = _command(line.text) or (DUMP if _DUMPED.match(line.text) else metrics.of_line(line.text))
        if head and head != inside:
            begun[line.number] = inside = head
        # A row has two numbers, or cells apart; brokerStatus and topicRoute print names and values, the latter also lines of brackets.
        form = _NAMED if inside in ("brokerStatus", "topicRoute", MESSAGE) else _ROW
        goes_on = (
            inside
            and line.number - last <= 1 + 4 * (inside == "topicRoute")
            and (len(_CELL.findall(line.text)) > 1 or form.match(line.text))
        )
        if head or goes_on or _ALONE.match(line.text):
            rows.add(line.number)
            last = line.number
        else:
            inside = ""
    return begun, frozenset(rows)


def _command(text: str) -> str | None:
    if _PAIR.match(text):
        return MQADMIN_PAIRS
    if _SECTION.match(text):
        return "consumerStatus"
    if _STATUS.match(text):
        return "brokerStatus"
    if _ROUTE.match(text):
        return "topicRoute"
    if _MESSAGE.match(text):
        return MESSAGE
    if not _HEAD.match(text):
        return None
    joined = " ".join(text.split())
    return next((command for start, command in MQADMIN_HEADS if joined.startswith(start)), None)
