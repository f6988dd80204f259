"""The lag of consumer groups as monitoring scraped it: rocketmq-exporter, and brokers from 5.1.0 on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from kit.formats.tables.host_tools.monitoring import labels
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

LAGS: Final = {"rocketmq_group_diff": "group", "rocketmq_consumer_lag_messages": "consumer_group"}
"""Metrics of lag and the label that names the group: exporter/collector/RMQMetricsCollector, broker/metrics/BrokerMetricsConstant."""


IDENTITY: Final = ("cluster", "node_id", "broker", "queue_id")
"""Labels that tell the parts of one lag apart; others change from one scrape to the next, such as countOfOnlineConsumers."""


@attrs.frozen
class Lag:
    """Messages of a topic that a group has not handled, in the last scrape; `line` is that of its largest part."""

    group: str
    topic: str
    messages: int
    file: str
    line: int


def lags(case: Case) -> list[Lag]:
    """Return the lag of each group of users, the largest first. Brokers of 5.x have a series each: they are added up."""
    last: dict[tuple[str, str, str], dict[tuple[str | None, ...], dict[str, Any]]] = {}
    for row in case.fact_rows("scraped_lags"):
        said = labels(row["subject"])
        group, topic = said.get(LAGS[row["name"]], ""), said.get("topic", "")
        inner = (
            "true" in (said.get("is_retry"), said.get("is_system"))
            or topic.startswith("%")
            or names.is_system_topic(topic)
        )
        if names.of_users(group) and topic and not inner:
            last.setdefault((row["name"], group, topic), {})[tuple(map(said.get, IDENTITY))] = row
    found: dict[tuple[str, str], Lag] = {}
    for (_, group, topic), parts in last.items():
        most = max(parts.values(), key=lambda row: float(row["value"]))
        lag = Lag(group, topic, round(sum(row["value"] for row in parts.values())), most["file"], most["line"])
        found[group, topic] = max(lag, found.get((group, topic), lag), key=lambda each: each.messages)
    return sorted(found.values(), key=lambda lag: (-lag.messages, lag.group, lag.topic))
