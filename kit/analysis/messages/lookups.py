"""Look-ups of messages by id in the evidence: the command, its id, and the result.

queryMsgById splits an offset id into a broker address and an offset; given a UNIQ_KEY it connects to the producer's
address with pid and loader hash as the port, or answers CODE 208 (client/impl/MQAdminImpl.viewMessage,
common/message/MessageDecoder.decodeMessageId). queryMsgByUniqueKey, queryMsgTraceById and decodeMessageId take a
UNIQ_KEY (tools/command/message).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import attrs

from kit.analysis import refs
from kit.case.memoize import per_case
from kit.rocketmq import ids

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

WANTS: Final[dict[str, ids.Kind]] = {
    "queryMsgById": "offset",
    "queryMsgByUniqueKey": "uniq",
    "queryMsgTraceById": "uniq",
    "decodeMessageId": "uniq",
}
"""mqadmin command → the kind of id it takes."""
EVENTS: Final = ("lookup-command", "lookup-failed", "lookup-found", "query-no-message")

_COMMAND: Final = re.compile(rf"\b({'|'.join(WANTS)})\b([^\n]*)")
_OTHER: Final = re.compile(r"\bmqadmin(?:\.cmd)?\s+(?!-)([A-Za-z]\w+)|\b(\w+?)(?:SubCommand|Command) command failed")
_CLASS: Final = re.compile(
    r"\b(QueryMsgById|QueryMsgByUniqueKey|QueryMsgTraceById|DecodeMessageId)(?:SubCommand|Command|Commond)\b"
)
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


@attrs.define
class Lookup:
    """One look-up. `line`: where it begins; `reason`: why it failed (None: found, or not shown); `address`: where it tried to connect."""

    file: str
    line: int
    command: str | None
    ids: tuple[str, ...]
    found: bool = False
    reason: str | None = None
    failed_line: int | None = None
    address: str | None = None
    text: str = ""
    wrong: bool | None = None
    """The id is well-formed and of the other kind; None where no id is known."""

    @property
    def failed_by_kind(self) -> bool:
        """Whether it failed, and failed as a look-up with the other kind of id fails."""
        if self.found or self.reason not in BY_KIND or not self.wrong:
            return False
        return self.reason != "connect" or not self.ids or any(self.address == _misread(one) for one in self.ids)


def _misread(text: str) -> str | None:
    place = ids.tried(text)
    return place and place[0]


def parse(lines: Iterable[tuple[str, int, str]]) -> list[Lookup]:
    """Parse (file, line number, text) in order into look-ups; a failure or a result belongs to the command above it in
    the same file.
    """
    found: list[Lookup] = []
    current: Lookup | None = None
    before, other = None, False
    for file, line, text in lines:
        if file != before:
            current, before, other = None, file, False
        typed = _COMMAND.search(text)
        if typed:
            argument = _ARGUMENT.search(typed.group(2))
            given = (
                tuple(part for part in argument.group(1).split(",") if part)
                if argument
                else tuple(ids.IN_TEXT.findall(typed.group(2)))
            )
            current = Lookup(file, line, typed.group(1), given, text=text)
            found.append(current)
            other = False
            continue
        if _OTHER.search(text) and not _CLASS.search(text):
            # Another command of the same session: what follows is its answer.
            current, other = None, True
        reason = next((name for name, pattern in _FAILED if pattern.search(text)), None)
        thrown = _CLASS.search(text)
        if reason and (thrown or not other):
            other = False
            if current is None or (thrown and current.reason is not None and reason == "other"):
                name = thrown.group(1) if thrown else None
                current = Lookup(file, line, name[0].lower() + name[1:] if name else None, (), text=text)
                found.append(current)
            _fail(current, reason, line, text)
        elif current is not None and _FOUND.search(text):
            current.found = True
        if current is not None and not current.ids and current.command is None:
            current.ids = tuple(ids.IN_TEXT.findall(text))
    return found


def _fail(lookup: Lookup, reason: str, line: int, text: str) -> None:
    if lookup.reason in (None, "other"):
        lookup.reason, lookup.failed_line = reason, line
        tried = _CONNECT.search(text)
        lookup.address = tried["address"] if tried else None
    if not lookup.ids and lookup.command is None:
        lookup.ids = tuple(ids.IN_TEXT.findall(text))


@per_case
def lookups(case: Case) -> list[Lookup]:
    """Return every look-up of the evidence with `wrong` determined, once per case."""
    return _judged(case, parse(_lines(case))) if refs.seen(case, *EVENTS) else []


def _lines(case: Case) -> Iterable[tuple[str, int, str]]:
    """Yield the physical lines of the entries that show a look-up."""
    for row in case.fact_rows("lookup_entries"):
        for offset, text in enumerate("\n".join(filter(None, (row["message"], row["trace"]))).split("\n")):
            yield row["file"], row["line"] + offset, text


def _judged(case: Case, seen: list[Lookup]) -> list[Lookup]:
    """Return for each look-up whether its id is of the other kind: as a record has the id, else by its form."""
    known = kinds(case, {one.upper() for lookup in seen for one in lookup.ids if ids.IN_TEXT.fullmatch(one)})
    for lookup in seen:
        wanted = WANTS.get(lookup.command or "queryMsgById", "offset")
        said = [known[one.upper()] for one in lookup.ids if one.upper() in known]
        if said:
            lookup.wrong = any(kind != wanted for kind in said)
        elif lookup.address and wanted == "offset":
            # Only the error is left: the address it tried is that of a producer, taken out of one of its UNIQ_KEYs.
            lookup.wrong = _is_producers(case, lookup.address) or None
    return _once(seen)


def _once(seen: list[Lookup]) -> list[Lookup]:
    """Leave out failures without a command that report a command already listed: a tool prints and logs the same exception."""
    typed = [one for one in seen if one.command]
    told = {one.address or _misread(i) for one in typed for i in (one.ids or ("",))} | {
        i.upper() for one in typed for i in one.ids
    }
    kept = list(typed)
    for one in (o for o in seen if not o.command):
        marks = {one.address, *(i.upper() for i in one.ids)} - {None}
        if marks and not marks & told:
            kept.append(one)
            told |= marks
    return sorted(kept, key=lambda o: (o.file, o.line))


def kinds(case: Case, texts: set[str]) -> dict[str, ids.Kind]:
    """Return {id: kind} of well-formed ids that a look-up or an application's log names: exact if a record has it, else
    by form if that is more than possible. gRPC ids count as UNIQ_KEYs.
    """
    if not texts:
        return {}
    known: dict[str, ids.Kind] = {row["id"]: row["kind"] for row in case.fact_rows("known_ids") if row["id"] in texts}
    unknown = sorted(texts - set(known))
    hosts = set(case.facts("store_extent")["store_host"].dropna()) if unknown else set()
    for text in unknown:
        kind, sure = ids.classify(text, hosts)
        if sure != "possible":
            known[text] = "uniq" if kind == "grpc" else kind
    return known


def _is_producers(case: Case, address: str) -> bool:
    """Return whether some UNIQ_KEY of the records reads as this address when taken for an offset id."""
    prefix = ids.host_prefix(address)
    if prefix is None:
        return False
    asked = "select count(*) from records where startswith(uniq_key, :prefix) and length(uniq_key) = :size"
    return bool(case.sql(asked, prefix=prefix, size=len(prefix) + 16).collect()[0][0])


def ref(case: Case, lookup: Lookup) -> tuple[Ref, ...]:
    """Quote the command and, if it failed, the line that reports it."""
    quoted = [case.ref(lookup.file, lookup.line)]
    if lookup.failed_line and lookup.failed_line != lookup.line:
        quoted.append(case.ref(lookup.file, lookup.failed_line))
    return tuple(quoted)
