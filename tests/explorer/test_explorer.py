"""The explorer over a small evidence: what it shows is what the case's tables hold, cut, once each, and harmless; a selection as a value."""

import datetime as dt
import json
import threading

import anywidget
import ipywidgets
import pandas as pd
import pytest
from folders import put
from stores import Record, store

import kit
from kit.causes import results
from kit.charts import pictures
from kit.explorer.selection import Selection
from kit.notebook import Inquiry

IMAGE = "<img src=x onerror=alert(1)>"
RLO = "\u202e"
START = 1_795_216_760_000  # 2026-11-20T23:19:20Z
LEVELS = ("INFO", "WARN", "ERROR")


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """Twelve records of two topics in a store and its copy, thirty log entries that name them."""
    root = tmp_path_factory.mktemp("explorer") / "evidence"
    records = [
        Record(
            (b"orders", b"stock")[n % 2], b"x", f"KEYS\x01K{n}\x02UNIQ_KEY\x010A14511500000C387F4466DA1B{n:06X}\x02".encode(),
            born=START + 1000 * n, stored=START + 1000 * n, numbers=(0, 0, n // 2, 1000 + n, 0),
        )
        for n in range(12)
    ]  # fmt: skip
    for name in ("master", "slave"):
        put(root / name / "commitlog" / f"{0:020}", store(records).data)
    texts = ["nothing in particular", f"send topic=orders key=K{{n}} from 10.0.0.{{n}} {IMAGE}{RLO}"]
    head = "2026-11-20 23:19:{},{:03} {} [$main-{}] o.a.Order - "
    heads = [head.format(20 + n, n, LEVELS[n % 3], n % 2) for n in range(30)]
    put(root / "app.log", "".join(f"{each}{texts[n % 2].format(n=n)}\n" for n, each in enumerate(heads)))
    return root


@pytest.fixture
def case(evidence, tmp_path_factory):
    base = tmp_path_factory.getbasetemp() / "explorer-workspace"
    return kit.open_case(evidence, base, tz_app="UTC")


def explored(case, **narrowed):
    return kit.explore(case, interactive=False, **narrowed)


def test_every_entry_and_every_record_once_and_arguments_narrow_both(case):
    explorer = explored(case)
    assert len(explorer.entries) == 30 and list(explorer.entries["line"]) == list(range(1, 31))
    assert len(explorer.records) == 12 and set(explorer.records["topic"]) == {"orders", "stock"}
    assert {"body"} & set(explorer.records) == set() and {"events"} & set(explorer.entries) == set()
    # As they are, not as they are shown: the hostile characters too.
    assert explorer.entries["message"].iloc[1].endswith(f"{IMAGE}{RLO}")
    assert explorer.records["store_timestamp"].iloc[0] == pd.Timestamp(START, unit="ms", tz="UTC")
    until = dt.datetime(2026, 11, 20, 23, 19, 30, tzinfo=dt.UTC)
    narrowed = explored(case, topics="orders", since="2026-11-20T23:19:22Z", until=until)
    # Records 2, 4, 6, 8, 10 are of `orders`; entries 3, 5, 7, 9 name it (the one of second 10 + 20 does not).
    assert list(narrowed.records["keys"]) == ["K2", "K4", "K6", "K8", "K10"]
    assert list(narrowed.entries["line"]) == [4, 6, 8, 10]
    assert set(explored(case, levels=["ERROR"]).entries["level"]) == {"ERROR"}
    assert len(explored(case, hosts="10.0.0.3").entries) == 1
    assert len(explored(case, stages="original").records) == 12


def test_a_value_that_is_not_there_is_refused_and_a_message_is_shown_with_a_minute_around_it(case):
    absent = {"stages": ("half", "original"), "levels": ("WARNING", "WARN"), "topics": ("order", "orders")}
    for field, (value, known) in absent.items():
        with pytest.raises(ValueError, match=f"{value} is not in this evidence; there are: .*{known}"):
            explored(case, **{field: value})
    span = explored(case, message="0A14511500000C387F4466DA1B000005").selection
    at = dt.datetime.fromtimestamp(START / 1000 + 5, dt.UTC)
    assert (span.since, span.until) == (at - dt.timedelta(minutes=1), at + dt.timedelta(minutes=1))
    with pytest.raises(ValueError, match="nobody-knows"):
        explored(case, message="nobody-knows")


def test_the_times_of_the_case_are_obeyed(evidence, tmp_path):
    times = {"since": "2026-11-20T23:19:25Z", "until": "2026-11-20T23:19:27Z"}
    explorer = explored(kit.open_case(evidence, tmp_path / "ws", tz_app="UTC", **times))
    assert list(explorer.records["keys"]) == ["K5", "K6", "K7"]
    # Of the entries the third is three seconds and some milliseconds behind.
    assert list(explorer.entries["line"]) == [6, 7]


def parts(view, kind):
    """Return the widgets of a kind inside a widget, in order."""
    if isinstance(view, kind):
        return [view]
    return [each for child in getattr(view, "children", ()) for each in parts(child, kind)]


def chips(view):
    return [button.description for button in view.chips.children]


def test_what_is_clicked_dragged_and_chosen_is_followed_by_all_and_is_a_value(case):
    explorer = kit.explore(case, topics="orders")
    view = explorer.widget
    assert view.counts.value == "15 of 30 log entries · 6 of 12 records" and chips(view) == ["topic: orders", "Clear"]
    levels = view.bars["entries", "levels"]
    # Of the odd entries 1, 3, 5, …, 29 every third is a warning: n % 3 == 1 for 1, 7, 13, 19, 25.
    bars = {value: (bar.value, number.value) for value, (_, bar, number) in levels.items()}
    assert bars == dict.fromkeys(LEVELS, (5, "5"))
    levels["WARN"][0].click()
    # Records and entries span 29.029 s from 23:19:20.
    view.span.value = (30, 150)
    since, until = explorer.selection.since, explorer.selection.until
    assert since and until and (f"{since:%S.%f}", f"{until:%S.%f}") == ("20.870870", "24.354350")
    assert explorer.selection.levels == ("WARN",) and explorer.selection.topics == ("orders",)
    assert list(explorer.entries["line"]) == [2] and view.counts.value.startswith("1 of 30 log entries")
    assert "K1 " in str(parts(view, ipywidgets.Output)[-2].outputs)
    menu = next(each for each in parts(view, ipywidgets.Combobox) if each.placeholder == "thread")
    assert menu.ensure_option and menu.options == ("$main-0", "$main-1")
    menu.value = "$main-0"
    assert explorer.selection.threads == ("$main-0",) and view.counts.value.startswith("0 of 30 log entries")
    menu.value = "nobody"
    assert explorer.selection.threads == ("$main-0",)
    next(chip for chip in view.chips.children if chip.description == "thread: $main-0").click()
    assert view.counts.value.startswith("1 of 30")
    view.chips.children[-1].click()
    assert explorer.selection.as_dict() == {} and view.counts.value == "30 of 30 log entries · 12 of 12 records"


def test_a_click_while_another_is_drawn_is_not_lost(case):
    """JupyterLab sends clicks to threads of their own."""
    view = kit.explore(case).widget
    begun, clicked = threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert clicked.wait(10)

    view._follow.append(slow)
    first = threading.Thread(target=view.bars["entries", "levels"]["WARN"][0].click)
    second = threading.Thread(target=view.bars["records", "topics"]["orders"][0].click)
    first.start()
    assert begun.wait(10)
    second.start()
    second.join(0.2)
    clicked.set()
    first.join(10), second.join(10)
    chosen = view.explorer.selection
    assert (chosen.levels, chosen.topics) == (("WARN",), ("orders",))
    assert view.counts.value.startswith("5 of 30 log entries")


def test_what_is_searched_is_in_entries_and_keys_in_capitals_or_not(case):
    explorer = kit.explore(case)
    view = explorer.widget
    view.search.value = "KEY=k1"
    # Entries 1, 11, 13, 15, 17 and 19 name K1 or K1x; no key of a record holds "key=".
    assert view.counts.value == "6 of 30 log entries · 0 of 12 records" and chips(view) == ["text: KEY=k1", "Clear"]
    assert list(explorer.entries["line"]) == [2, 12, 14, 16, 18, 20]
    view.search.value = "k1"
    # Of the records K1, K10 and K11.
    assert view.counts.value == "6 of 30 log entries · 3 of 12 records"
    assert list(explorer.records["keys"]) == ["K1", "K10", "K11"]
    view.chips.children[0].click()
    assert view.search.value == "" and explorer.selection == Selection()


def test_rows_can_be_opened(case):
    inquiry = Inquiry(case, {"findings": [], "root_causes": []}, "en", True)
    explorer = inquiry.explore(topics="stock")
    explorer.widget.select(Selection(topics="orders"))
    [entries, records] = [each for each in parts(explorer.widget, anywidget.AnyWidget) if "spec" in each.trait_names()]
    assert entries.spec["labels"][0] == "Show app.log:2"
    explorer.widget.select(Selection("2027-01-01"))
    assert entries.spec["rows"] == []
    explorer.widget.select(Selection())
    assert entries.spec["labels"][0] == "Show app.log:1"
    explorer.widget.select(Selection(topics="orders"))
    assert records.spec["rows"][0][-1].endswith("00000000000000000000 @ 0")


def test_what_is_shown_acts_nowhere_and_a_result_table_is_drawn_as_far_as_it_is_selected(case, monkeypatch):
    view = kit.explore(case).widget
    said = json.dumps([place.outputs for place in parts(view, ipywidgets.Output)])
    html = json.loads(said)[0][0]["data"]["text/html"]
    assert RLO not in html and "<img" not in html and "\\\\u202e" in said and "&lt;img" in said
    view.select(Selection("2026-11-21", levels="ERROR"))
    assert view.counts.value == "Nothing matches. · 0 of 30 log entries · 0 of 12 records"
    monkeypatch.setattr(results, "names", lambda _: ["sent"])
    monkeypatch.setattr(results, "table", lambda *_: pd.DataFrame({"topic": ["orders", "stock"], "n": [1, 2]}))
    inquiry = Inquiry(case, {"findings": [], "root_causes": []}, "en", False)
    drawn = inquiry.draw(pictures.bars, "sent", Selection(topics="stock"))
    assert drawn.table["n"].tolist() == [2]


@pytest.mark.seconds
def test_evidence_without_logs_or_without_records(tmp_path, evidence):
    alone = kit.explore(kit.open_case(evidence / "app.log", tmp_path / "a", tz_app="UTC"))
    assert len(alone.entries) == 30 and alone.records.empty
    assert alone.widget.counts.value == "30 of 30 log entries · 0 of 0 records"
    stored = kit.explore(kit.open_case(evidence / "master", tmp_path / "b"))
    assert len(stored.records) == 12 and stored.entries.empty
    (tmp_path / "notes.txt").write_text("nothing\n")
    nothing = kit.explore(kit.open_case(tmp_path / "notes.txt", tmp_path / "c"))
    assert nothing.selection.as_dict() == {} and nothing.widget.counts.value


def test_one_built_anew_where_a_table_was_read_again(case):
    before = explored(case).parts["entries"].folder
    case.workspace.forget(case.folder("logs").name)
    again = kit.open_case(case.path, case._base, tz_app="UTC")
    assert explored(again).parts["entries"].folder != before


@pytest.mark.spark
def test_everything_selected_as_a_spark_frame(case, spark):
    explorer = explored(case, topics="orders", since="2026-11-20T23:19:22Z")
    assert explorer.spark("records").count() == len(explorer.records) == 5
    assert {row["line"] for row in explorer.spark("entries").select("line").collect()} == set(explorer.entries["line"])


def test_a_selection_is_made_of_plain_arguments_and_narrows_any_table():
    chosen = Selection("2026-11-20T10:00:00+08:00", "", topics="T", levels=["WARN", "ERROR", "WARN"])
    assert chosen.since == dt.datetime(2026, 11, 20, 2, tzinfo=dt.UTC) and chosen.until is None
    assert chosen.as_dict() == {"since": "2026-11-20T02:00:00+00:00", "topics": ["T"], "levels": ["WARN", "ERROR"]}
    assert Selection(**chosen.as_dict()) == chosen
    with pytest.raises(ValueError, match="ISO"):
        Selection("yesterday")
    # It narrows any table by the columns it knows.
    chosen = Selection("2026-11-20T00:00:01", "2026-11-20T00:00:02", topics="T", events=["busy"])
    times = pd.to_datetime([f"2026-11-20T00:00:0{n}" for n in range(4)])
    frame = pd.DataFrame({"store_timestamp": times, "topic": ["T", "T", "U", "T"], "n": range(4)})
    assert list(chosen.keep(frame)["n"]) == [1]
    assert list(chosen.keep(frame.assign(store_timestamp=pd.NaT))["n"]) == [0, 1, 3]
    logs = pd.DataFrame({"ts": times.tz_localize("UTC"), "events": [["busy"], ["busy"], [], ["busy"]], "n": range(4)})
    assert list(chosen.keep(logs)["n"]) == [1]
    # A row that names several, and rows that name nothing.
    named = pd.DataFrame({"event": ["busy", None, float("nan")], "topic": pd.Categorical(["T", None, "U"])})
    assert list(chosen.keep(named).index) == [0]
    other = pd.DataFrame({"n": range(3)})
    assert len(chosen.keep(other)) == 3 and list(chosen.keep(frame.head(0)).columns) == list(frame.columns)
