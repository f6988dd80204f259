"""Canaries of twenty kinds and more: whatever a log, a row, a name or a path may hold of a site and its people."""

import ipaddress
import json
import re

import pytest
import recorded
from folders import put
from table import rows_of

import kit
from kit.causes import results
from kit.charts import offline
from kit.redaction import leaks, ordinary
from kit.redaction import report as redacted
from kit.redaction.redactor import Redactor
from kit.rocketmq import ids

PLANTED = rows_of(__file__, "planted")
SEEN = rows_of(__file__, "seen")
"""Kinds that the check knows by their form."""
UNSEEN = ("set", "sentence", "host", "topic", "body", "package", "number in JSON")


def redactor():
    """A redactor that knows what `kit.redaction.report` learns from texts alone."""
    texts = [line for line, _ in PLANTED.values()]
    return Redactor(b"salt", dict(redacted.mentioned(texts)))


@pytest.mark.parametrize("kind", PLANTED)
def test_every_kind_is_replaced_wherever_it_stands_and_the_rest_of_the_line_stays(kind):
    line, canary = PLANTED[kind]
    made = redactor()
    new = made.text(f"2026-11-20 15:09:22.955 WARN {line} (code 2, queueOffset=13958643712)")
    assert canary not in new
    assert new.startswith("2026-11-20 15:09:22.955 WARN ") and new.endswith("(code 2, queueOffset=13958643712)")
    table = {"columns": [{"name": "text"}], "rows": [[line]]}
    texts = {line: {"buyer": [line, {"note": f"日志{line}"}]}, "body": f"body={line}"}
    told = made.value({"table": table, **texts, "file": made.path(f"logs/{line}.log")})
    assert canary not in json.dumps(told, ensure_ascii=False)
    # The check sees forms of its own, and nothing in what was redacted.
    nothing = leaks.Originals(frozenset(), frozenset(), made.is_pseudonym)
    assert leaks.leak(made.text(line), nothing) is None
    if any(part in kind for part in SEEN) and not any(part in kind for part in UNSEEN):
        assert leaks.leak(line, nothing) is not None


@pytest.mark.spark
def test_a_name_that_only_a_log_or_a_thread_holds_is_replaced_and_searched_where_no_line_is_shown(spark, tmp_path):
    for name, text in rows_of(__file__, "only").items():
        put(tmp_path / "evidence" / name, text)
    case = kit.open_case(tmp_path / "evidence", tmp_path / "ws")
    page = put(tmp_path / "page.csv", "canary_log,canary_thread\n")
    assert "canary" not in redacted.redactor_of(case, [page.read_text()], []).text(page.read_text())
    assert {"canary_log", "canary_thread"} <= leaks.of(case, [page], [], lambda _: False).names


def test_hosts_of_commands_addresses_in_hex_and_names_are_replaced_and_what_is_ordinary_stays():
    made = Redactor(b"salt", {"canary\\'; --": "topic"})
    new = made.path("store/consumequeue/canary\\'; --/0/00000000000000000000")
    assert "canary" not in new and new.startswith("store/consumequeue/") and new.endswith("/0/00000000000000000000")
    assert "canary" not in made.path("C:\\data\\canary-host\\store\\x.log")
    made = redactor()
    assert [text for text in rows_of(__file__, "stays") if made.text(text) != text] == []
    assert dict(redacted.mentioned(["pool-1-thread-17 lz4 utf8 log4j2 queue3 deadbeef12 a.b7 store0 level18"])) == {}
    assert dict(redacted.mentioned(rows_of(__file__, "no_hosts"))) == {"10.1.2.3": "address"}
    assert ordinary.is_ordinary("order") and ordinary.is_ordinary("Order") and ordinary.is_ordinary("ORDER")
    sites = ("trade-order", "orderTopic", "hotel", "shop", "acme", "PAID", "payment", "umbrella", "canary")
    assert not [name for name in sites if ordinary.is_ambiguous(name)]
    assert redactor().names.keys().isdisjoint(ordinary.WORDS)
    # An address in hex is replaced in every form.
    texts = ["peer 0x0a4d0337 lost", "10.77.3.55:10911", "flags 0x00000100, 0x7f8a, thread 0x00007f2a1c0b8800"]
    made = Redactor(b"salt", dict(redacted.mentioned(texts)))
    hexed, dotted, rest = map(made.text, texts)
    assert "0a4d0337" not in hexed and hexed.startswith("peer 0x") and hexed.endswith(" lost")
    assert dotted.removesuffix(":10911") == ".".join(str(byte) for byte in bytes.fromhex(hexed.split()[1][2:]))
    assert rest == texts[2]
    known = leaks.Originals(frozenset(), frozenset({ipaddress.ip_address("10.77.3.55")}))
    assert leaks.leak(texts[0], known) == "hex"
    # So is the host of a command, wherever it is shown.
    for command in rows_of(__file__, "commands"):
        texts = [command, "connected to canarynode"]
        made = Redactor(b"salt", dict(redacted.mentioned(texts)))
        assert "canarynode" not in " ".join(map(made.text, texts)), command


def originals(name):
    """Return what RocketMQ's decoder read: addresses, and names (topics, groups, keys) that are not RocketMQ's own."""
    addresses, found = set(), set()
    for record in recorded.truth(name):
        addresses |= {record[host].strip("/").rpartition(":")[0] for host in ("born_host", "store_host")}
        properties = record["properties"]
        found |= {record["topic"], *(properties.get(each, "") for each in ("REAL_TOPIC", "RETRY_TOPIC", "PGROUP"))}
        found |= set(properties.get("KEYS", "").split())
    plain = {text.rpartition("%")[2] for text in found} - {""}
    return addresses, {text for text in plain if not ordinary.is_stock(text)}


def shown(path):
    """Return what a file of a report says, without plotly's code, packed numbers and SHA-256 digests."""
    text = path.read_text(encoding="utf-8").replace(offline.packed(), "")
    return re.sub(r'"bdata":\s*"[^"]*"|\b[0-9a-f]{64}\b', "", text)


@pytest.mark.recordings
@pytest.mark.spark
@pytest.mark.parametrize("name", ["transaction-consistency", pytest.param("half-topic-blowup", marks=pytest.mark.slow)])
def test_a_redacted_report_shows_nothing_original_and_finds_the_same(spark, tmp_path, name):
    evidence = recorded.unpack(name, tmp_path / "canaryfolder")
    plant(evidence)
    case = kit.open_case(evidence, tmp_path / "cache", lang="zh")
    plain, out = kit.triage(case), tmp_path / "out"
    page = redacted.run(case, out)
    addresses, found = originals(name)
    canaries = {*(canary for _, canary in PLANTED.values()), "Canary Wei", "canaryfolder", "canaryhost", "1391772"}
    hexed = {ipaddress.ip_address(address).packed.hex() for address in addresses}
    assert len(addresses) > 2 and len(found) > 50
    # The canaries were there to be found.
    assert sum(canary in json.dumps(plain, ensure_ascii=False) for canary in canaries) >= 3
    files = [path for path in out.rglob("*") if path.is_file()]
    assert {page, out / "findings.json", out / "manifest.json"} < set(files)
    assert any(path.suffix == ".ipynb" for path in files)
    for path in files:
        text = shown(path)
        assert not [each for each in (*addresses, *found, *canaries, str(tmp_path)) if each in text], path
        assert not [each for each in hexed if each in text.lower()], path

    told = json.loads((out / "findings.json").read_text(encoding="utf-8"))
    assert told["root_causes"] == plain["root_causes"] and name in plain["root_causes"]
    for old, new in zip(plain["findings"], told["findings"], strict=True):
        assert (old["cause"], old["verdict"], old["window"]) == (new["cause"], new["verdict"], new["window"])
        numbers = [[v for v in f["figures"].values() if not isinstance(v, dict | list)] for f in (old, new)]
        assert numbers[0] == numbers[1] and len(old["steps"]) == len(new["steps"])
        refs = [[r for s in finding["steps"] for r in s["evidence"]] for finding in (old, new)]
        places = [[(r.get("line"), r.get("physical_offset"), len(r["file"]) > 0) for r in each] for each in refs]
        assert places[0] == places[1]
    listed = {file["file"] for file in told["evidence"]["files"]}
    assert {r["file"] for f in told["findings"] for s in f["steps"] for r in s["evidence"]} <= listed
    assert [f["sha256"] for f in told["evidence"]["files"]] == [f["sha256"] for f in plain["evidence"]["files"]]

    # The same id has the same pseudonym in findings, tables and notebooks, and still says the same but for the address.
    pairs = dict(zip(ids_of(plain), ids_of(told), strict=True))
    assert len(pairs) > 5 and len(set(pairs.values())) == len(pairs)
    for old, new in pairs.items():
        a, b = ids.decode(old), ids.decode(new)
        same = ("kind", "port", "offset", "pid", "millis", "counter")
        assert [getattr(a, name) for name in same] == [getattr(b, name) for name in same]
    tables = "".join(path.read_text(encoding="utf-8") for path in (out / "tables").glob("*.csv"))
    originally = "".join(results.table(case, n).to_csv() for n in results.names(case))
    assert [new for old, new in pairs.items() if (old in originally) != (new in tables)] == []
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["options"]["redact"] is True


def plant(evidence):
    """Write the canaries into logs, rows, a text and the names of files."""
    lines = [line for line, _ in PLANTED.values()]
    for number, log in enumerate(sorted(evidence.rglob("*.log"))):
        said = log.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        new = [
            f"{text} {lines[n % len(lines)]}" if text.strip() and not text[0].isspace() else text
            for n, text in enumerate(said)
        ]
        log.write_text("\n".join(new), encoding="utf-8", errors="surrogateescape")
        log.rename(log.with_name(f"主机canaryhost{number}手机13917720345-{log.name}"))
    for table in evidence.rglob("*.csv"):
        head, *rows = table.read_text(encoding="utf-8").splitlines()
        quoted = [line.replace('"', '""') for line in lines]
        made = [f'{row},Canary Wei {n},13917720{n % 1000:03},"{quoted[n % len(lines)]}"' for n, row in enumerate(rows)]
        table.write_text("\n".join([f"{head},buyer,phone,备注", *made]) + "\n", encoding="utf-8")
    notes = "".join(f"2026-11-20 15:09:22,955 WARN x - {line}\n" for line in lines)
    (evidence / "notes.txt").write_text(notes, encoding="utf-8")


def ids_of(findings):
    return re.findall(r"\b[0-9A-F]{32}\b", json.dumps(findings["findings"]))
