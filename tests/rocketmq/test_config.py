"""Releases, rules and parameters, defaults in force, and contradictions; expected values are those of the reference, sections 5 to 8."""

import re

import pytest
from recorded import SMALL, label, whole
from table import rows_of

from kit.rocketmq import names
from kit.rocketmq.config import ALIASES, CONFLICTS, PARAMETERS, Settings, conflicts, default_of, ignored
from kit.rocketmq.versions import FIXED, RULES, Version, rule

V460 = Version(4, 6, 0)


def slugs(version=V460, **given):
    return {conflict.slug for conflict in conflicts(Settings(given, version))}


@pytest.mark.parametrize(("release", "given", "name", "value", "text"), rows_of(__file__, "values"))
def test_value_in_force_and_its_source(release, given, name, value, text):
    settings = Settings(given, release and Version.parse(release))
    assert (settings.value(name), settings.text(name)) == (value, text)
    assert settings.number(name) == (value if isinstance(value, int) else None)


@pytest.mark.parametrize(("name", "release", "is_ignored"), rows_of(__file__, "ignored"))
def test_names_of_another_version_are_ignored(name, release, is_ignored):
    assert ignored(name, release and Version.parse(release)) is is_ignored


@pytest.mark.parametrize(("release", "given", "found"), rows_of(__file__, "all_conflicts"))
def test_all_conflicts(release, given, found):
    assert slugs(release and Version.parse(release), **given) == set(found)


def test_a_parameter_without_a_number_contradicts_nothing():
    for name, parameter in PARAMETERS.items():
        if parameter.unit not in ("text", "enum", "bool"):
            assert slugs(**{name: "many"}) == set(), name


@pytest.mark.parametrize("name", SMALL)
def test_defaults_are_those_of_real_brokers(name):
    version = Version.parse(label(name)["recorded_as"]["broker"])
    # What the broker was given, and what it said it runs with.
    texts = [(whole(name) / "broker" / file).read_text() for file in ("broker.conf", "mqadmin/getBrokerConfig.txt")]
    given, said = (dict(re.findall(r"^(\w+) *= *(.*?)\r?$", text, re.M)) for text in texts)
    assert len(said) > 100
    of_hosts = {"storePathRootDir", "storePathCommitLog", "sendMessageThreadPoolNums"}
    for name in [each for each, parameter in PARAMETERS.items() if parameter.side != "client"]:
        assert ignored(name, version) == (name not in said), name
        default = default_of(name, version)
        if name in said.keys() - given.keys() - of_hosts and default is not None:
            assert str(default).lower() == said[name].lower(), name


ORDINALS = rows_of(__file__, "ordinals")
RELEASES = [Version.parse(text) for text in ORDINALS.values()]


@pytest.mark.parametrize(("text", "release"), rows_of(__file__, "spellings"))
def test_every_spelling_is_the_same_release(text, release):
    if release:
        assert str(Version.parse(text)) == release
        return
    with pytest.raises(ValueError, match="not a RocketMQ version") as caught:
        Version.parse(text)
    assert "\n" not in str(caught.value)


def test_ordinals_follow_the_enum_and_releases_their_order():
    assert {number: str(Version.parse(number)) for number in ORDINALS} == ORDINALS
    assert sorted(RELEASES) == RELEASES
    assert Version.parse("4.9.8") < Version.parse("5.0.0") < Version.parse("5.3.10")


@pytest.mark.parametrize(("name", "at", "value"), rows_of(__file__, "a_rule_is_that_of_the_release"))
def test_a_rule_is_that_of_the_release(name, at, value):
    assert rule(name, at) == value


def test_rules_parameters_topics_and_levels_are_whole():
    assert rule("transactionCheckMax", None) is FIXED[0].has(None) is None
    # System busy is retried from 5.3.0 on.
    assert [2 in rule("retriedResponseCodes", release) for release in ("5.2.0", "5.3.0")] == [False, True]
    for each in RULES.values():
        assert [since for since, _ in each.rows] == sorted({since for since, _ in each.rows})
        assert each.reference
    assert all(Version.parse(fix.since) in RELEASES and fix.reference for fix in FIXED)
    assert names.delay_seconds()[3] == 10
    assert names.delay_seconds("1s 2s 4s 6s")[4] == 6
    with pytest.raises(KeyError):
        names.delay_seconds("1s 2x")
    assert names.is_system_topic("DefaultCluster_REPLY_TOPIC")
    assert not names.is_system_topic("%RETRY%RMQ_SYS_TRACE_TOPIC")
    for old, new in ALIASES.items():
        assert PARAMETERS[old].until and PARAMETERS[new].since
    for conflict in CONFLICTS:
        assert {*conflict.names, *re.findall(r"[a-z]\w*[A-Z]\w*", str(conflict.when))} <= set(PARAMETERS)
    for name, parameter in PARAMETERS.items():
        # A default is in one place only.
        assert not (name in RULES and parameter.default is not None and name != "brokerRole"), name
    assert (default_of("transactionCheckMax", V460), default_of("notAParameter", V460)) == (15, None)
