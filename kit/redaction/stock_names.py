"""Names in every RocketMQ installation: groups, folders, files, packages. They do not show whose system it is.

`upstream` of the groups: common/MixAll, broker/subscription/SubscriptionGroupManager; of the folders and files:
store/config/StorePathConfigHelper,
distribution/conf (logback files, broker.conf), common/constant/LoggerName.
"""

from __future__ import annotations

from importlib import resources
from typing import Final

import msgspec

from kit.rocketmq import names

DEFAULT_BROKER: Final = "broker-a"
"""brokerName in the broker.conf that RocketMQ ships."""

_LISTS: Final = {
    name: words.split()
    for name, words in msgspec.yaml.decode(
        resources.files("kit.redaction").joinpath("stock_names.yaml").read_bytes(), type=dict[str, str]
    ).items()
}
_GROUPS: Final = frozenset({names.SCHEDULE_GROUP, names.INNER_PRODUCER_GROUP, names.ADMIN_GROUP, *_LISTS["groups"]})
_PLACES: Final = frozenset(
    {
        names.DEFAULT_CLUSTER,
        names.DEFAULT_REGION,
        DEFAULT_BROKER,
        "localhost",
        "localhost.localdomain",
        "jmenv.tbsite.net",
    }
)

WORDS: Final = frozenset(_LISTS["words"]) | names.SYSTEM_TOPICS | {names.DISCARD_TOPIC_IN_LOGS, "RETRY", "DLQ", "LMQ"}
"""Names of folders and files, or parts of them, that are in any store, log folder or collection of outputs."""
LABELS: Final = frozenset(_LISTS["labels"])
"""First parts of package names, system properties and domains that are no one's own."""
VENDORS: Final = tuple(_LISTS["vendors"])
"""Beginnings of packages and system properties that anybody's logs hold."""
EXTENSIONS: Final = frozenset(_LISTS["extensions"])


def is_stock(name: str) -> bool:
    """Return whether a topic, group, broker, cluster or host name is RocketMQ's own or one that it ships."""
    return (
        name in _GROUPS
        or name in _PLACES
        or name in names.SYSTEM_TOPICS
        or name == names.DISCARD_TOPIC_IN_LOGS
        or name.startswith((names.SYSTEM_GROUP_PREFIX, "CID_ONS", "RMQ_SYS_", "TRANS_CHECK_"))
        or names.is_system_topic(name)
    )
