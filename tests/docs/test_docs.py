"""The pages: there, complete, linked, and naming what exists. And every command and snippet that they and the help show, typed as it stands."""

import re
import shlex
import tomllib
from collections import Counter
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import recorded
from click.testing import CliRunner
from processes import ROOT, typed
from table import rows_of

from kit.causes import discover, figures
from kit.cli import main
from kit.report import write
from kit.watch import loop

CAUSES = ROOT / "docs" / "causes"
ROOT_CAUSES = [cause.slug for cause in discover() if cause.kind == "root_cause"]
HEADS = [
    "What you see", "How it happens", "What decides it", "Its numbers", "Not to be confused with", "What to do",
    "What to collect",
]  # fmt: skip


@pytest.mark.parametrize("slug", ROOT_CAUSES)
def test_each_root_cause_has_its_page(slug):
    text = (CAUSES / f"{slug}.md").read_text()
    assert re.findall(r"^## (.*)$", text, re.M) == HEADS
    assert f"docs/causes/{slug}.md" in (ROOT / "README.md").read_text()
    (like,) = re.findall(r"## Not to be confused with\n(.*?)\n\n", text, re.S)
    named = set(re.findall(r"`([a-z-]+)`", like))
    assert named and named <= {cause.slug for cause in discover()}
    (numbers,) = re.findall(r"## Its numbers\n(.*?)\n\n", text, re.S)
    assert set(re.findall(r"`([a-z_]+)`", numbers)) <= set(figures())
    for notebook in re.findall(r"`(\d\d_\w+)`", text):
        assert (ROOT / "notebooks" / f"{notebook}.ipynb").is_file()


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))])
def test_links_lead_somewhere(page):
    text = re.sub(r"`[^`\n]*`", "", (ROOT / page).read_text())  # a log line in code is no link
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / page).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("page", ["README.md", "README.zh.md"])
def test_the_releases_of_both_engines_are_those_that_are_installed(page):
    named = dict(re.findall(r"`(pysail|pyspark)` (\d+\.\d+)", (ROOT / page).read_text(encoding="utf-8")))
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    spark, pins = wanted["optional-dependencies"]["spark"], "\n".join(wanted["dependencies"])
    assert f"pysail>={named['pysail']}." in pins
    assert any(pin.startswith(f"pyspark[connect]=={named['pyspark']}.") for pin in spark)


PAGES = ("README.md", "README.zh.md", "docs/index.md", "docs/redaction.md", "docs/engines.md")
ELSEWHERE = ("rmq-kit lab", "rmq-kit watch", "--master", "--remote")
"""What needs a broker or a cluster, or never ends, has tests of its own."""
TABLE = rows_of(__file__, "table")
"""What README's table of commands lists, in an order in which each finds what it reads."""
READ = {"parquet": pd.read_parquet, "csv": pd.read_csv, "jsonl": partial(pd.read_json, lines=True)}
OPENED = {"notebook", "lab run"}
"""What opens JupyterLab or starts a broker."""


def blocks(page, language):
    """Return the code of a page in a language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def shown():
    """Return the commands in the blocks of the pages and at the end of each group of the help."""
    text = "".join(block for page in PAGES for block in blocks(page, "sh"))
    lines = {line.partition(" #")[0].strip() for line in text.splitlines()}
    lines = {line for line in lines | {example for example, _ in main.GROUPS.values()} if line.startswith("rmq-kit ")}
    return sorted(line for line in lines if not any(part in line for part in ELSEWHERE))


def test_the_table_of_readme_lists_what_is_typed_here_and_the_snippet_is_the_same_in_chinese():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| command \|.*?\n\n", readme, re.DOTALL | re.MULTILINE)
    first = " ".join(re.findall(r"^\| (`.*?) \|(?!\|)", table.replace("\\|", ""), re.MULTILINE))
    listed = {re.sub(r"[^a-z ].*", "", text).strip() for text in re.findall(r"`([^`]+)`", first)} - {"notebooks"}
    assert listed == TABLE.keys() | OPENED
    assert {name.partition(" ")[0] for name in listed} == set(main.cli.commands)
    ((english,), (chinese,)) = (blocks(page, "python") for page in ("README.md", "README.zh.md"))
    assert re.sub(" *  #.*", "", english) == re.sub(" *  #.*", "", chinese)


@pytest.mark.recordings
def test_each_command_does_its_work(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RMQ_KIT_WORKSPACE", str(tmp_path / "workspace"))
    # How full the disk of this machine is says nothing.
    monkeypatch.setattr(loop, "Watch", partial(loop.Watch, disk=lambda _: (100, 50, 50)))
    monkeypatch.chdir(tmp_path)
    recorded.unpack("producer-offline", tmp_path / "unpacked").rename("incident")
    Path("notes.yaml").write_text("timeline:\n  - {time: 23:36, what: alarm, who: on call}\n")
    Path("paste.txt").write_text("No route info of this topic: x\n")
    known = next(record["properties"]["UNIQ_KEY"] for record in recorded.truth("producer-offline"))
    commands = [*shown(), *(f"rmq-kit {name} {arguments}" for name, arguments in TABLE.items())]
    for command in commands:
        _, *arguments = shlex.split(command.replace("ID…", known))
        done = CliRunner().invoke(main.cli, arguments)
        assert done.exit_code == 0 and done.output, f"{command}\n{done.output}"
    assert all(Path(path).stat().st_size for path in ("report/report.html", "postmortem/postmortem.html", "index.html"))


@pytest.mark.spark
@pytest.mark.seconds
def test_the_snippet_of_readme_shows_the_messages_of_each_topic():
    (code,) = blocks("README.md", "python")
    assert 'case.messages.groupBy("topic").count().show()' in code
    shown = re.findall(r"^\|\s*(\S+)\s*\|\s*(\d+)\s*\|$", typed("-c", code, cwd=ROOT).stdout, re.MULTILINE)
    topics = Counter(record["topic"] for record in recorded.truth("half-topic-blowup"))
    # `show` cuts a text after 20 characters.
    assert sorted(shown) == sorted((t if len(t) <= 20 else t[:17] + "...", str(n)) for t, n in topics.items())


@pytest.mark.spark
@pytest.mark.parametrize("form", READ)
def test_decoded_in_every_form_there_are_as_many_records(form, tmp_path):
    case, records = recorded.case("producer-offline"), [*recorded.truth("producer-offline")]
    write.decoded(case, tmp_path, body=False, form=form)
    for table, places in (("messages", {t["physical_offset"] for t in records}), ("skipped", None)):
        files = [path for path in (tmp_path / table).iterdir() if path.name[0] not in "._"]
        rows = pd.concat(map(READ[form], files))
        assert len(rows) == (len(records) if places else case.skipped.count())
        assert places is None or set(rows["physical_offset"]) == places
