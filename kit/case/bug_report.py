"""bug-report.txt: what a maintainer needs to find a bug in the kit, without any content of the evidence."""

import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import kit
from kit.case.output import BUG_REPORT
from kit.data import grouped
from kit.evidence import disk
from kit.evidence.failure import Failure

if TYPE_CHECKING:
    from kit.case.case import Case

_LIBRARIES: Final = ("pyspark-client", "pysail", "pandas", "pyarrow", "numpy", "numba", "plotly", "papermill")


def write(folder: Path, case: "Case") -> None:
    """Write bug-report.txt if anything broke while a case was examined or shown."""
    if case.failures:
        disk.write_text(folder / BUG_REPORT, text(case.failures, case))


def text(failures: Sequence[Failure], case: "Case | None" = None, options: Mapping[str, Any] | None = None) -> str:
    """Return the report: versions, options (those of the case unless given), failures with frames, the evidence."""
    if options is None and case is not None:
        options = case.options.declared()
    lines = [
        f"rmq-kit {kit.__version__}",
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
    ]
    lines += [f"{name} {metadata.version(name)}" for name in _LIBRARIES]
    lines += ["", "Options", *(f"  {name}: {value}" for name, value in (options or {}).items())]
    lines += ["", "Shape of the evidence"]
    if case is not None:
        sizes = grouped((item.kind, item.bytes) for item in case.unzoned.items)
        lines += [f"  {kind}: {len(own)} files, {sum(own):,} bytes" for kind, own in sorted(sizes.items())]
        lines.append(f"  not recognised: {len(case.unzoned.not_recognised)}, refused: {len(case.unzoned.refused)}")
    for failure in sorted(failures, key=lambda f: f.what):
        lines += ["", f"Failed: {failure.what}", f"{failure.type} at {failure.where}", failure.trace]
    return "\n".join(lines) + "\n"
