"""The same refused sends as what keeps, shows and forwards logs hands them out. Importing this module adds them to `strange.ALL`."""

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
