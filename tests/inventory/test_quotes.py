"""Lines of large files: each asked for in any order, over the borders of the blocks they are counted by."""

import random
from pathlib import Path

import pytest

from kit.inventory import inventory, quotes

BLOCK = 512


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(quotes, "_BLOCK", BLOCK)
    quotes._feeds.cache_clear()
    folder = tmp_path / "evidence"
    folder.mkdir()
    return folder / "broker.log"


def written(path: Path, lines: list[str], end: str = "\n") -> inventory.Inventory:
    path.write_text("\n".join(lines) + end)
    return inventory.take(path.parent, path.parent.parent / "cache")


@pytest.mark.parametrize("end", ["\n", ""])
def test_lines_in_any_order(log: Path, end: str) -> None:
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


def test_a_line_feed_that_ends_a_block(log: Path) -> None:
    lines = ["2024-05-04 10:00:00 INFO main - first".ljust(BLOCK - 1, "."), "second", "", "fourth"]
    found = written(log, lines)
    for number in (4, 3, 2, 1):
        assert quotes.lines(found, [("broker.log", number)]) == [lines[number - 1]]


def test_a_file_that_grew_is_counted_anew(log: Path) -> None:
    lines = ["2024-05-04 10:00:00 INFO main - one", "2024-05-04 10:00:01 INFO main - two"]
    quotes.lines(written(log, lines), [("broker.log", 2)])
    more = ["2024-05-04 09:00:00 INFO main - zero", *lines]
    assert quotes.lines(written(log, more), [("broker.log", 3)]) == [lines[1]]
