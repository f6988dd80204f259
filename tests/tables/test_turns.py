"""Queries side by side, and one that needs the memory of all others."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from kit.tables.runner import Turns

FULL = (
    "Failed to allocate additional 233.0 KB for HashJoinInput[1] - 23.0 KB remain available for the total memory pool"
)


def test_a_query_without_memory_is_asked_again_when_the_others_are_done() -> None:
    turns, ended, order = Turns(), threading.Event(), list[str]()

    def long() -> None:
        ended.wait(10)
        order.append("long")

    def hungry() -> str:
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


@pytest.mark.parametrize(("error", "times"), [(RuntimeError(FULL), 2), (ValueError("no such column"), 1)])
def test_a_query_that_needs_more_than_there_is_fails_and_no_other_is_asked_again(error: Exception, times: int) -> None:
    turns, asked = Turns(), []

    def fails() -> None:
        asked.append(1)
        raise error

    with pytest.raises(type(error), match=r"memory pool|no such column"):
        turns.ask(fails)
    assert len(asked) == times
    assert turns.ask(lambda: "more") == "more"
