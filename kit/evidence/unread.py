"""Files that could not be read: an error in one file ends the reading of that file only."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import attrs

from kit.evidence import disk
from kit.evidence.files import Refused, refusal

PREFIX: Final = "_unread-"
"""Prefix of note files in a table's folder; Spark and Arrow ignore files that begin with an underscore."""
log = logging.getLogger(__name__)
R = TypeVar("R")


@attrs.frozen
class Unread:
    """Where readers note files they could not read. `folder`: of the table being built; None: the log of this process."""

    folder: str | None = None

    def note(self, file: str, error: Exception) -> None:
        self.keep(refusal(file, error))

    def keep(self, refused: Refused) -> None:
        if self.folder is None:
            log.warning("%s: %s", refused.file, refused.say())
            return
        # One note per file, however many tasks read parts of it.
        name = hashlib.sha256(refused.file.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        disk.write_text(Path(self.folder, f"{PREFIX}{name}.json"), json.dumps(attrs.asdict(refused)))

    def through(self, file: str, read: Callable[[], Iterable[R]]) -> Iterator[R]:
        """Yield what `read` yields until it raises; the rest of the file is then noted."""
        try:
            yield from read()
        except Exception as error:
            self.note(file, error)


def notes(folder: Path) -> list[Refused]:
    """Return what was noted in a table's folder, in order of file."""
    texts = (path.read_text(encoding="utf-8") for path in folder.glob(f"{PREFIX}*.json"))
    return sorted((Refused(**json.loads(text)) for text in texts), key=lambda refused: refused.file)
