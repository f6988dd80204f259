"""Known problems of delayed messages: the delay levels (SCHEDULE_TOPIC_XXXX) and the timer wheel of 5.x."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

_SCHEDULE: Final = ("store/ScheduleMessageService", "broker/ScheduleMessageService")
_TIMER: Final = (
    "store/TimerMessageStore",
    "store/TimerLog",
    "store/TimerWheel",
    "store/TimerCheckpoint",
    "store/TimerMetrics",
)

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "delay-offset-invalid",
        T("The progress of a delay level does not match its queue"),
        ("schedule CQ offset invalid. offset=",),
        T(
            "delayOffset.json holds an offset in front of the first or behind the last entry of the level's queue. The level continues at the first (or last) entry: messages in between are delivered late, twice or not at all."
        ),
        T(
            "Compare delayOffset.json with the minimum and maximum printed; was config/ restored, or the master switched?"
        ),
        "store/schedule/ScheduleMessageService.DeliverDelayedMessageTimerTask",
        decides=T(
            "Below the minimum: the broker was away longer than fileReservedTime. Above the maximum: the store lost its end, or delayOffset.json is another broker's."
        ),
        remedy=T("Let it correct itself; deliver what was skipped by resending from the SCHEDULE topic's records."),
        risk=T("Setting the offset back delivers again what was delivered before."),
        verdict="confirmed",
    ),
    problem(
        "delay-offset-outside",
        T("A delay level reads outside its queue again and again"),
        ("ScheduleMessageTimerThread{}Offset not matched. Request offset",),
        T(
            "delayOffset.json points beyond the level's queue (a cut store, a restored or truncated file), and up to 4.9.1 nothing corrects it: the level delivers nothing any more."
        ),
        T(
            "Compare delayOffset.json with the queue's largest offset (brokerStatus prints scheduleMessageOffset as two numbers)."
        ),
        "store/schedule/ScheduleMessageService, store/MappedFileQueue.findMappedFileByOffset",
        remedy=T(
            "Stop the broker, set the level's number in delayOffset.json to the queue's end, start; or upgrade to 4.9.2 or later, which corrects it."
        ),
        risk=T("A number that is too small delivers messages again."),
        verdict="confirmed",
        least=3,
        until="4.9.1",
        fixed="4.9.2 (#3358)",
        printed="storeerror.log",
        example="2020-03-18 16:38:06 WARN ScheduleMessageTimerThread - Offset not matched. Request offset: 9000000, firstOffset: 0, lastOffset: 6000000, mappedFileSize: 6000000, mappedFiles count: 1",
    ),
    problem(
        "delay-offset-corrected",
        T("The progress of a delay level was corrected at the start"),
        ("correct delay offset [ delayLevel", "correctDelayOffset exception"),
        T("At load the offset of a level lay outside its queue and was moved to the nearest end (4.9.2 and later)."),
        T("The two numbers printed: what lies between was skipped or is delivered again."),
        "store/schedule/ScheduleMessageService.correctDelayOffset",
        remedy=T("Check the skipped range in SCHEDULE_TOPIC_XXXX and resend what was due."),
        risk=T("Consumers see repeated messages where the offset went back."),
        verdict="confirmed",
    ),
    problem(
        "config-file-damaged",
        T("A configuration file of the broker cannot be read"),
        (
            "failed, and try to load backup file",
            "Load local offset store bak file exception",
            "load json consumerOffset info failed",
            "load topic config from json file error",
        ),
        T(
            "topics.json, consumerOffset.json, delayOffset.json or another file of config/ is cut or damaged, mostly by a full disk or a kill while writing. Its .bak is tried; without both the broker starts with an empty table: topics vanish, offsets begin again, delay levels start over."
        ),
        T("Which file is named? Is it empty, cut, or full of zeros? Compare with its .bak and with the slave's copy."),
        "common/ConfigManager.load",
        decides=T("Zeros or a cut file after power loss: the rename was not flushed. A full disk: the size is 0."),
        remedy=T("Stop the broker, restore the file from .bak or the slave, start again."),
        risk=T("A broker that runs with an empty table writes it back over the good one."),
        verdict="confirmed",
        classes=("common/ConfigManager",),
    ),
    problem(
        "config-load-failed",
        T("A configuration file and its backup could not be loaded"),
        (
            "load {}consumerOffset.json{} Failed",
            "load {}topics.json{} Failed",
            "load {}delayOffset.json{} Failed",
            "load {}subscriptionGroup.json{} Failed",
        ),
        T(
            "Neither the file nor its .bak could be parsed. The broker refuses to start or starts with nothing in that table."
        ),
        T("Look at both files byte by byte; take the slave's copy."),
        "common/ConfigManager.loadBak",
        remedy=T("Restore the file from the slave or a backup before starting."),
        risk=T("Starting without consumerOffset.json makes each group begin anew."),
        verdict="confirmed",
        example="load /root/store/config/delayOffset.json.bak Failed",
    ),
    problem(
        "config-not-persisted",
        T("The broker cannot write its configuration files"),
        (
            "persist file {} exception",
            "schedule persist consumerOffset error",
            "failed to persist config file of consumer",
            "persist kvconfig Exception",
            "persistAll consumer offset Exception",
        ),
        T(
            "Offsets, topics or groups are changed in memory but not on disk. After a restart consumers repeat what they did since the last good write."
        ),
        T("Free space, inodes and permissions of the config folder."),
        "common/ConfigManager.persist",
        remedy=T("Make the folder writable; the next interval writes everything."),
        risk=T("A restart before that goes back to the old offsets."),
        verdict="confirmed",
        least=2,
    ),
    problem(
        "delay-delivery-failed",
        T("A due delayed message could not be delivered"),
        (
            "a message time up, but reput it failed",
            "ScheduleMessageService put message failed",
            "ScheduleMessageService put message exceptionally",
            "ScheduleMessageService resend not found message",
            "Resend message error, info:",
        ),
        T(
            "Writing a due message to its real topic was refused or failed. It is tried again, and its level waits behind it."
        ),
        T("The status in the line: size, disk full, slave, page cache busy."),
        "store/schedule/ScheduleMessageService",
        cause="schedule-blocked",
        verdict="suspected",
    ),
    problem(
        "delay-dropped",
        T("A due delayed message was dropped"),
        ("messageTimeup execute error, drop it", "the real topic of schedule msg is {}, discard the msg"),
        T(
            "Delivering the message threw an exception or its real topic is the half topic; the level goes on without it (up to 4.9.2 for exceptions)."
        ),
        T("The message is printed: topic, keys, UNIQ_KEY. Resend it by hand if it was wanted."),
        "store/schedule/ScheduleMessageService",
        cause="retry-lost",
        verdict="confirmed",
    ),
    problem(
        "delay-level-dead",
        T("The thread of a delay level failed"),
        (
            "ScheduleMessageService, executeOnTimeup exception",
            "ScheduleMessageService, executeOnTimeUp exception",
            "ScheduleMessageService, messageTimeup execute error, offset",
            "ScheduleMessageService, messageTimeUp execute error, offset",
            "Timer already cancelled",
        ),
        T(
            "Delivering from one delay level threw an exception. Up to 4.9.1 the levels share one java.util.Timer: an error that is not caught ends it, and no delayed message of any level arrives any more until the restart."
        ),
        T("Does any level still advance in delayOffset.json? Is the exception repeated?"),
        "store/schedule/ScheduleMessageService",
        decides=T(
            "`Timer already cancelled`: all levels are dead. Repeated exceptions at one offset: one record blocks its level."
        ),
        remedy=T("Restart the broker; upgrade to 4.9.3 or later, where each level has its own task."),
        risk=T("Everything that is overdue is delivered at once after the restart."),
        verdict="suspected",
        until="4.9.2",
        fixed="4.9.3 (#3861) reschedules after an exception",
    ),
    problem(
        "delay-level-unparsable",
        T("messageDelayLevel cannot be parsed"),
        (
            "parseDelayLevel exception",
            "parse message delay level failed",
            "parse delay level failed. messageDelayLevel",
        ),
        T(
            "The setting messageDelayLevel holds something else than numbers with s, m, h or d. No delay level works, and the broker does not start."
        ),
        T("broker.conf: messageDelayLevel, including blanks and comments behind it."),
        "store/schedule/ScheduleMessageService.parseDelayLevel",
        remedy=T("Correct the value, for example `1s 5s 10s 30s 1m`."),
        risk=T("Changing the order of levels changes when waiting messages are due."),
        verdict="confirmed",
    ),
    problem(
        "delay-async-pressure",
        T("The asynchronous delivery of delayed messages is held back"),
        (
            "Asynchronous deliver triggers flow control",
            "Asynchronous deliver block",
            "deliverPendingTable level",
            "putResultProcess error, info",
            "putResultProcess skip, info",
            "HandlePutResultTask",
        ),
        T(
            "With enableScheduleAsyncDeliver (4.9.3 and later) more deliveries are under way than scheduleAsyncDeliverMaxPendingLimit; delayed messages come late."
        ),
        T("How far is the level behind (delayOffset.json)? Are writes slow?"),
        "broker/schedule/ScheduleMessageService",
        remedy=T("Relieve the store; the limit protects it."),
        risk=T("A higher limit delivers faster and loads the store more."),
        verdict="suspected",
        lasts=30.0,
    ),
    problem(
        "delay-other",
        T("The delay service reports a difficulty"),
        ("ScheduleMessageService onException, info",),
        T(
            "A line of the delay levels' service that does not stop them: saving the progress, stopping the executors, extended entries."
        ),
        T("Whether delayOffset.json advances afterwards."),
        "store/schedule/ScheduleMessageService",
        classes=_SCHEDULE,
    ),
    problem(
        "timer-refused",
        T("A timed message (5.x) was refused"),
        (
            "timer message illegal, the delay time should not be bigger than",
            "timer message is under flow control, max num limit",
            "accurate timer message is not enabled, timerWheelEnable is",
        ),
        T(
            "A message with TIMER_DELAY_SEC, TIMER_DELAY_MS or TIMER_DELIVER_MS was not accepted: the delay is longer than timerMaxDelaySec (3 days), too many are due in one slot, or the timer wheel is off."
        ),
        T("The text names which of the three; compare the delay with timerMaxDelaySec."),
        "broker/processor/SendMessageProcessor, broker/util/HookUtils.transformTimerMessage",
        remedy=T("Shorten the delay, raise timerMaxDelaySec, or spread the times."),
        risk=T("A larger wheel (timerMaxDelaySec) takes disk for as long."),
        verdict="confirmed",
    ),
    problem(
        "timer-disabled",
        T("The timer wheel is off"),
        (
            "skip revive topic because timerWheelEnable is false",
            "pop message is forbidden because timerWheelEnable is false",
            "The timer message store is null",
        ),
        T(
            "timerWheelEnable=false (or a mode that does not start it): timed messages are refused, and pop consumption cannot revive messages that were not acknowledged."
        ),
        T("timerWheelEnable in broker.conf."),
        "broker/processor/PopReviveService, PopMessageProcessor",
        remedy=T("timerWheelEnable=true and a restart."),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "timer-offset-behind",
        T("The timer wheel lost its place in the queue"),
        (
            "Timer currQueueOffset:{} is smaller than minOffsetInQueue",
            "Timer currQueueOffset:{} is larger than maxOffsetInQueue",
            "reviseQueueOffset check cq offset",
        ),
        T(
            "The timer's checkpoint points in front of or behind its system queue (rmq_sys_wheel_timer). It continues at the end of the range: timed messages in between are lost or delivered twice."
        ),
        T(
            "The checkpoint against the queue's minimum and maximum; was the store cut or restored? Before 5.3.2 a cut store leaves the checkpoint ahead (#7480)."
        ),
        "store/timer/TimerMessageStore",
        remedy=T("Upgrade to 5.3.2 or later; resend what was due in the skipped range."),
        risk=T("Moving the offset back repeats timed messages."),
        verdict="confirmed",
        since="5.0.0",
        until="5.3.1",
        fixed="5.3.2 (#7480) for a store that was cut",
    ),
    problem(
        "timer-message-unreadable",
        T("A timed message cannot be read back when it is due"),
        (
            "Fail to read msg from commit",
            "Skipping message due to unrecoverable error",
            "Skipping message due to unknown error",
            "Message processing failed after",
            "dequeue time:{} but read nothing from timer",
            "Unknown error in skipped in enqueuing",
        ),
        T(
            "The timer log points at a record the commitlog no longer has or that cannot be read; the timed message is dropped or tried again."
        ),
        T(
            "Is the delay longer than fileReservedTime (72 h by default)? Then the record was deleted before it was due."
        ),
        "store/timer/TimerMessageStore.DequeuePutMessageService",
        decides=T("Offsets in front of the first commitlog file: expired. Inside the range: damage."),
        remedy=T(
            "Keep fileReservedTime above the longest delay (timerMaxDelaySec, with roll every timerRollWindowSlot seconds)."
        ),
        risk=T("More reserved time needs more disk."),
        verdict="suspected",
        least=2,
    ),
    problem(
        "timer-retry",
        T("Writing a due timed message is tried again"),
        ("Retrying to do put timer msg retryNum", "Retrying to process message. Retry count"),
        T("A due timed message was refused by the store and is tried again."),
        T("The put status in the line; it resolves itself when the store accepts writes."),
        "store/timer/TimerMessageStore.doPut",
    ),
    problem(
        "timer-other",
        T("The timer wheel reports a difficulty"),
        ("Timer recheck because of minFirst", "[CheckAndReviseMetrics]", "Check latch failed delayedTime"),
        T("A line of the timer store (5.x) that does not stop delivery: metrics, recovery, shutdown."),
        T("timerDelay and the congestion numbers of brokerStatus."),
        "store/timer/TimerMessageStore",
        classes=_TIMER,
    ),
)
