"""The stored size of a record, what each rewrite adds to it, and the largest safe body.

Length formula: store/CommitLog.calMsgLength (MessageExtEncoder from 5.1.0); properties: common/message/MessageDecoder;
limits: store/CommitLog, store/MessageExtEncoder, store/dledger/DLedgerCommitLog. A record is followed from copy to copy
by functions named after what the broker does with it: `prepared`, `put_back`, `delivered`, …
"""

import bisect
from collections.abc import Mapping
from typing import Any, Final, Literal, Self

import attrs

from kit.i18n import T, labels
from kit.rocketmq import binary_format, names
from kit.rocketmq.config import default_of
from kit.rocketmq.versions import NEWEST, Version, rule

DLEDGER_MAX_RECORD: Final = binary_format.DLEDGER_ENTRY_BUFFER - binary_format.DLEDGER_HEADER
TOTAL_SLACK: Final = 65536
"""What 4.9.5+ allows a record beyond the body limit."""
COMPRESS_FROM: Final = 4096
"""Body bytes from which a producer compresses: client/impl/producer/DefaultMQProducer.compressMsgBodyOverHowmuch."""

STAGES: Final = labels("rocketmq")["rewrites"]
LONGEST_GROUP: Final = "g" * 120
"""The longest consumer group whose retry topic every broker accepts: 127 − len("%RETRY%")."""

Refusal = Literal["total", "body", "properties", "topic", "dledger"]


@attrs.frozen
class Record:
    """The parts of a stored record that determine its size, with IPv4 hosts. `body`: stored bytes.

    `trailing`: its writer ends the properties with 0x02; `broker_trailing`: so does the broker that rewrites it (None:
    the same). `v2`: the length of its topic takes two bytes.
    """

    topic: str
    body: int
    properties: Mapping[str, str]
    trailing: bool = True
    v2: bool = False
    broker_trailing: bool | None = None

    @property
    def size(self) -> int:
        """TotalSize in bytes: 91 + body + topic + properties for version 1, all in UTF-8."""
        return binary_format.MIN_RECORD + self.v2 + self.body + len(self.topic.encode()) + self.properties_length

    @property
    def properties_length(self) -> int:
        """The bytes of the stored property string: name 0x01 value 0x02, the last 0x02 only if its writer keeps it."""
        length = sum(len(name.encode()) + len(value.encode()) + 2 for name, value in self.properties.items())
        return length if self.trailing or not self.properties else length - 1

    def with_(self, topic: str | None = None, **properties: str) -> Self:
        """Return the copy a broker writes, with another topic or more properties; it encodes them again."""
        trailing = self.trailing if self.broker_trailing is None else self.broker_trailing
        merged = {**self.properties, **properties}
        return attrs.evolve(self, topic=topic or self.topic, properties=merged, trailing=trailing)


def sent(
    topic: str, body: int, properties: Mapping[str, str] | None = None, *, broker: str | Version = NEWEST,
    client: str | Version | None = None, transaction: bool = False,
) -> Record:  # fmt: skip
    """Return the record of a plain send (`transaction`: what `prepared` starts from) with its own `properties`."""
    props = {names.UNIQ_KEY: "0" * 32, **(properties or {}), names.WAIT: "true"}
    if rule("storesCluster", broker):
        props[names.CLUSTER] = names.DEFAULT_CLUSTER
    if rule("storesRegionAndTrace", broker):
        props |= {names.MSG_REGION: names.DEFAULT_REGION, names.TRACE_ON: "true"}
    if rule("dropsWait", broker) and not transaction:
        del props[names.WAIT]
    writer = broker if transaction or rule("reencodesPlain", broker) else client or broker
    v2 = bool(rule("recordV2", broker)) and len(topic) > 127
    by_broker = bool(rule("trailingSeparator", broker))
    return Record(topic, body, props, bool(rule("trailingSeparator", writer)), v2, by_broker)


def prepared(message: Record, queue_id: int = 0, broker: str | Version = NEWEST) -> Record:
    """Return the half record: broker/transaction/queue/TransactionalMessageBridge.parseHalfMessageInner."""
    more = {names.REAL_TOPIC: message.topic, names.REAL_QID: str(queue_id)}
    if rule("halfCarriesTransactionId", broker):
        more[names.TRANSACTION_ID] = message.properties.get(names.UNIQ_KEY, "")
    return message.with_(names.HALF_TOPIC, **more)


def put_back(half: Record, times: int | None = None, first_offset: int | None = None) -> Record:
    """Return the copy a check appends. `times`: the count it carries (None: one more); `first_offset`: queue offset of
    the first half record, on a copy made during CHECK_IMMUNITY_TIME_IN_SECONDS (those count as checks too).
    """
    count = times if times is not None else int(half.properties.get(names.CHECK_TIMES, "0")) + 1
    copy = half.with_(**{names.CHECK_TIMES: str(count)})
    if first_offset is None:
        return copy
    return copy.with_(**{names.PREPARED_QUEUE_OFFSET: str(first_offset), names.WAIT: "false"})


def scheduled(message: Record, level: int, queue_id: int = 0) -> Record:
    """Return the record in the schedule topic; the delivered one has the same properties (`delivered`)."""
    more = {names.DELAY: str(level), names.REAL_TOPIC: message.topic, names.REAL_QID: str(queue_id)}
    return message.with_(names.SCHEDULE_TOPIC, **more)


def delivered(waiting: Record) -> Record:
    """Return the copy in the real topic, of a schedule record that fell due or of a half record that is committed."""
    return waiting.with_(waiting.properties[names.REAL_TOPIC])


def sent_back(consumed: Record, group: str, reconsume_times: int, level: int | None = None) -> Record:
    """Return the schedule record of a refused consumption; its `delivered` is the retry record."""
    props = consumed.properties
    origin = props.get(names.ORIGIN_MESSAGE_ID, "0" * 32)
    more = {names.RETRY_TOPIC: props.get(names.RETRY_TOPIC, consumed.topic), names.ORIGIN_MESSAGE_ID: origin}
    retry = consumed.with_(names.RETRY_PREFIX + group, **more, **{names.WAIT: "false"})
    return scheduled(retry, level or names.FIRST_RETRY_LEVEL + reconsume_times)


def dead_lettered(retried: Record, group: str, broker: str | Version = NEWEST) -> Record:
    """Return the record in the dead letter topic, made from the last retry record."""
    topic = names.DLQ_PREFIX + group
    through_schedule = rule("dlqThroughSchedule", broker)
    more = {names.REAL_TOPIC: topic, names.REAL_QID: "0"} if through_schedule else {names.DELAY: "0"}
    return retried.with_(topic, **more)


def size_rule(broker: str | Version, *, dledger: bool = False) -> str:
    """Return what the broker compares with maxMessageSize: `total`, `body` or `body+64k`."""
    return str(rule("sizeCheckDledger" if dledger else "sizeCheck", broker) or "total")


def refusals(
    record: Record, broker: str | Version = NEWEST, limit: int | None = None, *, dledger: bool = False
) -> list[Refusal]:
    """Return why the broker would refuse the record, [] if it would store it."""
    limit = default_of("maxMessageSize", broker) if limit is None else limit
    how = size_rule(broker, dledger=dledger)
    refused: list[Refusal] = []
    if (how == "total" and record.size > limit) or (how == "body+64k" and record.size > limit + TOTAL_SLACK):
        refused.append("total")
    if how != "total" and record.body > limit:
        refused.append("body")
    if dledger and record.size > DLEDGER_MAX_RECORD:
        refused.append("dledger")
    if record.properties_length > rule("propertiesMax", broker):
        refused.append("properties")
    length, most, _ = topic_length(record.topic, broker)
    return [*refused, "topic"] if length > most else refused


def topic_length(topic: str, broker: str | Version = NEWEST) -> tuple[int, int, str]:
    """Return a topic's length as the store measures it, the longest that it stores, and the unit: `chars`, `bytes`."""
    unit = str(rule("brokerTopicUnit", broker))
    most = int(rule("brokerRetryTopicMax" if topic.startswith(names.RETRY_PREFIX) else "brokerTopicMax", broker))
    return len(topic.encode() if unit == "bytes" else topic), most, unit


def growth(check_max: int, times: int | None = None) -> int:
    """Return by how many bytes the largest put-back exceeds a half record that carries the count `times`."""
    last = max(check_max, times or 0)
    return len(str(last)) - len(str(times)) if times is not None else len(names.CHECK_TIMES) + 2 + len(str(last))


def zlib_bound(raw: int) -> int:
    """Return the largest zlib output for `raw` bytes: compressBound of zlib.h, which also holds for Java's Deflater."""
    return raw + (raw >> 12) + (raw >> 14) + (raw >> 25) + 13


def max_message_size(stored: int) -> int:
    """Return N for setMaxMessageSize(N), which checks the raw body: the largest stored in `stored` bytes."""
    raw = bisect.bisect_right(range(max(stored, 0)), stored, key=zlib_bound) - 1
    return raw if raw >= COMPRESS_FROM else max(0, min(stored, COMPRESS_FROM - 1))


def rewrites(
    body: int, topic: str, properties: Mapping[str, str] | None = None, *, broker: str | Version = NEWEST,
    client: str | Version | None = None, limit: int | None = None, dledger: bool = False, group: str = LONGEST_GROUP,
    producer_group: str = "", check_max: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Follow a message of `body` stored bytes through every rewrite.

    Return `rows` (stage, text, topic, bytes, growth over the first copy of its kind, refused: reasons, limit), and what
    is safe: `safe_stored_body` (every put-back fits), `safe_plain_body` (a plain send fits), `max_message_size` (raw
    body for setMaxMessageSize on a transaction producer), None if no body is; and the `rule`, `limit`, `check_max`,
    `broker` used.
    """
    version = Version.parse(broker)
    limit = default_of("maxMessageSize", version) if limit is None else limit
    last = rule("transactionCheckMax", version) if check_max is None else check_max
    plain = sent(topic, body, properties, broker=version, client=client)
    of_transaction = {**(properties or {}), names.TRAN_MSG: "true", names.PGROUP: producer_group}
    half = prepared(sent(topic, body, of_transaction, transaction=True, broker=version, client=client), 0, version)
    final = put_back(half, last)
    waiting, committed = sent_back(plain, group, 0), delivered(final)
    steps: list[tuple[str, T | Any, Record, Record]] = [
        ("sent", STAGES["sent"], plain, plain),
        ("scheduled", STAGES["scheduled"], scheduled(plain, 18), plain),
        ("prepared", STAGES["prepared"], half, half),
        *[
            ("put_back", STAGES["put_back"].say(name=f"{names.CHECK_TIMES}={n}"), put_back(half, n), half)
            for n in sorted({1, min(10, last), last})
        ],
        ("put_back_immune", STAGES["put_back_immune"], put_back(half, last, first_offset=10**9), half),
        ("committed", STAGES["committed"], committed, half),
        ("committed_retry", STAGES["committed_retry"], delivered(sent_back(committed, group, 0)), half),
        ("sent_back", STAGES["sent_back"], waiting, plain),
        ("retry", STAGES["retry"], delivered(waiting), plain),
        ("dead_lettered", STAGES["dead_lettered"], dead_lettered(delivered(waiting), group, version), plain),
    ]
    rows = [
        {"stage": slug, "text": text, "topic": each.topic, "bytes": each.size, "growth": each.size - first.size,
         "refused": refusals(each, version, limit, dledger=dledger), "limit": limit}
        for slug, text, each, first in steps
    ]  # fmt: skip
    safe = _safe(final, version, limit, dledger=dledger)
    return {
        "rows": rows, "broker": str(version), "rule": size_rule(version, dledger=dledger), "limit": limit,
        "check_max": last, "safe_stored_body": safe,
        "safe_plain_body": _safe(plain, version, limit, dledger=dledger),
        "max_message_size": None if safe is None else max_message_size(safe),
    }  # fmt: skip


def _safe(record: Record, broker: Version, limit: int, *, dledger: bool) -> int | None:
    """Return the largest body of such a record, None if it is refused whatever its body."""
    if {"properties", "topic"} & set(refusals(record, broker, limit, dledger=dledger)):
        return None
    overhead, how = record.size - record.body, size_rule(broker, dledger=dledger)
    most = {"total": limit - overhead, "body": limit, "body+64k": min(limit, limit + TOTAL_SLACK - overhead)}[how]
    most = min(most, DLEDGER_MAX_RECORD - overhead) if dledger else most
    return most if most >= 0 else None
