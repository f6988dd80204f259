"""A real Spark standalone cluster on this machine: a master and two workers, each an own process in a folder of its
own, without the kit on its path."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
from ports import free_port

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    "ahocorasick-rs", "numba", "numpy", "pandas", "pyarrow", "attrs", "lz4", "zstandard", "msgspec", "pyyaml", "click",
)  # fmt: skip
"""What the readers need on an executor; PySpark itself comes from the cluster."""
WAIT = 90


def pinned(path: Path) -> Path:
    """Write the locked versions without their hashes: with them pip wants every requirement named with its own."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line.split(" \\")[0] for line in lines if line[:1].isalnum()]
    path.write_text("\n".join(pins) + "\n", encoding="utf-8")
    return path


def ship(folder: Path) -> Path:
    """Build the environment that is sent to the executors: the kit's wheel and what the readers need, nothing else.
    Return the archive."""
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
def cluster(folder: Path, workers: int = 2) -> Iterator[str]:
    """Run a master and workers with one core each; yield the master's URL. Nothing is left running."""
    home = Path(pyspark.__file__).parent
    # Nothing of the tests' own environment: an executor finds the kit in what was shipped, or not at all.
    keep = {name: os.environ[name] for name in ("PATH", "JAVA_HOME", "LANG") if name in os.environ}
    env = {
        **keep,
        "SPARK_HOME": str(home),
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "HOME": str(folder),
    }
    url = f"spark://127.0.0.1:{free_port()}"
    running: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> Path:
        log = folder / f"{name}.log"
        own = folder / name
        own.mkdir(parents=True)
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]]
        with log.open("wb") as out:
            running.append(subprocess.Popen(command, cwd=own, env=env, stdout=out, stderr=out, start_new_session=True))
        return log

    def until(log: Path, text: str) -> None:
        end = time.monotonic() + WAIT
        while text not in log.read_text(errors="replace"):
            assert time.monotonic() < end and all(p.poll() is None for p in running), log.read_text(errors="replace")[
                -2000:
            ]
            time.sleep(0.2)

    try:
        until(
            start(
                "master",
                "master.Master",
                "--host",
                "127.0.0.1",
                "--port",
                url.rpartition(":")[2],
                "--webui-port",
                str(free_port()),
            ),
            "Starting Spark master",
        )
        for n in range(workers):
            own = [
                "--host",
                "127.0.0.1",
                "--webui-port",
                str(free_port()),
                "--cores",
                "1",
                "--memory",
                "2g",
                "--work-dir",
                str(folder / f"work-{n}"),
                url,
            ]
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
