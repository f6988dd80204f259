"""What a session listens on and takes: loopback, no UI, bounded, usable after an interrupt; and on a cluster the tables stay with the engine."""

import json
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import SimpleNamespace

import pytest
import stores
from processes import typed

from kit.spark import embedded, session, sessions

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
    said = sessions._settings(master, local=True, brief=False)
    assert said["spark.driver.bindAddress"] == said["spark.driver.host"] == "127.0.0.1"
    assert said["spark.ui.enabled"] == said["spark.eventLog.enabled"] == "false"
    assert said["spark.driver.memory"].endswith("g")


@pytest.mark.parametrize("master", CLUSTERS)
def test_a_cluster_is_none(master, monkeypatch):
    assert not sessions.is_local(master)
    monkeypatch.setenv("RMQ_KIT_MASTER", master)
    assert not sessions.is_local() and "spark.driver.host" not in sessions._settings(master, local=False, brief=False)


def test_connect_and_submit_are_elsewhere(monkeypatch):
    assert not sessions.is_local(None, "sc://host:15002") and not sessions.is_local("local[2]", "sc://host:15002")
    monkeypatch.setenv("SPARK_ENV_LOADED", "1")
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert not sessions.is_local()


@pytest.mark.parametrize(
    ("master", "parts"), [("local", 2), ("local[4]", 4), ("local[3,2]", 3), ("local[*]", 5), (None, 5)]
)
def test_shuffles_follow_the_cores(master, parts, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert sessions._settings(master, local=True, brief=True)["spark.sql.shuffle.partitions"] == str(parts)


def test_a_cluster_wants_a_shared_workspace(monkeypatch, tmp_path):
    import kit

    monkeypatch.setenv("RMQ_KIT_MASTER", "spark://host:7077")
    with pytest.raises(ValueError, match="--workspace"):
        kit.open_case(str(tmp_path))


TRIAGE = """
import json, sys
import pandas, pyarrow.dataset, pyarrow.parquet
import kit

opened = []

def noting(module, name):
    function = getattr(module, name)
    def note(path, *args, **kwargs):
        opened.append(str(path))
        return function(path, *args, **kwargs)
    setattr(module, name, note)

for module, name in ((pyarrow.parquet, "ParquetFile"), (pyarrow.parquet, "read_table"), (pyarrow.parquet, "ParquetDataset"),
                     (pyarrow.dataset, "dataset"), (pandas, "read_parquet")):
    noting(module, name)
case = kit.open_case(sys.argv[1], sys.argv[2], master="local[2]")
found = kit.triage(case)
written = [str(path) for path in case.workspace.folder.rglob("*.parquet")]
print(json.dumps({"opened": opened, "written": written, "causes": len(found["findings"])}))
"""


@pytest.mark.apache
def test_a_triage_opens_no_table_in_the_driver(tmp_path):
    evidence = tmp_path / "evidence" / "store" / "commitlog"
    evidence.mkdir(parents=True)
    records = [stores.Record(topic=b"orders", properties=b"UNIQ_KEY\\x01%032X" % n) for n in range(50)]
    (evidence / ("0" * 20)).write_bytes(stores.store(records).data)
    done = typed("-c", TRIAGE, tmp_path / "evidence", tmp_path / "ws")
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["causes"] > 20
    assert any("/messages-" in path for path in said["written"])
    assert [path for path in said["opened"] if "/facts/" not in path and "/results/" not in path] == []


def test_it_listens_on_loopback_only():
    session()
    host, port = embedded.url().removeprefix("sc://").split(":")
    assert host == "127.0.0.1"
    # The whole of 127.0.0.0/8 is this machine: what listens on every address answers here too.
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", int(port)), timeout=1):
        pass


def test_a_query_may_hold_a_quarter_of_the_memory_there_is(monkeypatch):
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 4 << 20}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(Path, "read_text", lambda self, **_: "max")
    assert embedded.memory() == 4 << 30
    monkeypatch.setattr(Path, "read_text", lambda self, **_: str(2 << 30))
    assert embedded.memory() == 512 << 20, "a container of 2 GiB"


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


def test_a_new_session_starts_the_engine_again_where_it_is_gone(monkeypatch):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        monkeypatch.setattr(embedded, "_server", SimpleNamespace(listening_address=nobody.getsockname()))
        with pytest.warns(UserWarning, match="RETRIES_EXCEEDED"):
            assert session().range(7).count() == 7


def test_it_needs_neither_java_nor_a_proxy_prints_nothing_and_ends_with_the_process(tmp_path):
    code = "from kit.spark import session, embedded; print(session().range(5).count(), embedded.url())"
    nothing = {"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path), "http_proxy": "http://127.0.0.1:1", "no_proxy": ""}
    done = typed("-c", code, env=nothing)
    count, url = done.stdout.split()
    assert count == "5" and done.stderr == ""
    host, port = url.removeprefix("sc://").split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=1)
