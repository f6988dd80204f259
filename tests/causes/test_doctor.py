"""Hazards and known faults: limits are those of the reference (§5.3 names, §6.2 sizes, §7.4 defaults), releases those of the pull requests (§9)."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from busy_evidence import STARTED, attempt, write_log
from click.testing import CliRunner, Result
from folders import opened, put
from table import rows_of

import kit
from kit.analysis.deployment import Deployment, Group
from kit.causes import doctor, release_advice
from kit.causes.doctor import Checkup, Hazard
from kit.cli.main import cli
from kit.inventory.references import Ref
from kit.rocketmq.config import Settings, conflicts
from kit.rocketmq.versions import Version

CONF = "brokerClusterName=DefaultCluster\nbrokerName=broker-a\nbrokerId=0\n"
HERE = Ref("broker.log", line=7)


def conf(folder: Path, *lines: str) -> Path:
    put(folder / "broker.conf", CONF + "".join(f"{line}\n" for line in lines))
    return folder


def examined(folder: Path, version: str | None = None) -> Checkup:
    found = doctor.of_files(folder, Version.parse(version) if version else None)
    assert found is not None
    return found


def named(found: Checkup) -> dict[str, Hazard]:
    return {hazard.slug: hazard for hazard in found.hazards}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["doctor", *map(str, arguments)])


@pytest.mark.parametrize("row", rows_of(__file__, "groups"), ids=str)
def test_group_names_by_length_and_release(row: dict[str, Any]) -> None:
    named = "组" * row["length"] if row.get("chinese") else "g" * row["length"]
    releases = tuple(map(Version.parse, row.get("brokers", ())))
    client = Version.parse(row["client"]) if "client" in row else None
    seen = Deployment((), (Group(named, HERE, client),), (), releases)
    found = doctor.checkup(seen).hazards
    assert [(each.slug, each.cause) for each in found] == [tuple(each) for each in row["found"]]
    said = " ".join(f"{each.what.render()} {each.instead.render()}" for each in found)
    assert [number for number in row.get("says", ()) if str(number) not in said] == []


@pytest.mark.parametrize(("lines", "slug", "cause"), rows_of(__file__, "settings_and_limits"))
def test_settings_that_contradict_each_other(lines: list[str], slug: str, cause: str, tmp_path: Path) -> None:
    found = examined(conf(tmp_path / "e", *lines), "4.6.0").hazards
    assert [(each.slug, each.cause) for each in found if each.grade == "hazard"] == [(slug, cause)]


def test_groups_stand_in_configuration_files_with_their_lines(tmp_path: Path) -> None:
    folder = conf(tmp_path / "e")
    long = "g" * 130
    table = {"subscriptionGroupTable": {"short": {"groupName": "short"}, long: {"groupName": long}}}
    (folder / "subscriptionGroup.json").write_text(json.dumps(table, indent=1))
    topics = {name: {"perm": 2, "topicName": name} for name in ("%DLQ%short", "orders")}
    table = {"topicConfigTable": topics}
    (folder / "topics.json").write_text(json.dumps(table, indent=1))
    found = named(examined(folder))
    line = (folder / "subscriptionGroup.json").read_text().split("\n").index(f'  "{long}": {{') + 1
    assert str(found["retry-topic-too-long"].place).startswith("subscriptionGroup.json:")
    assert abs(int(str(found["retry-topic-too-long"].place).split(":")[1]) - line) <= 1
    assert "%DLQ%short" in found["dlq-unreadable"].what.render()
    assert "-p 6" in found["dlq-unreadable"].instead.render()
    assert set(found) == {"retry-topic-too-long", "dlq-unreadable"}


def test_what_the_broker_does_not_take(tmp_path: Path) -> None:
    lines = ("mapedFileSizeCommitLog=1048576", "transactionTimeout=9000", "transactionCheckMax=15 # checks")
    found = named(examined(conf(tmp_path / "e", *lines, "sendMessageThreadPoolNums=1 "), "4.6.0"))
    assert {slug: str(hazard.place) for slug, hazard in found.items()} == {
        "not-read": "broker.conf:4", "misspelt": "broker.conf:5", "not-a-number": "broker.conf:6",
    }  # fmt: skip
    assert "mappedFileSizeCommitLog" in found["not-read"].instead.render()
    assert "transactionTimeOut" in found["misspelt"].instead.render()
    assert "6000" in found["misspelt"].becomes.render()


def test_a_comment_behind_a_value_undoes_it(tmp_path: Path) -> None:
    """store/config/MessageStoreConfig.setFlushDiskType asks for FlushDiskType.valueOf of the whole text, and
    common/MixAll.properties2Object goes on when that throws.
    """
    found = named(examined(conf(tmp_path / "e", "flushDiskType=SYNC_FLUSH # safe", "brokerRole=SYNC_MASTER")))
    assert set(found) == {"not-a-value"} and "ASYNC_FLUSH" in found["not-a-value"].becomes.render()
    assert "ASYNC_FLUSH, SYNC_FLUSH" in found["not-a-value"].instead.render()


def test_immunity_against_the_time_files_are_kept(tmp_path: Path) -> None:
    """Half messages older than fileReservedTime are skipped (§6.4 d); 5.1.1+ refuses late commits (§4.4)."""
    seen = examined(conf(tmp_path / "e", "fileReservedTime=72", "transactionTimeOut=60000"), "4.9.4").seen
    record = Ref("commitlog/0", physical_offset=4711)
    every = ("60", "259199", "259200", "soon")
    told = {seconds: doctor.checkup(attrs.evolve(seen, immunity={seconds: record})) for seconds in every}
    assert {seconds: [h.slug for h in found.hazards] for seconds, found in told.items()} == {
        "60": [], "259199": [], "259200": ["immune-too-long"], "soon": [],
    }  # fmt: skip
    assert told["259200"].hazards[0].where("en") == "commitlog/0@4711"
    late = attrs.evolve(seen, immunity={"60": record}, broker_versions=(Version.parse("5.1.1"),))
    assert [(h.slug, h.grade) for h in doctor.checkup(late).hazards] == [("late-commit-refused", "note")]


@pytest.mark.parametrize(("limit", "slugs"), [(131072, {"limit-below-client"}), (60000, set())])
def test_a_limit_that_a_client_printed_counts(tmp_path: Path, limit: int, slugs: set[str]) -> None:
    folder = conf(tmp_path / "e", "maxMessageSize=65536")
    refused = f"org.apache.rocketmq.client.exception.MQClientException: CODE: 13  DESC: the message body size over max value, MAX: {limit}"
    write_log(folder / "rocketmq_client.log", [STARTED, *attempt(10, "K1", refused)], "\r\n")
    found = doctor.of_case(kit.open_case(folder, tmp_path / "ws"))
    assert set(named(found)) == slugs
    assert not slugs or f"clientMaxMessageSize={limit}" in named(found)["limit-below-client"].what.render()
    # The exception is on the line below the entry's first.
    assert str(found.seen.brokers[0].places["clientMaxMessageSize"]) == "rocketmq_client.log:3"


def test_two_brokers_are_not_mixed(tmp_path: Path) -> None:
    conf(tmp_path / "e" / "a", "sendMessageThreadPoolNums=16", "useReentrantLockWhenPutMessage=true")
    conf(tmp_path / "e" / "b", "sendMessageThreadPoolNums=1", "useReentrantLockWhenPutMessage=false")
    other = tmp_path / "e" / "b" / "broker.conf"
    other.write_text(other.read_text().replace("broker-a", "broker-b"))
    assert examined(tmp_path / "e", "4.6.1").hazards == ()


def test_a_configuration_alone_is_explained(tmp_path: Path) -> None:
    file = conf(tmp_path / "e", "maxMessageSize=65536", "inHouse=1") / "broker.conf"
    done = run(file, "--json", tmp_path / "hazards.json")
    assert done.exit_code == 0
    assert "limit of a record" in done.stdout
    assert "4194304" in done.stdout  # the default, the same in all versions
    assert "not described here" in done.stdout
    assert "deleteWhen" in run(conf(tmp_path / "slip", "deleteWhere=04") / "broker.conf").stdout.replace("\n", " ")
    told = json.loads((tmp_path / "hazards.json").read_text())["hazards"]
    assert [(h["hazard"], h["where"]["line"], h["cause"], h["grade"]) for h in told] == [
        ("limit-below-client", 4, "message-size-mismatch", "hazard")
    ]


def test_text_of_the_evidence_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    done = run(conf(tmp_path / "e", "maxMessageSize=\x1b[31m65536", "transactionCheckMax=\u202e0", "x\x07y=\x9b1"))
    assert done.exit_code == 0
    assert not set(done.stdout) & {"\x1b", "\u202e", "\x07", "\x9b"}


def test_exit_codes(tmp_path: Path) -> None:
    assert run(tmp_path / "none").exit_code == 2
    assert run(conf(tmp_path / "e"), "--broker", "new").exit_code == 2
    assert run(tmp_path / "e", "--json", tmp_path / "e" / "out.json").exit_code == 2
    put(tmp_path / "odd" / "x.bin", bytes(range(256)) * 40)
    done = run(tmp_path / "odd", "--workspace", tmp_path / "ws")
    assert (done.exit_code, str(tmp_path / "odd") in done.stderr) == (2, True)
    (tmp_path / "e" / "subscriptionGroup.json").write_text('{"subscriptionGroupTable": {"a": {"groupName": "a"')
    done = run(tmp_path / "e", "--workspace", tmp_path / "ws")
    assert (done.exit_code, "subscriptionGroup.json" in done.stderr) == (3, True)
    assert sorted(p.name for p in (tmp_path / "e").iterdir()) == ["broker.conf", "subscriptionGroup.json"]


CREATED = (
    "2026-11-22 07:25:{second:02},038 INFO RocketmqClient - Created a new client Instance, InstanceIndex:0, ClientID:{id}, "
    "ClientConfig:ClientConfig [namesrvAddr=10.0.0.10:9876]\n"
)


def hazards(tmp_path: Path, ids: dict[str, str]) -> list[tuple[str, str]]:
    lines = {place: CREATED.format(id=ids[place], second=second) for second, place in enumerate(ids)}
    case = opened(tmp_path, {f"{place}/rocketmq_client.log": line for place, line in lines.items()})
    return [(hazard.slug, hazard.cause) for hazard in doctor.of_clients(case.facts)]


@pytest.mark.parametrize(
    ("other", "slug"), [("172.17.0.2@1", "same-client-id"), ("10.20.30.22@31154#2464487564990", "container-client-id")]
)
def test_one_id_on_two_hosts_and_a_small_process_id_at_an_inner_address(other: str, slug: str, tmp_path: Path) -> None:
    assert hazards(tmp_path, {"p": "172.17.0.2@1", "q": other}) == [(slug, "duplicate-client-id")]


@pytest.mark.parametrize(("version", "role", "read", "refuses"), [("5.1.4", "SLAVE", None, True), ("5.1.4", "SLAVE", "true", False),
                                                                  ("4.9.4", "SLAVE", None, False), ("5.1.4", "ASYNC_MASTER", None, False)])  # fmt: skip
def test_a_slave_that_refuses_pulls(version: str, role: str, read: str | None, refuses: bool) -> None:
    """PullMessageProcessor.rejectRequest is of 5.0.0; slaveReadEnable is false by default."""
    given = {"brokerRole": role, **({"slaveReadEnable": read} if read else {})}
    slugs = [c.slug for c in conflicts(Settings(given, Version.parse(version)))]
    assert ("slave-refuses-pulls" in slugs) is refuses


@pytest.mark.parametrize(("kept", "warned"), [(48, True), (72, True), (120, False)])
def test_a_group_whose_next_message_is_nearly_deleted(kept: int, warned: bool, tmp_path: Path) -> None:
    """36 h and more between the store times of one topic's queues: half of 72."""
    progress = (
        "$ mqadmin consumerProgress -n 10.0.0.10:9876 -g points\n"
        "#Topic            #Broker Name   #QID  #Broker Offset  #Consumer Offset  #Diff   #LastTime\n"
        "orders            broker-a       0     900             100               800     2026-11-20 19:00:00\n"
        "orders            broker-a       1     900             900               0       2026-11-22 08:00:00\n"
        "\nConsume TPS: 1.00\nDiff Total: 800\n"
    )
    conf = f"brokerName=broker-a\nbrokerId=0\nfileReservedTime={kept}\n"
    found = doctor.of_case(opened(tmp_path, {"broker.conf": conf, "consumerProgress.txt": progress}))
    near = [h for h in found.hazards if h.slug == "near-deletion"]
    assert bool(near) is warned and all(h.cause == "offset-jump" for h in near)
    assert doctor.DUE * 72 < 37


def slugs(side: str, release: str, *found: str) -> list[tuple[str, bool]]:
    return [(each.slug, each.fits) for each in release_advice.advise({side: [Version.parse(release)]}, found)]


@pytest.mark.parametrize(("side", "release", "fault", "has"), rows_of(__file__, "a_release_has_the_faults_of_its_time"))
def test_a_release_has_the_faults_of_its_time(side: str, release: str, fault: str, has: bool) -> None:
    assert (fault in dict(slugs(side, release))) is has


def test_what_fits_comes_first() -> None:
    found = slugs("broker", "4.6.0", "message-size-mismatch", "delay-offset-outside")
    fitting = [slug for slug, fits in found if fits]
    assert fitting == [slug for slug, _ in found][: len(fitting)]
    assert set(fitting) == {"total-size-check", "put-back-loop", "delay-offset-outside"}
    assert not any(fits for _, fits in slugs("broker", "4.6.0"))


def test_every_cause_that_a_fault_leads_to_exists() -> None:
    from kit import causes
    from kit.rocketmq.versions import FIXED

    assert {slug for fix in FIXED for slug in fix.leads_to} <= {cause.slug for cause in causes.discover()}


def test_the_release_is_told_by_a_library_beside_the_configuration(tmp_path: Path) -> None:
    put(tmp_path / "conf" / "broker.conf", "brokerName=b1\nmaxMessageSize=65536\n")
    for jar in ("rocketmq-store-4.6.0.jar", "rocketmq-client-4.9.4.jar"):
        put(tmp_path / "lib" / jar, "PK\3\4")
    found = doctor.of_files(tmp_path)
    assert found is not None and [str(v) for v in found.seen.broker_versions] == ["4.6.0"]
    assert found.faults[0].fits and "total-size-check" in {each.slug for each in found.faults}
    assert found.as_dict("en")["faults"][0]["release"] == "4.6.0"
