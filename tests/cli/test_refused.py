"""What a command cannot do it says in one line and ends with 2, and nothing has changed: a row is a command and words of that line.

A replacement character stands for a byte that is no text.
"""

import os
import shlex

import pytest
from click.testing import CliRunner
from folders import put, state
from table import rows_of

from kit.cli.main import cli


@pytest.mark.parametrize(("command", "words"), rows_of(__file__, "refused"))
def test_it_is_refused_in_one_line(command, words, tmp_path, tmp_path_factory, monkeypatch):
    for name, text in rows_of(__file__, "files").items():
        put(tmp_path / name, text)
    put(tmp_path / "odd" / "x.bin", bytes(range(256)) * 40)
    (tmp_path / "link.jsonl").symlink_to(put(tmp_path / "target", ""))
    put(tmp_path / "deep.json", "[" * 100_000)
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RMQ_KIT_WORKSPACE", str(tmp_path_factory.getbasetemp() / "refused-ws"))
    before = state(tmp_path)
    done = CliRunner().invoke(cli, shlex.split(command.replace("\ufffd", "\udcb6")))
    assert (done.exit_code, done.output.strip().count("\n")) == (2, 0), done.output
    assert words in done.output and "\x1b" not in done.output
    assert state(tmp_path) == before


@pytest.mark.parametrize("option", ["--body", "--limit", "--check-max"])
def test_a_number_beyond_an_int_is_refused(option):
    assert CliRunner().invoke(cli, ["size", "--body", "1", "--topic", "t", option, f"{1 << 31}"]).exit_code == 2
