"""What one flipped bit must not become: a leaked message, a second commit, a retried send."""

from pathlib import Path

from busy_evidence import sent, write_store

import kit
from kit.analysis.sends import sends
from kit.case.case import Case

HALF = b"RMQ_SYS_TRANS_HALF_TOPIC"
LEAKED = {"REAL_TOPIC": HALF.decode(), "TRAN_MSG": "true", "DELAY": "3"}


def case(tmp_path: Path, records: list[object]) -> Case:
    write_store(tmp_path / "e" / "store" / "commitlog", records)  # type: ignore[arg-type]
    return kit.open_case(tmp_path / "e", tmp_path / "ws")


def test_a_damaged_key_is_no_leaked_message(tmp_path: Path) -> None:
    """Two messages leaked, born 10 ms apart and copied 250 times each; one copy has another letter in its UNIQ_KEY."""
    records = [sent(f"L{n % 2}", n % 2 * 10, 100 + n, topic=HALF, **LEAKED) for n in range(500)]
    records.append(sent("M0", 0, 700, topic=HALF, **LEAKED))
    assert case(tmp_path, list(records)).facts("leak_counts")["of_place"].tolist() == [2]


def test_a_blow_up_whose_beginning_is_missing_is_not_counted_from_the_middle(tmp_path: Path) -> None:
    first = [sent("L0", 0, 100, topic=HALF, **LEAKED)]
    later = [sent("L0", 0, 200 + n, topic=HALF, **LEAKED, TRANSACTION_CHECK_TIMES="4") for n in range(20)]
    whole, cut = (case(tmp_path / name, list(some)) for name, some in (("whole", [*first, *later]), ("cut", later)))
    assert whole.facts("leak_growth")["from_the_beginning"].all()
    assert not cut.facts("leak_growth")["from_the_beginning"].any()


def test_a_copy_in_a_topic_with_a_damaged_name_is_no_commit(tmp_path: Path) -> None:
    half = sent("X", 0, 1, topic=HALF, REAL_TOPIC="orders", TRAN_MSG="true")
    commit = sent("X", 0, 3, REAL_TOPIC="orders", TRAN_MSG="true")
    retried = sent("X", 0, 5, topic=b"SCHEDULE_TOPIC_XXXH", REAL_TOPIC="%RETRY%points", TRAN_MSG="true")
    for record in (commit, retried):
        record.sys_flag = 8
    (row,) = case(tmp_path, [half, commit, retried]).tables.frame("transactions").collect()
    assert (row.commits, row.state) == (1, "committed")


def test_a_delivered_copy_with_a_damaged_property_is_no_retried_send(tmp_path: Path) -> None:
    waiting = sent("X", 0, 1, topic=b"SCHEDULE_TOPIC_XXXX", REAL_TOPIC="orders", DELAY="2")
    damaged = sent("X", 0, 5_000, REAL_TOPIc="orders", DELAY="2")
    assert sends.repeated(case(tmp_path / "damaged", [waiting, damaged]).facts).empty
    again = [sent("Y", 0, 1, shop="7"), sent("Y", 3_000, 3_001, shop="7")]
    assert len(sends.repeated(case(tmp_path / "sent again", list(again)).facts)) == 2
