"""Parameters, defaults in force, and contradictions; defaults are those of the reference, section 7.4."""

import re

import pytest
from recorded import SMALL, label, whole
from table import rows_of

from kit.rocketmq.config import ALIASES, CONFLICTS, PARAMETERS, Settings, conflicts, default_of, guide, ignored
from kit.rocketmq.versions import RULES, Version

V460, V514 = Version(4, 6, 0), Version(5, 1, 4)


def slugs(version: Version | None = V460, **given: str) -> set[str]:
    return {conflict.slug for conflict in conflicts(Settings(given, version))}


def test_value_in_force_and_its_source():
    settings = Settings({"transactionCheckMax": " 3 ", "maxMessageSize": "lots"}, V460)
    assert (settings.value("transactionCheckMax"), settings.text("transactionCheckMax")) == (3, " 3 ")
    assert (settings.value("transactionTimeOut"), settings.text("transactionTimeOut")) == (6000, None)
    assert settings.value("maxMessageSize") == "lots"
    assert settings.number("maxMessageSize") is None
    nowhere = Settings({})
    assert nowhere.value("transactionTimeOut") is None
    assert nowhere.value("waitTimeMillsInSendQueue") == 200


def test_names_of_another_version_are_ignored():
    assert ignored("mapedFileSizeCommitLog", Version(4, 6, 0))
    assert not ignored("mapedFileSizeCommitLog", Version(4, 5, 1))
    assert ignored("transactionOpBatchInterval", Version(5, 0, 0))
    assert not ignored("transactionOpBatchInterval", None)
    assert Settings({"mapedFileSizeCommitLog": "1024"}, Version(4, 5, 1)).value("mappedFileSizeCommitLog") == 1024
    new = Settings({"mapedFileSizeCommitLog": "1024"}, Version(4, 6, 0))
    assert new.text("mappedFileSizeCommitLog") is None


def test_defaults_of_a_stock_broker_do_not_contradict_each_other():
    for version in ("4.3.1", "4.6.1", "4.9.8", "5.0.0"):
        assert slugs(Version.parse(version)) == set()
    # 5.1+ ships with no margin between transactionTimeOut and two op intervals.
    assert slugs(V514) == {"checked-before-op"}
    assert slugs(None) == set()


@pytest.mark.parametrize(("given", "slug"), rows_of(__file__, "conflict"))
def test_conflict(given, slug):
    assert slug in slugs(**given)


def test_several_threads_with_a_mutex_are_fine():
    assert slugs(sendMessageThreadPoolNums="16", useReentrantLockWhenPutMessage="true") == set()
    assert "sync-master-timeout" in slugs(Version(4, 9, 3), brokerRole="SYNC_MASTER")


def test_a_parameter_without_a_number_contradicts_nothing():
    for name, parameter in PARAMETERS.items():
        if parameter.unit not in ("text", "enum", "bool"):
            assert slugs(**{name: "many"}) == set(), name


@pytest.mark.parametrize("name", SMALL)
def test_defaults_are_those_of_real_brokers(name):
    version = Version.parse(label(name)["recorded_as"]["broker"])
    # What the broker was given, and what it said it runs with.
    given, said = (
        dict(re.findall(r"^(\w+) *= *(.*?)\r?$", (whole(name) / "broker" / file).read_text(), re.M))
        for file in ("broker.conf", "mqadmin/getBrokerConfig.txt")
    )
    assert len(said) > 100
    of_hosts = {"storePathRootDir", "storePathCommitLog", "sendMessageThreadPoolNums"}
    for name in [each for each, parameter in PARAMETERS.items() if parameter.side != "client"]:
        assert ignored(name, version) == (name not in said), name
        default = default_of(name, version)
        if name in said.keys() - given.keys() - of_hosts and default is not None:
            assert str(default).lower() == said[name].lower(), name


def test_guide_has_every_line_and_knows_what_it_does_not_know():
    rows = {row["name"]: row for row in guide(Settings({"transactionCheckMax": "3", "notAParameter": "x"}, V460))}
    assert rows["transactionCheckMax"]["default"] == 15
    assert rows["notAParameter"]["parameter"] is None


def test_data_is_whole():
    for old, new in ALIASES.items():
        assert PARAMETERS[old].until and PARAMETERS[new].since
    for conflict in CONFLICTS:
        assert {*conflict.names, *re.findall(r"[a-z]\w*[A-Z]\w*", str(conflict.when))} <= set(PARAMETERS)
    for name, parameter in PARAMETERS.items():
        # A default is in one place only.
        assert not (name in RULES and parameter.default is not None and name != "brokerRole"), name
    assert default_of("nonsense", V460) is None
