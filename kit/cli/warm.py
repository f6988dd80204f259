"""Do once at installation what every run would otherwise repeat: `python -m kit.cli.warm [EVIDENCE]`.

Kernels are compiled into numba's cache; with evidence, one triage shows the JVM which classes the kit needs, and they are archived.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import kit
from kit.spark import jvm, kernels, sessions

PATIENCE = 120
"""Seconds the JVM may take to write its archive: it takes about ten."""


def record_classes(evidence: Path) -> bool:
    """Triage `evidence` in a JVM that records its classes; return whether it wrote an archive. Raise `JavaMissing`."""
    place = jvm.archive()
    if place.exists():
        return True
    wanted = jvm.options(record=True)
    if not wanted or not os.access(sys.prefix, os.W_OK):
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    if java := jvm.find():
        jvm.share(java)
    session = sessions.session(spark_driver_extraJavaOptions=f"{sessions.JAVA_OPTIONS} {wanted}")
    with tempfile.TemporaryDirectory() as workspace:
        kit.triage(kit.open_case(evidence, workspace))
        gateway = session.sparkContext._gateway
        session.stop()
        assert gateway is not None
        gateway.shutdown()
        # The JVM ends, and writes its archive, when its standard input closes.
        with contextlib.suppress(OSError):
            gateway.proc.stdin.close()
        gateway.proc.wait(PATIENCE)
    return place.exists()


def main(arguments: list[str]) -> None:
    kernels.warm()
    for name in arguments:
        try:
            record_classes(Path(name))
        except sessions.JavaMissing as missing:
            print(missing, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
