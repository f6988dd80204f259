"""The live lab: its parts without Java, and every scenario under `make lab-test`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import kit
from kit import causes
from kit.case import unreadable
from kit.cli.main import cli
from kit.live_lab import cluster, jars, processes, run, watch
from kit.live_lab.scenario import SCENARIOS, find
from kit.live_lab.watch import Probe
from kit.rocketmq import names
from kit.rocketmq.catalogue import PROBLEMS
from kit.rocketmq.versions import Version

SHORT = "half-topic-blowup-fixed"


def test_the_installed_package_says_where_the_lab_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "kit.live_lab.scenario", None)
    result = CliRunner().invoke(cli, ["lab", "list"])
    assert result.exit_code == 2 and "source tree" in result.output and len(result.output.strip().splitlines()) == 1


PLAYED = {
    "half-topic-blowup", "message-size-mismatch", "message-identity", "broker-busy", "transaction-consistency",
    "consumer-backlog", "consumer-stuck", "subscription-mismatch", "duplicate-client-id",
}  # fmt: skip
"""The documented root causes and those of consumers: offsets, reach and replicas are recorded, not played here."""


def test_every_documented_root_cause_has_an_incident_and_a_twin():
    known = {cause.slug: cause.kind for cause in causes.discover()}
    roots = {root for one in SCENARIOS.values() for root in one.roots}
    assert roots == PLAYED <= {slug for slug, kind in known.items() if kind == "root_cause"}
    for one in SCENARIOS.values():
        assert {*one.roots, *one.neighbours, *one.allowed} <= {*known, *PROBLEMS}
        assert Version.parse(one.broker) >= jars.OLDEST and Version.parse(one.client) >= jars.OLDEST
        assert one.deadline + 60 <= run.WHOLE
        assert {app["role"] for app in one.apps.values()} <= {"orders", "consumer", "sender"}
        if one.roots:
            assert not find(one.name, fixed=True).roots
    assert find(SHORT, fixed=True) is find(SHORT)


@pytest.mark.parametrize("release", ["4.5.0", "4.6.1", "5.1.4"])
def test_settings_fit_the_release(release):
    found = cluster.settings(Version.parse(release), {"maxMessageSize": "65536"})
    assert found["maxMessageSize"] == "65536"
    assert ("mapedFileSizeCommitLog" in found) == (release == "4.5.0")
    assert ("bindAddress" in found) == (release == "5.1.4")
    assert int(found["transactionTimeOut"]) == (8000 if release == "5.1.4" else 2000)


def test_the_probe_counts_what_has_come_since(tmp_path):
    store, logs, client = tmp_path / "store", tmp_path / "logs", tmp_path / "o"
    queue = store / "consumequeue" / names.HALF_TOPIC / "0"
    for folder in (queue, logs, client):
        folder.mkdir(parents=True)
    (queue / f"{0:020}").write_bytes(((5).to_bytes(8) + (300).to_bytes(4) + bytes(8)) * 3 + bytes(200))
    line = "2026-11-20 22:34:18 {} main - text [bold]\n"
    log = logs / "transaction.log"
    log.write_text(line.format("ERROR") * 2 + line.format("WARN") + line.format("INFO"))
    (client / "rocketmq_client.log").write_text("2026-11-20 22:34:18,018 ERROR RocketmqClient - x\r\n")
    probe = Probe(store, logs, [client])
    first = probe.read()
    assert (first.half, first.errors, first.transaction_errors, first.client_errors) == (3, 2, 2, 1)
    assert first.store_bytes > 0
    with log.open("a") as file:
        file.write(line.format("ERROR"))
    assert probe.read().errors == 3
    log.unlink()
    log.write_text(line.format("ERROR"))
    assert probe.read().errors == 4


def test_a_run_prints_a_line_every_five_seconds(capsys):
    tell = watch.watching(find("healthy"), "en")
    for second in range(12):
        tell("traffic", watch.Reading(float(second)))
    assert len(capsys.readouterr().err.splitlines()) == 3


@pytest.mark.parametrize("arguments", ["nosuch", "healthy --broker x.y", "healthy --broker 4.3.0", "healthy --out ."])
def test_wrong_usage_is_one_line_and_code_2(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "something").touch()
    monkeypatch.setattr(jars, "java", lambda: "java")
    monkeypatch.setattr(jars, "_cached", None)  # nothing is fetched
    done = CliRunner().invoke(cli, ["lab", "run", *arguments.split()])
    assert done.exit_code == 2
    assert len([line for line in done.output.splitlines() if not line.startswith(find("healthy").title.en)]) == 1


def test_a_missing_tool_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    done = CliRunner().invoke(cli, ["lab", "run", "healthy"])
    assert done.exit_code == 2 and "java" in done.output and not list(tmp_path.iterdir())


def test_a_release_that_maven_cannot_fetch_is_named(tmp_path, monkeypatch):
    mvn = tmp_path / "bin" / "mvn"
    mvn.parent.mkdir()
    mvn.write_text("#!/bin/sh\necho '[ERROR] Could not resolve dependencies'\nexit 1\n")
    mvn.chmod(0o755)
    monkeypatch.setenv("PATH", f"{mvn.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(jars, "java", lambda: "java")
    with pytest.raises(jars.LabError, match=r"4\.6\.9.*Could not resolve"):
        jars.classpath("client", Version.parse("4.6.9"))


def test_a_release_of_a_broker_alone_runs_with_another_name_server(monkeypatch):
    def classpath(side, version):
        if version != jars.STAND_IN:
            raise jars.LabError(jars.ERRORS["no_jars"].say(version=str(version), why="Could not find artifact"))
        return f"{side} {version}"

    monkeypatch.setattr(jars, "classpath", classpath)
    assert jars.names(Version.parse("5.3.0")) == "names 5.3.3"


def test_nothing_of_the_environment_leads_a_process_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("NAMESRV_ADDR", "10.0.0.1:9876")
    monkeypatch.setenv("ROCKETMQ_HOME", "/opt/rocketmq")
    found = processes._environment(tmp_path)
    assert "NAMESRV_ADDR" not in found and found["ROCKETMQ_HOME"] == found["HOME"] == str(tmp_path)


def left(folder):
    """Return the command lines of processes that name a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in text and "LabHost" in text:
            found.append(text)
    return found


@pytest.mark.lab
@pytest.mark.parametrize("name", list(SCENARIOS))
def test_every_scenario_is_diagnosed_as_what_it_is(name, tmp_path):
    scenario = find(name)
    done = run.run(scenario, tmp_path / name)
    assert not left(tmp_path)
    case = kit.open_case(done.evidence, tmp_path / "workspace")
    findings = kit.triage(case)
    assert not unreadable.of(case)
    assert findings["root_causes"] == list(scenario.roots)
    found = {f["cause"]: f for f in findings["findings"]}
    confirmed = {cause for cause, finding in found.items() if finding["verdict"] == "confirmed"}
    assert set(scenario.neighbours) <= confirmed
    if not scenario.roots:
        assert confirmed - set(scenario.allowed) == set(scenario.neighbours)
    figures = found[name]["figures"] if name in found else {}
    if name == "half-topic-blowup":
        assert figures["leaked_messages"] == 4 and figures["retry_topic_length"] == 149
        assert 1 < figures["doubling_seconds"] < 8
    if name in ("subscription-mismatch", "duplicate-client-id"):
        sent, audit, alarm = (ledger(tmp_path / name / path) for path in ("o/sends.csv", "c/audit.csv", "q/alarm.csv"))
        if name == "subscription-mismatch":
            assert figures["handled_by_nobody"] == {"stock-change": len(sent - audit - alarm)}
        else:
            assert figures["handled_twice"] == len(audit & alarm)


def ledger(path):
    """The keys of a ledger of a run: of the sender's, those that were answered SEND_OK."""
    rows = pd.read_csv(path.parents[1] / run.EVIDENCE / path.parent.name / path.name, dtype=str)
    return set(rows.loc[rows["outcome"] == "SEND_OK", "keys"] if "outcome" in rows else rows["keys"])


@pytest.mark.lab
@pytest.mark.parametrize(("broker", "client"), [("4.7.1", "4.7.1"), ("4.9.4", "4.9.4"), ("5.1.4", "5.1.4")])
def test_other_releases_run_healthy(broker, client, tmp_path):
    done = run.run(find("healthy"), tmp_path / "healthy", broker, client)
    findings = kit.triage(kit.open_case(done.evidence, tmp_path / "workspace"))
    assert findings["root_causes"] == []
    logs = {path.name for path in (done.evidence / "broker" / "logs").iterdir()}
    assert {"broker.log", "store.log", "transaction.log", "watermark.log"} <= logs


@pytest.mark.lab
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_no_process_outlives_the_lab(number, tmp_path):
    command = [sys.executable, "-m", "kit", "lab", "run", "healthy", "--out", str(tmp_path / "out")]
    lab = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until = time.monotonic() + 90
    while len(left(tmp_path)) < 4 and time.monotonic() < until:
        time.sleep(0.3)
    assert len(left(tmp_path)) >= 4
    lab.send_signal(number)
    _, said = lab.communicate(timeout=60)
    assert lab.returncode == (-9 if number == signal.SIGKILL else 2)
    assert "Traceback" not in said
    while left(tmp_path) and time.monotonic() < until + 30:
        time.sleep(0.5)
    assert not left(tmp_path)
