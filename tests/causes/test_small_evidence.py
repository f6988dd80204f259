"""A few lines and what they show: a row of `evidence/*.yaml` is a folder of text files and what is asked of it.

- `files`: {name: lines}. `{3: line}` is a line three times, `{00..40/20: line <n>}` one for 00, 20 and 40; several lines in a list come as a block.
- `stores`: {file of a commit log: rows of `store_rows`}; `<id KEY>` in a line is the offset id of a record in one of them. `declared`: zones. `changed`: {file: s since 1970}.
- `shows`: {cause: verdict}, or {cause: what `expected` knows}. `problems`: {known problem: verdict}, all that are found. `weighed`: by how large the evidence is.
- `why`: where RocketMQ's sources say so.
"""

import os
import re
from pathlib import Path

import msgspec
import pytest
import store_rows
from expected import check, examine
from folders import opened, written

import kit
from kit.causes import known_problems, shown_by

ROWS = [
    pytest.param(row, id=f"{path.stem}: {row['name']}")
    for path in sorted((Path(__file__).parent / "evidence").glob("*.yaml"))
    for row in msgspec.yaml.decode(path.read_bytes())
]


def lines(items):
    """Write out what a row says in short."""
    for item in items:
        if isinstance(item, str):
            yield item
            continue
        ((times, block),) = item.items()
        for n in counted(str(times)):
            yield from (line.replace("<n>", n) for line in ([block] if isinstance(block, str) else block))


def counted(times):
    """Return the numbers of `00..40/20` in as many digits as the first has, `n` times nothing of `n`."""
    if ".." not in times:
        return [""] * int(times)
    first, _, rest = times.partition("..")
    last, _, step = rest.partition("/")
    return [str(n).zfill(len(first)) for n in range(int(first), int(last) + 1, int(step or 1))]


@pytest.mark.parametrize("row", ROWS)
def test_it_shows_what_it_shows(row, tmp_path):
    stores, ids = {}, dict[str, str]()
    for name, rows in row.get("stores", {}).items():
        stores[name], each = store_rows.segment(int(Path(name).name), rows)
        ids = each | ids
    files = {name: "".join(f"{line}\n" for line in lines(items)) for name, items in row.get("files", {}).items()}
    files = {name: re.sub("<id (.*?)>", lambda key: ids[key[1]], text) for name, text in files.items()}
    folder = written(tmp_path, files | stores)
    for name, seconds in row.get("changed", {}).items():
        os.utime(folder / name, (seconds, seconds))
    facts = opened(tmp_path, {}, **row.get("declared", {})).facts
    if "problems" in row:
        assert {found.cause: found.verdict for found in known_problems.examine(facts)} == row["problems"]
    for slug, expected in row.get("shows", {}).items():
        found = examine(facts, slug)
        check(shown_by.weighed(facts, found) if row.get("weighed") else found, expected)


def test_short_forms_are_written_out():
    items = ["a", {2: "b"}, {"08..12/2": ["c <n>", "d"]}]
    assert list(lines(items)) == ["a", "b", "b", "c 08", "d", "c 10", "d", "c 12", "d"]


def test_a_window_of_rows_without_a_zone_is_local_though_the_lines_quoted_have_one(tmp_path):
    refused = "CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 463ms, size of queue: 13"
    log = (
        f"2024-05-14T10:00:00.402+08:00 WARN RocketmqClient - sendKernelImpl exception\nMQBrokerException: {refused}\n"
        * 3
    )
    rows = "keys,start,cost_ms,outcome\nK1,2024-05-14 10:00:00.000,402,MQBrokerException\nK2,2024-05-14 10:00:01.000,3,SEND_OK\n"
    found = kit.triage(opened(tmp_path, {"rocketmq_client.log": log, "sends.csv": rows}))
    (busy,) = [finding for finding in found["findings"] if finding["cause"] == "broker-busy"]
    assert busy["window"] == ["2024-05-14T10:00:00.000", "2024-05-14T10:00:00.402"]
