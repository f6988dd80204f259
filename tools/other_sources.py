"""The texts that RocketMQ's other clients, DLedger, rocketmq-spring, exporter and dashboard log or return as errors: rows of `other_projects.tsv`.

`python other_sources.py PROJECT=GIT_DIRECTORY …` reads every tag of each repository and prints the table.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import java_sources

_LITERAL: Final = r'\s*(?:ex?,\s*|err\.\w+\(\)\s*,\s*)?[$f]?("(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`[^`\n]*`)'
_LEVELS: Final = {"warn": "WARN", "warning": "WARN", "new": "THROW"}
_CALLS: Final = {
    ".go": re.compile(r"\b(?:rlog\.|sugarBaseLogger\.|errors\.|fmt\.)(Warning|Warn|Error|Fatal|New)f?\((?:fmt\.Sprintf\()?" + _LITERAL),
    ".cs": re.compile(r"\b_?[lL]ogger\??\.(?:Log)?(Error|Warn|Warning)\(" + _LITERAL),
    ".ts": re.compile(r"\blogger\??\.(error|warn)\(" + _LITERAL),
    ".py": re.compile(r"\blogger\.(error|warning|exception)\(" + _LITERAL),
    ".cpp": re.compile(r"\b(?:LOG|SPDLOG)_(ERROR|WARN|FATAL)\(" + _LITERAL),
}  # fmt: skip
_VALUES: Final = re.compile(r"%[-+#0 ]*\d*(?:\.\d+)?l{0,2}[a-zA-Z]|\$?\{[^{}]*\}|(?:\{\})+")


def calls(path: str, source: str) -> Iterator[tuple[str, str, str]]:
    """Yield (class, how, template) of one source file."""
    name, suffix = PurePosixPath(path).stem, PurePosixPath(path).suffix
    if suffix == ".java":
        yield from ((call.cls, call.level, call.template) for call in java_sources.calls("", name, source))
        return
    for found in _CALLS[suffix].finditer(source):
        how = "THROW" if found[0].startswith(("fmt.", "errors.")) else _LEVELS.get(found[1].lower(), "ERROR")
        text = re.sub(r"\\(.)", lambda m: {"n": " ", "t": " "}.get(m[1], m[1]), found[2][1:-1])
        yield name, how, re.sub(r"\s+", " ", _VALUES.sub(java_sources.VALUE, text)).strip()


def rows(project: str, repository: str) -> set[tuple[str, str, str]]:
    """Return (project/Class, how, template) of every tag and the newest commit."""
    git = ["git", "-C", repository]
    tags = subprocess.run([*git, "tag"], capture_output=True, text=True, check=True).stdout.split()
    blobs: dict[str, str] = {}
    for tag in ("HEAD", *tags):
        tree = subprocess.run([*git, "ls-tree", "-r", tag], capture_output=True, text=True, check=True).stdout
        for line in tree.splitlines():
            about, path = line.split("\t", 1)
            if PurePosixPath(path).suffix in (".java", *_CALLS) and not re.search(r"test|example|sample|demo|mock|benchmark|(?:^|/)tools?/|rust/|php/", path, re.IGNORECASE):  # fmt: skip
                blobs[about.split()[2]] = path
    asked = subprocess.run([*git, "cat-file", "--batch"], input="\n".join(blobs).encode(), capture_output=True, check=True).stdout  # fmt: skip
    found: set[tuple[str, str, str]] = set()
    at = 0
    for path in blobs.values():
        end = asked.index(b"\n", at)
        size = int(asked[at:end].split()[2])
        for cls, how, text in calls(path, asked[end + 1 : end + 1 + size].decode("utf-8", "replace")):
            if max(len(piece.strip().encode()) for piece in text.split(java_sources.VALUE)) >= java_sources.SHORTEST:
                found.add((f"{project}/{re.sub(r'[^A-Za-z0-9_]', '', cls)}", how, text))
        at = end + 2 + size
    return found


if __name__ == "__main__":
    import sys

    every = {row for each in sys.argv[1:] for row in rows(*each.split("=", 1))}
    sys.stdout.write("".join(f"{cls}\t{how}\t\t\t{text}\n" for cls, how, text in sorted(every)))
