"""The runner, queries side by side, and what every table has to have."""

import ast
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import asked
import pytest

import kit
from kit.analysis.sends import attempts
from kit.case.tables import BRONZE
from kit.rocketmq import names
from kit.rocketmq.catalogue import EVENTS
from kit.tables.queries import HERE, NO_NAMES, catalogue
from kit.tables.runner import TableFailed, Turns


def test_what_fails_is_named_and_costs_only_itself_and_forty_starts_are_moments():
    case = asked.case(messages_within=[{"file": "f"}])
    case.given["files"] = case.given["messages_within"]  # no such columns
    with pytest.raises(TableFailed, match="table records"):
        case.tables.frame("records")
    assert case.facts("known_texts").empty
    events = [{"event": "client-started", "file": "f", "line": n, "ts": asked.at(100 - n)} for n in range(50)]
    found = asked.rows("first_moments", events=[*events, {"event": "broker-boot", "file": "f", "line": 99}])
    assert [row["line"] for row in found] == list(range(49, 9, -1))


def test_every_table_says_what_it_is():
    for name, query in catalogue().items():
        comments = "\n".join(re.findall(r"^--.*", query.text, re.MULTILINE))
        head = query.text.split('"""')[1] if query.ask or query.fold else comments
        assert len(head.strip("- \n")) > 40, f"{name}: one row per what?"
        if query.layer == "gold" and not (query.ask or query.fold):
            ordered = r"\border by\b|^-- One row(:|\b.*\bin all\b)"
            assert re.search(ordered, query.text, re.IGNORECASE | re.MULTILINE), f"{name}: in no order"


def test_no_two_tables_have_one_name():
    files = [path.stem for layer in ("silver", "gold") for path in (HERE / layer).rglob("*") if path.is_file()]
    folds = [name for name, query in catalogue().items() if query.fold]
    declared = [stem for stem in files if stem in catalogue()]
    assert sorted([*declared, *folds]) == sorted(catalogue())


def test_no_query_named_by_with_hides_a_table():
    """It would count as read: its key would change with the table, and the table would be made for it."""
    for name, query in catalogue().items():
        own = re.findall(r"(?:\bwith|,)\s+(\w+)\s+as\s+\(", NO_NAMES.sub(" ", query.text))
        assert {*own}.isdisjoint({*catalogue(), *BRONZE}), name


def test_every_question_is_given_the_values_it_binds():
    files = Path(kit.__file__).parent.rglob("*.py")
    calls = (node for file in files for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))
    for call in calls:
        if getattr(call.func, "attr", "") == "answers" and call.args and isinstance(call.args[0], ast.Constant):
            text = (HERE / "questions" / f"{call.args[0].value}.sql").read_text()
            bound = set(re.findall(r"(?<![:\w]):(\w+)", re.sub(r"--.*", "", text)))
            given = {each.arg for each in call.keywords}
            assert None in given or given == bound, call.args[0].value


def _words(name, pattern):
    """Return the alternatives of a regular expression in a query."""
    found = re.search(pattern, catalogue()[name].text)
    assert found is not None, f"{name} has no {pattern}"
    return set(found[1].split("|"))


def test_what_queries_repeat_of_rocketmq_is_what_python_knows():
    assert _words("offset_looks", r"rlike\s+'\^\(([^)]*)\)'") == set(names.OWN_GROUPS)
    assert _words("failed_sends", r"\\\\\[\(\?:([A-Z_|]*)\)") == set(attempts.REFUSALS)
    late = re.search(r"outcome rlike '(wait response[^']*)'", catalogue()["failed_sends"].text)
    needles = [needle for slug in attempts.TIMEOUTS for needle in EVENTS[slug].needles]
    assert [needle for needle in needles if not re.search(late[1], needle)] == []


FULL = "Failed to allocate additional 233.0 KB for HashJoinInput[1] - 23 KB remain available for the total memory pool"


def test_a_query_without_memory_is_asked_again_when_the_others_are_done():
    turns, ended, order = Turns(), threading.Event(), list[str]()

    def long():
        ended.wait(10)
        order.append("long")

    def hungry():
        if "hungry" not in order:
            order.append("hungry")
            threading.Timer(0.1, ended.set).start()
            raise RuntimeError(FULL)
        order.append("again")
        return "rows"

    with ThreadPoolExecutor(2) as pool:
        other = pool.submit(turns.ask, long)
        assert pool.submit(turns.ask, hungry).result(10) == "rows"
        other.result(10)
    assert order == ["hungry", "long", "again"]
    assert turns.ask(lambda: "more") == "more"


@pytest.mark.parametrize(("words", "times"), [(FULL, 2), ("Exception deserializing response!", 2), ("no such", 1)])
def test_a_query_that_fails_again_fails_and_no_other_is_asked_again(words, times):
    turns, asked = Turns(), []

    def fails():
        asked.append(1)
        raise RuntimeError(words)

    with pytest.raises(RuntimeError, match=re.escape(words)):
        turns.ask(fails)
    assert len(asked) == times
    assert turns.ask(lambda: "more") == "more"
