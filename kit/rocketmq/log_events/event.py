"""What a known log text is: `Event`, and the pieces of patterns that several of them share."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

import attrs


def _needles(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _sources(value: str) -> tuple[str, ...]:
    return tuple(value.split())


@attrs.define(frozen=True, slots=False)
class Event:
    """A text that RocketMQ prints (or puts into an exception that others print).

    `needles` are literal texts (one may stand alone); an entry holds the event when one of them is in it. `pattern` takes the values out of it: a
    regular expression with `(?P<name>…)` groups and nothing that Java's and Python's dialects read differently. `sources` are the logs it normally
    stands in (given with blanks between them), `level` as in the shipped versions, `since`/`until` the first and last release with this wording
    ("" = 4.3.0 / 5.3.3), `harmless` whether it is normal in a healthy system (None: depends on how often and beside what). Where a needle alone
    would say too much, `confirm` must be found in the entry as well.
    """

    slug: str
    needles: tuple[str, ...] = attrs.field(converter=_needles)
    pattern: str
    sources: tuple[str, ...] = attrs.field(converter=_sources)
    level: str
    reference: str
    example: str
    since: str = ""
    until: str = ""
    harmless: bool | None = False
    confirm: str = ""

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The names of the values, in the order of the groups."""
        return tuple(re.findall(r"\(\?P<(\w+)>", self.pattern))

    @cached_property
    def java(self) -> str:
        """The pattern with numbered groups, as Java (and Spark's regexp_extract) wants it."""
        return re.sub(r"\(\?P<\w+>", "(", self.pattern)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


HEADER: Final = (
    r"EndTransactionRequestHeader\{producerGroup='?(?P<group>[^',]*)'?, tranStateTableOffset=(?P<state_offset>\d+), commitLogOffset=(?P<commit_log_offset>\d+), "
    r"commitOrRollback=(?P<decision>\d+), fromTransactionCheck=(?P<from_check>\w+), msgId='?(?P<msg_id>[^',}]*)'?, transactionId='?(?P<transaction_id>[^',}]*)'?"
)
"""common/protocol/header/EndTransactionRequestHeader.toString: with quotes in 4.x, without in 5.x."""

QUEUE: Final = r"MessageQueue \[topic=(?P<topic>[^,\]]*), brokerName=(?P<broker>[^,\]]*), queueId=(?P<queue_id>-?\d+)\]"
MESSAGE_EXT: Final = (
    r"MessageExt \[(?:brokerName=(?P<broker>[^,\]]*), )?queueId=(?P<queue_id>-?\d+), storeSize=(?P<store_size>\d+), queueOffset=(?P<queue_offset>-?\d+), "
    r"sysFlag=(?P<sys_flag>\d+), bornTimestamp=(?P<born_timestamp>\d+), bornHost=(?P<born_host>[^,]*), storeTimestamp=(?P<store_timestamp>\d+), "
    r"storeHost=(?P<store_host>[^,]*), msgId=(?P<msg_id>\w*), commitLogOffset=(?P<commit_log_offset>\d+), bodyCRC=(?P<body_crc>-?\d+), "
    r"reconsumeTimes=(?P<reconsume_times>\d+), preparedTransactionOffset=(?P<prepared_offset>\d+), toString\(\)=Message\{topic='(?P<topic>[^']*)'"
)
"""common/message/MessageExt.toString: `brokerName=` from 4.7.0."""
