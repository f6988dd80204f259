"""Release numbers and rules; expected values are those of the reference, sections 5 to 8."""

import pytest
from table import rows_of

from kit.rocketmq import names
from kit.rocketmq.versions import FIXED, RULES, Version, rule

ORDINALS = rows_of(__file__, "ordinals")
RELEASES = [Version.parse(text) for text in ORDINALS.values()]


@pytest.mark.parametrize("text", ["4.6.1", "V4_6_1", "rocketmq-all-4.6.1-bin-release", 335, "335", " 4.6.1 ", 334])
def test_every_spelling_is_the_same_release(text):
    assert Version.parse(text) == Version(4, 6, 1)
    assert Version.parse("1.2.3.4x9999") == Version(1, 2, 3)


@pytest.mark.parametrize("text", ["", "four", "4", "-1", "99999", "V4"])
def test_no_version_is_one_helpful_sentence(text):
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


def test_system_busy_is_retried_from_5_3_0():
    assert [2 in rule("retriedResponseCodes", release) for release in ("5.2.0", "5.3.0")] == [False, True]


def test_unknown_version_is_unknown_not_a_default():
    assert rule("transactionCheckMax", None) is None
    assert FIXED[0].has(None) is None


def test_rows_are_ordered_and_referenced():
    for each in RULES.values():
        assert [since for since, _ in each.rows] == sorted({since for since, _ in each.rows})
        assert each.reference
    assert all(Version.parse(fix.since) in RELEASES and fix.reference for fix in FIXED)


def test_topics_and_levels():
    assert names.delay_seconds()[3] == 10
    assert names.delay_seconds("1s 2s 4s 6s")[4] == 6
    with pytest.raises(ValueError, match="messageDelayLevel"):
        names.delay_seconds("1s 2x")
    assert names.is_system_topic("DefaultCluster_REPLY_TOPIC")
    assert not names.is_system_topic("%RETRY%RMQ_SYS_TRACE_TOPIC")
