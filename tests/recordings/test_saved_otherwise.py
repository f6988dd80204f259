"""Logs and rows as people save them (a log search, a page, a Word document, SQL) lead to the verdicts of the files."""

from __future__ import annotations

import csv
import html
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import recorded

import kit
from kit.causes.root_causes import transaction_consistency

TIMED = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)")


def entries(text: str) -> list[dict[str, object]]:
    """Fold a log as a collector does: a line without a time belongs to the one before. Hosts run in GMT+8."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if TIMED.match(line) or not found:
            found.append([])
        found[-1].append(line)
    times = (TIMED.match(lines[0]) for lines in found)
    stamps = (f"{m[1]}T{m[2]}.000+08:00" if m else None for m in times)
    return [
        {"@timestamp": at, "log": {"file": {"path": "/logs"}}, "message": "\n".join(lines)}
        for at, lines in zip(stamps, found, strict=True)
    ]


def as_hits(path: Path, text: str) -> None:
    hits = [{"_index": "logs", "_source": entry} for entry in entries(text)]
    path.with_suffix(".json").write_text(json.dumps({"took": 3, "hits": {"hits": hits}}))


def as_csv(path: Path, text: str) -> None:
    with path.with_suffix(".csv").open("w", newline="") as out:
        csv.writer(out).writerows(
            [("@timestamp", "host", "message"), *((e["@timestamp"], "h", e["message"]) for e in entries(text))]
        )


def as_page(path: Path, text: str) -> None:
    path.with_suffix(".html").write_text(f"<!DOCTYPE html><html><body><pre>\n{html.escape(text)}</pre></body></html>")


def as_word(path: Path, text: str) -> None:
    paragraphs = "".join(f"<w:p><w:r><w:t>{html.escape(line)}</w:t></w:r></w:p>" for line in text.splitlines())
    with zipfile.ZipFile(path.with_suffix(".docx"), "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("[Content_Types].xml", "<Types/>")
        out.writestr("word/document.xml", f"<w:document>{paragraphs}</w:document>")


@pytest.mark.recordings
@pytest.mark.parametrize("save", [as_hits, as_csv, as_page, as_word])
@pytest.mark.parametrize("name", ["broker-unreachable", "subscription-mismatch-tags", "transaction-consistency"])
def test_logs(name: str, save: Callable[[Path, str], None], tmp_path: Path) -> None:
    evidence = recorded.unpack(name, tmp_path)
    for path in list(evidence.rglob("*.log")):
        save(path, path.read_text(errors="replace"))
        path.unlink()
    assert kit.triage(kit.open_case(evidence, tmp_path / "w"))["root_causes"] == recorded.label(name)["root_causes"]


@pytest.mark.recordings
def test_rows_in_sql(tmp_path: Path) -> None:
    evidence = recorded.unpack("transaction-consistency", tmp_path)
    for path in list(evidence.rglob("t_*.csv")):
        header, *rows = csv.reader(path.open(newline=""))
        values = ",\n".join(f"({', '.join(repr(cell) for cell in row)})" for row in rows)
        path.with_suffix(".sql").write_text(f"INSERT INTO `{path.stem}` ({', '.join(header)}) VALUES\n{values};\n")
        path.unlink()
    # The figures of the files as recorded are held against the ledger in test_transaction_consistency.
    found = transaction_consistency.examine(kit.open_case(evidence, tmp_path / "w"))
    assert found.verdict == "confirmed"
    assert found.figures == transaction_consistency.examine(recorded.case("transaction-consistency")).figures
