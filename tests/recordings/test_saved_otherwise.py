"""Rows as people save them (JSON, a workbook, what `mysql` and `psql` print) lead to the figures of the files as recorded."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import recorded

import kit
from kit.causes.root_causes import transaction_consistency

Table = tuple[list[str], list[list[str]]]


def as_lines(path: Path, table: Table) -> None:
    header, rows = table
    path.with_suffix(".json").write_text("".join(json.dumps(dict(zip(header, r, strict=True))) + "\n" for r in rows))


def as_array(path: Path, table: Table) -> None:
    header, rows = table
    path.with_suffix(".json").write_text(json.dumps([dict(zip(header, row, strict=True)) for row in rows]))


def as_parquet(path: Path, table: Table) -> None:
    pd.DataFrame(table[1], columns=table[0]).to_parquet(path.with_suffix(".parquet"))


def as_box(path: Path, table: Table) -> None:
    rule = "+" + "+".join(["-" * 8] * len(table[0])) + "+"
    lines = ["| " + " | ".join(row) + " |" for row in [table[0], *table[1]]]
    path.with_suffix(".txt").write_text("\n".join([rule, lines[0], rule, *lines[1:], rule, ""]))


def as_records(path: Path, table: Table) -> None:
    header, rows = table
    stars = "*" * 27
    fields = (f"{stars} {n}. row {stars}\n" + "".join(f"{k}: {v}\n" for k, v in zip(header, row, strict=True)) for n, row in enumerate(rows, 1))  # fmt: skip
    path.with_suffix(".txt").write_text("".join(fields))


@pytest.mark.recordings
@pytest.mark.parametrize("save", [as_lines, as_array, as_parquet, as_box, as_records])
def test_rows(save: Callable[[Path, Table], None], tmp_path: Path) -> None:
    evidence = recorded.unpack("transaction-consistency", tmp_path)
    for path in list(evidence.rglob("t_*.csv")):
        header, *rows = csv.reader(path.open(newline=""))
        save(path, (header, rows))
        path.unlink()
    # The figures of the files as recorded are held against the ledger in test_transaction_consistency.
    found = transaction_consistency.examine(kit.open_case(evidence, tmp_path / "w").facts)
    assert found.verdict == "confirmed"
    assert found.figures == transaction_consistency.examine(recorded.case("transaction-consistency").facts).figures
