"""What one types first: words, pipes, exit codes, declared options. Expected values come from the interface's list of exit codes."""

import json
import subprocess
from pathlib import Path

import incidents
import nbformat
import pytest
import stores
from click.testing import CliRunner
from folders import put
from processes import typed
from table import rows_of

from kit import interrupts
from kit.cli import main
from kit.report import console, terminal
from kit.report.labels import ranked

LINE = "2026-11-20 22:34:20 WARN SendMessageThread_1 - putMessage message topic length too long 149"
BUSY = rows_of(__file__, "busy")


def run(*args, text=None, **env):
    return CliRunner().invoke(main.cli, args, input=text, env=env)


def test_settings_declared_once_hold_for_every_command(tmp_path):
    chinese = run("explain", LINE, "--lang", "zh").stdout
    assert run("explain", LINE, RMQ_KIT_LANG="zh").stdout == chinese
    config = put(tmp_path / "rmq-kit" / "config.toml", 'lang = "zh"\n')
    here = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert run("explain", LINE, **here).stdout == chinese
    assert run("explain", LINE, "--lang", "en", **here).stdout != chinese
    assert run("explain", "gone.log").stderr == "gone.log: no such file or folder\n"
    config.write_text("lang = zh")
    refused = run("explain", LINE, **here)
    assert refused.exit_code == 2 and str(config) in refused.stderr


def test_of_an_endless_paste_the_beginning_is_explained_and_the_rest_named(monkeypatch):
    monkeypatch.setattr("kit.explanation.paste.MOST", len(LINE) + 9)
    ended = run("explain", "-", text=f"{LINE}\n" * 3)
    assert ended.exit_code == 0 and "line 1\n" in ended.stdout and "Only the first" in ended.stderr


def test_help_lists_every_command_in_its_group():
    listed = {name for _, names in main.GROUPS.values() for name in names}
    assert listed == set(main.cli.commands)
    shown = run("--help").stdout
    assert all(f"\n  {name} " in shown for name in listed)


def test_what_holds_is_shown_and_a_confirmed_neighbour_is_the_answer_without_a_root_cause(monkeypatch):
    remedy = {"action": "Move the broker", "why": "", "risk": "", "verify": ""}
    findings = incidents.findings(
        incidents.finding("offset-jump", "ruled_out"),
        incidents.finding("broker-busy", "confirmed", title="broker-busy", remedies=[remedy]),
        incidents.finding("consumer-stuck", "insufficient_evidence"),
        path="in cident",
    )
    monkeypatch.setenv("COLUMNS", "80")
    brief, whole = (terminal.verdicts(findings, "en", verbose=verbose) for verbose in (False, True))
    assert max(map(len, brief.splitlines())) <= 80
    assert "Summary of offset-jump." not in brief and "1 cause was ruled out (-v lists it)" in brief
    assert "Summary of offset-jump." in whole and "Summary of consumer-stuck." in whole
    *_, root, summary, action, command = filter(None, brief.splitlines())
    assert (root, summary, action) == ("Root cause: broker-busy", "Summary of broker-busy.", "Do next: Move the broker")
    assert command == "Read on: rmq-kit report 'in cident' --out report/"
    broken = terminal.closing(incidents.findings(incidents.finding("offset-jump", "failed")), "en")
    assert broken == "No root cause found, but not every cause could be examined."
    # A confirmed neighbour is the answer where no root cause is seen.
    remedy = {"action": "Grant SUB", "why": "", "risk": "", "verify": ""}
    denied = incidents.finding("acl-denied", "confirmed", kind="neighbour", remedies=[remedy])
    told = ["None of the root causes is shown. Confirmed: acl-denied", "Summary of acl-denied.", "Do next: Grant SUB"]
    suspected = ["No root cause confirmed. Suspected: broker-busy"]
    for verdict, most, closing in (("insufficient_evidence", None, told), ("suspected", 1, suspected)):
        found = incidents.findings(incidents.finding("broker-busy", verdict), denied)
        assert terminal.closing(found, "en").splitlines()[:most] == closing
    both = [incidents.finding(cause, "confirmed", remedies=[remedy]) for cause in ("broker-busy", "offset-jump")]
    assert terminal.closing(incidents.findings(*both), "en").splitlines() == [
        "Root cause: broker-busy, offset-jump", "Summary of broker-busy.", "Summary of offset-jump.", *2 * told[2:]
    ]  # fmt: skip


def test_the_first_request_is_that_of_what_is_suspected():
    wants = ([{"artefact": name, "why": "who", "command": name}] for name in ("its log", "topics"))
    undecided = incidents.finding("broker-busy", "insufficient_evidence", missing=next(wants))
    suspected = incidents.finding("topic-missing", "suspected", kind="neighbour", missing=next(wants))
    shown = terminal.verdicts(incidents.findings(undecided, suspected), "zh")
    assert shown.index("  topics：who\n") < shown.index("  its log：who\n")
    assert "下一步收集：topics" in shown
    # Else that which can be asked for a group that the evidence names.
    of = lambda cause, command: incidents.finding(cause, "insufficient_evidence", missing=[{"command": command}])  # noqa: E731
    every = [
        of("a", "mqadmin consumerProgress -n NAMESRV:9876 -g GROUP"),
        of("b", "mqadmin consumerStatus -g pay"),
        of("c", "grep -g pay"),
    ]
    assert [each["cause"] for each in ranked(incidents.findings(*every))] == ["b", "a", "c"]


def test_what_was_found_comes_first_and_root_causes_by_harm():
    wanted = [
        ("z-harms-most", "root_cause", "confirmed"), ("a-harms-less", "root_cause", "confirmed"), ("c", "root_cause", "suspected"),
        ("b", "neighbour", "confirmed"), ("e", "neighbour", "failed"), ("d", "root_cause", "ruled_out"),
    ]  # fmt: skip
    findings = [
        {"cause": cause, "kind": kind, "verdict": verdict, "missing": []} for cause, kind, verdict in sorted(wanted)
    ]
    order = ranked({"findings": findings, "root_causes": ["z-harms-most", "a-harms-less"]})
    assert [each["cause"] for each in order] == [cause for cause, _, _ in wanted]


def test_equal_copies_of_a_message_are_counted():
    at = {"store_timestamp": "2026-11-20T00:00:00.000Z"}
    same = dict.fromkeys(("topic", "why", "offset_msg_id", "file"), "x") | at
    records = [same | {"stage": "schedule" if n % 2 else "leaked", "physical_offset": n} for n in range(600)]
    nothing = {name: [] for name in ("uniq_keys", "ops", "handled", "consumers", "traces", "mentions", "gaps")}
    shown = console.life({"id": "A", "kind": "uniq", "records": records, **nothing}, "en")
    assert [n for n in range(600) if f"x@{n}\n" in shown] == [0, 1, 2, 3, 598, 599]
    assert "594 more copies like these" in shown


@pytest.mark.spark
@pytest.mark.seconds
def test_exit_codes_of_a_paste_and_of_a_selection_that_matches_nothing(tmp_path):
    workspace = ("--workspace", str(tmp_path / "ws"))
    piped = run("triage", "-", "--json", "-", *workspace, text=BUSY)
    findings = json.loads(piped.stdout)
    assert piped.exit_code == 0 and "broker-busy" in findings["root_causes"]
    assert run("triage", "-", "--fail-on", "confirmed", *workspace, text=BUSY).exit_code == 4
    path = tmp_path / "paste.log"
    path.write_text(BUSY)
    nowhere = run("trace", str(path), "0A140D151A0C0C387F4466B0BCE60000", *workspace)
    assert run("trace", str(path), "-", *workspace, text=b"\xff\n").exit_code == nowhere.exit_code
    assert nowhere.exit_code == 5 and nowhere.stderr.count("\n") == 1
    evidence = tmp_path / "evidence" / "store" / "commitlog"
    put(evidence / ("0" * 20), stores.store([stores.Record(topic=b"orders")] * 3).data)
    at = (str(tmp_path / "evidence"), "--workspace", str(tmp_path / "ws"), "--out")
    assert run("cut", *at, str(tmp_path / "some"), "--topic", "orders").exit_code == 0
    for place, *selection in (("none", "--topic", "nosuch"), ("never", "--until", "2001-01-01 00:00:00")):
        nothing = run("cut", *at, str(tmp_path / place), *selection)
        assert nothing.exit_code == 5 and "selection" in nothing.stderr


def test_notebooks_are_opened_on_the_evidence(tmp_path, monkeypatch):
    started = []

    def start(command, **_):
        started.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr("kit.cli.evidence.subprocess.run", start)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paste.log").write_text(BUSY)
    for _ in range(2):  # again: the copies, and what was changed in them, stay
        opened = run("notebook", "paste.log", "--workspace", "ws", "--tz-app", "+08:00", "--open", "50_broker_busy")
        assert opened.exit_code == 0, opened.output
    first = Path("paste.log-notebooks", "50_broker_busy.ipynb")
    assert [command[-1] for command in started] == [str(first)] * 2
    source = "".join(cell.source for cell in nbformat.read(first, as_version=4).cells)
    assert str(tmp_path / "paste.log") in source and '"tz_app": "+08:00"' in source
    assert not list(Path("paste.log-notebooks").glob("8*"))


def test_an_interrupt_stops_the_work_of_the_case(tmp_path, monkeypatch):
    monkeypatch.setattr("kit.cli.shared.signal.getsignal", lambda _: handler)
    handler = interrupts.Interrupts()
    run("inventory", str(put(tmp_path / "paste.log", LINE)), "--workspace", str(tmp_path / "ws"))
    assert handler.stop.__qualname__ == "Case.cancel"


def test_an_interrupt_ends_in_one_line(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kit.explanation.explain.explain", interrupted)
    ended = run("explain", LINE)
    assert ended.exit_code == 130 and ended.stderr.count("\n") == 1


INSIDE_GRPC = """
exec('''
import signal, sys, threading
def enters(frame, event, arg):
    if frame.f_code is threading.Condition.__enter__.__code__ and frame.f_back.f_globals["__name__"].startswith("grpc"):
        return leaves
def leaves(frame, event, arg):
    if event == "return":
        sys.settrace(None)
        signal.raise_signal(signal.SIGINT)
''', tracing := {"__name__": "tracing"})
import sys
sys.settrace(tracing["enters"])
"""
"""Interrupts the code behind it where gRPC has taken a lock and not yet noted it: an exception there leaves it taken."""
ASKING = """
import kit.cli.main, kit.__main__, kit.spark, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background hands on that it is ignored

@kit.cli.main.cli.command()
def ask():
    spark = kit.spark.session()
    while True:
        spark.sql("select 1").collect()

sys.argv = ["rmq-kit", "ask"]
"""
"""A command that is interrupted or goes on for ever."""


@pytest.mark.seconds
def test_ctrl_c_ends_in_one_sentence_and_small_commands_import_nothing_heavy(tmp_path):
    code = f"{ASKING}{INSIDE_GRPC}\nkit.__main__.main()"
    done = typed("-c", code)
    assert (done.returncode, done.stderr.splitlines()[-1][:12]) == (130, "Interrupted.")
    # In one new process, so that what one imports is seen at once.
    (tmp_path / "broker.conf").write_text("brokerName=broker-a\nbrokerClusterName=c\nbrokerId=0\n")
    (tmp_path / "paste.txt").write_text("No route info of this topic: x\n")
    commands = [
        ["msgid", "0A142C1500000C387F4466D0D88B0000"], ["size", "--body", "1", "--topic", "t"], ["lab", "run", "--help"],
        ["lab", "list", "--lang", "zh"], ["explain", str(tmp_path / "paste.txt")], ["doctor", str(tmp_path / "broker.conf")],
    ]  # fmt: skip
    code = "import json, sys\nfrom kit.cli.main import cli\n"
    code += "for command in json.loads(sys.argv[1]):\n  try: cli(command)\n  except SystemExit as end: assert not end.code, command\n"
    code += "  heavy = {'pyspark', 'numba'} | ({'pandas', 'numpy', 'pyarrow'} if command[0] != 'doctor' else set())\n"
    code += "  assert not heavy & set(sys.modules), command\n"
    done = typed("-c", code, json.dumps(commands))
    assert done.returncode == 0, done.stderr
