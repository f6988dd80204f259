"""mqadmin outputs → rows."""

from __future__ import annotations

import re
from typing import Final

_HEADER: Final = re.compile(
    rb"^(?:\$ *(?:sh +)?(?:\S*/)?mqadmin\s|RocketMQLog:WARN (?:No appenders|Please)|#(?:Cluster Name|Topic|Broker Name|Message ID|Group|Type|Task)\s|OffsetID:\s|TopicConfig \[|={4,}.*={4,}$|brokerVersionDesc\s*:"
    rb"|create topic to .* success|org\.apache\.rocketmq\.tools\.command\.SubCommandException)",
    re.MULTILINE,
)


def sniff(head: bytes) -> bool:
    """Tell whether a file's head is the output of an mqadmin command."""
    return bool(_HEADER.search(head[:4096]))
