"""mqadmin's consumer commands of 4.x and 5.x, from texts as RocketMQ's tools print them."""

from __future__ import annotations

from kit.formats.tables import mqadmin


def rows(text: str) -> list[dict[str, str | None]]:
    """Return the rows of an output: its cells by name, in order."""
    found: dict[int, dict[str, str | None]] = {}
    for _, _, block, name, value in mqadmin.parse(text.encode()):
        if block:
            found.setdefault(block, {})[name] = value
    return list(found.values())


OLD_CONNECTION = """$ mqadmin consumerConnection -n 10.0.0.1:9876 -g sms
001  172.17.0.2@1                     10.0.0.22:60204     JAVA     V4_7_1
002  172.17.0.2@1                     10.0.0.23:46358     JAVA     V4_7_1

Below is subscription:001  Topic: %RETRY%sms                   SubExpression: *
002  Topic: sms-order                                SubExpression: PAID || SENT
ConsumeType: CONSUME_PASSIVELY
"""
CONNECTION = """#ClientId                            #ClientAddr            #Language  #Version
10.0.0.22@31154#24644                10.0.0.22:41330        JAVA       V4_9_4

Below is subscription:
#Topic               #SubExpression
order-paid           PAID || SENT
"""
RUNNING = """#Consumer Properties#
consumeThreadMax                        : 8
consumerGroup                           : points


#Consumer Subscription#
001 Topic: %RETRY%points                            ClassFilter: false    SubExpression: *
002 Topic: order-paid                               ClassFilter: false    SubExpression: a > 1 AND b IS NOT NULL


#Consumer Offset#
#Topic                            #Broker Name                      #QID  #Consumer Offset
order-paid                        broker-a                          0     267


#Consumer MQ Detail#
#Topic                            #Broker Name                      #QID  #ProcessQueueInfo
order-paid                        broker-a                          0     ProcessQueueInfo [commitOffset=267, cachedMsgMinOffset=267, cachedMsgCount=209, locked=false]


#Consumer RT&TPS#
#Topic                  #Pull RT      #Pull TPS    #Consume RT #ConsumeOK TPS #ConsumeFailed TPS  #ConsumeFailedMsgsInHour
order-paid                 83.62          32.00         334.78          17.42               0.00                         0


#Consumer jstack#
main      TID: 1 STATE: WAITING
main      app//App.main(App.java:1)
"""
ROUTE = """$ mqadmin topicRoute -n 10.0.0.1:9876 -t pay
{
	"brokerDatas":[
		{
			"brokerAddrs":{0:"172.17.0.3:10911",1:"172.17.0.4:10911"
			},
			"brokerName":"broker-a",
			"cluster":"DefaultCluster"
		}
	],
	"queueDatas":[
		{
			"brokerName":"broker-a",
			"perm":6,
			"readQueueNums":4,
			"writeQueueNums":4
		}
	]
}
"""
RESET = """rollback consumer offset by specified group[wallet], topic[wallet-event], force[true], timestamp(string)[now], timestamp(long)[1795304331249]
#brokerName                               #queueId                                  #offset
broker-a                                  0                                         94
"""
PROGRESS_5 = """#Topic   #Broker Name  #QID  #Broker Offset  #Consumer Offset  #Client IP     #Diff  #Inflight  #LastTime
orders   broker-a      0     572             225               10.0.0.22@1    347    12         2026-11-22 07:06:51
"""


def test_connections_before_4_8_have_no_table_head() -> None:
    first, second, retry, topic, *_ = rows(OLD_CONNECTION)
    assert (first["#ClientId"], first["#ClientAddr"]) == ("172.17.0.2@1", "10.0.0.22:60204")
    assert second["#ClientAddr"] == "10.0.0.23:46358"
    assert (retry["#Topic"], topic["#SubExpression"]) == ("%RETRY%sms", "PAID || SENT")


def test_an_expression_with_blanks_is_one_cell() -> None:
    assert rows(CONNECTION)[-1] == {"#Topic": "order-paid", "#SubExpression": "PAID || SENT"}


def test_a_running_info_file_gives_its_sections_and_no_stacks() -> None:
    fields = list(mqadmin.parse(RUNNING.encode()))
    assert {command for _, command, _, _, _ in fields} == {"consumerRunningInfo"}
    assert (0, "consumerGroup", "points") in {(block, name, value) for _, _, block, name, value in fields}
    _, subscription, offset, queue, times = rows(RUNNING)
    assert subscription["#SubExpression"] == "a > 1 AND b IS NOT NULL"
    assert offset["#Consumer Offset"] == "267"
    assert (queue["commitOffset"], queue["cachedMsgCount"], queue["#QID"]) == ("267", "209", "0")
    assert times["#Consume RT"] == "334.78"
    assert not any("App.main" in (value or "") for _, _, _, _, value in fields)


def test_a_running_info_file_is_recognised_by_its_head() -> None:
    assert mqadmin.sniff(RUNNING.encode())


def test_a_route_gives_addresses_and_queues() -> None:
    master, slave, queues = rows(ROUTE)
    assert (master["#BID"], master["#Addr"], slave["#Addr"]) == ("0", "172.17.0.3:10911", "172.17.0.4:10911")
    assert (queues["#Broker Name"], queues["readQueueNums"], queues["perm"]) == ("broker-a", "4", "6")


def test_a_reset_says_group_time_and_the_new_offsets() -> None:
    told = {name: value for _, _, block, name, value in mqadmin.parse(RESET.encode()) if not block}
    assert (told["group"], told["topic"], told["timestamp(long)"]) == ("wallet", "wallet-event", "1795304331249")
    assert rows(RESET) == [{"#brokerName": "broker-a", "#queueId": "0", "#offset": "94"}]


def test_progress_of_5_has_the_messages_in_flight() -> None:
    (row,) = rows(PROGRESS_5)
    assert (row["#Consumer Offset"], row["#Inflight"], row["#LastTime"]) == ("225", "12", "2026-11-22 07:06:51")
