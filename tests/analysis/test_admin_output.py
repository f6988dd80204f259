"""What mqadmin printed about consumers: where a group is, whichever command said it."""

from pathlib import Path

import kit

HEAD = "#Topic  #Group  #Broker Name  #QID  #Broker Offset  #Consumer Offset  #Diff  #LastTime\n"


def test_all_groups_of_a_broker_are_where_each_of_them_is(tmp_path: Path) -> None:
    rows = (
        "orders  points  broker-b  1  2171756  2101756  70000  2020-08-13 23:38:50",
        "orders  stock  broker-b  1  2171756  2171756  0  N/A",
    )
    (tmp_path / "stats.txt").write_text(HEAD + "\n".join(rows) + "\n")
    case = kit.open_case(tmp_path / "stats.txt", tmp_path / "ws")
    found = case.facts.rows("offset_looks")
    assert [(row["group"], row["queue_id"], row["offset"], row["end"]) for row in found] == [
        ("points", 1, 2101756, 2171756),
        ("stock", 1, 2171756, 2171756),
    ]
