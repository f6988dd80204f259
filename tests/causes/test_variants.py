"""One incident in other states of its files: without their names, without a ledger or a line; and the evidence is as it was after every command."""

import gzip
import random
import shutil

import pytest
import recorded
from click.testing import CliRunner
from expected import examine
from folders import put, state

import kit
from kit.cli.main import cli


def told(evidence):
    """Leave out what rests on when offset files were saved: copies and archives do not keep that."""
    found = kit.triage(kit.open_case(evidence))
    kept = [(f, {n: v for n, v in f["figures"].items() if n != "growth_per_second"}) for f in found["findings"]]
    return found["root_causes"], {f["cause"]: (f["verdict"], figures) for f, figures in kept}


@pytest.mark.recordings
def test_files_without_their_names_show_the_same(tmp_path):
    evidence, rng = recorded.whole("message-identity"), random.Random(42)
    for path in sorted(p for p in evidence.rglob("*") if p.is_file()):
        # Of two saves of one file, only the name says which is the older.
        name = f"{rng.getrandbits(64):016x}" + (".bak" if path.suffix == ".bak" else "")
        put(tmp_path / "flat" / name, path.read_bytes())
    plain, changed = told(evidence), told(tmp_path / "flat")
    assert changed == plain and plain[0] == ["message-identity"]


@pytest.mark.seconds
def test_commands_leave_the_evidence_as_it_was(tmp_path):
    whole = recorded.whole("producer-offline")
    evidence = tmp_path / "e"
    for file in (f"store/commitlog/{0:020}", "broker.conf", "store/config/topics.json", "logs/transaction.log"):
        put(evidence / "broker" / file, (whole / "broker" / file).read_bytes())
    put(evidence / "rolled.log.gz", gzip.compress((whole / "broker/logs/store.log").read_bytes()))
    key = next(t["properties"]["UNIQ_KEY"] for t in recorded.truth("producer-offline") if "UNIQ_KEY" in t["properties"])
    before = state(evidence)
    out = lambda name: ("--out", str(tmp_path / name))  # noqa: E731
    commands = {
        "inventory": (), "decode": out("d"), "logs": out("l"), "trace": (key,), "triage": out("t"), "cut": (*out("c"), "--id", key),
    }  # fmt: skip
    for name, more in commands.items():
        words = [name, str(evidence), *more, "--workspace", str(tmp_path / "w")]
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
        assert done.exit_code == 0, (name, done.output)
        assert state(evidence) == before, name


TWICE, KEYS = 13, 427
"""UNIQ_KEYs with a second success in c/points.csv that is a retry copy; all UNIQ_KEYs that RocketMQ's decoder reads."""


def test_without_the_ledger_the_logs_tell_and_without_both_it_gets_weaker(tmp_path):
    """Without a table the application's own lines report the same messages; without its look-up: not enough."""
    for path in recorded.whole("message-identity").rglob("*"):
        if (path.is_file() and "commitlog" in path.parts) or path.name == "points-service.log":
            (tmp_path / "a" / "x").mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / "a" / "x" / (path.name if "commitlog" in path.parts else "app-7.txt"))
    finding = examine(kit.open_case(tmp_path / "a").facts, "message-identity")
    assert (finding.verdict, finding.figures["handled_twice_by_offset_id"]) == ("confirmed", TWICE)
    assert "Look-ups" not in finding.summary.render(), "nobody looked anything up"
    (tmp_path / "a" / "x" / "app-7.txt").unlink()
    bare = examine(kit.open_case(tmp_path / "a").facts, "message-identity")
    assert (bare.verdict, bare.figures["uniq_keys"]) == ("insufficient_evidence", KEYS) and bare.missing
    assert bare.figures["handled_twice_by_offset_id"] is bare.figures["wrong_space_lookups"] is None


def test_a_first_start_that_the_client_does_not_print(tmp_path):
    """Clients from 5.0.0 on print no `add a new pull request`: the group's ledger shows the first message of each queue."""
    evidence = recorded.unpack("offset-first-start", tmp_path)
    for log in evidence.rglob("rocketmq_client.log"):
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        log.write_text("".join(line for line in lines if "add a new pull request" not in line), encoding="utf-8")
    truth = recorded.label("offset-first-start")["truth"]
    found = examine(kit.open_case(evidence, tmp_path / "ws").facts, "offset-jump")
    told = truth["topics"]["order-done"]
    assert found.verdict == "confirmed"
    assert (found.figures["group"], found.figures["skipped"]) == (truth["group"], told["skipped"])
    assert found.figures["moved"] == {queue: [0, first] for queue, first in told["start_offset"].items()}
