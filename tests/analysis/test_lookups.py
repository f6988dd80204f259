"""Look-ups read out of sessions and logs: the command, its id, what came of it."""

from typing import Any

import pytest
import recorded

from kit.analysis.messages.lookups import Lookup, parse

UNIQ = "0A142C1500000C387F4466D0D88B0000"
OFFSET = "0A142C0B00002A9F00000000000004AA"
THROWN = "org.apache.rocketmq.tools.command.SubCommandException: {}SubCommand command failed\n"
CONNECT = "RemotingConnectException: connect to 10.20.44.{} failed"


def read(text: str, file: str = "session.txt") -> list[Lookup]:
    return parse((file, n, line) for n, line in enumerate(text.split("\n"), 1))


def test_every_recorded_lookup_is_read() -> None:
    lookups = {}
    for name in ("message-identity", "healthy-traced"):
        for file, data in recorded.files(name, "**/mqadmin/*").items():
            lookups |= {(name, file.rsplit("/", 1)[1]): one for one in read(data.decode(), file)}
    failed = {
        ("message-identity", "queryMsgById.txt"): ("no-message", ("null",)),
        ("message-identity", "queryMsgById-2.txt"): ("connect", (UNIQ,)),
    }
    found = {
        ("message-identity", "queryMsgByUniqueKey.txt"), ("healthy-traced", "queryMsgById.txt"),
        ("healthy-traced", "queryMsgByUniqueKey.txt"), ("healthy-traced", "queryMsgTraceById.txt"),
    }  # fmt: skip
    assert {key: (one.reason, one.ids) for key, one in lookups.items() if one.reason} == failed
    assert {key for key, one in lookups.items() if one.found} == found == lookups.keys() - failed.keys()


SESSION = (
    f"[root@h bin]# sh mqadmin queryMsgById -n a:9876 -i {UNIQ}\n"
    f"{THROWN.format('QueryMsgById')}"
    "Caused by: org.apache.rocketmq.client.exception.MQClientException: CODE: 208  DESC: query message by id finished, but no message.\n"
    "[root@h bin]# sh mqadmin topicStatus -n a:9876 -t gone\n"
    f"{THROWN.format('TopicStatus')}"
    "Caused by: ...: CODE: 17  DESC: No topic route info\n"
    f"[root@h bin]# sh mqadmin queryMsgByUniqueKey -n a:9876 -t t --msgId '{OFFSET}'\n"
    "Topic:               t\nCommitLog Offset:    1194"
)


@pytest.mark.parametrize(
    ("text", "lookups"),
    [
        # A failure belongs to the command above it.
        (SESSION, [
            {"command": "queryMsgById", "ids": (UNIQ,), "reason": "no-message", "found": False, "line": 1, "failed_line": 3},
            {"command": "queryMsgByUniqueKey", "ids": (OFFSET,), "reason": None, "found": True, "line": 7, "failed_line": None},
        ]),
        # Only the error is left.
        (THROWN.format("QueryMsgById") + CONNECT.format("21:3128"), [
            {"command": "queryMsgById", "ids": (), "reason": "connect", "address": "10.20.44.21:3128"},
        ]),
        (f"mqadmin queryMsgById -n a:9876 -i {OFFSET},{UNIQ}", [{"ids": (OFFSET, UNIQ)}]),
        ("at org.apache.rocketmq.tools.command.message.QueryMsgByIdSubCommand.execute(QueryMsgByIdSubCommand.java:253)", []),
    ],
)  # fmt: skip
def test_sessions(text: str, lookups: list[dict[str, Any]]) -> None:
    parsed = read(text)
    shown = [{name: getattr(one, name) for name in wanted} for one, wanted in zip(parsed, lookups, strict=True)]
    assert shown == lookups


def test_a_connection_to_anywhere_else_is_not_the_ids_fault() -> None:
    for port, failed in (("11:10911", False), ("21:3128", True)):
        [one] = read(f"mqadmin queryMsgById -i {UNIQ}\n{CONNECT.format(port)}")
        one.wrong = True
        assert one.failed_by_kind is failed
        one.found = True
        assert not one.failed_by_kind
