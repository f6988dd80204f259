"""`explain`: what each pasted line means, whatever was put around it, and without Java, Spark or pandas."""

import gzip
import json
from pathlib import Path

import msgspec
import pastes
import pyarrow.dataset as ds
import pytest
from click.testing import CliRunner
from folders import opened
from processes import typed
from table import rows_of

from kit.cli.main import cli
from kit.explanation import context
from kit.explanation.explain import blocks, explain, releases_of
from kit.rocketmq.catalogue import BENIGN, EVENTS

ROWS = msgspec.yaml.decode((Path(__file__).parent / "lines.yaml").read_bytes())
KEYS = {"line", "text", "kind", "slug", "title", "meaning", "versions", "next"}
UNIQ, OFFSET = "0A14101500000C387F4466B662A40000", "0A14100B00002A9F0000000000001EE5"
NO_ROUTE = "org.apache.rocketmq.client.exception.MQClientException: No route info of this topic: orders"


@pytest.mark.parametrize("row", rows_of(__file__, "pastes"), ids=lambda row: row["name"])
def test_a_paste_line_by_line(row):
    found = [[each["line"], each["slug"], each["title"]] for each in explain(row["text"])]
    assert [each[: len(wanted)] for each, wanted in zip(found, row["lines"], strict=True)] == row["lines"]


def test_ids_are_taken_apart_and_paired():
    rows = explain(f"> `{rows_of(__file__, 'sent')}`")
    by_kind = {row["text"]: row for row in rows if row["kind"] == "id"}
    assert set(by_kind) == {UNIQ, OFFSET}
    assert "10.20.16.11:10911" in by_kind[OFFSET]["meaning"] and "7909" in by_kind[OFFSET]["meaning"]
    assert OFFSET in by_kind[UNIQ]["meaning"] and UNIQ in by_kind[OFFSET]["meaning"]
    assert rows[0]["slug"] == "send-result"
    assert all("。." not in row["meaning"] and "进程号 " in row["meaning"] for row in explain(UNIQ, "zh"))
    # A printed message is paired with the offset id of its place: 0x1EE5 is 7909.
    printed = f"MessageExt [queueId=1, storeSize=300, queueOffset=0, sysFlag=0, commitLogOffset=7909, properties={{UNIQ_KEY={UNIQ}}}]"
    rows = explain(f"{printed}\nqueryMsgById -i {OFFSET}")
    ids = {row["text"]: row["meaning"] for row in rows if row["kind"] == "id"}
    assert OFFSET in ids[UNIQ] and UNIQ in ids[OFFSET]


def test_every_known_text_is_explained_and_the_releases_of_a_paste_are_narrowed_by_its_logs():
    for event in (event for event in EVENTS.values() if event.own):
        rows = [row for row in explain(event.example or event.texts[0]) if row["kind"] == "log"]
        assert rows and rows[0]["slug"] is not None and rows[0]["meaning"], (event.slug, rows)
        if event.slug in BENIGN and rows[0]["slug"] == event.slug:
            assert "benign" in rows[0]["meaning"], event.slug
    # UNKNOWN_ERROR: a remark of SendMessageProcessor in every release, a WARN of ReplyMessageProcessor since 4.8.0.
    old = "2020-01-01 10:00:00 WARN x - putMessage message topic length too long 149"
    new = "2020-01-01 10:00:00 WARN x - slave[1.1.1.1] request offset=9 greater than local commitLog offset=7."
    assert releases_of(explain(f"{old}\n{new}")) == "4.9.3–4.9.8"
    assert releases_of(explain("MQBrokerException: CODE: 1  DESC: UNKNOWN_ERROR")) is None


def test_a_triage_explains_a_paste_before_it_imports_anything_heavy(tmp_path):
    (tmp_path / "paste.txt").write_text(NO_ROUTE)
    code = """import sys, click
from kit.cli.main import cli
def echo(text):
    heavy = {"pyspark", "pandas", "numpy", "numba", "pyarrow"} & set(sys.modules)
    sys.exit("first" if "topic-no-route" in text and not heavy else f"{text} {heavy}")
click.echo = echo
cli(["triage", sys.argv[1], "--workspace", sys.argv[2]])"""
    done = typed("-c", code, tmp_path / "paste.txt", tmp_path / "workspace")
    assert done.stderr == "first\n"


def test_the_command_reads_a_file_or_standard_input_and_shows_nothing_that_acts(tmp_path):
    (tmp_path / "paste.txt").write_bytes(f"磁盘满了\n{NO_ROUTE}\n".encode("gb18030"))
    out = tmp_path / "deep" / "rows.json"
    done = CliRunner().invoke(cli, ["explain", str(tmp_path / "paste.txt"), "--json", str(out)])
    assert done.exit_code == 0 and "topic-no-route" in done.output and "磁盘满了" in done.output
    assert [row["slug"] for row in json.loads(out.read_text("utf-8"))] == [None, "topic-no-route"]
    (tmp_path / "paste.gz").write_bytes(gzip.compress(NO_ROUTE.encode()))
    assert "topic-no-route" in CliRunner().invoke(cli, ["explain", str(tmp_path / "paste.gz")]).output
    piped = CliRunner().invoke(cli, ["explain", "--json", "-"], input=NO_ROUTE.encode())
    assert json.loads(piped.output)[0]["slug"] == "topic-no-route"
    assert "topic-no-route" in CliRunner().invoke(cli, ["explain", *NO_ROUTE.split()]).output
    assert "line 2" in CliRunner().invoke(cli, ["explain", "no such line", NO_ROUTE]).output
    shown = blocks(explain("\x1b]0;title\x07 CODE: 17 \x9b31m \u202e rm"), "en")
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert blocks([], "en")


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case["text"][:40])
def test_what_a_line_says(case):
    every = explain(case["text"])
    assert all(set(row) == KEYS for row in every)
    ids, rows = ([row for row in every if (row["kind"] == "id") is wanted] for wanted in (True, False))
    assert len(ids) == case.get("ids", len(ids))
    if case.get("nothing") or not rows:
        assert rows == [] and {"nothing", "ids"} & case.keys()
        return
    first = rows[0]
    assert len(rows) == 1 or "\n" in case["text"]
    assert {name: first[name] for name in ("kind", "slug") if name in case}.items() <= case.items()
    assert all(case[name] in first[name] for name in ("title", "meaning", "next", "versions") if name in case)
    assert case.get("shown", "") in first["text"] and "\x1b" not in first["text"]


@pytest.mark.parametrize(("text", "times"), rows_of(__file__, "times_that_a_kernel_prints"))
def test_times_that_a_kernel_prints(text, times, tmp_path):
    case = opened(tmp_path, {"kernel.txt": text})
    found = ds.dataset(case.folder("logs"), format="parquet").to_table().to_pylist()
    assert [f"{row['ts']:%Y-%m-%d %H:%M:%S}" if row["ts"] else None for row in found] == times


@pytest.mark.parametrize(("line", "wrong", "right"), rows_of(__file__, "what_the_text_must_not_say"))
def test_what_a_text_says_is_upstreams_behaviour(line, wrong, right):
    said = " ".join(CliRunner().invoke(cli, ["explain", "-"], input=line).output.split())
    assert right in said and wrong not in said


@pytest.mark.parametrize("paste", pastes.EVERY, ids=lambda paste: paste.name)
def test_its_lines_and_ids_are_recognised_and_its_words_understood(paste):
    """Ids that are held against each other, and checks that overtake the local transaction."""
    rows = explain(paste.text)
    slugs = {row["slug"] for row in rows}
    assert set(paste.slugs) <= slugs
    assert {row["text"] for row in rows if row["kind"] == "id"} == set(paste.ids)
    assert (context.mixed(paste.text) is not None) == (paste.causes.get(pastes.IDENTITY) == "suspected")
    overtaken = paste in pastes.OVERTAKEN and pastes.CONSISTENCY in paste.causes and "exception" not in paste.name
    assert bool(context.overtaken(paste.text)) == ("check-overtakes-local" in slugs) == overtaken


def test_ids_that_are_compared_are_quoted_and_what_says_nothing_is_told_apart():
    found = context.mixed(f"a\n\n> {pastes.UNIQ}\nb x {pastes.OFFSET} why")
    assert found is not None and (found.at, found.offset_ids, found.uniq_keys) == ((3, 4), 1, 1)
    explained = (pastes.UNIQ, pastes.OFFSET.lower(), "checkLocalTransaction during the local transaction")
    others = ("0123456789abcdef0123456789abcdef  archive.zip", "a shopping list")
    assert [text for text in (*explained, *others) if context.speaks(text)] == [*explained]
    # Lines of a client's log compare no ids.
    printed = (
        f"2026-11-22 07:50:22,022 WARN RocketmqClient - Message{{topic='orders', flag=0, properties={{UNIQ_KEY={pastes.UNIQ}, WAIT=true}}, body=[123], transactionId='null'}}\n"
        f"2026-11-22 07:50:23,023 INFO RocketmqClient - send expire msg back. topic=orders, msgId={pastes.OFFSET}, queueId=0\n"
    )
    assert context.mixed(printed) is None
    assert context.mixed(printed + "why are these different?\n") is not None
