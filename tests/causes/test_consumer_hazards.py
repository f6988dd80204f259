"""Hazards of consumer groups, from the lines that clients print at their start."""

from __future__ import annotations

from pathlib import Path

from kit.case.opening import open_case
from kit.causes import consumer_hazards

CREATED = (
    "2026-11-22 07:25:{second:02},038 INFO RocketmqClient - Created a new client Instance, InstanceIndex:0, ClientID:{id}, "
    "ClientConfig:ClientConfig [namesrvAddr=10.0.0.10:9876]\n"
)


def hazards(tmp_path: Path, ids: dict[str, str]) -> list[tuple[str, str]]:
    for second, (place, client_id) in enumerate(ids.items()):
        folder = tmp_path / "evidence" / place
        folder.mkdir(parents=True)
        (folder / "rocketmq_client.log").write_text(CREATED.format(id=client_id, second=second))
    case = open_case(tmp_path / "evidence", tmp_path / "workspace")
    return [(hazard.slug, hazard.cause) for hazard in consumer_hazards.hazards(case)]


def test_one_id_on_two_hosts_is_a_hazard(tmp_path: Path) -> None:
    ids = {"p": "172.17.0.2@1", "q": "172.17.0.2@1"}
    assert hazards(tmp_path, ids) == [("same-client-id", "duplicate-client-id")]


def test_a_small_process_id_at_an_inner_address_is_a_note(tmp_path: Path) -> None:
    ids = {"p": "172.17.0.2@1", "q": "10.20.30.22@31154#2464487564990"}
    assert hazards(tmp_path, ids) == [("container-client-id", "duplicate-client-id")]
