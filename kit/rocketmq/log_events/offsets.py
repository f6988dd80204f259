"""Known texts about offsets that move by more than was consumed: deleted messages, resets, positions beyond the end (broker, client, mqadmin)."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_events.event import Event

_PULL = "broker/processor/PullMessageProcessor, DefaultPullMessageResultHandler (5.1.0+)"
_ADMIN = "broker/client/net/Broker2Client.resetOffset"

EVENTS: Final[tuple[Event, ...]] = (
    # The broker, on pulls.
    Event("offset-too-small", "the request offset too small. group=",
          r"too small\. group=(?P<group>[^,]*), topic=(?P<topic>[^,]*), requestOffset=(?P<requested>-?\d+), brokerMinOffset=(?P<min_offset>-?\d+), clientIp=/?(?P<address>\S+)", "broker", "INFO", _PULL,
          "the request offset too small. group=points, topic=orders, requestOffset=89, brokerMinOffset=560, clientIp=/10.20.44.22:35926"),
    Event("offset-corrected", "PULL_OFFSET_MOVED:correction offset. topic=",
          r"correction offset\. topic=(?P<topic>[^,]*), groupId=(?P<group>[^,]*), requestOffset=(?P<requested>-?\d+), newOffset=(?P<next>-?\d+)", "broker", "WARN", _PULL,
          "PULL_OFFSET_MOVED:correction offset. topic=orders, groupId=points, requestOffset=89, newOffset=560, suggestBrokerId=0"),
    Event("offset-not-corrected", "PULL_OFFSET_MOVED:none correction. topic=",
          r"none correction\. topic=(?P<topic>[^,]*), groupId=(?P<group>[^,]*), requestOffset=(?P<requested>-?\d+)", "broker", "WARN", f"{_PULL}: a slave corrects nobody's offset (offsetCheckInSlave=false)",
          "PULL_OFFSET_MOVED:none correction. topic=orders, groupId=points, requestOffset=897, suggestBrokerId=0"),
    Event("offset-overflow", " over flow badly, ", r"request offset: (?P<requested>-?\d+) over flow badly, (?:fix to (?P<next>-?\d+), )?broker max offset: (?P<max_offset>-?\d+), consumer: /?(?P<address>\S+)", "broker", "INFO", _PULL,
          "the request offset: 897 over flow badly, broker max offset: 403, consumer: /10.20.44.22:55700"),
    Event("offset-reset-on-pull", "The queue under pulling was previously reset to start from ", r"reset to start from (?P<next>-?\d+)", "broker", "INFO", f"{_PULL}: useServerSideResetOffset",
          "The queue under pulling was previously reset to start from 94", since="5.0.0"),
    # Resets: who asked, who was told.
    Event("offset-reset-started", "[reset-offset] reset offset started by ",
          r"started by (?P<address>[^\s]+?)\. topic=(?P<topic>[^,]*), group=(?P<group>[^,]*), timestamp=(?P<timestamp>-?\d+), isForce=(?P<force>\w+)", "broker", "INFO", "broker/processor/AdminBrokerProcessor.resetOffset",
          "[reset-offset] reset offset started by 10.20.29.11:55918. topic=orders, group=points, timestamp=1795304331249, isForce=true"),
    Event("offset-reset-done", "[reset-offset] reset offset success. topic=", r"success\. topic=(?P<topic>[^,]*), group=(?P<group>[^,]*), clientId=(?P<client_id>\S+)", "broker", "INFO", _ADMIN,
          "[reset-offset] reset offset success. topic=orders, group=points, clientId=10.20.44.22@23509"),
    Event("offset-reset-client", "invoke reset offset operation from broker. brokerAddr=", r"brokerAddr=(?P<broker_address>[^,]*), topic=(?P<topic>[^,]*), group=(?P<group>[^,]*), timestamp=(?P<timestamp>-?\d+)", "client", "INFO",
          "client/impl/ClientRemotingProcessor.resetOffset", "invoke reset offset operation from broker. brokerAddr=10.20.29.11:10911, topic=orders, group=points, timestamp=1795304331249"),
    Event("offset-reset-command", ("consumer offset by specified group[", "consumer offset by specified consumerGroup[", "reset consumer offset by specified, group["),
          r"by specified,? (?:g|consumerG)roup\[(?P<group>[^\]]*)\], topic\[(?P<topic>[^\]]*)\](?:, queueId\[(?P<queue_id>\d+)\])?.{0,200}?timestamp\(long\)\[(?P<timestamp>-?\d+)\]", "mqadmin text", "",
          "tools/command/offset/ResetOffsetByTimeCommand, ResetOffsetByTimeOldCommand", "rollback consumer offset by specified group[points], topic[orders], force[true], timestamp(string)[1795304331249], timestamp(long)[1795304331249]"),
    # A group that is new, and what clean-up took away.
    Event("group-created", "auto create a subscription group, ", r"SubscriptionGroupConfig ?[\[{]groupName='?(?P<group>[^',]+)", "broker", "INFO", "broker/subscription/SubscriptionGroupManager.findSubscriptionGroupConfig",
          "auto create a subscription group, SubscriptionGroupConfig [groupName=points, consumeEnable=true]", harmless=True),
    Event("queue-min-offset", "Compute logical min offset: ", r"min offset: (?P<min_offset>\d+), topic: (?P<topic>[^,]*), queueId: (?P<queue_id>\d+)", "store", "INFO", "store/ConsumeQueue.correctMinOffset",
          "Compute logical min offset: 249, topic: orders, queueId: 0", harmless=True),
    Event("store-file-deleted", "delete file[REF:", r"delete file\[REF:-?\d+\] (?P<path>.{1,300}?) (?P<how>OK|Failed), W:", "store", "INFO", "store/MappedFile.destroy",
          "delete file[REF:0] /home/rocketmq/store/commitlog/00000000000000000000 OK, W:1048576 M:1048576, 2", harmless=True),
)  # fmt: skip
