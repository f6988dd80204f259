"""Find words (ids, business keys) in the text files of evidence: file, line number, line.

Raw bytes are searched, not parsed entries: lines that match no layout mention messages too.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

import ahocorasick_rs
import attrs

from kit.data import grouped
from kit.evidence.files import open_readonly
from kit.inventory.model import MAX_TEXT, Item

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


Mentions = tuple[list[Mention], Counter[str]]
"""Lines with one of some words, and how many of these each file has."""


def search(texts: Iterable[Item], groups: Sequence[Collection[str]], most: int = MOST) -> list[Mentions]:
    """Return for each group of words the lines with one, at most `most` of a file (first and last), and their counts.

    Only whole words match: `SO1` is not found in `SO12`. Words shorter than `MIN_KEY` are left out.
    """
    owners = grouped((word, n) for n, words in enumerate(groups) for word in words if len(word) >= MIN_KEY)
    wanted = sorted(owners)
    of_group: list[Mentions] = [([], Counter()) for _ in groups]
    automaton = ahocorasick_rs.BytesAhoCorasick([word.encode() for word in wanted])
    for text in texts if wanted else ():
        quoted: dict[int, list[Mention]] = defaultdict(list)
        counts: Counter[int] = Counter()
        try:
            for line, data, named in _lines(text, wanted, automaton):
                shown = data[: 4 * MAX_TEXT].decode(text.encoding, "replace").rstrip("\r\n")[:MAX_TEXT]
                # Of each group the first word on the line.
                for n, word in {n: each for each in reversed(named) for n in owners[each]}.items():
                    counts[n] += 1
                    if len(quoted[n]) == most:
                        del quoted[n][most - most // 4]
                    quoted[n].append(Mention(text.file, line, shown, word))
        except OSError:  # gone in the meantime; the table of logs reports it
            continue
        for n, lines in quoted.items():
            of_group[n][0].extend(lines)
            of_group[n][1][text.file] = counts[n]
    return of_group


def _lines(
    text: Item, words: list[str], automaton: ahocorasick_rs.BytesAhoCorasick
) -> Iterator[tuple[int, bytes, list[str]]]:
    """Yield each line of a file with one of the words: its number, its bytes, the words on it in order."""
    number = 1
    for data in _windows(text):
        counted, matches = 0, automaton.find_matches_as_indexes(data, overlapping=True)
        whole = [
            (data.rfind(b"\n", 0, start) + 1, start, words[word])
            for word, start, end in matches
            if not data[start - 1 : start].isalnum() and not data[end : end + 1].isalnum()
        ]
        for begin, named in groupby(sorted(whole), itemgetter(0)):
            number += data.count(b"\n", counted, begin)
            counted = begin
            end = data.find(b"\n", begin)
            yield number, data[begin : len(data) if end < 0 else end], [word for *_, word in named]
        number += data.count(b"\n", counted)


def _windows(text: Item) -> Iterator[bytes]:
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
