"""Look-ups read out of sessions and logs: the command, its id, what came of it."""

from __future__ import annotations

import recorded

from kit.analysis.messages.lookups import Lookup, parse

UNIQ = "0A142C1500000C387F4466D0D88B0000"
OFFSET = "0A142C0B00002A9F00000000000004AA"


def read(text: str, file: str = "session.txt") -> list[Lookup]:
    return parse((file, n, line) for n, line in enumerate(text.split("\n"), 1))


def test_every_recorded_lookup_is_read() -> None:
    found = {}
    for name in ("message-identity", "healthy-traced"):
        for file, data in recorded.members(name).items():
            if "/mqadmin/" in file:
                found |= {(name, file.rsplit("/", 1)[1]): one for one in read(data.decode(), file)}
    assert set(found) == {
        ("message-identity", "queryMsgById.txt"), ("message-identity", "queryMsgById-2.txt"),
        ("message-identity", "queryMsgByUniqueKey.txt"), ("healthy-traced", "queryMsgById.txt"),
        ("healthy-traced", "queryMsgByUniqueKey.txt"), ("healthy-traced", "queryMsgTraceById.txt"),
    }  # fmt: skip
    failed = {key: (one.reason, one.ids) for key, one in found.items() if one.reason}
    assert failed == {
        ("message-identity", "queryMsgById.txt"): ("no-message", ("null",)),
        ("message-identity", "queryMsgById-2.txt"): ("connect", (UNIQ,)),
    }
    assert all(one.found for key, one in found.items() if key not in failed)


def test_a_failure_belongs_to_the_command_above_it() -> None:
    found = read(
        f"[root@h bin]# sh mqadmin queryMsgById -n a:9876 -i {UNIQ}\n"
        "org.apache.rocketmq.tools.command.SubCommandException: QueryMsgByIdSubCommand command failed\n"
        "Caused by: org.apache.rocketmq.client.exception.MQClientException: CODE: 208  DESC: query message by id finished, but no message.\n"
        "[root@h bin]# sh mqadmin topicStatus -n a:9876 -t gone\n"
        "org.apache.rocketmq.tools.command.SubCommandException: TopicStatusSubCommand command failed\n"
        "Caused by: ...: CODE: 17  DESC: No topic route info\n"
        f"[root@h bin]# sh mqadmin queryMsgByUniqueKey -n a:9876 -t t --msgId '{OFFSET}'\n"
        "Topic:               t\nCommitLog Offset:    1194"
    )
    assert [(o.command, o.ids, o.reason, o.found, o.line, o.failed_line) for o in found] == [
        ("queryMsgById", (UNIQ,), "no-message", False, 1, 3),
        ("queryMsgByUniqueKey", (OFFSET,), None, True, 7, None),
    ]


def test_only_the_error_is_left() -> None:
    found = read(
        "org.apache.rocketmq.tools.command.SubCommandException: QueryMsgByIdSubCommand command failed\n"
        "Caused by: org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to 10.20.44.21:3128 failed"
    )
    assert [(o.command, o.ids, o.reason, o.address) for o in found] == [
        ("queryMsgById", (), "connect", "10.20.44.21:3128")
    ]


def test_a_connection_to_anywhere_else_is_not_the_ids_fault() -> None:
    [one] = read(f"mqadmin queryMsgById -i {UNIQ}\nRemotingConnectException: connect to 10.20.44.11:10911 failed")
    one.wrong = True
    assert not one.failed_by_kind
    [one] = read(f"mqadmin queryMsgById -i {UNIQ}\nRemotingConnectException: connect to 10.20.44.21:3128 failed")
    one.wrong = True
    assert one.failed_by_kind
    one.found = True
    assert not one.failed_by_kind


def test_several_ids_and_lists() -> None:
    [one] = read(f"mqadmin queryMsgById -n a:9876 -i {OFFSET},{UNIQ}")
    assert one.ids == (OFFSET, UNIQ)
    assert (
        read(
            "at org.apache.rocketmq.tools.command.message.QueryMsgByIdSubCommand.execute(QueryMsgByIdSubCommand.java:253)"
        )
        == []
    )
