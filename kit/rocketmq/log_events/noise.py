"""Known texts that sound like trouble but are harmless; the other harmless ones are listed with their logs. Why each is
harmless: `kit.rocketmq.log_events.benign`.
"""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_events.event import Event

EVENTS: Final[tuple[Event, ...]] = (
    Event("disk-reclaim", "physic disk maybe full soon, so reclaim space", r"so reclaim space, (?P<ratio>-?[\d.]+)", "store", "INFO",
          "store/DefaultMessageStore.CleanCommitLogService", "physic disk maybe full soon, so reclaim space, 0.81", harmless=True, confirm=r"so reclaim space, [^-]"),
    Event("commitlog-folder-missing", "maybe full soon, so reclaim space, -1", r"so reclaim space, (?P<ratio>-1[\d.]*)", "store", "INFO",
          "store/DefaultMessageStore.CleanCommitLogService", "physic disk maybe full soon, so reclaim space, -1.0", harmless=True),
    Event("files-clean-up", "begin to delete before ", r"begin to delete before (?P<hours>\d+) hours file", "store", "INFO",
          "store/DefaultMessageStore.CleanCommitLogService", "begin to delete before 48 hours file. timeup: false spacefull: true manualDeleteFileSeveralTimes: 0", harmless=True),
    Event("magic-zero", "found a illegal magic code 0x0", r"illegal magic code (?P<magic>0x0)", "store", "WARN", "store/CommitLog.checkMessageAndReturnSize",
          "found a illegal magic code 0x0", harmless=True),
    Event("preallocated-deleted", "delete pre allocated maped file", r"delete pre allocated maped file, (?P<path>\S+)", "store", "INFO", "store/AllocateMappedFileService.shutdown",
          "delete pre allocated maped file, /home/rocketmq/store/commitlog/00000000000008388608", harmless=True),
    Event("pop-nothing-new", ", can not get new msg", r"reviveQueueId=(?P<queue_id>\d+), offset is (?P<offset>-?\d+), can not get new msg", "pop", "INFO",
          "broker/processor/PopReviveService", "reviveQueueId=1, offset is 0, can not get new msg, old endTime 0, new endTime 0, timerDelay=0, commitLogDelay=0", since="5.0.0", harmless=True),
    Event("no-appenders", "RocketMQLog:WARN No appenders could be found", r"No appenders could be found for logger \((?P<logger>[^)]*)\)", "mqadmin text", "",
          "logging/inner/Logger", "RocketMQLog:WARN No appenders could be found for logger (io.netty.util.internal.PlatformDependent0).", until="4.7.1", harmless=True),
)  # fmt: skip
