"""Releases and settings of brokers whose logs cover an upgrade: broker.log begins at every start with all settings (broker/BrokerController)."""

import datetime as dt

import folders
import pytest
from table import rows_of

from kit.analysis import brokers, setup, sizes
from kit.causes import timeline
from kit.rocketmq.versions import Version

ADDRESS = "10.1.1.5:10911"


def start(at, release, keys):
    said = (
        f"rocketmqHome=/opt/rocketmq-all-{release}-bin-release", "brokerName=broker-a", "brokerIP1=10.1.1.5",
        "listenPort=10911", f"transactionCheckMax={keys}", "namesrvAddr=10.1.1.4:9876",
        f"The broker[broker-a, {ADDRESS}] boot success. serializeType=JSON and name server is 10.1.1.4:9876",
    )  # fmt: skip
    return "".join(f"{at} INFO main - {each}\n" for each in said)


def opened(tmp_path, store=""):
    """The rolled log of the old release has the later name."""
    early, late = start("2024-05-06 09:00:00", "4.9.3", 15), start("2024-05-07 09:00:00", "5.1.4", 20)
    logs = {"broker.1": early, "broker": late} | ({"store": store} if store else {})
    return folders.opened(tmp_path, {f"rocketmqlogs/{name}.log": text for name, text in logs.items()})


def test_the_last_start_says_what_is_in_force_and_the_timeline_shows_the_upgrade(tmp_path):
    case = opened(tmp_path)
    assert setup.broker_versions(case.facts) == (Version(4, 9, 3), Version(5, 1, 4))
    assert setup.releases_at(case.facts) == (Version(5, 1, 4),)
    assert setup.releases_at(case.facts, at=dt.datetime(2024, 5, 6, 12, tzinfo=dt.UTC)) == (Version(4, 9, 3),)
    value, where, _ = setup.setting(case.facts, "transactionCheckMax")
    assert value == "20" and where is not None and where.file.endswith("broker.log")
    rows = timeline.table(case.facts, [])
    (row,) = rows[rows["en"].str.contains("before, it ran")].to_dict("records")
    assert row["en"] == f"The broker at {ADDRESS} starts with release 5.1.4; before, it ran 4.9.3"
    assert row["at"] == dt.datetime(2024, 5, 7, 1, tzinfo=dt.UTC)
    assert case.line(row["file"], row["line"]).endswith("rocketmqHome=/opt/rocketmq-all-5.1.4-bin-release")


@pytest.mark.parametrize(("day", "refused", "limits"), rows_of(__file__, "refused"))
def test_a_limit_is_that_of_the_release_which_refused_and_a_refused_body_prints_it(tmp_path, day, refused, limits):
    """store/CommitLog 4.9.3 compares the whole record, store/MessageExtEncoder 5.1.4 the body, and the record with 64 KiB more."""
    store = f"2024-05-{day:02} 18:00:00 WARN SendMessageThread_1 - {refused}\n"
    known = sizes.limits(opened(tmp_path, store).facts)
    assert {name: getattr(known, name) for name in limits} == limits


def test_a_member_of_a_dledger_group_is_no_slave(tmp_path):
    """BrokerStartup sets brokerId to -1 before it prints all settings."""
    log = start("2024-05-06 09:00:00", "4.9.3", 15) + "2024-05-06 09:00:00 INFO main - brokerId=-1\n"
    conf = "brokerName=broker-a\nenableDLegerCommitLog=true\n"
    facts = folders.opened(tmp_path, {"broker/broker.log": log, "broker/broker.conf": conf}).facts
    assert [(each.name, each.slave) for each in brokers.all_of(facts)] == [("broker-a", False)]
    assert [each.name for each in setup.from_case(facts).brokers] == ["broker-a"]


def test_a_setting_that_two_brokers_have_different_is_known_of_each_only(tmp_path):
    conf = "brokerName={0}\nbrokerIP1=10.1.1.{1}\nmaxMessageSize={2}\nwaitTimeMillsInSendQueue=300\n"
    files = {
        f"{name}/broker.conf": conf.format(name, *own) for name, own in {"a": (5, 65536), "b": (6, 131072)}.items()
    }
    facts = folders.opened(tmp_path, files).facts
    assert setup.setting(facts, "maxMessageSize") == (None, None, None)
    assert setup.setting(facts, "waitTimeMillsInSendQueue").value == "300"
    assert setup.setting(facts, "maxMessageSize", frozenset({"10.1.1.6:10911"})).value == "131072"
