"""JSON files of the store, as fastjson writes them: recognised, parsed, and searched for the lines of names."""

from __future__ import annotations

import bisect
import json
import re
from pathlib import PurePosixPath
from typing import Any, Final

from kit.formats.patterns import forms

TABLES: Final = forms("store_tables")
_KEY: Final = re.compile(r'"(\w{3,40})"\s*:')
_INT_KEY: Final = re.compile(r"([{,]\s*)(-?\d+)(\s*:)")
"""fastjson writes integer keys without quotes (`ConsumerOffsetSerializeWrapper`); names have quotes."""
_COLON: Final = re.compile(r"\s*:")


def is_backup(file: str) -> bool:
    """Return whether a file name is that of the copy before the last save (`common/ConfigManager`)."""
    return PurePosixPath(file).name.lower().endswith(".bak")


def sniff(text: str, file: str) -> dict[str, Any] | None:
    names = {m[1] for m in _KEY.finditer(text[:65536])}
    stem = PurePosixPath(file).name.split(".")[0]
    table = next((name for key, name in TABLES.items() if key in names), None)
    if table == "consumerOffset":
        inside = re.search(r'"offsetTable"\s*:\s*\{\s*("?\{|.)', text)
        if inside and inside[1].endswith("{"):
            table = "localOffset"  # a key that is an object: a broadcasting client's own offsets, which are not read
        elif inside and inside[1] != '"':
            # Integer keys straight below: levels. An empty table is told by its name only.
            table = "delayOffset" if inside[1] != "}" or stem == "delayOffset" else "consumerOffset"
        elif '"%LMQ%' in text or stem == "lmqConsumerOffset":
            table = "lmqConsumerOffset"
    elif table is None and re.match(r'\{\s*"table"\s*:\s*\{', text):
        table = "consumerOrderInfo"
    return {"kind": "store_json", "name": table, "backup": is_backup(file)} if table else None


def parse_json(text: str) -> Any:
    """Parse JSON written by fastjson. Raise `ValueError` if it is damaged."""
    text = text.lstrip("\ufeff")
    try:
        try:
            return json.loads(text)
        except ValueError:
            return json.loads(_INT_KEY.sub(r'\1"\2"\3', text))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


class Lines:
    """The lines on which names occur in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends = [m.start() for m in re.finditer("\n", text)]

    def of(self, position: int) -> int:
        return bisect.bisect_left(self._ends, position) + 1 if position >= 0 else 1

    def find(self, name: str, start: int = 0) -> int:
        """Return where a name stands before a colon, from a position on; -1 if it does not."""
        quoted = json.dumps(name, ensure_ascii=False)
        at = self.text.find(quoted, max(0, start))
        while at >= 0 and not _COLON.match(self.text, at + len(quoted)):
            at = self.text.find(quoted, at + 1)
        return at
