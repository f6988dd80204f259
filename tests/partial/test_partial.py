"""What a part of a recording shows (one team's or host's files) does not contradict what `tests/golden/findings` keeps of the whole."""

import datetime as dt
import functools
import json
import re
from collections.abc import Callable
from typing import Any

import golden
import pytest
import recorded
from table import rows_of

import kit
from kit import causes, i18n
from kit.formats.printed_times import is_local
from kit.i18n import T

QUICK = rows_of(__file__, "quick")
"""A part of each kind that once said more than it shows."""

NOT_KNOWN = "⟦not known⟧"
Triaged = Callable[[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def triaged(tmp_path_factory):
    """The findings of a part of a recording, each made once, with `NOT_KNOWN` for a value that is not known."""

    @functools.cache
    def findings(name, part):
        evidence, into = recorded.whole(name), tmp_path_factory.mktemp("part")
        files = parts(evidence)[part]
        return kit.triage(kit.open_case(link(evidence, files, into / "evidence"), into / "ws"))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(i18n, "UNKNOWN", T(NOT_KNOWN, NOT_KNOWN))
        yield findings


@pytest.mark.parametrize(("name", "part"), QUICK.items())
def test_a_part_does_not_contradict_the_whole(triaged, name, part):
    assert list(contradictions(golden.load(name), triaged(name, part))) == []


@pytest.mark.recordings
@pytest.mark.parametrize("name", recorded.EVERY)
def test_no_part_contradicts_the_whole(triaged, name):
    whole = golden.load(name)
    wrong = {part: list(contradictions(whole, triaged(name, part))) for part in parts(recorded.whole(name))}
    assert {part: said for part, said in wrong.items() if said} == {}


def test_what_parts_show_of_a_length_a_queue_and_times_without_a_zone(triaged):
    """`topic length too long 149` of store.log alone: suspected, with the line quoted."""
    found = {f["cause"]: f for f in triaged("half-topic-blowup", "broker/store")["findings"]}
    long = found["retry-topic-too-long"]
    assert long["verdict"] == "suspected"
    (step,) = [s for s in long["steps"] if s["holds"]]
    assert step["evidence"][0]["text"].endswith("putMessage message topic length too long 149")
    # No record is stored there: its own line is null, and nothing fails.
    (stuck,) = [f for f in triaged("consumer-stuck", "broker mqadmin")["findings"] if f["cause"] == "consumer-stuck"]
    assert (stuck["verdict"], stuck["figures"]["queue_offset"]) == ("confirmed", 64)
    # Times without a zone are never called UTC.
    found = triaged("broker-busy", "o/stock-service")
    (busy,) = [f for f in found["findings"] if f["cause"] == "broker-busy"]
    assert busy["window"] == ["2026-11-20T23:19:38.941", "2026-11-20T23:20:01.223"]  # 15:19 UTC
    (file,) = found["evidence"]["files"]
    assert not file["first"].endswith("Z")
    store = next(m for m in busy["missing"] if "collect" in m["command"])
    assert "--since 2026-11-20T09:14Z --until 2026-11-21T11:25Z" in store["command"]  # true in every zone


ROLLED = re.compile(r"(?:[._-]\d[\d-]*)?\.log.*")
QUEUE = re.compile(r".*/consumequeue/.*/(\d+)/\d{20}")


def parts(evidence):
    """Return {name of a part: its files}: each log alone, the logs of each host, stores, outputs, clients, half of the queues."""
    every = sorted(path for path in evidence.rglob("*") if path.is_file())
    brokers = {path.relative_to(evidence).parts[0] for path in every if path.name == "broker.conf"}
    found = {}
    for path in every:
        for name in names(path.relative_to(evidence), brokers):
            found.setdefault(name, []).append(path)
    return {name: files for name, files in found.items() if len(files) < len(every)}


def names(path, brokers):
    """Yield the parts that a file belongs to."""
    host, log = path.parts[0], ROLLED.sub("", path.name) if ".log" in path.name else None
    if log is not None:
        yield from (f"{host}/{log}", f"{host} logs")
    if host not in brokers:
        yield from ("client hosts", "clients") if log is not None else ("client hosts",)
    elif "store" in path.parts or path.name == "broker.conf":
        yield f"{host} store"
    elif "mqadmin" in path.parts:
        yield f"{host} mqadmin"
    elif log in ("store", "transaction"):
        yield f"{host} store.log + transaction.log"
    queue = QUEUE.fullmatch(path.as_posix())
    # The commit log is gone and only queues with even numbers were copied.
    if int(queue[1]) % 2 == 0 if queue else path.parent.name not in ("commitlog", "index"):
        yield "half of the queues"


def link(evidence, files, into):
    """Make a folder of hard links to some files of an evidence folder."""
    for path in files:
        target = into / path.relative_to(evidence)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.hardlink_to(path)
    return into


def contradictions(whole, part):
    """Yield what a part says that the whole shows to be wrong. `whole`: as kept in tests/golden; `part`: a findings.json."""
    verdicts = {slug: finding["verdict"] for slug, finding in whole["findings"].items()}
    explained = {
        ("absent", "suspected", slug)
        for cause in causes.discover()
        if verdicts.get(cause.slug) == "confirmed"
        for slug in cause.leads_to
    }  # lines that the whole tells with their cause
    for finding in part["findings"]:
        slug, verdict = finding["cause"], finding["verdict"]
        kept = whole["findings"].get(slug)
        was = verdicts.get(slug, "absent")
        for said in re.findall(f'"[^"]*{NOT_KNOWN}[^"]*"', json.dumps(finding, ensure_ascii=False)):
            yield f"{slug}: a sentence with a value that is not known: {said}"
        if verdict == "failed":
            yield f"{slug}: failed: {finding['error']}"
        elif (was, verdict) in WRONG and (was, verdict, slug) not in explained:
            shown = [s for s in finding["steps"] if s["holds"] is not None]
            # What the whole sees too may point to several causes; it must not show a step false by which a part suspects.
            was_shown = {
                s["id"]: (kept or {"steps": {}})["steps"].get(s["id"], {}).get("holds") for s in shown if s["holds"]
            }
            if verdict == "suspected" and kept is not None and False not in was_shown.values():
                continue
            steps = [f"{s['id']}={s['holds']}: {s['claim']}" for s in shown]
            yield f"{slug}: {verdict}, with the whole {was}: {' | '.join(steps)}"
        elif kept is not None and kept["window"] and finding["window"] and "confirmed" == was == verdict:
            (a, b), (c, d) = kept["window"], finding["window"]
            if not any(map(is_local, (c, d))) and (_ms(d) < _ms(a) - SECOND or _ms(b) + SECOND < _ms(c)):
                yield f"{slug}: from {c} to {d}, with the whole from {a} to {b}"


SECOND = 1000
"""ms by which a window may miss the other: many logs print whole seconds."""


def _ms(iso):
    return dt.datetime.fromisoformat(iso).timestamp() * 1000


WRONG = {tuple(pair) for pair in rows_of(__file__, "wrong")}
