"""Ids of messages as people used them: look-ups in the evidence, pastes that compare ids, the id each call returns.

queryMsgById splits an offset id into a broker address and an offset; given a UNIQ_KEY it connects to the producer's
address with pid and loader hash as the port, or answers CODE 208 (client/impl/MQAdminImpl.viewMessage,
common/message/MessageDecoder.decodeMessageId). Other commands (`WANTS`) take a UNIQ_KEY (tools/command/message).
"""

import re
from collections.abc import Iterable
from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import refs
from kit.data import grouped
from kit.explanation import context
from kit.explanation.paste import decoded, lines
from kit.formats.logs import source_code
from kit.i18n import Lang
from kit.inventory import quotes
from kit.inventory.model import Ref
from kit.rocketmq import ids, stages
from kit.rocketmq.answers import ID_CALLS
from kit.rocketmq.catalogue import only_named, problems_in
from kit.rocketmq.log_layouts import NAME_OF_LOG
from kit.rocketmq.versions import NEWEST, Version, within
from kit.tables.facts import Facts, memo

WANTS: Final[dict[str, ids.Kind]] = {
    "queryMsgById": "offset", "queryMsgByUniqueKey": "uniq", "queryMsgTraceById": "uniq", "decodeMessageId": "uniq",
}  # fmt: skip
"""mqadmin command → the kind of id it takes."""
OTHER: Final = ""
"""Stands for a command that looks up no message by its id."""

_COMMAND: Final = re.compile(rf"\b({'|'.join(WANTS)})\b([^\n]*)")
_OTHER: Final = re.compile(r"\bmqadmin(?:\.cmd)?\s+(?!-)([A-Za-z]\w+)|\b(\w+?)(?:SubCommand|Command) command failed")
_CLASS: Final = re.compile(rf"\b({'|'.join(WANTS)})(?:SubCommand|Command|Commond)\b", re.IGNORECASE)
_ARGUMENT: Final = re.compile(r"(?:\s-i|\s--msgId)[\s=]*[\"']?([^\s\"']+)")
_CONNECT: Final = re.compile(r"connect to <?(?P<address>[^\s>]+:\d+)>? failed")
_FAILED: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("no-message", re.compile(r"CODE: ?208\b|query message by (?:id|key) finished, but no message")),
    ("connect", _CONNECT),
    ("bad-port", re.compile(r"port out of range: ?-?\d+")),
    ("other", re.compile(r"SubCommandException: \w+ command failed")),
)
_FOUND: Final = re.compile(r"^(?:OffsetID|CommitLog Offset): +\S|^(?:Pub|Sub) +\S")
BY_KIND: Final = ("no-message", "connect", "bad-port")
"""Failures that an id of the other kind brings about."""
PASTE: Final = 200
"""Log entries up to which evidence without records counts as a paste."""
SAVED: Final = 20
"""The same of a file that is named like a log and is one throughout: with more it is the log itself."""
LARGEST: Final = 1 << 20


@attrs.define
class Lookup:
    """One look-up. `line`: its first; `reason`: why it failed (None: found, or not shown); `address`: what it tried.

    `wrong`: the id is well-formed and of the other kind; None where no id is known.
    """

    file: str
    line: int
    command: str | None
    ids: tuple[str, ...]
    found: bool = False
    reason: str | None = None
    failed_line: int | None = None
    address: str | None = None
    wrong: bool | None = None

    @property
    def failed_by_kind(self) -> bool:
        """Whether it failed, and failed as a look-up with the other kind of id fails."""
        if self.found or self.reason not in BY_KIND or not self.wrong:
            return False
        return self.reason != "connect" or not self.ids or any(self.address == _misread(one) for one in self.ids)


def _misread(text: str) -> str | None:
    """Return the address that an id reads as when taken for an offset id."""
    place = ids.tried(text)
    return place and place[0]


def parse(lines: Iterable[tuple[str, int, str]]) -> list[Lookup]:
    """Parse (file, line number, text) into look-ups; a failure belongs to the command above it in its file."""
    parsed: list[Lookup] = []
    current: Lookup | None = None
    for file, line, text in lines:
        if typed := _COMMAND.search(text):
            argument = _ARGUMENT.search(typed[2])
            given = filter(None, argument[1].split(",")) if argument else ids.IN_TEXT.findall(typed[2])
            current = Lookup(file, line, typed[1], tuple(given))
            parsed.append(current)
            continue
        if current is not None and current.file != file:
            current = None
        thrown = _CLASS.search(text)
        if _OTHER.search(text) and not thrown:
            current = Lookup(file, line, OTHER, ())  # what follows is its answer
        reason = next((name for name, pattern in _FAILED if pattern.search(text)), None)
        own = current is not None and current.command != OTHER
        if reason and (own or thrown or current is None):
            if current is None or (thrown and (not own or (current.reason and reason == "other"))):
                current = Lookup(file, line, thrown and thrown[1][0].lower() + thrown[1][1:], ())
                parsed.append(current)
            if current.reason in (None, "other"):
                tried = _CONNECT.search(text)
                current.reason, current.failed_line, current.address = reason, line, tried and tried["address"]
        elif current is not None and _FOUND.search(text):
            current.found = True
        if current is not None and not current.ids and current.command is None:
            current.ids = tuple(ids.IN_TEXT.findall(text))
    return parsed


@memo
def lookups(facts: Facts) -> list[Lookup]:
    """Return every look-up of the evidence, with `wrong` as a record has the id, else by the id's form."""
    if not refs.seen(facts, "lookup-command", "lookup-failed", "lookup-found", "query-no-message"):
        return []
    every = parse(
        (row["file"], row["line"] + n, text)
        for row in facts.rows("lookup_entries")
        for n, text in enumerate("\n".join(filter(None, (row["message"], row["trace"]))).split("\n"))
    )
    known = kinds(facts, {one.upper() for each in every for one in each.ids if ids.IN_TEXT.fullmatch(one)})
    for each in every:
        wanted = WANTS.get(each.command or "queryMsgById", "offset")
        named = [known[one.upper()] for one in each.ids if one.upper() in known]
        if named:
            each.wrong = any(kind != wanted for kind in named)
        elif wanted == "offset" and (prefix := ids.host_prefix(each.address)):
            # Only the error is left: the address it tried is that of a producer, taken out of one of its UNIQ_KEYs.
            of_host = facts.answers("records_of_host", prefix=prefix, size=len(prefix) + 16)
            each.wrong = bool(of_host[0]["n"]) or None
    # Failures that report one already listed are left out: a tool prints and logs the same exception.
    listed = [one for one in every if one.command]
    reported = {one.address or _misread(i) for one in listed for i in (one.ids or ("",))}
    reported |= {i.upper() for one in listed for i in one.ids}
    for one in (each for each in every if not each.command):
        marks = {one.address, *(i.upper() for i in one.ids)} - {None}
        if marks and not marks & reported:
            listed.append(one)
            reported |= marks
    return sorted(listed, key=lambda one: (one.file, one.line))


def kinds(facts: Facts, texts: set[str]) -> dict[str, ids.Kind]:
    """Return {id: kind} of well-formed ids: as a record has it, else by a form that is sure. gRPC ids are `uniq`."""
    rows = facts.rows("known_ids") if texts else []
    known: dict[str, ids.Kind] = {row["id"]: row["kind"] for row in rows if row["id"] in texts}
    unknown = sorted(texts - set(known))
    hosts = {row["store_host"] for row in facts.rows("store_extent")} - {None} if unknown else set()
    for text in unknown:
        info = ids.decode(text, store_hosts=hosts)
        if info.how_sure != "possible":
            known[text] = "uniq" if info.kind == "grpc" else info.kind
    return known


# --- pastes -----------------------------------------------------------------------------------------------------------


@memo
def is_paste(facts: Facts) -> bool:
    """Return whether the evidence is a few copied lines: one short text, or some that are not named like logs."""
    files = [item for item in facts.files.items if item.replica_of is None]
    if not files or any(each.kind not in ("log", "text", "mqadmin") for each in files):
        return False
    named = any(each.kind == "log" and NAME_OF_LOG.search(each.file) for each in files)
    if sum(each.bytes for each in files) > LARGEST or (named and len(files) > 1):
        return False
    return bool(facts.answers("entry_count")[0]["n"] <= (SAVED if named else PASTE))


@memo
def _text(facts: Facts) -> tuple[str, str]:
    """Return file and unchanged text of a paste of one file, ("", "") for other evidence: lines end at LF only."""
    files = [item.file for item in facts.files.items if item.replica_of is None]
    if len(files) != 1 or not is_paste(facts):
        return "", ""
    return files[0], decoded(quotes.raw(facts.files, files[0], LARGEST))


def reported(facts: Facts) -> dict[str, refs.Seen]:
    """Return where the lines of a paste report a known problem, each line its first, by slug; {} for other evidence."""
    file, text = _text(facts)
    printed = enumerate(source_code.tidied(text.encode()).decode("utf-8", "replace").split("\n"), 1)
    first = ((next((each for each in problems_in(line) if each.seen.verdict), None), n, line) for n, line in printed)
    of_name_servers = context.unreached([*lines(text)])
    broken = ((each, n) for each, n, line in first if each and n not in of_name_servers and not only_named(each, line))
    places = grouped((each.slug, (file, n)) for each, n in broken)
    return {slug: refs.Seen(len(own), places=tuple(own)) for slug, own in places.items()}


def mixed(facts: Facts) -> context.Mixed | None:
    """Return the ids of a paste that compares both kinds; None for other evidence."""
    return context.mixed(_text(facts)[1])


def overtaken(facts: Facts) -> tuple[Ref, ...]:
    """Return the lines of a paste in which a check arrives during the local transaction; () for other evidence."""
    return quoted(facts, context.overtaken(_text(facts)[1]))


def quoted(facts: Facts, numbers: Iterable[int]) -> tuple[Ref, ...]:
    """Quote lines of a paste, in full."""
    file, text = _text(facts)
    raw = text.split("\n")
    return tuple(Ref(file, raw[number - 1].rstrip("\r"), line=number) for number in numbers)


def of_copies(copies: pd.DataFrame, lang: Lang = "en") -> pd.DataFrame:
    """Return the id that each call returns for a message: call, side, which, id, copy (stage), says, upstream. No rows
    without copies.

    `copies`: uniq_key, stage, offset_msg_id, origin_message_id, client_version, in store order; `id` is None if the
    call answers null or the message has no such copy.
    """
    records: list[dict[str, Any]] = copies.to_dict("records")  # type: ignore[assignment]
    client = Version.maybe(str(copies["client_version"].dropna().max())) or NEWEST
    transactional = not {stages.HALF, stages.CHECK_BACK, stages.COMMIT}.isdisjoint(copies["stage"])
    uniq, origin = (next((r[name] for r in records if r[name]), None) for name in ("uniq_key", "origin_message_id"))
    rows = []
    for one in ID_CALLS if records else ():
        if not within(client, one.since, None) or one.transactional not in (None, transactional):
            continue
        copy = next((r for r in reversed(records) if r["stage"] in one.stages), None)
        offset = origin if "origin" in one.stages else copy and copy["offset_msg_id"]
        text = {"uniq": uniq, "none": None, "offset": offset}[one.which]
        stage = copy["stage"] if copy and one.which == "offset" else None
        rows.append((one.call, one.side, one.which, text, stage, one.says.in_(lang), one.upstream))
    return pd.DataFrame(rows, columns=pd.Index(["call", "side", "which", "id", "copy", "says", "upstream"]))
