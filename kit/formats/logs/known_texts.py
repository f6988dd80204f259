"""Find the texts that RocketMQ is known to print, all of them in one pass (Aho-Corasick)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Final

import ahocorasick_rs
import numpy as np

from kit.rocketmq import catalogue

_MATCH: Final = 3
"""Numbers of a match: the text, where it starts and where it ends."""


class Texts:
    """Groups of texts to look for; a group is found where any of its texts is."""

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        texts = [(text.encode(), group) for group, each in enumerate(groups) for text in each]
        self.group = np.array([group for _, group in texts], np.int64)
        self.groups = len(groups)
        self._search = ahocorasick_rs.BytesAhoCorasick([text for text, _ in texts])

    def find(
        self, text: bytes | memoryview, begins: np.ndarray, ends: np.ndarray, entries: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (entry, group) for each group in the stretches begins..ends of a text, once an entry, in the order found.

        `entries` names the entry of each stretch and does not decrease.
        """
        matches = self._search.find_matches_as_indexes(text, overlapping=True)
        found = np.fromiter(chain.from_iterable(matches), np.int64, _MATCH * len(matches)).reshape(-1, _MATCH)
        at = np.searchsorted(begins, found[:, 1], "right") - 1
        within = (at >= 0) & (found[:, 2] <= ends[at])
        entry, group = entries[at[within]], self.group[found[within, 0]]
        _, first = np.unique(entry * self.groups + group, return_index=True)
        first = first[np.lexsort([first, entry[first]])]
        return entry[first], group[first]

    def within(self, text: str) -> list[int]:
        """Return the groups found in one text, in order."""
        raw = text.encode()
        return self.find(raw, np.array([0]), np.array([len(raw)]), np.array([0]))[1].tolist()


@cache
def known_texts() -> Texts:
    """Return the texts of all events and known problems."""
    return Texts(catalogue.literals())


def confirmed(entry: np.ndarray, event: np.ndarray, text: Callable[[int, bool], bytes]) -> np.ndarray:
    """Return for each (entry, event) pair whether the event's second condition holds too.

    `text` returns an entry's message and trace, with its prefix if asked: known problems may depend on the thread.
    """
    keep = np.ones(entry.size, bool)
    rules = catalogue.confirmations()
    for i in np.flatnonzero(np.isin(event, list(rules))).tolist():
        keep[i] = bool(rules[int(event[i])](text(int(entry[i]), int(event[i]) >= len(catalogue.EVENTS))))
    return keep
