"""On a cluster the tables stay with the engine: the driver opens no Parquet of what was read or related, only the small results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import stores

ROOT = Path(__file__).resolve().parents[2]
TRIAGE = """
import json, sys
import pandas, pyarrow.dataset, pyarrow.parquet
import kit

opened = []

def noting(module, name):
    function = getattr(module, name)
    def note(path, *args, **kwargs):
        opened.append(str(path))
        return function(path, *args, **kwargs)
    setattr(module, name, note)

for module, name in ((pyarrow.parquet, "ParquetFile"), (pyarrow.parquet, "read_table"), (pyarrow.parquet, "ParquetDataset"),
                     (pyarrow.dataset, "dataset"), (pandas, "read_parquet")):
    noting(module, name)
case = kit.open_case(sys.argv[1], sys.argv[2], master="local[2]")
found = kit.triage(case)
written = [str(path) for path in case.workspace.folder.rglob("*.parquet")]
print(json.dumps({"opened": opened, "written": written, "causes": len(found["findings"])}))
"""


@pytest.mark.apache
def test_a_triage_opens_no_table_in_the_driver(tmp_path: Path) -> None:
    evidence = tmp_path / "evidence" / "store" / "commitlog"
    evidence.mkdir(parents=True)
    records = [stores.Record(topic=b"orders", properties=b"UNIQ_KEY\\x01%032X" % n) for n in range(50)]
    (evidence / ("0" * 20)).write_bytes(stores.store(records).data)
    done = subprocess.run(
        [sys.executable, "-c", TRIAGE, str(tmp_path / "evidence"), str(tmp_path / "ws")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["causes"] > 20
    assert any("/messages-" in path for path in said["written"])
    assert [path for path in said["opened"] if "/facts/" not in path and "/results/" not in path] == []
