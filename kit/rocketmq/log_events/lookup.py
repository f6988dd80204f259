"""Known texts around message ids: look-ups that people type and what comes back, and what applications say they deduplicate by (reference §2, §10)."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_events.event import Event

_UNIQ = "0A14101500000C387F4466B662A40000"
_OFFSET = "0A14100B00002A9F0000000000001EE5"

EVENTS: Final[tuple[Event, ...]] = (
    Event("lookup-command", ("queryMsgById", "queryMsgByUniqueKey", "queryMsgTraceById", "decodeMessageId"),
          r"(?P<command>queryMsgById|queryMsgByUniqueKey|queryMsgTraceById|decodeMessageId)(?:[^\n]{0,300}?\s(?:-i|--msgId)[\s=]*[\"']?(?P<id>[^\s\"']+))?",
          "mqadmin text app", "", "tools/command/message", f"$ mqadmin queryMsgById -n 10.20.16.10:9876 -i {_UNIQ}", harmless=None),
    Event("lookup-failed", ("QueryMsgByIdSubCommand command failed", "QueryMsgByUniqueKeySubCommand command failed", "QueryMsgTraceByIdSubCommand command failed",
                            "query message by key finished, but no message", "MQAdminImpl.viewMessage(", "port out of range:"),
          r"(?:(?P<command>QueryMsg\w+?)SubCommand command failed|query message by key|MQAdminImpl\.viewMessage|port out of range: ?(?P<port>-?\d+))", "mqadmin text app", "ERROR", "tools/command/SubCommandException",
          "org.apache.rocketmq.tools.command.SubCommandException: QueryMsgByIdSubCommand command failed"),
    Event("lookup-found", ("CommitLog Offset:  ", "#ProducerGroup "), r"CommitLog Offset:\s+(?P<offset>\d+)", "mqadmin text", "", "tools/command/message/QueryMsgByIdSubCommand",
          "CommitLog Offset:    1194", harmless=True),
    Event("mqadmin-command", ("mqadmin ",), r"mqadmin(?:\.cmd)? +(?P<command>[A-Za-z]\w+)", "mqadmin text app", "", "tools/command/MQAdminStartup",
          "$ sh bin/mqadmin topicStatus -n 10.20.16.10:9876 -t orders", harmless=True),
    Event("dedup-key", ("dedupKey", "dedup_key", "dedup key", "dedup-key", "DedupKey", "DEDUP_KEY", "dedup id", "dedup_id", "dedup-id", "dedupMsg", "dedupeKey", "dedupe_key",
                        "deduplicat", "Deduplicat", "idempoten", "Idempoten", "IDEMPOTEN"),
          r"(?i)(?P<what>(?:dedup|idempoten)[^=:\n]{0,20}?)\s?[=:]\s?[\"'\[]?(?P<id>(?:[0-9A-F]{56}|[0-9A-F]{32}))", "app", "",
          "an application's own words", f"points granted, dedupKey={_OFFSET} keys=SO1 points=120", harmless=None, confirm=r"[0-9A-F]{32}"),
)  # fmt: skip
