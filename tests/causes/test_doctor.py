"""Hazards: limits are those of the reference (§5.3 names, §6.2 sizes, §7.4 defaults), lengths plain arithmetic."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from busy_evidence import STARTED, attempt, write_log
from click.testing import CliRunner, Result
from folders import put
from table import rows_of

import kit
from kit.analysis.deployment import Deployment, Group
from kit.causes import doctor
from kit.causes.doctor import Checkup, Hazard
from kit.cli.main import cli
from kit.inventory.references import Ref
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
    lines = (
        "mapedFileSizeCommitLog=1048576",
        "transactionTimeout=9000",
        "transactionCheckMax=15 # checks",
        "sendMessageThreadPoolNums=1 ",
    )
    found = named(examined(conf(tmp_path / "e", *lines), "4.6.0"))
    assert {slug: str(hazard.place) for slug, hazard in found.items()} == {
        "not-read": "broker.conf:4",
        "misspelt": "broker.conf:5",
        "not-a-number": "broker.conf:6",
    }
    assert "mappedFileSizeCommitLog" in found["not-read"].instead.render()
    assert "transactionTimeOut" in found["misspelt"].instead.render()
    assert "6000" in found["misspelt"].becomes.render()


def test_immunity_against_the_time_files_are_kept(tmp_path: Path) -> None:
    """Half messages older than fileReservedTime are skipped (§6.4 d); 5.1.1+ refuses late commits (§4.4)."""
    seen = examined(conf(tmp_path / "e", "fileReservedTime=72", "transactionTimeOut=60000"), "4.9.4").seen
    record = Ref("commitlog/0", physical_offset=4711)
    told = {
        seconds: doctor.checkup(attrs.evolve(seen, immunity={seconds: record}))
        for seconds in ("60", "259199", "259200", "soon")
    }
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
    other = (
        conf(tmp_path / "e" / "b", "sendMessageThreadPoolNums=1", "useReentrantLockWhenPutMessage=false")
        / "broker.conf"
    )
    other.write_text(other.read_text().replace("broker-a", "broker-b"))
    assert examined(tmp_path / "e", "4.6.1").hazards == ()


def test_a_configuration_alone_is_explained(tmp_path: Path) -> None:
    done = run(
        conf(tmp_path / "e", "maxMessageSize=65536", "inHouse=1") / "broker.conf", "--json", tmp_path / "hazards.json"
    )
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
