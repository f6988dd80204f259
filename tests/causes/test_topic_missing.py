"""topic-missing and acl-denied: the recordings' truth, pastes, and what every healthy start prints."""

from __future__ import annotations

from pathlib import Path

import pytest
import taken_away

import kit
from kit import causes


def test_mqadmin_without_a_file_of_its_own_was_not_refused(tmp_path: Path) -> None:
    """acl/common/AclUtils of 4.4 and 4.5 throws this in mqadmin, which goes on; every send here was answered."""
    missing = "org.apache.rocketmq.acl.common.AclException: The  file for Plain mode was not found , paths /opt/rocketmq/conf/{}"
    (tmp_path / "e" / "mqadmin").mkdir(parents=True)
    (tmp_path / "e" / "mqadmin" / "clusterList.txt").write_text(
        f"$ mqadmin clusterList\n{missing.format('tools.yml')}\n"
    )
    (tmp_path / "e" / "sends.csv").write_text("key,start,cost_ms,outcome\nK1,2026-11-22 07:48:26.492,3,SEND_OK\n")
    findings = {f["cause"]: f for f in kit.triage(kit.open_case(tmp_path / "e", tmp_path / "ws"))["findings"]}
    assert findings["acl-denied"]["verdict"] not in ("confirmed", "suspected", "failed")
    assert "acl-config" not in findings


def test_a_query_for_a_topic_without_a_route_in_a_text_with_settings(tmp_path: Path) -> None:
    """client/impl/MQAdminImpl.queryMessage; the settings below it do not make the text a configuration."""
    lines = [
        "the dashboard shows no trace",
        "CODE: 17 DESC: The topic[RMQ_SYS_TRACE_TOPIC] not matched route info",
        *("brokerClusterName=c1", "brokerName=broker-a", "brokerId=0", "namesrvAddr=10.0.0.1:9876", "listenPort=10911"),
    ]
    found = causes.examine(taken_away.paste(tmp_path, *lines).facts, "topic-missing")
    assert found.verdict == "suspected"
    assert [(ref.line, ref.text) for step in found.steps if step.holds for ref in step.evidence] == [(2, lines[1])]


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        # auth/authorization/chain/AclAuthorizationHandler.throwException, 5.3.0 and later; subject and resource as their keys print them
        ("User:shop has no permission to access Topic:orders from 10.20.29.7, no matched policies.", {"no-right": ["topic orders (shop)"]}),
        # auth/authentication/chain/DefaultAuthenticationHandler.doAuthenticate
        ("User:shop is not found.", {"unknown-user": ["shop"]}),
        ("check signature failed.", {"wrong-secret": []}),
    ],
)  # fmt: skip
def test_answers_of_acl_2_name_no_exception(said: str, reasons: dict[str, list[str]], tmp_path: Path) -> None:
    """broker/auth/pipeline/AuthenticationPipeline answers code 16 with the message of the exception alone."""
    line = f"Caused by: org.apache.rocketmq.client.exception.MQBrokerException: CODE: 16  DESC: {said} BROKER: 10.20.29.11:10911"
    found = causes.examine(
        taken_away.paste(tmp_path, "2026-11-22 07:48:26.492 ERROR [x] App - send failed", line).facts, "acl-denied"
    )
    assert (found.verdict, found.figures["reasons"]) == ("confirmed", reasons)
    assert found.steps[0].evidence[0].text == line
