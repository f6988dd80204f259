"""Find words (ids, business keys) in the text files of evidence: file, line number, line.

Raw bytes are searched, not parsed entries: lines that match no layout mention messages too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import attrs
import numpy as np

from kit.evidence.files import open_readonly
from kit.formats.logs.entries import lines
from kit.formats.logs.known_texts import Texts
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


Found = tuple[list[Mention], dict[str, int]]
"""Lines with a word, and how many each file has."""


def search(texts: Iterable[LogFile], words: Collection[str], most: int = MOST) -> Found:
    """Return the lines with a word, at most `most` of a file (the first and the last), and how many each file has.

    Only whole words match: `SO1` is not found in `SO12`. Words shorter than `MIN_KEY` are left out.
    """
    return search_each(texts, {"": words}, most)[""]


def search_each(texts: Iterable[LogFile], groups: Mapping[str, Collection[str]], most: int = MOST) -> dict[str, Found]:
    """Return the same for several groups of words, reading each file once."""
    words = sorted({word for group in groups.values() for word in group if len(word) >= MIN_KEY})
    owners = [[group for group, own in groups.items() if word in own] for word in words]
    found: dict[str, Found] = {group: ([], {}) for group in groups}
    finder = Texts([[word] for word in words])
    whole = [re.compile(rb"(?<![0-9A-Za-z])%b(?![0-9A-Za-z])" % re.escape(word.encode())) for word in words]
    first = most - most // 4
    for text in texts if words else ():
        kept: dict[str, list[Mention]] = defaultdict(list)
        counts: Counter[str] = Counter()
        try:
            for line, data, numbers in _lines(text, finder, whole):
                # Of each group the first word on the line.
                for group, word in {group: words[n] for n in reversed(numbers) for group in owners[n]}.items():
                    counts[group] += 1
                    if len(kept[group]) == most:
                        del kept[group][first]
                    kept[group].append(_quoted(text, line, data, word))
        except OSError:  # gone in the meantime; the table of logs reports it
            continue
        for group, mentions in kept.items():
            found[group][0].extend(mentions)
            found[group][1][text.file] = counts[group]
    return found


def _lines(text: LogFile, finder: Texts, whole: list[re.Pattern[bytes]]) -> Iterator[tuple[int, bytes, list[int]]]:
    """Yield each line of a file with a word: its number, its bytes, the numbers of the words. `whole`: each one alone."""
    before = 1
    for data in _windows(text):
        starts, ends = lines(data)
        named: dict[int, list[int]] = defaultdict(list)
        for line, number in np.stack(finder.find(data, starts, ends, np.arange(starts.size)), 1).tolist():
            if whole[number].search(data, starts[line], ends[line]):
                named[line].append(number)
        for line, numbers in named.items():
            yield before + line, data[starts[line] : ends[line]], numbers
        before += starts.size


def _windows(text: LogFile) -> Iterator[bytes]:
    """Yield a file in windows that end with a line. It is read, not mapped: a log may be truncated while it is read."""
    with open_readonly(text.path) as stream:
        held = b""
        while data := stream.read(WINDOW):
            lines, feed, rest = data.rpartition(b"\n")
            if feed or len(held) > LONGEST:
                yield held + lines + feed
                held = b""
            held += rest
        yield held


def _quoted(text: LogFile, line: int, data: bytes, word: str) -> Mention:
    shown = data[: 4 * MAX_TEXT].decode(text.encoding or "utf-8", "replace")
    return Mention(text.file, line, shown[:MAX_TEXT], word)
