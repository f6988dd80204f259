"""Find words (ids, business keys) in the text files of evidence: file, line number, line.

Raw bytes are searched, not parsed entries: lines that match no layout mention messages too.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Final

import ahocorasick_rs
import attrs

from kit.evidence.files import open_readonly
from kit.formats.logs.schema import LogFile
from kit.inventory.references import MAX_TEXT

MOST: Final = 200
"""Mentions kept of one file; a message in a loop is printed millions of times."""
MIN_KEY: Final = 4
"""Shorter keys match everywhere and mean nothing."""
WINDOW: Final = 8 << 20
LONGEST: Final = 64 << 20
"""Bytes of a line held at once; in a longer line a word across that boundary is not found."""


@attrs.frozen
class Mention:
    """One line with one of the words; `line` counts from 1."""

    file: str
    line: int
    text: str
    word: str


def search(texts: Iterable[LogFile], words: Iterable[str], most: int = MOST) -> tuple[list[Mention], dict[str, int]]:
    """Return the lines with one of the words, at most `most` of a file (first and last), and how many each file has.

    Only whole words match: `SO1` is not found in `SO12`. Words shorter than `MIN_KEY` are left out.
    """
    wanted = sorted(word for word in set(words) if len(word) >= MIN_KEY)
    automaton = ahocorasick_rs.BytesAhoCorasick([word.encode() for word in wanted])
    mentions: list[Mention] = []
    counts: Counter[str] = Counter()
    for text in texts if wanted else ():
        first: list[Mention] = []
        last: deque[Mention] = deque(maxlen=most // 4)
        try:
            for line, data, word in _lines(text, wanted, automaton):
                counts[text.file] += 1
                shown = data[: 4 * MAX_TEXT].decode(text.encoding or "utf-8", "replace").rstrip("\r\n")
                (first if len(first) < most - most // 4 else last).append(
                    Mention(text.file, line, shown[:MAX_TEXT], word)
                )
        except OSError:  # gone in the meantime; the table of logs reports it
            del counts[text.file]
            continue
        mentions += [*first, *last]
    return mentions, counts


def _lines(
    text: LogFile, words: list[str], automaton: ahocorasick_rs.BytesAhoCorasick
) -> Iterator[tuple[int, bytes, str]]:
    """Yield each line of a file with one of the words: its number, its bytes, the first word on it."""
    number = 1
    for data in _windows(text):
        counted, matches = 0, automaton.find_matches_as_indexes(data, overlapping=True)
        whole = [
            (data.rfind(b"\n", 0, start) + 1, start, words[word])
            for word, start, end in matches
            if not data[start - 1 : start].isalnum() and not data[end : end + 1].isalnum()
        ]
        for begin, words_of_line in groupby(sorted(whole), itemgetter(0)):
            number += data.count(b"\n", counted, begin)
            counted = begin
            end = data.find(b"\n", begin)
            yield number, data[begin : len(data) if end < 0 else end], next(words_of_line)[2]
        number += data.count(b"\n", counted)


def _windows(text: LogFile) -> Iterator[bytes]:
    """Yield a file in windows that end with a line. It is read, not mapped: a log may be truncated while it is read."""
    with open_readonly(text.path) as stream:
        carried = b""
        while data := stream.read(WINDOW):
            lines, feed, rest = data.rpartition(b"\n")
            if feed or len(carried) > LONGEST:
                yield carried + lines + feed
                carried = b""
            carried += rest
        yield carried
