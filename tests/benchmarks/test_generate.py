"""The generated commit logs of the benchmarks: whole, tied together, and what a plain reader finds in them."""

from collections.abc import Iterator
from pathlib import Path

import oracle
import pytest

from benchmarks import generate
from kit.formats.commitlog import segments
from kit.formats.commitlog.schema import Wanted

TOTAL, SEGMENT = 3_000_000, 750_000
pytestmark = pytest.mark.seconds


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    """A block of some 2 MB instead of 15: two of them are as good."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "UNITS", 2_000)
        yield


@pytest.fixture(scope="module")
def files(small_blocks: None, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return generate.write(tmp_path_factory.mktemp("store"), TOTAL, SEGMENT)


@pytest.fixture(scope="module")
def found(files: list[Path]) -> list[dict]:
    made = []
    for path in files:
        data, at = path.read_bytes(), 0
        while (one := oracle.parse(data, at)) is not None:
            assert one["physical"] == int(path.name) + at
            assert oracle.zlib.crc32(one["body"]) & 0x7FFFFFFF == one["crc"]
            one["items"] = dict(item.split("\x01") for item in one["properties"].decode().split("\x02") if item)
            made.append(one)
            at += one["size"]
        # Behind the last record there is nothing, or the filler to the end of the file.
        assert at == len(data) or (
            data[at + 4 : at + 8] == oracle.BLANK
            and int.from_bytes(data[at : at + 4], "big") == SEGMENT - at == len(data) - at
        )
    return made


def test_queues_have_no_gap_and_every_key_is_one_message(found: list[dict]) -> None:
    queues: dict[tuple[bytes, int], list[int]] = {}
    for one in found:
        queues.setdefault((one["topic"], one["queue"]), []).append(one["offset"])
    for topic, offsets in queues.items():
        assert offsets == list(range(offsets[0], offsets[0] + len(offsets))), topic
    keys = {(one["items"]["KEYS"], one["items"]["UNIQ_KEY"]) for one in found if b"OP_HALF" not in one["topic"]}
    assert len(keys) == len({key for key, _ in keys}) == len({uniq for _, uniq in keys}) == 2 * generate.UNITS


def test_what_settles_a_transaction_points_at_its_half_record(found: list[dict]) -> None:
    halves = {one["physical"]: one for one in found if one["topic"] == generate.HALF.encode()}
    by_offset = {one["offset"]: one for one in halves.values()}
    committed = [one for one in found if one["flags"] & 12 == 8]
    settled = [by_offset[int(one["body"])] for one in found if one["topic"] == generate.OP.encode()]
    assert len(settled) == len(halves) > len(committed) > 0
    assert all(halves[one["prepared"]]["items"]["UNIQ_KEY"] == one["items"]["UNIQ_KEY"] for one in committed)


def test_the_kernel_finds_the_same_records_and_nothing_wrong_with_them(files: list[Path], found: list[dict]) -> None:
    got = []
    for path in files:
        file = segments.examine(path.name, str(path))
        for batch in segments.messages(file, 0, file.used, Wanted(("physical_offset", "uniq_key", "problem"))):
            got += zip(*(column.to_pylist() for column in batch.columns), strict=True)
    assert got == [(one["physical"], one["items"].get("UNIQ_KEY"), None) for one in found]


def test_the_same_arguments_give_the_same_bytes(files: list[Path], tmp_path: Path) -> None:
    again = generate.write(tmp_path, TOTAL, SEGMENT)
    assert [p.read_bytes() for p in again] == [p.read_bytes() for p in files]
