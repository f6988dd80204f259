"""Words that are no names: those of sentences about RocketMQ. A topic called `order` is replaced only where a topic is expected.

A list kept by hand (`ordinary.txt`), whatever the kit's own texts say: a word that is not in it is replaced wherever it is a name of the evidence, even in the middle
of a sentence. What a site might call its own (trades, hotel, customers) does not belong here.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import Final

_LINES: Final = resources.files("kit.redaction").joinpath("ordinary.txt").read_text(encoding="utf-8").splitlines()
WORDS: Final = frozenset(word for line in _LINES if not line.startswith("#") for word in line.split())
"""In lower case; a word counts in any case."""

_WORD: Final = re.compile(r"[A-Za-z0-9]+")

PUBLIC: Final = ("https://rocketmq.apache.org", "https://github.com/apache/", "https://spark.apache.org")
"""Addresses of the web that anybody's page may hold."""


def is_ordinary(name: str) -> bool:
    """Return whether it is an ordinary word (`order`, `Order`); `order-group` and `orderTopic` are names."""
    return (
        _WORD.fullmatch(name) is not None
        and name.lower() in WORDS
        and (name.islower() or name.isupper() or name.istitle() or name.isdigit())
    )


DATED: Final = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[T ].*)?|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?|\d+(?:[.,]\d+)+"
)
"""Dates, times, amounts and releases: a key that looks like one is not taken for it in the middle of a text."""
SHORT: Final = 3
"""Characters from which a name is replaced wherever it is shown."""
NUMBER: Final = 10
"""Digits from which a number that is a key is replaced wherever it is shown; commitlog files are called by twenty."""


def is_ambiguous(name: str) -> bool:
    """Return whether a name is also something else: it is replaced only where a name or a key is expected, and searched for nowhere else."""
    number = name.isdigit() and (len(name) < NUMBER or len(name) == 20)
    return len(name) < SHORT or number or DATED.fullmatch(name) is not None or is_ordinary(name)
