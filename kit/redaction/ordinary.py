"""What names nobody: words of sentences about RocketMQ (a topic called `order` is replaced only where a topic is
expected), and the names of groups, folders, files and packages in every RocketMQ installation.

A list kept by hand (`ordinary.txt`), whatever the kit's own texts say: a word that is not in it is replaced wherever it
is a name of the evidence, even in the middle of a sentence. What a site might call its own (trades, hotel, customers)
does not belong here.
"""

import re
from typing import Final

from kit import data
from kit.rocketmq import names

_LINES: Final = data.text("redaction/ordinary.txt").splitlines()
WORDS: Final = frozenset(word for line in _LINES if not line.startswith("#") for word in line.split())
"""In lower case; a word counts in any case."""


def is_ordinary(name: str) -> bool:
    """Return whether it is an ordinary word (`order`, `Order`); `order-group` and `orderTopic` are names."""
    is_one_case = name.islower() or name.isupper() or name.istitle() or name.isdigit()
    return is_one_case and name.lower() in WORDS


DATED: Final = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[T ].*)?|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?|\d+(?:[.,]\d+)+"
)
"""Dates, times, amounts and releases: a key that looks like one is not taken for it in the middle of a text."""
SHORT: Final = 3
"""Characters from which a name is replaced wherever it is shown."""
NUMBER: Final = 10
"""Digits from which a number that is a key is replaced wherever it is shown; commitlog files are called by twenty."""


def is_ambiguous(name: str) -> bool:
    """Return whether a name is also a word: it is replaced only where a name or a key is expected."""
    number = name.isdigit() and (len(name) < NUMBER or len(name) == 20)
    return len(name) < SHORT or number or DATED.fullmatch(name) is not None or is_ordinary(name)


# What each holds is said there.
_LISTS: Final = {row: words.split() for row, words in data.read("redaction/stock_names.yaml", dict[str, str]).items()}
_NAMES: Final = frozenset(_LISTS["names"]) | {
    names.SCHEDULE_GROUP, names.INNER_PRODUCER_GROUP, names.ADMIN_GROUP, names.DEFAULT_CLUSTER, names.DEFAULT_REGION,
    names.RETRY_PREFIX, names.DLQ_PREFIX,
}  # fmt: skip
FOLDERS: Final = frozenset(_LISTS["words"]) | names.SYSTEM_TOPICS | {names.DISCARD_TOPIC_IN_LOGS, "RETRY", "DLQ", "LMQ"}
LABELS: Final = frozenset(_LISTS["labels"])
VENDORS: Final = tuple(_LISTS["vendors"])
EXTENSIONS: Final = frozenset(_LISTS["extensions"])


def is_stock(name: str) -> bool:
    """Return whether a topic, group, broker, cluster or host name is RocketMQ's own or one that it ships."""
    begins = name.startswith((names.SYSTEM_GROUP_PREFIX, "CID_ONS", "RMQ_SYS_", "TRANS_CHECK_"))
    return begins or name in _NAMES or names.is_system_topic(name)
