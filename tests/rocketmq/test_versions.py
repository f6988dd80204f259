"""Release numbers and rules; expected values are those of the reference, sections 5 to 8."""

from __future__ import annotations

import pytest
from table import rows_of

from kit.rocketmq import names, versions
from kit.rocketmq.versions import FIXED, RULES, Version, rule

ORDINALS = rows_of(__file__, "ordinals")
RELEASES = [Version.parse(text) for text in ORDINALS.values()]


@pytest.mark.parametrize("text", ["4.6.1", "V4_6_1", "rocketmq-all-4.6.1-bin-release", 335, "335", " 4.6.1 ", 334])
def test_every_spelling_is_the_same_release(text):
    assert Version.parse(text) == Version(4, 6, 1)


@pytest.mark.parametrize("text", ["", "four", "4", "-1", "99999", "1.2.3.4x9999", "V4"])
def test_no_version_is_one_helpful_sentence(text):
    if text == "1.2.3.4x9999":
        assert Version.parse(text) == Version(1, 2, 3)
        return
    with pytest.raises(ValueError, match="not a RocketMQ version") as caught:
        Version.parse(text)
    assert "\n" not in str(caught.value)


def test_ordinals_follow_the_enum():
    assert {number: str(Version.parse(number)) for number in ORDINALS} == ORDINALS


def test_releases_are_in_order():
    assert sorted(RELEASES) == RELEASES
    assert Version.parse("4.9.8") < Version.parse("5.0.0") < Version.parse("5.3.10")


@pytest.mark.parametrize(("name", "at", "value"), rows_of(__file__, "a_rule_is_that_of_the_release"))
def test_a_rule_is_that_of_the_release(name, at, value):
    assert rule(name, at) == value


def test_system_busy_is_retried_from_5_3_0():
    assert 2 not in rule("retriedResponseCodes", "5.2.0")
    assert 2 in rule("retriedResponseCodes", "5.3.0")


def test_unknown_version_is_unknown_not_a_default():
    assert rule("transactionCheckMax", None) is None
    assert FIXED[0].has(None) is None


def test_rows_are_ordered_and_referenced():
    for each in RULES.values():
        assert [since for since, _ in each.rows] == sorted({since for since, _ in each.rows})
        assert each.reference
    assert all(Version.parse(fix.since) in RELEASES and fix.reference for fix in FIXED)


def test_faults_by_release():
    def slugs(version: str, side: str) -> set[str]:
        return {fix.slug for fix in versions.faults(version, side)}

    assert "fallback-keeps-tran-msg" in slugs("4.6.0", "client")
    assert "fallback-keeps-tran-msg" not in slugs("4.6.1", "client")
    assert "compressed-half" in slugs("4.5.2", "broker")
    assert "compressed-half" not in slugs("4.6.0", "broker")
    assert "prepared-retry-unconsumable" in slugs("4.6.1", "broker") & slugs("5.1.4", "broker")
    assert "prepared-retry-unconsumable" not in slugs("4.9.8", "broker")


def test_topics_and_levels():
    assert names.delay_seconds()[3] == 10
    assert names.delay_seconds("1s 2s 4s 6s")[4] == 6
    with pytest.raises(ValueError, match="messageDelayLevel"):
        names.delay_seconds("1s 2x")
    assert names.is_system_topic("DefaultCluster_REPLY_TOPIC")
    assert not names.is_system_topic("%RETRY%RMQ_SYS_TRACE_TOPIC")
