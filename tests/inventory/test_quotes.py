"""Lines of large files by their numbers, and words in text files: whole words only, by physical line, counted even where not all are kept."""

import random

import pytest

from kit.inventory import inventory, quotes
from kit.inventory.model import Item

BLOCK = 512


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.setattr(quotes, "_BLOCK", BLOCK)
    quotes._feeds.cache_clear()
    folder = tmp_path / "evidence"
    folder.mkdir()
    return folder / "broker.log"


def written(path, lines, end="\n"):
    path.write_text("\n".join(lines) + end)
    return inventory.take(path.parent, path.parent.parent / "cache")


@pytest.mark.parametrize("end", ["\n", ""])
def test_lines_in_any_order(log, end):
    chosen = random.Random(7)
    lines = [f"2024-05-04 10:00:00 INFO main - {n} " + "x" * chosen.choice([0, 3, 400, 1500]) for n in range(300)]
    found = written(log, lines, end)
    numbers = [*range(1, 301)]
    chosen.shuffle(numbers)
    for number in numbers:
        assert quotes.lines(found, [("broker.log", number)]) == [lines[number - 1]]
    assert quotes.lines(found, [("broker.log", n) for n in numbers]) == [lines[n - 1] for n in numbers]
    with pytest.raises(IndexError):
        quotes.lines(found, [("broker.log", 302)])


def test_a_line_feed_that_ends_a_block_and_a_file_that_grew(log):
    lines = ["2024-05-04 10:00:00 INFO main - first".ljust(BLOCK - 1, "."), "second", "", "fourth"]
    found = written(log, lines)
    for number in (4, 3, 2, 1):
        assert quotes.lines(found, [("broker.log", number)]) == [lines[number - 1]]
    lines = ["2024-05-04 10:00:00 INFO main - one", "2024-05-04 10:00:01 INFO main - two"]
    quotes.lines(written(log, lines), [("broker.log", 2)])
    more = ["2024-05-04 09:00:00 INFO main - zero", *lines]
    assert quotes.lines(written(log, more), [("broker.log", 3)]) == [lines[1]]


UNIQ = "0A142C1500000C387F4466D0DB3F0003"
OFFSET = "0A142C0B00002A9F0000000000001EE5"


def text(path, content):
    path.write_bytes(content)
    return Item(path.name, str(path), 0, "log", None)


def test_lines_are_physical_and_words_are_found_across_windows(tmp_path, monkeypatch):
    lines = [b"first", b"a " + UNIQ.encode() + b" b\r", b"", b"dedupKey=" + OFFSET.encode(), b"keys=SO1 last"]
    found, counts = quotes.mentions([text(tmp_path / "a.log", b"\n".join(lines))], [[UNIQ, OFFSET, "SO1x", "SO12"]])[0]
    assert [(m["line"], m["word"], m["text"]) for m in found] == [
        (2, UNIQ, f"a {UNIQ} b"),
        (4, OFFSET, f"dedupKey={OFFSET}"),
    ]
    assert counts == {"a.log": 2}
    file = text(tmp_path / "x.log", f"first\n{'x' * 500} {UNIQ}\n\n{'y' * 99} {UNIQ}".encode())
    for window in (1, 7, 64, 300, 10_000):
        monkeypatch.setattr(quotes, "WINDOW", window)
        found, counts = quotes.mentions([file], [[UNIQ]])[0]
        assert [m["line"] for m in found] == [2, 4] and counts == {"x.log": 2}


def test_a_key_stands_alone_and_of_a_loop_first_and_last_lines_are_kept(tmp_path):
    lines = ["SO20260001", "xSO2026", "(SO2026)", "key=SO2026,", "SO2026", "order-SO2026:"]
    found, _ = quotes.mentions([text(tmp_path / "a.log", "\n".join(lines).encode())], [["SO2026"]])[0]
    assert [lines[each["line"] - 1] for each in found] == lines[2:]
    lines = [b"%d %s\n" % (n, OFFSET.encode()) for n in range(1, 1001)]
    found, counts = quotes.mentions([text(tmp_path / "a.log", b"".join(lines))], [[OFFSET]], most=8)[0]
    assert counts == {"a.log": 1000}
    assert [m["line"] for m in found] == [1, 2, 3, 4, 5, 6, 999, 1000]
    (tmp_path / "gbk.log").write_text(f"一\n二 {UNIQ}\n", encoding="gb18030")
    gbk = Item("gbk.log", str(tmp_path / "gbk.log"), 0, "log", None, detail={"encoding": "gb18030"})
    texts = [gbk, text(tmp_path / "empty.log", b""), text(tmp_path / "s.log", b"k7 k7")]
    [(found, counts), nothing] = quotes.mentions(texts, [[UNIQ, "k7"], ["k7"]])
    assert nothing == ([], {})
    assert counts == {"gbk.log": 1}
    assert (found[0]["line"], found[0]["text"]) == (2, f"二 {UNIQ}")
