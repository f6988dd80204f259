"""The same findings, byte for byte, from a Spark standalone cluster and from evidence on object storage."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import pyspark
import pytest
import recorded
from processes import ROOT, free_port, typed

pytestmark = pytest.mark.cluster
NAMES = ("half-topic-blowup", "transaction-consistency")


def triage(evidence, out, *more, env=None):
    """Return findings.json of a triage that is started where the shipped environment lies unpacked too."""
    own = ("--json", out, "--workspace", out.parent / f"ws-{out.stem}")
    done = typed("-m", "kit", "triage", evidence, *own, *more, cwd=out.parent, env=env or {})
    assert done.returncode == 0, done.stderr[:3000]
    return out.read_bytes()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Return a path that driver and workers share."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def workers(shared):
    """Return the master's URL and the environment in which commands use the cluster, as docs/cluster.md says."""
    archive = ship(shared)
    (shared / "environment").symlink_to(shared / "env")
    with cluster(shared / "cluster") as url:
        submitted = f"--archives {archive}#environment pyspark-shell"
        yield url, {"PYSPARK_PYTHON": "./environment/bin/python", "PYSPARK_SUBMIT_ARGS": submitted}


@pytest.mark.parametrize("name", NAMES)
def test_a_cluster_finds_what_one_machine_finds(shared, workers, name):
    url, env = workers
    evidence = recorded.unpack(name, shared / name)
    here = triage(str(evidence), shared / f"{name}-local.json")
    there = triage(str(evidence), shared / f"{name}-cluster.json", "--master", url, env=env)
    assert there == here
    # The records were read by the executors, with the kit they were sent.
    executors = [p.read_text(errors="replace") for p in (shared / "cluster").glob("work-*/app-*/*/stderr")]
    assert len(executors) >= 2 and any(re.search(r"Unpacking an archive|environment", text) for text in executors)


def test_evidence_on_object_storage(shared):
    server = pytest.importorskip("moto.server")
    from pyarrow import fs
    from werkzeug.serving import make_server

    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
    os.environ |= keys
    backend = server.DomainDispatcherApplication(server.create_backend_app)
    serving = make_server("127.0.0.1", free_port(), backend, threaded=True)
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


NEEDED = ["ahocorasick-rs", "numba", "numpy", "pandas", "pyarrow", "attrs", "msgspec", "pyyaml", "click"]
"""What the readers need on an executor; PySpark itself comes from the cluster."""
WAIT = 90


def pinned(path):
    """Write the locked versions without their hashes: with them pip wants every requirement named with its own."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line.split(" \\")[0] for line in lines if line[:1].isalnum()]
    path.write_text("\n".join(pins) + "\n", encoding="utf-8")
    return path


def ship(folder):
    """Build the environment that is sent to the executors: the kit's wheel and what the readers need."""
    env, archive = folder / "env", folder / "rmq-kit-env.tar.gz"
    wheels = folder / "wheels"
    uv = shutil.which("uv")
    pins = ["-c", str(pinned(folder / "pins.txt"))]
    if uv:
        subprocess.run([uv, "build", "-q", "--wheel", "-o", wheels, ROOT], check=True)
        subprocess.run([uv, "venv", "-q", "--python", sys.executable, env], check=True)
        install = [uv, "pip", "install", "-q", "--python", str(env / "bin" / "python")]
    else:
        subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", wheels, ROOT], check=True)
        subprocess.run([sys.executable, "-m", "venv", env], check=True)
        install = [str(env / "bin" / "python"), "-m", "pip", "install", "-q"]
    subprocess.run([*install, *pins, *NEEDED], check=True)
    subprocess.run([*install, "--no-deps", *map(str, wheels.glob("*.whl"))], check=True)
    # Packed, if hardly: a plain .tar is unpacked by Spark's own code, which takes no link that leads out, and
    # bin/python is one.
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(env, ".")
    return archive


@contextlib.contextmanager
def cluster(folder):
    """Run a master and two workers with one core each; yield the master's URL. Nothing is left running."""
    home = Path(pyspark.__file__).parent
    # Nothing of the tests' own environment: an executor finds the kit in what was shipped, or not at all.
    keep = {name: os.environ[name] for name in ("PATH", "JAVA_HOME", "LANG") if name in os.environ}
    env = {
        **keep, "SPARK_HOME": str(home), "SPARK_NO_DAEMONIZE": "1", "SPARK_LOCAL_IP": "127.0.0.1", "HOME": str(folder),
    }  # fmt: skip
    url = f"spark://127.0.0.1:{free_port()}"
    running = []

    def start(name, *arguments):
        log = folder / f"{name}.log"
        own = folder / name
        own.mkdir(parents=True)
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]]
        with log.open("wb") as out:
            running.append(subprocess.Popen(command, cwd=own, env=env, stdout=out, stderr=out, start_new_session=True))
        return log

    def until(log, text):
        end = time.monotonic() + WAIT
        while text not in log.read_text(errors="replace"):
            alive = time.monotonic() < end and all(p.poll() is None for p in running)
            assert alive, log.read_text(errors="replace")[-2000:]
            time.sleep(0.2)

    try:
        where = ("--host", "127.0.0.1", "--port", url.rpartition(":")[2], "--webui-port", str(free_port()))
        until(start("master", "master.Master", *where), "Starting Spark master")
        for n in range(2):
            own = [
                "--host", "127.0.0.1", "--webui-port", str(free_port()), "--cores", "1", "--memory", "2g", "--work-dir",
                str(folder / f"work-{n}"), url,
            ]  # fmt: skip
            until(start(f"worker-{n}", "worker.Worker", *own), "Successfully registered with master")
        yield url
    finally:
        for process in reversed(running):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 15)
        for process in running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
