"""Find words (ids, business keys) in the text files of evidence: file, line number, line.

Raw bytes are searched, not parsed entries: lines that match no layout mention messages too.
"""

from __future__ import annotations

import os.path
import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import attrs

from kit.evidence.files import open_readonly

MAX_TEXT: Final = 2000
"""Characters kept of a line: a message printed with its body can be megabytes long."""
MOST: Final = 200
"""Mentions kept of one file; a message in a loop is printed millions of times."""
ID_LENGTHS: Final = (32, 34, 56)
MIN_KEY: Final = 4
"""Shorter keys match everywhere and mean nothing."""
WINDOW: Final = 8 << 20
LONGEST: Final = 64 << 20
"""Bytes of a line held at once; in a longer line a word across that boundary is not found."""
MANY: Final = 64
"""From this many ids on, their shape is searched for instead: an alternation is tried branch by branch."""


@attrs.frozen
class Mention:
    """One line with one of the words; `line` counts from 1."""

    file: str
    line: int
    text: str
    word: str


@attrs.frozen
class Text:
    """A text file to search: the name users see, its plain path, its encoding (None: UTF-8)."""

    file: str
    path: str
    encoding: str | None = None


Found = tuple[list[Mention], dict[str, int]]
"""Lines with a word, and how many each file has."""


def search(texts: Iterable[Text], words: Collection[str], most: int = MOST) -> Found:
    """Return the lines with a word, at most `most` of a file (the first and the last), and how many such lines each file has.

    Only whole words match: `SO1` is not found in `SO12`. Words shorter than `MIN_KEY` are left out.
    """
    return search_each(texts, {"": words}, most)[""]


def search_each(texts: Iterable[Text], groups: Mapping[str, Collection[str]], most: int = MOST) -> dict[str, Found]:
    """Return the same for several groups of words, reading each file once."""
    owners: dict[str, set[str]] = defaultdict(set)
    for group, words in groups.items():
        for word in words:
            if len(word) >= MIN_KEY:
                owners[word].add(group)
    found: dict[str, Found] = {group: ([], {}) for group in groups}
    wanted = patterns(sorted(owners))
    for text in texts if wanted else ():
        try:
            kept = _search(text, wanted, owners, most)
        except OSError:  # gone in the meantime; the table of logs reports it
            continue
        for group, (count, lines) in kept.items():
            found[group][1][text.file] = count
            found[group][0].extend(lines)
    return found


@attrs.frozen
class Pattern:
    """A search for words of one shape. `only`: the words, if the expression matches more than them."""

    regex: re.Pattern[bytes]
    only: frozenset[bytes] | None = None

    def search(self, data: bytes, start: int = 0) -> re.Match[bytes] | None:
        """Return the next match that is a whole word."""
        while (match := self.regex.search(data, start)) is not None:
            before = data[match.start() - 1 : match.start()]
            if not before.isalnum() and (self.only is None or match.group() in self.only):
                return match
            start = match.start() + 1
        return None


def patterns(words: Iterable[str]) -> list[Pattern]:
    """Return patterns that find the words; ids of one length with a common prefix share one pattern, which is faster."""
    groups: dict[tuple[str, int], list[str]] = defaultdict(list)
    for word in words:
        groups[(word[: len(word) // 2] if len(word) in ID_LENGTHS else word, len(word))].append(word)
    made = []
    for members in groups.values():
        prefix = os.path.commonprefix(members)  # noqa: RUF071 - of ids, not of paths
        raw = [member.encode() for member in members]
        head, after = re.escape(prefix.encode()), rb"(?![0-9A-Za-z])"
        if len(members) > MANY:
            rest = len(raw[0]) - len(prefix.encode())
            made.append(Pattern(re.compile(head + b"[0-9A-F]{%d}" % rest + after), frozenset(raw)))
        else:
            tails = b"|".join(re.escape(one[len(prefix.encode()) :]) for one in raw)
            made.append(Pattern(re.compile(head + b"(?:" + tails + b")" + after)))
    return made


class _Kept:
    """The lines of one file that mention a group: the first and the last of them."""

    def __init__(self, most: int) -> None:
        self.count = 0
        self._room = most - most // 4
        self._first: list[Mention] = []
        self._last: deque[Mention] = deque(maxlen=most // 4)

    def add(self, mention: Mention) -> None:
        (self._first if self.count < self._room else self._last).append(mention)
        self.count += 1

    def lines(self) -> tuple[int, list[Mention]]:
        return self.count, [*self._first, *self._last]


def _search(
    text: Text, wanted: list[Pattern], owners: Mapping[str, set[str]], most: int
) -> dict[str, tuple[int, list[Mention]]]:
    """Return for each group how many lines of one file have one of its words, and the lines kept."""
    kept: defaultdict[str, _Kept] = defaultdict(lambda: _Kept(most))
    alone = len({group for groups in owners.values() for group in groups}) == 1
    line = 1
    for data in _windows(text):
        counted = 0
        for begin in _begins(data, wanted):
            line += data.count(b"\n", counted, begin)
            counted = begin
            end = data.find(b"\n", begin)
            said = data[begin : len(data) if end < 0 else end]
            words = _words(said, wanted, every=not alone)
            for group in dict.fromkeys(group for word in words for group in sorted(owners[word])):
                first = next(word for word in words if group in owners[word])
                kept[group].add(_quoted(text, line, said, first))
        line += data.count(b"\n", counted)
    return {group: each.lines() for group, each in kept.items()}


def _words(said: bytes, wanted: list[Pattern], *, every: bool) -> list[str]:
    """Return the words of a line in order; only the first unless `every`."""
    found: list[tuple[int, bytes]] = []
    for pattern in wanted:
        at = 0
        while (match := pattern.search(said, at)) is not None:
            found.append((match.start(), match.group()))
            at = match.end()
            if not every:
                break
    return [word.decode() for _, word in (sorted(found) if every else [min(found)])]


def _windows(text: Text) -> Iterator[bytes]:
    """Yield a file in windows that end with a line. It is read, not mapped: a log may be truncated while it is read."""
    with open_readonly(text.path) as stream:
        if text.encoding == "utf-16":
            yield stream.read().decode("utf-16", "replace").encode()
            return
        held = b""
        while data := stream.read(WINDOW):
            lines, feed, rest = data.rpartition(b"\n")
            if feed or len(held) > LONGEST:
                yield held + lines + feed
                held = b""
            held += rest
        yield held


def _begins(data: bytes, wanted: list[Pattern]) -> list[int]:
    """Return the positions of the lines with a match, in order."""
    found: set[int] = set()
    for pattern in wanted:
        at = 0
        while (match := pattern.search(data, at)) is not None:
            found.add(data.rfind(b"\n", 0, match.start()) + 1)
            end = data.find(b"\n", match.end())
            at = len(data) if end < 0 else end
    return sorted(found)


def _quoted(text: Text, line: int, said: bytes, word: str) -> Mention:
    encoding = "utf-8" if text.encoding in (None, "utf-16") else text.encoding
    shown = said[: 4 * MAX_TEXT].decode(encoding, "replace").rstrip("\r\n")
    return Mention(text.file, line, shown[:MAX_TEXT], word)
