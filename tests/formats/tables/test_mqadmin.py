"""mqadmin outputs: every shape of reference §10, and those of the recordings."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import texts
from table import rows_of

from kit.formats.tables import mqadmin


def fields(text: str) -> dict[tuple[int, str], str | None]:
    return {(block, name): value for _, _, block, name, value in mqadmin.parse(text.encode())}


def command(text: str) -> str | None:
    return [c for _, c, _, _, _ in mqadmin.parse(text.encode())][-1]


BY_ID = """\
OffsetID:            C0A8000A00002A9F0000000000000D2C
Topic:               TopicT
Tags:                [tagT]
Queue Offset:        2
Born Timestamp:      2024-05-14 10:22:31,041
System Flag:         8
Properties:          {REAL_TOPIC=TopicT, TRAN_MSG=true}
Message Body Path:   /tmp/rocketmq/msgbodys/X


MessageTrack [consumerGroup=a, trackType=NOT_ONLINE, exceptionDesc=CODE:206 DESC:the consumer group[a] not online]MessageTrack [consumerGroup=b, trackType=CONSUMED, exceptionDesc=null]
"""
CLUSTER = """\
#Cluster Name     #Broker Name            #BID  #Addr                  #Version                #InTPS(LOAD)       #OutTPS(LOAD) #PCWait(ms) #Hour #SPACE
DefaultCluster    broker-a                0     10.20.81.11:10911      V4_6_0                   0.00(0,0ms)         0.00(0,0ms)          0 498663.32 -1.0000
DefaultCluster    broker-b                1     fd20:45::11:10911      V4_6_0                   0.00(0,0ms)         0.00(0,0ms)          0 1.20 0.5000
"""
CLUSTER_5 = """\

#Cluster Name           #Broker Name            #BID  #Addr                  #Version              #InTPS(LOAD)     #OutTPS(LOAD)  #Timer(Progress)        #PCWait(ms)  #Hour         #SPACE    #ACTIVATED
DefaultCluster          broker-a                0     10.20.91.11:10911      V5_1_4                 0.00(0,0ms)       0.00(0,0ms)  0-0(0.0w, 0.0, 0.0)               0  498663.56     0.2500          true
"""
PROGRESS = """\
RocketMQLog:WARN No appenders could be found for logger (io.netty.util.internal.PlatformDependent0).
RocketMQLog:WARN Please initialize the logger system properly.
#Topic                            #Broker Name                      #QID  #Broker Offset        #Consumer Offset      #Client IP           #Diff                 #LastTime
%RETRY%rcg_loyalty-core_svc-paym  broker-a                          0     29                    27                    N/A                  2                     2026-11-20 23:09:45
orders                            broker-a                          1     0                     0                                          0                     N/A

Consume TPS: 6.47
Diff Total: 2
"""
FAILED = """\
org.apache.rocketmq.tools.command.SubCommandException: QueryMsgByIdSubCommand command failed
\tat org.apache.rocketmq.tools.command.message.QueryMsgByIdSubCommand.execute(QueryMsgByIdSubCommand.java:253)
Caused by: org.apache.rocketmq.client.exception.MQClientException: CODE: 208  DESC: query message by id finished, but no message.
For more information, please visit the url, http://rocketmq.apache.org/docs/faq/
\tat org.apache.rocketmq.client.impl.MQAdminImpl.viewMessage(MQAdminImpl.java:264)
\t... 2 more
"""


def test_labels_and_tracks() -> None:
    found = fields(BY_ID)
    assert (found[1, "OffsetID"], found[1, "Queue Offset"], found[1, "Born Timestamp"]) == (
        "C0A8000A00002A9F0000000000000D2C",
        "2",
        "2024-05-14 10:22:31,041",
    )
    assert (found[2, "consumerGroup"], found[2, "exceptionDesc"]) == (
        "a",
        "CODE:206 DESC:the consumer group[a] not online",
    )
    assert (found[3, "consumerGroup"], found[3, "trackType"]) == ("b", "CONSUMED")
    assert command(BY_ID) == "queryMsgById"
    two = fields(BY_ID.split("\n", 1)[1].split("\n\n")[0] + "\n" + BY_ID.split("\n", 1)[1])
    assert (two[1, "Topic"], two[2, "Topic"]) == ("TopicT", "TopicT")


def test_tables_give_a_field_for_each_cell() -> None:
    found = fields(CLUSTER)
    assert (found[1, "#Addr"], found[1, "#InTPS(LOAD)"], found[1, "#Hour"], found[1, "#SPACE"]) == (
        "10.20.81.11:10911",
        "0.00(0,0ms)",
        "498663.32",
        "-1.0000",
    )
    assert (found[2, "#Addr"], found[2, "#BID"]) == ("fd20:45::11:10911", "1")
    five = fields(CLUSTER_5)
    assert (five[1, "#Timer(Progress)"], five[1, "#PCWait(ms)"], five[1, "#ACTIVATED"]) == (
        "0-0(0.0w, 0.0, 0.0)",
        "0",
        "true",
    )
    assert command(CLUSTER) == command(CLUSTER_5) == "clusterList"


def test_progress_with_an_empty_cell_and_totals() -> None:
    found = fields(PROGRESS)
    assert (found[1, "#Topic"], found[1, "#Diff"], found[1, "#LastTime"]) == (
        "%RETRY%rcg_loyalty-core_svc-paym",
        "2",
        "2026-11-20 23:09:45",
    )
    assert (found[2, "#Consumer Offset"], found[2, "#Diff"], found[2, "#LastTime"]) == ("0", "0", "N/A")
    assert (2, "#Client IP") not in found
    assert (found[0, "Consume TPS"], found[0, "Diff Total"]) == ("6.47", "2")
    assert not any(name == "text" for _, name in found)


def test_failure_names_reason_and_argument() -> None:
    found = fields(
        "[root@b bin]# sh mqadmin queryMsgById -n 10.20.44.10:9876 -i 0A142C1500000C387F4466D0D88B0000\n" + FAILED
    )
    assert found[0, "argument:-i"] == "0A142C1500000C387F4466D0D88B0000"
    assert found[0, "error"] == "CODE: 208  DESC: query message by id finished, but no message."
    assert found[0, "exception"] == "org.apache.rocketmq.client.exception.MQClientException"
    assert command(FAILED) == "queryMsgById"


@pytest.mark.parametrize(
    ("text", "name", "expected", "key", "value"),
    rows_of(__file__, "each_command_is_recognised_and_its_fields_are_read"),
)
def test_each_command_is_recognised_and_its_fields_are_read(
    text: str, name: str, expected: list[Any], key: list[Any], value: str
) -> None:
    found = fields(text)
    assert tuple(expected) in found
    assert found[tuple(key)] == value
    assert command(text) == name
    assert mqadmin.sniff(text.encode())


def test_what_is_no_output() -> None:
    assert not mqadmin.sniff(b"2024-05-14 10:22:31 WARN main - we ran\n$ mqadmin clusterList -n x\n")
    assert not mqadmin.sniff(b"order_id,status\n1,PAID\n")


@pytest.mark.parametrize("name", ["healthy", "healthy-5", "healthy-traced", "message-identity"])
def test_no_line_of_a_recorded_output_is_left_as_text(name: str) -> None:
    outputs = {path: data for path, data in texts(name).items() if "/mqadmin/" in path}
    assert outputs
    for path, data in outputs.items():
        assert mqadmin.sniff(data[:8192]), path
        rows = list(mqadmin.parse(data))
        assert {c for _, c, _, _, _ in rows} == {path.rsplit("/", 1)[1].split("-")[0].removesuffix(".txt")}
        assert not [r for r in rows if r[3] == "text"], path


def test_rows_with_empty_lines_between_them_are_rows() -> None:
    # As copied from a page: cells one blank apart, a blank line behind each row; what comes below the table is none of its rows.
    one, two = PROGRESS.splitlines()[3:5]
    copied = "\n\n".join(
        " ".join(line.split()) for line in (PROGRESS.splitlines()[2], one, two.replace("  0 ", " N/A 0 ", 1))
    )
    found = fields(f"{copied}\n\nsome words of mine below it\n")
    assert found[1, "#Consumer Offset"] == "27" and found[1, "#LastTime"] == "2026-11-20 23:09:45"
    assert found[2, "#Topic"] == "orders" and found[2, "text"] == "some words of mine below it"


WITHIN = f"""\
2024-05-14 10:22:31 WARN main - Offset 5 not matched. Request offset: 7, firstOffset: 0
> {CLUSTER.replace(chr(10), chr(10) + "> ").rstrip("> ")}
what do you think, why is this so?
2024-05-14 10:22:32 WARN PullMessageThread_1 - the consumer's group info not exist, group: g1
$ sh mqadmin consumerProgress -n 10.0.0.1:9876 -g orders_group
{PROGRESS}
2024-05-14 10:22:33 INFO  RocketmqClient - rocketmq.log.maxFileIndex = 10
"""


def test_tables_between_log_lines() -> None:
    assert mqadmin.is_quoted(WITHIN.encode()) and not mqadmin.sniff(WITHIN.encode())
    found = list(mqadmin.parse_quoted(WITHIN.encode()))
    lines = WITHIN.split("\n")
    rows = {(line, command) for line, command, block, _, _ in found if block}
    assert [(lines[line - 1].lstrip("> ").split()[0], command) for line, command in sorted(rows)] == [
        ("DefaultCluster", "clusterList"),
        ("DefaultCluster", "clusterList"),
        ("%RETRY%rcg_loyalty-core_svc-paym", "consumerProgress"),
        ("orders", "consumerProgress"),
    ]
    named = {(line, name): value for line, _, _, name, value in found}
    assert [v for (_, name), v in named.items() if name == "#Version"] == ["V4_6_0", "V4_6_0"]
    assert [v for (_, name), v in named.items() if name in ("argument:-g", "Diff Total")] == ["orders_group", "2"]
    assert "text" not in {name for _, name in named}


@pytest.mark.parametrize("text", ["#Topic of the day: brokers", "see #Cluster Name", "# Topic\nlog"])
def test_what_holds_no_table(text: str) -> None:
    assert not mqadmin.is_quoted(f"2024-05-14 10:22:31 WARN main - x\n{text}\n".encode())


def test_what_a_shell_says_below_a_table_is_no_row() -> None:
    text = CLUSTER + "-bash: 10.0.0.2:9876: command not found\n"
    last = CLUSTER.count("\n") + 1
    assert [(name, value) for line, _, _, name, value in mqadmin.parse(text.encode()) if line == last] == [
        ("text", "-bash: 10.0.0.2:9876: command not found")
    ]


def test_connections_as_the_dashboard_lists_them() -> None:
    text = "two have one id\nClientId | ClientAddr | Language | Version\n172.17.0.1@170 | 10.0.0.2:48864 | JAVA | V4_5_1\n> 172.17.0.1@170\t10.0.0.3:48112\tGO\tV4_9_4\nwhy?\n"
    assert mqadmin.is_quoted(text.encode())
    rows = [(line, name, value) for line, _, block, name, value in mqadmin.parse_quoted(text.encode()) if block]
    assert rows == [
        (3, "#ClientId", "172.17.0.1@170"),
        (3, "#ClientAddr", "10.0.0.2:48864"),
        (3, "#Language", "JAVA"),
        (3, "#Version", "V4_5_1"),
        (4, "#ClientId", "172.17.0.1@170"),
        (4, "#ClientAddr", "10.0.0.3:48112"),
        (4, "#Language", "GO"),
        (4, "#Version", "V4_9_4"),
    ]
