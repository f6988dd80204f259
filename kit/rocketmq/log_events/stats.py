"""Known texts of the broker's stats.log about consuming: how far a group's pulls are behind, by queue (common/stats/MomentStatsItem, store/stats/BrokerStatsManager).

`[GROUP_GET_FALL_TIME] [queue id@topic@group]`: ms between the newest record and the last one that a pull took, set at each pull and printed every five minutes, then set to 0.
"""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_events.event import Event

_KEY = r"\[(?P<queue_id>\d+)@(?P<topic>[^@\]]*)@(?P<group>[^\]]*)\]"

EVENTS: Final[tuple[Event, ...]] = (
    Event("group-falls-behind", "[GROUP_GET_FALL_TIME] [", rf"\[GROUP_GET_FALL_TIME\] {_KEY} Stats Every 5 Minutes, Value: (?P<behind_ms>\d+)", "stats", "INFO", "store/stats/BrokerStatsManager.recordDiskFallBehindTime",
          "[GROUP_GET_FALL_TIME] [2@orders@points] Stats Every 5 Minutes, Value: 402177", harmless=None),
    Event("group-bytes-behind", "[GROUP_GET_FALL_SIZE] [", rf"\[GROUP_GET_FALL_SIZE\] {_KEY} Stats Every 5 Minutes, Value: (?P<behind_bytes>\d+)", "stats", "INFO", "store/stats/BrokerStatsManager.recordDiskFallBehindSize",
          "[GROUP_GET_FALL_SIZE] [2@orders@points] Stats Every 5 Minutes, Value: 43520", harmless=None),
)  # fmt: skip
