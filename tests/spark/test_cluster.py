"""The same findings, byte for byte, from a Spark standalone cluster whose executors get the kit shipped, and from
evidence on object storage."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import recorded
from ports import free_port
from spark_cluster import cluster, ship

pytestmark = pytest.mark.cluster
ROOT = str(Path(__file__).resolve().parents[2])
NAMES = ("half-topic-blowup", "transaction-consistency")


def triage(evidence: str, out: Path, *more: str, env: dict[str, str] | None = None) -> bytes:
    """Return findings.json of a triage that is started where the shipped environment lies unpacked too: Spark plans in
    a process beside the driver."""
    command = [
        sys.executable,
        "-m",
        "kit",
        "triage",
        evidence,
        "--json",
        str(out),
        "--workspace",
        str(out.parent / f"ws-{out.stem}"),
        *more,
    ]
    done = subprocess.run(
        command, cwd=out.parent, env={**os.environ, "PYTHONPATH": ROOT, **(env or {})}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:3000]
    return out.read_bytes()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a path that driver and workers share."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def workers(shared: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Return the master's URL and the environment in which commands use the cluster, as docs/cluster.md says."""
    archive = ship(shared)
    (shared / "environment").symlink_to(shared / "env")
    with cluster(shared / "cluster") as url:
        yield (
            url,
            {
                "PYSPARK_PYTHON": "./environment/bin/python",
                "PYSPARK_SUBMIT_ARGS": f"--archives {archive}#environment pyspark-shell",
            },
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_cluster_finds_what_one_machine_finds(shared: Path, workers: tuple[str, dict[str, str]], name: str) -> None:
    url, env = workers
    evidence = recorded.unpack(name, shared / name)
    here = triage(str(evidence), shared / f"{name}-local.json")
    there = triage(str(evidence), shared / f"{name}-cluster.json", "--master", url, env=env)
    assert there == here
    # The records were read by the executors, with the kit they were sent.
    executors = [p.read_text(errors="replace") for p in (shared / "cluster").glob("work-*/app-*/*/stderr")]
    assert len(executors) >= 2 and any(re.search(r"Unpacking an archive|environment", text) for text in executors)


def test_evidence_on_object_storage(shared: Path) -> None:
    server = pytest.importorskip("moto.server")
    from pyarrow import fs
    from werkzeug.serving import make_server

    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
    os.environ |= keys
    serving = make_server(
        "127.0.0.1", free_port(), server.DomainDispatcherApplication(server.create_backend_app), threaded=True
    )
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    try:
        where = f"127.0.0.1:{serving.server_port}"
        folder = recorded.unpack("message-identity", shared / "message-identity")
        bucket = fs.S3FileSystem(endpoint_override=where, scheme="http", allow_bucket_creation=True)
        bucket.create_dir("incidents")
        fs.copy_files(str(folder), "incidents/one", destination_filesystem=bucket)
        local = triage(str(folder), shared / "identity-local.json")
        uri = f"s3://incidents/one?endpoint_override={where.replace(':', '%3A')}&scheme=http"
        distant = triage(uri, shared / "identity-s3.json", env=keys)
    finally:
        serving.shutdown()
    assert distant.replace(b"s3://incidents/one", str(folder).encode()) == local
