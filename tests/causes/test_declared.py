"""Declarations: names that fit each other, and what the neighbours that are YAML alone find in small evidence."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from busy_evidence import START, clock, sent, uniq_key, write_log, write_store
from stores import Record

import kit
from kit import causes
from kit.causes import collect_next, shown_by
from kit.causes.findings import VERDICTS

EVERY = causes.discover()
SAID = re.compile(r'"([a-z_][\w+{}.-]*)"')
"""What may be the name of a sentence in a module."""

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
    ("broker-not-available", {"app.log": SLAVE.replace("CL:  0.20 CQ:  0.20 INDEX:  0.20, ", "")}, [], "insufficient_evidence", {"answers": None, "forbidden": None, "lines": None}, 1),
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


def words_of(cause: causes.Cause) -> Iterator[str]:
    """Yield every word of the conditions of a declaration."""
    steps = [
        text
        for step in cause.steps
        for text in (step.absent, step.shown_by, *step.holds.values(), *step.refuted.values(), *step.maybe.values())
    ]
    others = [
        *cause.summary.values(),
        *(needs for sentences in cause.phrases.values() for needs in sentences.values()),
        *(want.needs for want in cause.missing),
        *(each.needs for each in cause.remedies.values()),
    ]
    for text in (*steps, *others, *(figure.known_if for figure in cause.figures.values())):
        yield from (word.removeprefix("not ") for every in shown_by.alternatives(text) for word in every if word)


def source(cause: causes.Cause) -> str:
    """Return the module that observes a cause, nothing if its declaration is all there is."""
    name = cause.module or cause.slug.replace("-", "_")
    return "".join(path.read_text("utf-8") for path in Path(causes.__file__).parent.glob(f"*s/{name}.py"))


@pytest.mark.parametrize("cause", EVERY, ids=lambda cause: cause.slug)
def test_words_and_names_of_a_declaration_are_there(cause: causes.Cause) -> None:
    """A word is evidence, a verdict, a declared value, or one that the module or a table it reads gives."""
    kit_, module = Path(causes.__file__).parents[1], source(cause)
    tables = "".join(
        path.read_text("utf-8") for path in kit_.glob("tables/gold/**/*.*") if path.suffix in (".sql", ".py")
    )
    steps = {f"{step.id} {state}" for step in cause.steps for state in ("holds", "unknown", "refuted")}
    known = {*shown_by.PRESENT, *steps, *VERDICTS, *cause.values, *cause.phrases, "found", "always", "never"}
    unknown = {word.removesuffix(" known") for word in words_of(cause)} - known
    assert {
        word for word in unknown if not word.endswith(" log") and not re.search(rf"\b{word}\b", module + tables)
    } == set()
    assert {word for word in shown_by.PRESENT if f'"{word}":' in module} == set(), "a value hides evidence of that name"
    assert {want.artefact for want in cause.missing} <= set(collect_next.ARTEFACTS)


@pytest.mark.parametrize("cause", EVERY, ids=lambda cause: cause.slug)
def test_everything_a_declaration_has_is_said(cause: causes.Cause) -> None:
    module = source(cause)
    named = {name for s in cause.steps for name in (*s.holds, *s.refuted, *s.maybe, s.open)} | {
        *cause.summary,
        *(name for sentences in cause.phrases.values() for name in sentences),
        *SAID.findall(module),
    }
    ready = [re.sub(r"\\\{[^}]*\\\}", ".*", re.escape(name)) for name in named]
    assert {n for n in cause.says if not any(re.fullmatch(each, n) for each in ready)} == set()
    assert {n for n in named if "{" not in n and n not in (*cause.says, "", "none")} <= {*SAID.findall(module)}
