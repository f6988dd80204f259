"""Finding many fixed texts in a few lines without compiled code: a dictionary of one piece of each text.

For millions of lines `kit.formats.logs.literal_matcher` does the same in one compiled pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

SIZE: Final = 8
"""Characters of the piece that is looked up at every position of a line."""


class Windows:
    """Fixed texts of at least `SIZE` characters; shorter ones are never found."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._by_piece: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            if len(text) >= SIZE:
                # The end of a text is seldom the beginning of another one.
                self._by_piece.setdefault(text[-SIZE:], []).append(number)

    def find(self, line: str) -> list[int]:
        """Return the numbers of the texts in a line, each once, in the order in which they end."""
        found: dict[int, None] = {}
        get = self._by_piece.get
        for end in range(SIZE, len(line) + 1):
            for number in get(line[end - SIZE : end], ()):
                text = self._texts[number]
                if line.startswith(text, end - len(text)) and end >= len(text):
                    found[number] = None
        return list(found)
