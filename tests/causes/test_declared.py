"""Declared neighbours: names that fit each other, and a row for what each of them finds in small evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from busy_evidence import START, clock, sent, uniq_key, write_log, write_store
from stores import Record

import kit
from kit import causes
from kit.causes import collect_next, shown_by

DECLARED = [cause for cause in causes.discover() if cause.steps]

PREPARED, COMMIT = 4, 8  # MessageSysFlag: bits 2 and 3
STATS = f"{clock(0)[:19]} INFO StoreStatsService - [STORETPS] put_tps 12.3 get_found_tps 1.0 get_miss_tps 0.0 get_transfered_tps 1.0"
DROPPED = (
    f"{clock(1)[:19]} ERROR ScheduleMessageTimerThread - [BUG] the real topic of schedule msg is RMQ_SYS_TRANS_HALF_TOPIC, "
    "discard the msg. msg=MessageExt [queueId=2, storeSize=411]"
)
SLAVE = (
    f"{clock(0)} ERROR [s] com.shop.Sender - send failed, keys=K1\norg.apache.rocketmq.client.exception.MQBrokerException: CODE: 14  "
    "DESC: service not available now, maybe disk full, CL:  0.20 CQ:  0.20 INDEX:  0.20, maybe your broker machine memory too small."
)


def retry(key: str, sys_flag: int, topic: bytes = b"%RETRY%points") -> Record:
    properties = f"UNIQ_KEY\x01{uniq_key(key)}\x02TRAN_MSG\x01true\x02RETRY_TOPIC\x01orders\x02".encode()
    return Record(topic=topic, body=b"x", properties=properties, sys_flag=sys_flag, born=START, stored=START + 1)


LOST = [retry("K1", PREPARED), retry("K2", COMMIT), retry("K3", PREPARED, b"orders"), retry("K4", PREPARED)]
NOT_LOST = [sent("K", 0, 1), retry("K2", COMMIT)]

ROWS: list[tuple[str, Mapping[str, str], list[Record], str, dict[str, int | None] | None, int]] = [
    # slug, logs, stored records, verdict, figures, number of requests
    ("retry-lost", {"store.log": "\n".join([STATS, DROPPED, DROPPED, DROPPED])}, [], "confirmed",
     {"retries_dropped": 3, "retries_unconsumable": None}, 0),
    ("retry-lost", {}, LOST, "confirmed", {"retries_dropped": None, "retries_unconsumable": 2}, 0),
    ("retry-lost", {}, NOT_LOST, "insufficient_evidence", {"retries_dropped": None, "retries_unconsumable": 0}, 1),
    ("retry-lost", {"store.log": STATS}, NOT_LOST, "ruled_out", {"retries_dropped": 0, "retries_unconsumable": 0}, 0),
    ("broker-not-available", {"app.log": SLAVE}, [], "confirmed", {"answers": 1, "forbidden": 0, "lines": 0}, 0),
    ("broker-not-available", {"app.log": SLAVE.replace("0.20", "0.95")}, [], "insufficient_evidence", {"answers": None, "forbidden": None, "lines": None}, 1),
    ("broker-not-available", {"store.log": STATS}, [], "insufficient_evidence", {"answers": None, "forbidden": None, "lines": None}, 1),
]  # fmt: skip


@pytest.mark.parametrize(("slug", "logs", "records", "verdict", "figures", "requests"), ROWS)
def test_what_a_neighbour_finds(
    slug: str, logs: Mapping[str, str], records: list[Record], verdict: str, figures: Any, requests: int, tmp_path: Path
) -> None:
    for name, text in logs.items():
        write_log(tmp_path / "e" / "logs" / name, text.split("\n"))
    if records:
        write_store(tmp_path / "e" / "commitlog", records)
    found = causes.examine(kit.open_case(tmp_path / "e", tmp_path / "ws").facts, slug)
    assert (found.verdict, found.figures, len(found.missing)) == (verdict, figures, requests)
    assert bool(found.steps[0].evidence) == (verdict == "confirmed")
    assert found.as_dict("en") and found.as_dict("zh")


def test_every_declared_neighbour_has_a_row() -> None:
    assert {cause.slug for cause in DECLARED} <= {row[0] for row in ROWS}


@pytest.mark.parametrize("cause", DECLARED, ids=lambda cause: cause.slug)
def test_names_of_a_declaration_are_there(cause: causes.Cause) -> None:
    texts = cause
    assert {name for step in texts.steps for name in step.any} <= set(texts.values)
    assert {figure.value for figure in texts.figures.values()} <= set(texts.values)
    for step in texts.steps:
        assert (cause.slug, step.id) in shown_by.table()
    words = {want.unless for want in texts.missing} | {figure.known_if for figure in texts.figures.values()}
    assert {each for word in words for every in shown_by.alternatives(word) for each in every} <= set(shown_by.PRESENT)
    assert {want.artefact for want in texts.missing} <= set(collect_next.artefacts())


MODULES = [cause for cause in causes.discover() if not cause.steps]
NAMED = re.compile(r'TEXTS(?:\.say\(|\[)\s*(f?)"([^"]+)"')


@pytest.mark.parametrize("cause", MODULES, ids=lambda cause: cause.slug)
def test_a_module_says_what_its_yaml_has_and_all_of_it(cause: causes.Cause) -> None:
    folder = Path(causes.__file__).parent
    name = cause.slug.replace("-", "_")
    sources = list(folder.glob(f"*/{name}.py"))
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    plain = {said for f, said in NAMED.findall(text) if not f}
    built = [re.sub(r"\\\{[^}]*\\\}", ".*", re.escape(said)) for f, said in NAMED.findall(text) if f]
    assert plain - {"none"} <= set(cause.says)
    assert {n for n in cause.says if n not in plain and not any(re.fullmatch(b, n) for b in built)} == set()
    remedies = set(re.findall(r'TEXTS\.remedy\(\s*"([^"]+)"', text))
    assert remedies <= set(cause.remedies)
