"""The same refused sends as what keeps, shows and forwards logs hands them out; and what people paste, invented in RocketMQ's wording.

Importing this module adds them to `strange.ALL`."""

from __future__ import annotations

import json

from strange import files

REFUSED = 30
FIRST_IS_LOST = ("log-behind-a-hole", "log-behind-a-long-hole")
"""Their first line begins with zeros, and so has no time."""
ERROR = (
    "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control "
    "for a while, period in queue: 201ms, size of queue: 7"
)
TRACE = "\tat org.apache.rocketmq.client.impl.MQClientAPIImpl.processSendResponse(MQClientAPIImpl.java:668)"
EPOCH = 1_795_140_000


def head(s: int) -> str:
    return f"2026-11-20 10:00:{s:02}.123 [main] ERROR c.a.Orders - send failed order SX{s:05}"


def entry(s: int) -> str:
    return f"{head(s)}\n{ERROR}\n{TRACE}"


ENTRIES = [entry(s) for s in range(REFUSED)]
LINES = [line for each in ENTRIES for line in each.split("\n")]
LOG = "\n".join(LINES) + "\n"


def rows(made: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in made)


files(
    "exports",
    {
        "elasticsearch/hits.ndjson": rows(
            [
                {
                    "_index": "x",
                    "_id": f"v{s}",
                    "_source": {"@timestamp": f"2026-11-20T02:00:{s:02}.123Z", "message": each},
                }
                for s, each in enumerate(ENTRIES)
            ]
        ),
        "splunk/results.json": rows(
            [
                {"preview": False, "result": {"_raw": each, "_time": f"2026-11-20T10:00:{s:02}.123+08:00"}}
                for s, each in enumerate(ENTRIES)
            ]
        ),
        "journal_of_lines/journal.json": rows(
            [
                {"__REALTIME_TIMESTAMP": str((EPOCH + n) * 10**6), "PRIORITY": "3", "MESSAGE": line}
                for n, line in enumerate(LINES)
            ]
        ),
        "journal_of_entries/journal.json": rows(
            [{"__REALTIME_TIMESTAMP": str((EPOCH + n) * 10**6), "MESSAGE": each} for n, each in enumerate(ENTRIES)]
        ),
        "a_log_service/export.json": rows(
            [{"__time__": str(EPOCH + s), "__source__": "10.0.0.1", "content": each} for s, each in enumerate(ENTRIES)]
        ),
        "loki/lines.json": rows(
            [{"line": each, "timestamp": str((EPOCH + s) * 10**9)} for s, each in enumerate(ENTRIES)]
        ),
        "kibana/search.csv": '"@timestamp",message,"host.name"\n'
        + "".join(f'"Nov 20, 2026 @ 10:00:{s:02}.123","{each}",h1\n' for s, each in enumerate(ENTRIES)),
        "grafana/panel.csv": "Time,Line\n"
        + "".join(f'2026-11-20 10:00:{s:02},"{each}"\n' for s, each in enumerate(ENTRIES)),
        "excel/sheet.csv": "\ufeff时间;内容\r\n"
        + "".join(f"2026-11-20 10:00:{s:02};{ERROR}\r\n" for s in range(REFUSED)),
        "syslog_of_rfc_5424/messages": "".join(
            f"<11>1 2026-11-20T10:{n // 60:02}:{n % 60:02}.123+08:00 host1 orders 77 - - {line}\n"
            for n, line in enumerate(LINES)
        ),
        "logfmt/client.log": "".join(
            f'time="2026-11-20T10:00:{s:02}+08:00" level=error msg="send failed: {ERROR}"\n' for s in range(REFUSED)
        ),
        "kubectl_with_times/pod.log": "".join(
            f"2026-11-20T02:{n // 60:02}:{n % 60:02}.123456789Z {line}\n" for n, line in enumerate(LINES)
        ),
        "kubectl_with_pods/pods.log": "".join(f"[pod/orders-7d4-abcde/orders] {line}\n" for line in LINES),
        "compose/app.log": "".join(f"orders_1  | {line}\n" for line in LINES),
        "utf16_without_a_mark/app.log": LOG.encode("utf-16-le"),
        "log_behind_a_hole/app.log": bytes(4096) + LOG.encode(),
        "log_behind_a_long_hole/app.log": bytes(2_300_000) + LOG.encode(),
    },
)


BUSY = "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 218ms, size of queue: 4"
THROWN = f"org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: {BUSY}"
FRAMES = "\n".join(
    f"    at org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.{m}(DefaultMQProducerImpl.java:{n})"
    for n, m in ((831, "sendKernelImpl"), (539, "send"))
)

files(
    "pastes",
    {
        "an_error_among_settings/question.txt": f"error: {THROWN}\n\nversion 4.9.4\nbrokerRole=SYNC_MASTER\nflushDiskType=ASYNC_FLUSH\nwaitTimeMillsInSendQueue=200\n",
        "an_error_in_words/question.txt": f"Since yesterday we get this, help!\n> {THROWN}\n",
        "an_error_in_code/question.md": f"```java\n2026-11-20 10:00:01.253 [pool-4-thread-1] ERROR c.a.OrderSender - send failed\n{THROWN}\n{FRAMES}\n```\n",
        "an_error_on_one_line/question.txt": f"{THROWN} " + " ".join(FRAMES.split("\n")) + "\n",
        "a_logger_with_a_line/question.txt": f"2026-11-20 10:00:01.168 ERROR [rpc-10.0.0.3:17690-thread-1] [TID:1a2b.3c] c.a.Sender Line:284 - {THROWN}\n{FRAMES}\n",
        "a_logger_without_a_name/question.txt": f"2026-11-20 10:00:01.253 [main] ERROR {THROWN}\n2026-11-20 10:00:02.253 [main] ERROR {THROWN}\n{FRAMES}\n",
        "a_table_in_markdown/question.md": f"| time | level | text |\n|---|---|---|\n| 2026-11-20 10:00:01 | ERROR | {BUSY} |\n| 9999-12-31 23:59:59 | ERROR | sendDefaultImpl call timeout |\n",
        "a_list_with_dashes/question.txt": f"- log 1\n- {THROWN}\n- log 2\n- 2026-11-20 10:00:01 WARN SendMessageThread_2 - putMessage not in lock elapsed time(ms)=6194\n",
        "a_chat/chat.txt": f"Anna 10:22\nproduction is down\nBen 10:23\nshow me\nAnna 10:25\n{THROWN}\n",
        "a_chat_in_chinese/chat.txt": f"张三 10:22\n线上报错了 @李四\n李四 10:23\n发下日志\n张三 10:25\n{THROWN}\n",
        "a_wrapped_log/question.txt": "\n".join(
            line[i : i + 60]
            for line in [f"2026-11-20 10:00:01,253 WARN RocketmqClient - {THROWN}"] * 5
            for i in range(0, len(line), 60)
        )
        + "\n",
        "numbered_lines/question.txt": "".join(
            f"{n:>5}: 2026-11-20 10:00:{n:02},000 WARN RocketmqClient - {THROWN}\n" for n in range(1, 20)
        ),
        "a_grep/question.txt": "".join(
            f"broker.log.{n}:2026-11-20 10:00:{n:02} WARN SendMessageThread_1 - {BUSY}\n" for n in range(1, 20)
        ),
        "a_progress_table/progress.txt": "#Topic            #Broker Name    #QID  #Broker Offset         #Consumer Offset  #Diff   #LastTime\n"
        "T                 broker-a        0     99999999999999999999   -1                abc     1970-01-01 08:00:00\n"
        "T                 broker-a        1     5                      N/A               -6      N/A\n\nConsume TPS: NaN\nDiff Total: -647260483\n",
        "ids_alone/ids.txt": "7F0000010B1818B4AAC21E5C2C7B0000\n0A0A0A0A00002A9FFFFFFFFFFFFFFFFF\n"
        + "F" * 56
        + "\n"
        + "0" * 32
        + "\n",
        "an_answer_from_mqadmin/out.txt": "org.apache.rocketmq.tools.command.SubCommandException: QueryMsgByIdSubCommand command failed\n"
        "Caused by: org.apache.rocketmq.client.exception.MQBrokerException: CODE: 1  DESC: can not find message by the offset, 99999999999999999999\n",
    },
)
