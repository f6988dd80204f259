"""Make an environment ready: `python tools/environment.py FOLDER [--as-it-is | --dev] [--spark]`. Only the standard library; `make env` calls it.

Creates FOLDER as a virtual environment and installs the locked packages and the kit in it; with `--as-it-is` FOLDER is an environment that has the
kit already, and nothing is installed. Then the kernels are compiled, once. `--dev` and `--spark` alone add to an environment that is ready: the
developers' tools; Apache Spark, with a Java runtime for machines that have none.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
DEV_LOCK = ROOT / "requirements-dev.lock"
SPARK_LOCK = ROOT / "requirements-spark.lock"
TERMINAL = sys.stderr.isatty()

NO_VENV = "Python's venv module cannot make an environment here. On Debian and Ubuntu: apt-get install python3-venv"
NO_INSTALL = "The packages could not be installed. Is the package index reachable? {reason}"
NO_JAVA = (
    "Apache Spark needs Java 17 or newer; none was found, and the package index has none for this platform. Get one with `apt-get install "
    "openjdk-17-jre-headless`, `brew install openjdk@17` or `conda install -c conda-forge openjdk=17`; RMQ_KIT_JAVA or JAVA_HOME may name it."
)
MIXED = (
    "pyspark-client {pyspark-client} and pyspark {pyspark} are in one environment: they are the same files under two names, and the one installed "
    "last has overwritten half of the other. Install both in one release: pip install -r requirements-spark.lock"
)
VERSIONS = """
from importlib.metadata import PackageNotFoundError, version
for name in ("pyspark-client", "pyspark"):
    try: print(name, version(name))
    except PackageNotFoundError: pass
"""


class Failed(Exception):
    """One line that says what is missing and how to get it."""


class Step:
    """What is being done, for how long: one line that is written anew on a terminal, one plain line otherwise."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.detail = ""
        self._began = time.monotonic()
        self._over = threading.Event()

    def _line(self) -> str:
        return f"{self.doing}{self.detail} ({time.monotonic() - self._began:.0f} s)"

    def run(self) -> None:
        while not self._over.wait(0.5):
            print(f"\r\033[K{self._line()}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        self._over.set()
        print(("\r\033[K" if TERMINAL else "") + self._line(), file=sys.stderr, flush=True)


@contextmanager
def step(doing: str) -> Iterator[Step]:
    shown = Step(doing)
    if TERMINAL:
        threading.Thread(target=shown.run, daemon=True).start()
    else:
        print(f"{doing} …", file=sys.stderr, flush=True)
    try:
        yield shown
    finally:
        shown.end()


def installer(python: Path, action: str = "install") -> list[str]:
    """Return the command that installs packages (or removes them: `uninstall`): uv where it is there, else pip."""
    uv = shutil.which("uv")
    if uv:
        return [uv, "pip", action, "--python", str(python)]
    return [str(python), "-m", "pip", action, "--disable-pip-version-check", *(["-y"] if action == "uninstall" else [])]


def install(python: Path, *what: str, shown: Step, expected: int = 0) -> None:
    """Install and count what is collected; raise `Failed` with the installer's own last word."""
    job = subprocess.Popen(
        [*installer(python), *what],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    collected, last = 0, ""
    for line in job.stdout or ():
        collected += line.startswith("Collecting ")
        if collected and expected:
            shown.detail = f", {min(collected, expected)} of {expected} packages"
        if line.startswith("Installing collected"):
            shown.detail = f", unpacking {expected} packages" if expected else ""
        if re.match(r"(?i)\s*(error|×|╰|x )", line):
            last = line.strip()
    if job.wait() != 0:
        raise Failed(NO_INSTALL.format(reason=last).strip())


def create(folder: Path, python: Path) -> None:
    """Make the virtual environment and install the locked packages and the kit."""
    with step(f"Creating {folder}"):
        uv = shutil.which("uv")
        command = (
            [uv, "venv", "-q", "--allow-existing", "--python", sys.executable, str(folder)]
            if uv
            else [sys.executable, "-m", "venv", str(folder)]
        )
        if subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode != 0:
            raise Failed(NO_VENV)
    packages = [
        line
        for line in LOCK.read_text(encoding="utf-8").splitlines()
        if re.match(r"[A-Za-z0-9]", line) and " ; " not in line
    ]
    remove_other_pyspark(python)
    with step("Installing packages") as shown:
        install(python, "-r", str(LOCK), shown=shown, expected=len(packages))
        install(python, "--no-deps", "-e", ".", shown=shown)


def tools(python: Path) -> None:
    """Install what tests, linters and the documentation need; the lock holds the users' packages in the same versions."""
    with step("Installing the developers' tools") as shown:
        install(python, "-r", str(DEV_LOCK), shown=shown)


def spark(python: Path) -> None:
    """Add Apache Spark, and see that there is a Java that starts it."""
    with step("Installing Apache Spark") as shown:
        install(python, "-r", str(SPARK_LOCK), shown=shown)
    asked = [str(python), "-P", str(ROOT / "kit" / "spark" / "jvm.py")]
    if subprocess.run(asked, capture_output=True, check=False).returncode != 0:
        raise Failed(NO_JAVA)


def releases(python: Path) -> dict[str, str]:
    """Return the releases of PySpark and of its client, as far as they are installed."""
    found = subprocess.run([str(python), "-P", "-c", VERSIONS], capture_output=True, text=True, check=False).stdout
    return dict(line.split() for line in found.splitlines())


def remove_other_pyspark(python: Path) -> None:
    """Remove a PySpark of another release than the client's that is about to be installed: the two share their files."""
    wanted = re.search(r"(?m)^pyspark-client==(\S+)", LOCK.read_text(encoding="utf-8"))
    if wanted and releases(python).get("pyspark", wanted[1]) != wanted[1]:
        subprocess.run([*installer(python, "uninstall"), "pyspark", "pyspark-client"], capture_output=True, check=False)


def agree(python: Path) -> None:
    """See that PySpark and its client, where both are there, are of one release."""
    found = releases(python)
    if len(set(found.values())) > 1:
        raise Failed(MIXED.format(**found))


def warm(python: Path) -> None:
    """Compile the kernels."""
    with step("Compiling"):
        done = subprocess.run(
            [str(python), "-m", "kit.spark.kernels"], cwd=ROOT, stdout=subprocess.DEVNULL, check=False
        )
    if done.returncode != 0:
        raise Failed(f"Compiling failed: {python} -m kit.spark.kernels")


def main(folder: Path, *, as_it_is: bool = False, with_tools: bool = False, with_spark: bool = False) -> None:
    python = folder.absolute() / "bin" / "python"
    ready = with_tools or with_spark
    if not ready and not as_it_is:
        create(folder, python)
    if with_tools:
        tools(python)
    if with_spark:
        spark(python)
    agree(python)
    if not ready:
        warm(python)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    _, at, *asked = sys.argv
    try:
        main(Path(at), as_it_is="--as-it-is" in asked, with_tools="--dev" in asked, with_spark="--spark" in asked)
    except Failed as failed:
        print(failed, file=sys.stderr)
        sys.exit(2)
