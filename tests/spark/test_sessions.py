"""What a session listens on and takes: loopback and no UI wherever Spark is this process, and on a cluster the tables stay with the engine."""

import json
import os

import pytest
import stores
from processes import typed

from kit.spark import sessions

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
