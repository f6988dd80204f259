"""A fault of the kit while a case was read, examined or shown, reported without any content of the evidence."""

import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Self

import attrs

import kit

MOST: Final = 300
"""Characters kept of an error's message."""
_QUOTED: Final = re.compile(r"""'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|\u201c[^\u201d\n]*\u201d|\d{5,}|[\w.-]*[/@][^\s,;:)]*""")
_FRAMES: Final = 40
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*m")
_FRAME: Final = re.compile(r"File (\S+?):(\d+), in (\w+)")
_ROOTS: Final = (Path(kit.__file__).resolve().parents[1], *(Path(each).resolve() for each in sys.path if each))


@attrs.frozen
class Failure:
    """One fault. `what`: a cause's slug, or a chart, notebook or command; `trace`: frames, without values."""

    what: str
    type: str
    message: str
    where: str
    trace: str = ""

    @classmethod
    def of(cls, what: str, error: BaseException) -> Self:
        frames = traceback.extract_tb(error.__traceback__)
        folder = Path(kit.__file__).parent
        own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)] or list(frames)
        where = f"{_place(own[-1].filename)}:{own[-1].lineno} in {own[-1].name}" if own else ""
        return cls(what, type(error).__name__, " ".join(str(error).split())[:MOST], where, "\n".join(_chain(error)))

    @classmethod
    def of_output(cls, what: str, output: Mapping[str, Any]) -> Self:
        """Return the failure of a notebook cell, from its output."""
        lines = _ANSI.sub("", "\n".join(output["traceback"])).splitlines()
        frames = [f"{_place(match[1])}:{match[2]} in {match[3]}" for match in map(_FRAME.match, lines) if match]
        own = [frame for frame in frames if frame.startswith("kit/")] or frames
        message = " ".join(output["evalue"].split())[:MOST]
        trace = [f"{output['ename']}: {without_values(message)}", *(f"  {frame}" for frame in frames[-_FRAMES:])]
        return cls(what, output["ename"], message, own[-1] if own else "", "\n".join(trace))

    def as_dict(self) -> dict[str, str]:
        """Return the `error` of a finding as in findings.json."""
        return {"type": self.type, "message": self.message, "where": self.where}


def without_values(message: str) -> str:
    """Return an error's message with quoted texts, long numbers and paths left out: they may come from the evidence."""
    return _QUOTED.sub("…", " ".join(message.split()))[:MOST]


def _chain(error: BaseException) -> Iterator[str]:
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen and len(seen) < 5:
        seen.add(id(following))
        yield f"{type(following).__name__}: {without_values(str(following))}"
        frames = traceback.extract_tb(following.__traceback__)
        for frame in [*frames[: _FRAMES // 2], *frames[_FRAMES // 2 :][-_FRAMES // 2 :]]:
            yield f"  {_place(frame.filename)}:{frame.lineno} in {frame.name}\n    {frame.line or ''}"
        following = following.__cause__ or following.__context__


def _place(filename: str) -> str:
    """Return a file's name below the folder it was imported from, without this machine's paths."""
    path = Path(filename).resolve()
    return next((path.relative_to(root).as_posix() for root in _ROOTS if path.is_relative_to(root)), path.name)
