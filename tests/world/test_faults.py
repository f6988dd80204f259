"""What is wrong with the machine, not with the evidence: one sentence and its exit code, nothing left behind, never a fault of the kit."""

import errno
import os
import shlex
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import strange
from click.testing import CliRunner
from table import rows_of

from kit.cli import main
from kit.evidence import disk
from kit.watch import loop

FAULTS = rows_of(__file__, "faults")


@pytest.mark.seconds
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_machine_ends_in_one_sentence(name, tmp_path):
    line, code, words, *limits = FAULTS[name]
    strange.put(tmp_path / "logs" / "rocketmq_client.log", strange.LOG)
    (tmp_path / "tmp").mkdir()
    own = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(Path(__file__).parents[2])}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        given = {"logs": tmp_path / "logs", "own": tmp_path, "port": taken.getsockname()[1]}
        ended = subprocess.run(
            ["sh", "-c", f"{''.join(limits)}{shlex.quote(sys.executable)} -m kit {line.format(**given)}"],
            capture_output=True, text=True, timeout=600, check=False, cwd=tmp_path, stdin=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "RMQ_KIT_"))} | own,
        )  # fmt: skip
    assert ended.returncode == code, ended.stderr
    assert words.format(**given) in ended.stderr
    assert "fault of the kit" not in ended.stderr and "Traceback" not in ended.stderr
    assert code == 0 or ended.stderr.count("\n") == 1
    assert not list((tmp_path / "tmp").iterdir())


def test_a_temporary_folder_is_gone_with_its_process(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with disk.temporary():
        own = Path(tempfile.gettempdir())
        assert own.parent == tmp_path and own.stat().st_mode & 0o777 == 0o700
        strange.put(own / "x", "x")
    assert tempfile.gettempdir() == str(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_watch_that_is_stopped_blames_no_file_and_settings_that_are_none_are_said_once(tmp_path, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    strange.put(tmp_path / "x.log", strange.LOG)
    watch = loop.Watch([tmp_path], since=0.0)
    monkeypatch.setattr(loop, "new_rows", lambda *_: map(stopped, [0]))
    with pytest.raises(KeyboardInterrupt):
        watch.step()
    assert not watch.figures.unread
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    strange.put(tmp_path / "rmq-kit" / "config.toml", 'lang = "zh"\nlanguage = "en"\n[triage]\nout = "x"\n')
    ended = CliRunner().invoke(main.cli, ["explain", "putMessage message topic length too long 149"])
    assert ended.exit_code == 0 and ended.stderr.count("\n") == 1
    assert ended.stderr.count("language") == 1 and "triage" in ended.stderr and "tz_broker" in ended.stderr


def test_no_loopback_is_said_before_an_engine_waits_for_it(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise OSError(errno.ENETUNREACH, "Network is unreachable")

    monkeypatch.setattr(socket, "create_connection", unreachable)
    strange.put(tmp_path / "logs" / "x.log", strange.LOG)
    ended = CliRunner().invoke(main.cli, ["triage", str(tmp_path / "logs"), "--workspace", str(tmp_path / "w")])
    assert (ended.exit_code, ended.stderr) == (2, "127.0.0.1: Network is unreachable; the engine listens there\n")
