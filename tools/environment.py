"""Make an environment ready: `python tools/environment.py FOLDER [--as-it-is | --dev]`. Only the standard library; `make env` calls it.

Creates FOLDER as a virtual environment and installs the locked packages and the kit in it; with `--as-it-is` FOLDER is an environment that has the
kit already, and nothing is installed but a Java where none is found. Then the kernels are compiled and Spark's classes recorded, once.
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
JAVA = ROOT / "requirements-java.lock"
SAMPLE = ROOT / "sample_data" / "transaction-consistency.tar.zst"
TERMINAL = sys.stderr.isatty()

NO_VENV = "Python's venv module cannot make an environment here. On Debian and Ubuntu: apt-get install python3-venv"
NO_INSTALL = "The packages could not be installed. Is the package index reachable? {reason}"
NO_JAVA = (
    "Java 17 or newer is needed, none was found, and none could be installed from the package index. Get one with `apt-get install "
    "openjdk-17-jre-headless`, `brew install openjdk@17` or `conda install -c conda-forge openjdk=17`; RMQ_KIT_JAVA or JAVA_HOME may name it."
)


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


def installer(python: Path) -> list[str]:
    """Return the command that installs packages: uv where it is there, else pip."""
    uv = shutil.which("uv")
    return (
        [uv, "pip", "install", "--python", str(python)]
        if uv
        else [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    )


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
    with step("Installing packages") as shown:
        install(python, "-r", str(LOCK), shown=shown, expected=len(packages))
        install(python, "--no-deps", "-e", ".", shown=shown)


def tools(python: Path) -> None:
    """Install what tests, linters and the documentation need; the lock holds the users' packages in the same versions."""
    with step("Installing the developers' tools") as shown:
        install(python, "-r", str(DEV_LOCK), shown=shown)


def java(python: Path) -> None:
    """See that there is a Java that starts Spark; if absent, install one from the package index."""
    asked = [str(python), "-P", str(ROOT / "kit" / "spark" / "jvm.py")]
    if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
        return
    with step("Installing a Java runtime: no Java 17 or newer was found") as shown:
        try:
            install(python, "-r", str(JAVA), shown=shown)
        except Failed:
            raise Failed(NO_JAVA) from None
    if subprocess.run(asked, capture_output=True, check=False).returncode != 0:
        raise Failed(NO_JAVA)


def warm(python: Path) -> None:
    """Compile the kernels and record the classes that Spark loads."""
    for doing, what in (("Compiling", []), ("Recording what Spark loads", [str(SAMPLE)] if SAMPLE.exists() else [])):
        if what or doing == "Compiling":
            with step(doing):
                done = subprocess.run(
                    [str(python), "-m", "kit.cli.warm", *what], cwd=ROOT, stdout=subprocess.DEVNULL, check=False
                )
            if done.returncode != 0:
                raise Failed(f"{doing} failed: {python} -m kit.cli.warm {' '.join(what)}")


def main(folder: Path, *, as_it_is: bool, dev: bool = False) -> None:
    python = folder.absolute() / "bin" / "python"
    if dev:
        tools(python)
        return
    if not as_it_is:
        create(folder, python)
    java(python)
    warm(python)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    try:
        main(Path(sys.argv[1]), as_it_is="--as-it-is" in sys.argv[2:], dev="--dev" in sys.argv[2:])
    except Failed as failed:
        print(failed, file=sys.stderr)
        sys.exit(2)
