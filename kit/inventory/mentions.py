"""Where given words (ids, business keys) are in the text files of an evidence: file, line, the line itself.

Raw bytes are searched, not parsed entries: what no layout understands mentions messages too.
"""

from __future__ import annotations

import mmap
import os.path
import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Final

import attrs
import numpy as np

from kit.evidence.files import open_readonly

MAX_TEXT: Final = 2000
"""Characters kept of a line: a message printed with its body can be megabytes long."""
MOST: Final = 200
"""Mentions kept of one file; a message in a loop is printed millions of times."""
ID_LENGTHS: Final = (32, 34, 56)
MIN_KEY: Final = 4
"""Shorter keys are found everywhere and mean nothing."""
MANY: Final = 64
"""From this many ids on their shape is searched for: an alternation is tried branch by branch."""


@attrs.frozen
class Mention:
    """One line that holds one of the words; `line` counts from 1."""

    file: str
    line: int
    text: str
    word: str


@attrs.frozen
class Text:
    """A text file to look through: the name users see, its plain path, its encoding (None: UTF-8)."""

    file: str
    path: str
    encoding: str | None = None


def search(texts: Iterable[Text], words: Collection[str], most: int = MOST) -> tuple[list[Mention], dict[str, int]]:
    """Return the lines that hold a word, at most `most` of a file (its first ones and its last), and how many lines
    each file has.

    Words stand alone: `SO1` is not found in `SO12`. Words shorter than `MIN_KEY` are left out.
    """
    found: list[Mention] = []
    counts: dict[str, int] = {}
    wanted = sorted({word for word in words if len(word) >= MIN_KEY})
    for text in texts:
        try:
            count, mentions = _search(text, wanted, most)
        except OSError:  # gone meanwhile; the table of logs says so
            continue
        if count:
            counts[text.file] = count
            found += mentions
    return found, counts


@attrs.frozen
class Pattern:
    """A search for words of one shape. `only`: the words, where the expression finds more than them."""

    regex: re.Pattern[bytes]
    only: frozenset[bytes] | None = None

    def search(self, data: mmap.mmap, start: int, end: int) -> re.Match[bytes] | None:
        """Return the next match that is a word standing alone. UTF-16 text is taken as it is."""
        while (match := self.regex.search(data, start, end)) is not None:
            before = data[match.start() - 1 : match.start()]
            if not before.isalnum() and (self.only is None or match.group() in self.only):
                return match
            start = match.start() + 1
        return None


def patterns(words: Iterable[str], encoding: str = "utf-8") -> list[Pattern]:
    """Return patterns that find the words; ids of one length with a common beginning share one, which the search runs
    through at once.
    """
    groups: dict[tuple[str, int], list[str]] = defaultdict(list)
    for word in words:
        groups[(word[: len(word) // 2] if len(word) in ID_LENGTHS else word, len(word))].append(word)
    made = []
    for members in groups.values():
        prefix = os.path.commonprefix(members)  # noqa: RUF071 - of ids, not of paths
        raw = [member.encode(encoding) for member in members]
        head, after = re.escape(prefix.encode(encoding)), rb"(?![0-9A-Za-z])"
        if len(members) > MANY:
            rest = len(raw[0]) - len(prefix.encode(encoding))
            made.append(Pattern(re.compile(head + b"[0-9A-F\\0]{%d}" % rest + after), frozenset(raw)))
        else:
            tails = b"|".join(re.escape(one[len(prefix.encode(encoding)) :]) for one in raw)
            made.append(Pattern(re.compile(head + b"(?:" + tails + b")" + after)))
    return made


def _search(text: Text, words: list[str], most: int) -> tuple[int, list[Mention]]:
    """Return how many lines of one file hold a word, and those that are kept."""
    encoding = "utf-16-le" if text.encoding == "utf-16" else "utf-8"
    with open_readonly(text.path) as stream:
        try:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            return 0, []
        with data:
            wanted = patterns(words, encoding)
            begins = np.unique(
                np.concatenate([np.empty(0, np.int64), *(_begins(data, pattern, encoding) for pattern in wanted)])
            )
            kept = (
                begins
                if len(begins) <= most
                else np.concatenate([begins[: most - most // 4], begins[len(begins) - most // 4 :]])
            )
            return len(begins), list(_quoted(data, text, kept.tolist(), wanted, encoding))


def _begins(data: mmap.mmap, pattern: Pattern, encoding: str) -> np.ndarray:
    """Return where the lines with a match begin."""
    feed = "\n".encode(encoding)
    found = array("q")
    at = 0
    while (match := pattern.search(data, at, len(data))) is not None:
        last = data.rfind(feed, 0, match.start())
        found.append(last + len(feed) if last >= 0 else 0)
        end = data.find(feed, match.end())
        at = len(data) if end < 0 else end
    return np.array(found, np.int64)


def _quoted(data: mmap.mmap, text: Text, begins: list[int], wanted: list[Pattern], encoding: str) -> Iterator[Mention]:
    feed = "\n".encode(encoding)
    line, counted = 1, 0
    for begin in begins:
        line += _count(data, counted, begin, feed)
        counted = begin
        end = data.find(feed, begin)
        end = len(data) if end < 0 else end
        first = min((m for pattern in wanted if (m := pattern.search(data, begin, end))), key=lambda m: m.start())
        shown = data[begin : min(end, begin + 4 * MAX_TEXT)].decode(text.encoding or "utf-8", "replace").rstrip("\r\n")
        yield Mention(text.file, line, shown[:MAX_TEXT], first.group().decode(encoding))


def _count(data: mmap.mmap, start: int, end: int, feed: bytes) -> int:
    step = 8 << 20
    return sum(data[at : min(at + step, end)].count(feed) for at in range(start, end, step))
