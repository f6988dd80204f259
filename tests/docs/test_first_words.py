"""What README tells a newcomer to type, typed as it stands, each in a process of its own."""

import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.dataset as ds
import pytest
import recorded

ROOT = Path(__file__).resolve().parents[2]
NAME = "producer-offline"
pytestmark = [pytest.mark.spark, pytest.mark.seconds]


def snippet(page: str) -> str:
    """Return the Python of a page."""
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return code


def typed(*command: str, cwd: Path) -> str:
    """Run Python in a new process, as somebody whose shell knows nothing of Spark; return what it printed."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), env.get("PYTHONPATH"))))
    done = subprocess.run([sys.executable, *command], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with `incident/` in it."""
    recorded.unpack(NAME, tmp_path / "unpacked").rename(tmp_path / "incident")
    return tmp_path


def test_the_snippet_of_readme_shows_the_messages_of_each_topic(here: Path) -> None:
    code = snippet("README.md")
    assert 'case.messages.groupBy("topic").count().show()' in code and 'open_case("incident/")' in code
    shown = re.findall(r"^\|\s*(\S+)\s*\|\s*(\d+)\s*\|$", typed("-c", code, cwd=here), re.MULTILINE)
    topics = Counter(record["topic"] for record in recorded.truth(NAME))
    # `show` cuts a text after 20 characters.
    assert sorted(shown) == sorted((t if len(t) <= 20 else t[:17] + "...", str(n)) for t, n in topics.items())


def test_nothing_else_on_the_page_is_python() -> None:
    assert len(snippet("README.md").splitlines()) == 7
    assert [line.partition("  #")[0].rstrip() for line in snippet("README.zh.md").splitlines()] == [
        line.partition("  #")[0].rstrip() for line in snippet("README.md").splitlines()
    ]


def test_decoded_in_every_form_there_are_as_many_records(here: Path) -> None:
    forms = ("parquet", "csv", "jsonl")
    for form in forms:
        typed("-m", "kit", "decode", "incident/", "--out", form, "--format", form, cwd=here)
    assert {counted(here / form / "messages", form) for form in forms} == {len(list(recorded.truth(NAME)))}
    assert len({counted(here / form / "skipped", form) for form in forms}) == 1


def counted(folder: Path, form: str) -> int:
    """Return the number of rows of a table in one form."""
    if form == "parquet":
        return ds.dataset(folder, format="parquet").count_rows()
    files = [path for path in folder.iterdir() if path.name[0] not in "._"]
    rows = 0
    for path in files:
        with path.open(encoding="utf-8", newline="") as file:
            rows += (
                sum(1 for _ in csv.DictReader(file)) if form == "csv" else sum(1 for line in file if json.loads(line))
            )
    return rows
