"""Where queues ended at the moment a copy of the offsets was saved."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from folders import put
from stores import Record, store

import kit
from kit.analysis.consumers import lag

BEGIN = 1_715_652_000
PROGRESS = """$ mqadmin consumerProgress -n 10.0.0.1:9876 -g billing
#Topic                            #Broker Name                      #QID  #Broker Offset        #Consumer Offset      #Diff
orders                            broker-a                          0     {end}                     {offset}                     {lag}
"""


def _stored(folder: Path, times: Sequence[int], changed: int) -> None:
    records = [
        Record(topic=b"orders", numbers=(0, 0, n, 0, 0), born=1000 * at, stored=1000 * at) for n, at in enumerate(times)
    ]
    log = put(folder / "store" / "commitlog" / f"{0:020}", store(records, end=bytes(4096)).data)
    os.utime(log, (changed, changed))
    (folder / "broker.conf").write_text("brokerName=broker-a\nbrokerId=0\n")


def _saved(folder: Path, offset: int, at: int) -> None:
    saved = put(
        folder / "saved" / "consumerOffset.json", json.dumps({"offsetTable": {"orders@billing": {"0": offset}}})
    )
    os.utime(saved, (at, at))


def test_an_output_whose_file_was_copied_later_is_of_the_time_of_its_queue_ends(tmp_path: Path) -> None:
    _stored(tmp_path / "e", range(BEGIN, BEGIN + 60), BEGIN + 60)
    for name, end, offset in (("early", 20, 5), ("late", 50, 10)):
        output = tmp_path / "e" / f"consumerProgress-{name}.txt"
        output.write_text(PROGRESS.format(end=end, offset=offset, lag=end - offset))
        os.utime(output, (BEGIN + 90_000, BEGIN + 90_000))
    case = kit.open_case(tmp_path / "e", tmp_path / "ws")
    # Record 19 is of second 19 and record 20 not stored yet: the output is of second 19; the other likewise.
    seconds = [at.timestamp() - BEGIN for at in lag.positions(case.facts)["time"]]
    assert seconds == [19, 49]
    (pair,) = lag.pairs(case.facts)
    assert (pair.backlog, pair.growth_per_second) == (True, round((40 - 15) / 30, 2))


@pytest.mark.parametrize(("offset", "second"), [(30, 29), (60, 59)])
def test_a_copy_whose_time_was_lost_shows_no_lag_unless_all_was_handled(
    offset: int, second: int, tmp_path: Path
) -> None:
    _stored(tmp_path / "e", range(BEGIN, BEGIN + 60), BEGIN + 60)
    _saved(tmp_path / "e", offset, BEGIN + 90_000)
    facts = kit.open_case(tmp_path / "e", tmp_path / "ws").facts
    (row,) = lag.positions(facts).to_dict("records")
    # The last handled message was stored in that second, and the copy saved then or any time later.
    assert (row["time"].timestamp() - BEGIN, row["at_least"]) == (second, offset < 60)
    assert [q.last_lag for pair in lag.pairs(facts) for q in pair.queues] == ([] if offset < 60 else [0])
