"""Parameters, defaults in force, and contradictions; defaults are those of the reference, section 7.4."""

import re

import pytest
from recorded import SMALL, label, whole
from table import rows_of

from kit.rocketmq.config import ALIASES, CONFLICTS, PARAMETERS, Settings, conflicts, default_of, guide, ignored
from kit.rocketmq.versions import RULES, Version

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


@pytest.mark.parametrize(("given", "slug"), rows_of(__file__, "conflict"))
def test_conflict(given, slug):
    assert slug in slugs(**given)


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
