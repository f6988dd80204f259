"""The tables that mqadmin prints: how their heads begin, which command prints them, what they show (tools/command)."""

from __future__ import annotations

from typing import Final

from kit.i18n import T

TABLES: Final = (
    ("#Cluster Name", "clusterList"),
    ("#Topic #Broker Name #QID #Broker Offset", "consumerProgress"),
    ("#Topic #Group #Broker Name #QID", "brokerConsumeStats"),
    ("#Group #Count", "consumerProgress"),
    ("#Broker Name #QID #Min Offset", "topicStatus"),
    ("#ClientId #ClientAddr", "consumerConnection"),
    ("#Index #ClientId", "consumerStatus"),
    ("#brokerName #queueId #offset", "resetOffsetByTime"),
    ("#Message ID", "queryMsgByKey"),
    ("#Type #ProducerGroup", "queryMsgTraceById"),
    ("#Type #ConsumerGroup", "queryMsgTraceById"),
    ("#Topic", "topicList"),
)
"""How a head begins, with one blank between its words; the longer ones first."""

PAIRS: Final = "getSyncStateSet"
"""Prints one name and value a line: tools/command/ha/GetSyncStateSetSubCommand."""

_OFFSETS: Final = T(
    "One line a queue: Broker Offset is its end, Consumer Offset what the group has committed, Diff what lies between; LastTime is when the last message that the group committed was stored."
)
MEANINGS: Final[dict[str, T]] = {
    "clusterList": T(
        "One line a broker that is registered: BID 0 is the master, others are slaves; Addr is what clients connect to; SPACE is how full the disk of the commitlog is (from 0.90 on no sends are taken); ACTIVATED (5.x) says whether it runs the services of a master (delayed messages, transaction checks)."
    ),
    "consumerProgress": _OFFSETS,
    "brokerConsumeStats": _OFFSETS,
    "topicStatus": T(
        "One line a queue: the offset of the oldest message still stored, the offset of the next one, and when the last was stored."
    ),
    "consumerConnection": T(
        "One line a client of the group that is connected now; the same client id on two lines with different addresses is a fault."
    ),
    PAIRS: T(
        "What the controller knows of one broker name: the master, its epoch, and which replicas hold everything it acknowledged (alive says whether the controller hears from them)."
    ),
}
