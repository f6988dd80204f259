"""The engine inside this process: loopback, bounded, quiet, with views of its own for each case, usable after an interrupt."""

import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import SimpleNamespace

import pytest
from processes import typed

from kit.spark import embedded, session, sessions


def test_it_listens_on_loopback_only():
    session()
    host, port = embedded.url().removeprefix("sc://").split(":")
    assert host == "127.0.0.1"
    # The whole of 127.0.0.0/8 is this machine: what listens on every address answers here too.
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", int(port)), timeout=1):
        pass


def test_a_query_may_hold_a_quarter_of_the_memory_there_is(monkeypatch):
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 4 << 20}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(Path, "read_text", lambda self, **_: "max")
    assert embedded.memory() == 4 << 30
    monkeypatch.setattr(Path, "read_text", lambda self, **_: str(2 << 30))
    assert embedded.memory() == 512 << 20, "a container of 2 GiB"


def test_an_interrupted_query_leaves_the_session_usable(tmp_path):
    """The query cannot end by itself: it waits for a file that is made after the interrupt."""
    spark, begun, over = session(), tmp_path / "begun", tmp_path / "over"

    def hold(batches):
        for batch in batches:
            begun.touch()
            while not over.exists():
                time.sleep(0.05)
            yield batch

    with ThreadPoolExecutor(1) as beside:
        asking = beside.submit(lambda: spark.range(20).mapInArrow(hold, "id long").count())
        until = time.monotonic() + 300
        while not begun.exists() and time.monotonic() < until:
            time.sleep(0.05)
        sessions.cancel(spark)
        wait([asking], 5)
        over.touch()
        assert asking.exception(300) is not None
    assert spark.range(7).count() == 7


def test_a_new_session_starts_the_engine_again_where_it_is_gone(monkeypatch):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        monkeypatch.setattr(embedded, "_server", SimpleNamespace(listening_address=nobody.getsockname()))
        with pytest.warns(UserWarning, match="RETRIES_EXCEEDED"):
            assert session().range(7).count() == 7


def test_it_needs_neither_java_nor_a_proxy_prints_nothing_and_ends_with_the_process(tmp_path):
    code = "from kit.spark import session, embedded; print(session().range(5).count(), embedded.url())"
    nothing = {"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path), "http_proxy": "http://127.0.0.1:1", "no_proxy": ""}
    done = typed("-c", code, env=nothing)
    count, url = done.stdout.split()
    assert count == "5" and done.stderr == ""
    host, port = url.removeprefix("sc://").split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=1)
