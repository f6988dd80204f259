"""Lines, folding, windows and giant lines: the kernels against plain Python, any split against the whole."""

import json
import re

import effort
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import rows_of

from kit.formats.logs import entries, layouts
from kit.formats.logs.known_texts import Texts
from kit.formats.logs.schema import Options, Piece
from kit.spark.sources import pieces

BROKER = "2024-05-14 10:22:31 WARN SendMessageThread_1 - putMessage message topic length too long 149"


def rows(path, *, chunk=1 << 30, **known):
    file, options = Piece("a.log", str(path), **{"source": "store", **known}), Options(events=True)
    read = [batch for piece in list(pieces(file, chunk)) for batch in entries.batches(piece, options)]
    return [row for batch in read for row in batch.to_pylist()]


def write(tmp_path, data):
    path = tmp_path / "a.log"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def fold(text):
    """Plain Python twin for broker logs: (line, lines, message, trace)."""
    out = []
    seen = False
    body = text.split("\n")
    if body[-1] == "":
        body.pop()
    for number, line in enumerate(body, 1):
        line, above = line.removesuffix("\r"), body[number - 2].removesuffix("\r") if number > 1 else ""
        head = re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?:INFO|WARN|ERROR) \S+ - (.*)", line)
        if head:
            seen = True
            out.append([number, head.group(1), []])
        elif seen or (above and line.startswith("\tat ")) or (above[:2] in {"\ta", "Ca"} and line.startswith("Caused")):
            out[-1][2].append(line)
        else:
            out.append([number, line, []])
    ends = [o[0] for o in out[1:]] + [len(body) + 1]
    return [(o[0], e - o[0], o[1], "\n".join(o[2]).rstrip("\n") or None) for o, e in zip(out, ends, strict=True)]


WHOLE, NO_LEVEL = "2024-05-14 10:22:32 INFO main - load commit log OK", "2024-02-30 10:22:32 no such level - x"
HEADS = st.sampled_from([BROKER, WHOLE, NO_LEVEL])
FRAMES = ["\tat org.apache.Foo.bar(Foo.java:12)", "Caused by: java.io.IOException: no"]
LOOSE = st.sampled_from(["", *FRAMES, "loose text", "\r", "中文 body", "x" * 300])
TEXT = st.lists(st.one_of(HEADS, LOOSE, LOOSE), max_size=40)


@effort.examples(60)
@given(lines=TEXT, feed=st.booleans(), crlf=st.booleans())
def test_folding_is_what_plain_python_does(tmp_path_factory, lines, feed, crlf):
    lines = [line for line in lines if "no such level" not in line]
    text = ("\r\n" if crlf else "\n").join(lines) + ("\n" if feed and lines else "")
    path = write(tmp_path_factory.mktemp("fold"), text)
    assert [(r["line"], r["lines"], r["message"], r["trace"]) for r in rows(path)] == (fold(text) if text else [])


@effort.examples(60)
@given(lines=TEXT, chunk=st.integers(50, 900))
def test_any_split_gives_the_same_entries(tmp_path_factory, lines, chunk):
    path = write(tmp_path_factory.mktemp("split"), "\n".join(lines))
    assert rows(path, chunk=chunk) == rows(path)


def test_windows_give_the_same_entries(tmp_path, monkeypatch):
    trace = "\n\tat a.b(C.java:1)"
    lines = [f"2024-05-14 10:22:{n % 60:02d} INFO main - entry {n}{trace * (n % 5)}\n" for n in range(3000)]
    text = "".join(lines)
    path = write(tmp_path, text)
    whole = rows(path)
    monkeypatch.setattr(entries, "WINDOW", 5000)
    assert rows(path) == whole
    assert sum(r["lines"] for r in whole) == text.count("\n")


def test_a_window_of_many_short_lines_is_read_in_parts(tmp_path, monkeypatch):
    """30 MB of `x\\n` need no more memory than any other text; an entry over a window goes on as entries of its own."""
    monkeypatch.setattr(entries, "MANY", 200)
    monkeypatch.setattr(entries, "WINDOW", 5000)
    path = write(tmp_path, f"x\n{BROKER}\n" + "x\n" * 6000 + f"{BROKER}\nx\n")
    found = rows(path)
    assert [r["line"] for r in found if r["layout"] == "broker"] == [2, 6003]
    assert (found[0]["lines"], found[-1]["lines"], sum(r["lines"] for r in found)) == (1, 2, 6004)
    assert [r["line"] for r in found[1:]] == [r["line"] + r["lines"] for r in found[:-1]]
    loose = rows(write(tmp_path, "x\n" * 6000))
    assert [(r["line"], r["lines"]) for r in loose] == [(n, 1) for n in range(1, 6001)]


def test_an_entry_names_its_one_known_text(tmp_path):
    both = "physic disk maybe full soon 0.91, so mark disk full, service not available now"
    found = rows(
        write(tmp_path, f"{BROKER}\n2024-05-14 10:22:32 INFO main - {both}\n2024-05-14 10:22:33 INFO main - x\n")
    )
    assert [(len(row["events"]), row["known"]) for row in found] == [(1, found[0]["events"][0]), (2, "*"), (0, None)]


@pytest.mark.parametrize("folded", ["", "\n\tat a.b(C.java:1)\n\n"])
def test_a_giant_line_keeps_start_and_end(tmp_path, monkeypatch, folded):
    monkeypatch.setattr(entries, "WINDOW", 1 << 20)
    monkeypatch.setattr(entries, "CAP", 1 << 18)
    monkeypatch.setattr(entries, "TAIL", 1 << 16)
    tail = "] has been checked too many times, so discard it"
    message = "MsgExt:" + "中" * 1_000_000 + tail
    error, following = f"2024-05-14 10:22:32 ERROR T - {message}{folded}", "2024-05-14 10:22:33 INFO main - next"
    first, giant, after = rows(write(tmp_path, f"{BROKER}\n{error}\n{following}\n"))
    assert (first["line"], giant["line"], giant["lines"]) == (1, 2, 1 + folded.count("\n"))
    assert giant["events"] == ["check-discard"]
    assert giant["message"].startswith("MsgExt:中中") and giant["message"].endswith("中" + tail)
    cut = int(re.search(r"…\[(\d+) bytes cut\]…", giant["message"]).group(1))
    note = len(f"…[{cut} bytes cut]…".encode())
    assert len(giant["message"].encode()) - note + cut == len(message.encode())
    assert giant["trace"] == ("\tat a.b(C.java:1)" if folded else None)
    assert (after["line"], after["message"], after["lines"]) == (3 + folded.count("\n"), "next", 1)


def test_a_line_over_the_cap_inside_a_window_is_cut_too(tmp_path):
    message = "a" * (entries.CAP + 5000)
    path = write(tmp_path, f"2024-05-14 10:22:32 ERROR T - {message}\n{'b' * (entries.CAP + 7)}\n{BROKER}\n")
    giant, after = rows(path)
    assert re.fullmatch(r"a+…\[\d+ bytes cut\]…a+", giant["message"])
    assert re.fullmatch(r"b+…\[\d+ bytes cut\]…b+", giant["trace"])
    assert after["line"] == 3


@effort.examples(80)
@given(
    texts=st.lists(st.text("abc", max_size=40), max_size=8),
    groups=st.lists(st.lists(st.text("abc", min_size=2, max_size=6), min_size=1, max_size=3), min_size=1, max_size=6),
)
def test_known_texts_are_found_where_python_finds_them(texts, groups):
    """In the lines alone: `aab` is not in `aa` and `b` one below the other."""
    entry, group = Texts(groups).find(pa.array([text.encode() for text in texts], pa.binary()))
    for i, text in enumerate(texts):
        found = group[entry == i].tolist()
        assert sorted(found) == [g for g, each in enumerate(groups) if any(t in text for t in each)]


LONG = rows_of(__file__, "long")


@pytest.mark.parametrize("blank", ["\u00a0", "&nbsp;", "\u202f"])
def test_blanks_of_web_pages_are_blanks(tmp_path, blank):
    found = rows(write(tmp_path, "\n".join(line.replace(" ", blank) for line in LONG)), source=None)
    wanted = [(n, line.split(" ")[2], line.split(" - ")[1]) for n, line in enumerate(LONG, 1)]
    assert [(r["line"], r["level"], r["message"]) for r in found] == wanted


def test_lines_that_a_collector_wrapped_in_json_are_matched_together(tmp_path, monkeypatch):
    """One at a time takes a millisecond each: half an hour for a gigabyte."""
    calls, times = [], 500
    monkeypatch.setattr(layouts, "classify", lambda *given: calls.append(given) or entries.classify(*given))
    text = "".join(
        json.dumps({"@timestamp": "2024-05-14T02:22:31Z", "message": each}) + "\n" for each in [BROKER, "x"] * times
    )
    printed = [row["message"] for row in rows(write(tmp_path, text))]
    assert printed == ["putMessage message topic length too long 149", "x"] * times
    assert len(calls) == 1
