"""From a reference to its place, from an id to its life, and back: as tables, and as tables of controls."""

import contextlib

import attrs
import pandas as pd
import pytest
from folders import put
from stores import Record, store
from table import rows_of

import kit
from kit.charts import Table, messages
from kit.notebook import answers, places
from kit.notebook.inquiry import Inquiry
from kit.notebook.places import BadReference

IMAGE = "<img src=x onerror=alert(1)>"
KEY = "0A14511500000C387F4466DA1B000001"
LINES = 100
START = 1_795_216_760_000


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """Hundred lines of a log, and one message in three copies of a store: sent, retried twice."""
    root = tmp_path_factory.mktemp("places")
    lines = [f"2026-11-20 23:{19 + n // 60}:{n % 60:02},000 WARN [main] o.a.Order - line {n + 1}" for n in range(LINES)]
    lines[49] += f" of {KEY} {IMAGE} " + "x" * 2000
    put(root / "e" / "app.log", "\n".join(lines) + "\n")
    body = f"{IMAGE} body".encode() + b"\xff"
    properties = f"KEYS\x01{IMAGE}\x02UNIQ_KEY\x01{KEY}\x02colour\x01{IMAGE}\x02".encode()
    records = [
        Record(topic, body, properties, numbers=(0, 0, n, 1000, n), born=START, stored=START + 10_000 * n)
        for n, topic in enumerate((b"orders", b"%RETRY%group", b"%RETRY%group"))
    ]
    made = store(records)
    put(root / "e" / f"{0:020}", made.data)
    opened = kit.open_case(root / "e", root / "ws", tz_app="UTC")
    opened.spans = made.spans
    return opened


@pytest.mark.parametrize(("said", "meant"), rows_of(__file__, "references"))
def test_a_reference_in_every_form(said, meant):
    with contextlib.nullcontext() if meant else pytest.raises(BadReference):
        assert places.reference(tuple(said) if isinstance(said, list) else said) == meant


@pytest.mark.parametrize(("line", "first", "last"), [(1, 1, 21), (50, 30, 70), (LINES, 80, LINES)])
def test_a_line_with_those_around_it(case, line, first, last):
    (table,) = places.place(case, ("app.log", line)).tables
    frame = table.frame
    assert list(frame["line"]) == [str(n) for n in range(first, last + 1)]
    assert all(text == case.line("app.log", int(n)) for n, text in zip(frame["line"], frame["text"], strict=True))
    (here,) = table.here
    assert frame["line"].iloc[here] == str(line) and frame["here"].iloc[here] == "▶"
    assert IMAGE not in table.as_html()


@pytest.mark.parametrize("nth", [1, 2])
def test_a_record_with_all_its_properties_body_and_copies(case, nth):
    at = case.spans[nth][0]
    shown = places.place(case, {"file": "00000000000000000000", "physical_offset": at})
    fields, lineage = shown.tables
    said = dict(zip(fields.frame["field"], fields.frame["value"], strict=True))
    assert said["topic"] == "%RETRY%group" and said["physical_offset"] == str(at) and said["uniq_key"] == KEY
    assert said["properties.colour"] == IMAGE and said["body, the first 34 bytes"] == f"{IMAGE} body\\xff"
    assert lineage.here == [nth] and shown.id == KEY
    assert [ref["physical_offset"] for ref in lineage.references if ref] == [begin for begin, _ in case.spans]
    assert IMAGE not in fields.as_html() and "&lt;img" in fields.as_html()


@pytest.mark.parametrize("said", ["app.log:101", "app.log:0", "gone.log:1", "00000000000000000000 @ 1"])
def test_what_leads_nowhere_is_said(case, said):
    with pytest.raises(BadReference):
        places.place(case, said)


def test_the_life_of_a_message_and_tables_where_nobody_can_click(case):
    shown = places.traced(case, KEY)
    assert len(shown.tables[0].frame) == 3 and len(shown.charts) == 1 and shown.id == KEY
    assert any(ref == {"file": "app.log", "line": 50} for table in shown.tables for ref in table.references)
    ask = inquiry(case, interactive=False)
    assert isinstance(ask.evidence("made-up", 1), Table)
    assert isinstance(ask.place("app.log:50"), places.View) and isinstance(ask.trace(KEY), places.View)


def inquiry(case, interactive):
    refs = [{"file": "app.log", "line": 50, "text": case.line("app.log", 50)}]
    step = {"id": "seen", "claim": "It was seen.", "role": "deciding", "holds": True, "evidence": refs}
    finding = {"cause": "made-up", "kind": "root_cause", "verdict": "confirmed", "steps": [step], "figures": {}}
    return Inquiry(case, {"findings": [finding], "root_causes": ["made-up"]}, "en", interactive)


def test_every_reference_and_id_is_a_control_with_the_way_back(case):
    box = inquiry(case, interactive=True).evidence("made-up", 1)
    table, below = box.children
    place = table.spec["columns"][table.spec["place"]]
    assert table.spec["labels"] == ["Show app.log:50"] and place["name"].startswith("line")
    assert IMAGE in table.spec["rows"][0][2]  # as text: the script puts it in as nothing else

    table._handle_custom_msg({"row": 0}, [])
    back, line = below.children
    assert line.spec["caption"] == "app.log, line 50" and line.spec["marked"] == [20]
    line._handle_custom_msg({"id": KEY}, [])
    assert "journey" in str(below.children[1].outputs).lower() and len(below.children) >= 4
    copies = below.children[2]
    copies._handle_custom_msg({"row": 1}, [])
    assert below.children[1].spec["caption"].startswith("Record at byte")
    for _ in range(2):
        below.children[0].click()
    assert below.children[1].spec["caption"] == "app.log, line 50"
    below.children[0].click()
    assert below.children == ()
    for nonsense in ({"row": 7}, {"row": "x"}, {}):
        table._handle_custom_msg(nonsense, [])
    assert below.children == ()
    table._handle_custom_msg({"id": "0" * 32}, [])
    assert below.children  # an id that is nowhere is said, and leads back too
    assert back.description == "Back"


def test_a_life_leads_into_the_explorer_a_table_to_its_places_and_the_evidence_is_asked_in_sql(case, monkeypatch):
    made = places.Trail(case)
    made.open("explore", KEY)
    (_, widget) = made.box.children[-1].children
    assert widget.explorer.selection.as_dict()["since"] == "2026-11-20T23:18:20+00:00"
    made.open("place", "gone.log:1")
    assert "gone.log" in str(made.box.children[-1].children[1].outputs)
    here = inquiry(case, interactive=False)
    rows = here.sql("select keys, count(*) as n from records where uniq_key = :key group by keys", key=KEY).collect()
    assert [tuple(row) for row in rows] == [(IMAGE, 3)]
    assert {"known_texts", "offset_moves"} <= {view.name for view in here.spark.catalog.listTables()}
    assert "```sql\n-- One row per known text" in here.query("known_texts")._repr_mimebundle_()["text/markdown"]
    assert "```python" in here.query("records")._repr_mimebundle_()["text/markdown"]
    said = [attrs.evolve(here, lang=lang).views("known_texts").as_html() for lang in ("en", "zh")]
    assert "one row per" in said[0] and "英文注释" in said[1]  # what a query says of itself is English
    import pandas as pd

    frame = pd.DataFrame({"what": ["a", "b"], "file": ["app.log", None], "line": pd.array([3, None], "Int64")})
    monkeypatch.setattr(Inquiry, "table", lambda self, name, *_: frame)
    table, _ = inquiry(case, interactive=True).rows("anything").children
    assert table.spec["labels"] == ["Show app.log:3", None] and table.spec["place"] == 2


def test_a_life_in_files_of_no_known_zone_has_local_times(tmp_path):
    ids = "0A14791500000C387F4466E9FAAA0000,0A14790B00002A9F00000000000004D5"
    row = f"K1000000,{ids},0,OK,2026-11-20 23:36:50.199\n"
    put(tmp_path / "evidence" / "points.csv", "keys,uniq_key,offset_msg_id,reconsume_times,result,at\n" + row)
    life = kit.trace(kit.open_case(tmp_path / "evidence", tmp_path / "workspace"), "K1000000")
    assert [each["time"] for each in life["handled"]] == ["2026-11-20T23:36:50.199"]
    assert messages.deliveries(life).as_dict()["notes"] == ["Times are local time, zone unknown."]


def test_a_sentence_shows_what_stands_between_backticks_as_code_and_no_markup():
    html = answers.Answer(pd.DataFrame(), (), f"all: `verdicts()` {IMAGE}")._repr_mimebundle_()["text/html"]
    assert "<code>verdicts()</code>" in html and "<img" not in html
