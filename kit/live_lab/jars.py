"""Stock RocketMQ jars by Maven coordinates, and the lab's own Java, compiled against them: both in the user's cache."""

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from kit import data
from kit.evidence import disk, workspace
from kit.i18n import T, labels
from kit.rocketmq.versions import Version
from kit.spark import jvm

Side = Literal["server", "names", "client"]
SIDES: Final[dict[Side, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "server": (("broker",), ("LabHost",)),
    "names": (("namesrv", "tools"), ("LabHost", "LabAdmin")),
    "client": (("client",), ("LabHost", "LabClient")),
}
"""RocketMQ's artifacts and the lab's own classes of each."""
STAND_IN: Final = Version.parse("5.3.3")
"""Its name server and mqadmin run where a registry has a release's broker only."""
OLDEST: Final = Version.parse("4.5.0")
LEAST_JAVA: Final = 11
DEPENDENCY: Final = "<dependency><groupId>org.apache.rocketmq</groupId><artifactId>rocketmq-{artifact}</artifactId><version>{version}</version></dependency>"
PATIENCE: Final = 600
"""Seconds for one Maven call: it fetches about 50 MB, perhaps over a slow connection."""
ERRORS: Final = labels("live_lab")["errors"]


class LabError(Exception):
    """The lab cannot run here; its sentence is one line for the user."""


def java() -> str:
    """Return the `java` to run. Raise `LabError` with the first missing tool of `java`, `javac` and `mvn`."""
    chosen = jvm.find()
    fits = chosen is not None and (jvm.major(chosen.release) or 0) >= LEAST_JAVA
    missing = next((tool for tool in ("javac", "mvn") if shutil.which(tool) is None), None) if fits else "java"
    if chosen is None or missing:
        raise LabError(ERRORS["no_tool"].say(tool=missing, needs=ERRORS["needs"]))
    return str(chosen.executable)


def classpath(side: Side, version: Version) -> str:
    """Return the class path of a broker host (`server`), of the name server and mqadmin (`names`) or of an application
    host (`client`) of a release, the lab's own classes first.

    Raise `LabError` if Maven cannot fetch the release or a tool is missing.
    """
    java()
    if version < OLDEST:
        raise LabError(ERRORS["too_old"].say(version=str(version), oldest=str(OLDEST)))
    folder = workspace.default_base() / "live" / f"{side}-{version}"
    with disk.locked(folder.with_name(f".{folder.name}.lock")):
        jars = _jars(folder, side, version)
        classes = _classes(folder, side, version, jars)
    return f"{classes}:{jars}/*"


def names(version: Version) -> str:
    """Return the class path of the name server and mqadmin, of `STAND_IN` if the registry lacks that release's."""
    try:
        return classpath("names", version)
    except LabError:
        return classpath("names", STAND_IN)


def _jars(folder: Path, side: Side, version: Version) -> Path:
    """Return the folder of a release's jars, without test libraries: the same as a distribution's lib folder."""
    dependencies = "\n".join(DEPENDENCY.format(artifact=artifact, version=version) for artifact in SIDES[side][0])
    pom = data.text("live_lab/pom.xml").format(dependencies=dependencies)

    def fetch(part: Path) -> list[str]:
        (part / "pom.xml").write_text(pom, encoding="utf-8")
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={part}"]
        return ["mvn", "-B", "-q", *goal]

    return _cached(folder / "jars", fetch, ERRORS["no_jars"], version)


def _classes(folder: Path, side: Side, version: Version, jars: Path) -> Path:
    sources = [Path(__file__).parent / "java" / f"{name}.java" for name in SIDES[side][1]]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    compiler = ["javac", "-nowarn", "--release", "11", "-cp", f"{jars}/*", *map(str, sources), "-d"]
    return _cached(folder / f"classes-{digest}", lambda part: [*compiler, str(part)], ERRORS["no_classes"], version)


def _cached(target: Path, command_in: Callable[[Path], list[str]], failed: T, version: Version) -> Path:
    """Let a command fill another folder and rename it, so that a lost connection leaves no partial set."""
    if target.is_dir():
        return target
    part = target.with_name("part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        done = subprocess.run(
            command_in(part), cwd=part, timeout=PATIENCE, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(failed.say(version=str(version), why=type(error).__name__)) from None
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()
        why = next((line for line in lines if "ERROR" in line or "error:" in line), "?")
        raise LabError(failed.say(version=str(version), why=why.replace("[ERROR]", "").strip()[:200]))
    return part.rename(target)
