"""replica-loss: the recording and its twin behind a synchronous master; a slave alone; a master's store."""

from pathlib import Path

import pytest
from busy_evidence import A, B, sent, traffic, write_log, write_store
from folders import put

import kit
from kit import causes
from kit.case.case import Case
from kit.causes import shown_by
from kit.rocketmq import ids

CONF = "brokerName=broker-a\nbrokerId={number}\nbrokerRole={role}\nflushDiskType=ASYNC_FLUSH\n"
CLUSTER = """$ mqadmin clusterList -n 10.0.0.1:9876
#Cluster Name     #Broker Name            #BID  #Addr                  #Version                #InTPS(LOAD)       #OutTPS(LOAD) #PCWait(ms) #Hour #SPACE
DefaultCluster    broker-a                1     10.0.0.3:10911         V4_7_1                   0.00(0,0ms)         0.00(0,0ms)          0 498695.41 0.1194
"""
HOST = ".".join(map(str, A))


def evidence(
    folder: Path, *, behind: int, role: str = "SLAVE", ledger: bool = True, store: bool = True, cluster: bool = True
) -> Case:
    """Ten messages stored; the ledger names them and `behind` more with offsets from the end of the store on."""
    root = folder / "replica"
    put(root / "broker.conf", CONF.format(number=int(role == "SLAVE"), role=role))
    records = [sent(f"K{n}", n * 10, n * 10 + 1) for n in range(10)]
    sizes = [len(r.encode(0)) for r in records]
    offsets = [sum(sizes[:n]) for n in range(10)] + [sum(sizes) + n * 300 for n in range(behind)]
    if store:
        write_store(root / "store" / "commitlog", records)
    if ledger:
        lines = ["keys,start,cost_ms,outcome,uniq_key,offset_msg_id"]
        known = [ids.encode_offset_id(HOST, 10911, offset) for offset in offsets]
        lines += [f"K{n},2024-05-14 10:00:00.{n:03},3,SEND_OK,{n:032X},{id_}" for n, id_ in enumerate(known)]
        lines += [f"F{n},2024-05-14 10:00:01.{n:03},3,FLUSH_SLAVE_TIMEOUT,{n + 900:032X}," for n in range(2)]
        write_log(folder / "app" / "sends.csv", lines)
    if cluster:
        write_log(folder / "admin" / "clusterList.txt", CLUSTER.splitlines())
    return kit.open_case(folder, folder.parent / "ws")


def test_the_store_of_another_broker_is_not_the_lost_masters(tmp_path: Path) -> None:
    """A master of another broker beside the slave, with a longer store: the slave's own is compared."""
    stored = [*traffic(20_000, broker=B, prefix="O"), sent("P", 1, 2, B, topic=b"payments")]
    write_store(tmp_path / "e" / "other" / "store" / "commitlog", stored)
    put(tmp_path / "e" / "other" / "broker.conf", CONF.format(number=0, role="ASYNC_MASTER"))
    found = causes.examine(evidence(tmp_path / "e", behind=4).facts, "replica-loss")
    assert (found.verdict, found.figures["acknowledged"], found.figures["acknowledged_missing"]) == ("confirmed", 14, 4)
    assert "payments" not in found.summary.render() and "orders" in found.summary.render()
    size = sum(len(sent(f"K{n}", n * 10, n * 10 + 1).encode(0)) for n in range(10))
    assert found.figures["replica_end_physical_offset"] == size


@pytest.mark.parametrize("behind", [0, 4])
def test_without_a_ledger_or_a_lost_master_it_is_open(behind: int, tmp_path: Path) -> None:
    found = causes.examine(evidence(tmp_path / "a", behind=behind, ledger=False).facts, "replica-loss")
    assert found.verdict == "suspected"
    found = causes.examine(evidence(tmp_path / "b", behind=behind, cluster=False).facts, "replica-loss")
    assert found.verdict == ("suspected" if behind else "ruled_out")


def test_the_store_of_a_master_is_no_replica(tmp_path: Path) -> None:
    found = causes.examine(evidence(tmp_path / "e", behind=4, role="ASYNC_MASTER", cluster=False).facts, "replica-loss")
    assert (found.verdict, found.figures["acknowledged_missing"]) == ("ruled_out", None)


def test_a_store_without_its_configuration_may_be_a_replica(tmp_path: Path) -> None:
    write_store(tmp_path / "e" / "store" / "commitlog", [sent(f"K{n}", n * 10, n * 10 + 1) for n in range(10)])
    facts = kit.open_case(tmp_path / "e", tmp_path / "ws").facts
    found = shown_by.weighed(facts, causes.examine(facts, "replica-loss"))
    assert found.verdict == "insufficient_evidence"
    assert [missing.command.split()[1] for missing in found.missing] == ["getBrokerConfig"]


@pytest.mark.parametrize(("asked", "verdict"), [("10.0.0.3:10911", "ruled_out"), (f"{HOST}:10911", "suspected")])
def test_broker_status_of_the_replica_shows_that_it_has_all(asked: str, verdict: str, tmp_path: Path) -> None:
    """Without its store: ten records that end before byte 1,000,000. That of the master itself shows nothing."""
    status = f"$ mqadmin brokerStatus -n 10.0.0.1:9876 -b {asked}\ncommitLogMaxOffset              : 1000000\n"
    put(tmp_path / "e" / "admin" / "brokerStatus.txt", status)
    assert causes.examine(evidence(tmp_path / "e", behind=0, store=False).facts, "replica-loss").verdict == verdict


def test_a_copy_that_was_cut_short_shows_no_loss(tmp_path: Path) -> None:
    """The last record of the copy is half there: the replica may well have had the records behind it."""
    case = evidence(tmp_path / "e", behind=4)
    segment = next((tmp_path / "e" / "replica" / "store" / "commitlog").iterdir())
    stored = segment.read_bytes().rstrip(b"\0")
    segment.write_bytes(stored[:-20])
    found = causes.examine(kit.open_case(case.name, tmp_path / "ws2").facts, "replica-loss")
    assert found.verdict != "confirmed" and found.figures["acknowledged_missing"] is None
    assert found.steps[0].holds is None and "cut short" in found.steps[0].claim.render("en")
    assert any("commitlog" in wanted.artefact.render("en") for wanted in found.missing)


@pytest.mark.parametrize(("damaged", "verdict"), [(False, "ruled_out"), (True, "insufficient_evidence")])
def test_a_master_is_known_by_a_store_that_can_be_read(damaged: bool, verdict: str, tmp_path: Path) -> None:
    """A body's checksum in every record is another one."""
    case = evidence(tmp_path / "e", behind=0, role="ASYNC_MASTER", ledger=False, cluster=False)
    (file,) = (tmp_path / "e").rglob(f"{0:020}")
    data = bytearray(file.read_bytes())
    at = 0
    while damaged and (size := int.from_bytes(data[at : at + 4])):
        data[at + 8] ^= 1
        at += size
    file.write_bytes(data)
    assert causes.examine(kit.open_case(case.path, tmp_path / "ws").facts, "replica-loss").verdict == verdict
