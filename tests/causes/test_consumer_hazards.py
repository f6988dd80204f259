"""Hazards of consumer groups, from the lines that clients print at their start."""

from pathlib import Path

import pytest
from folders import opened

from kit.causes import doctor
from kit.rocketmq.config import Settings, conflicts
from kit.rocketmq.versions import Version

CREATED = (
    "2026-11-22 07:25:{second:02},038 INFO RocketmqClient - Created a new client Instance, InstanceIndex:0, ClientID:{id}, "
    "ClientConfig:ClientConfig [namesrvAddr=10.0.0.10:9876]\n"
)


def hazards(tmp_path: Path, ids: dict[str, str]) -> list[tuple[str, str]]:
    lines = {place: CREATED.format(id=ids[place], second=second) for second, place in enumerate(ids)}
    case = opened(tmp_path, {f"{place}/rocketmq_client.log": line for place, line in lines.items()})
    return [(hazard.slug, hazard.cause) for hazard in doctor.of_clients(case.facts)]


def test_one_id_on_two_hosts_is_a_hazard(tmp_path: Path) -> None:
    ids = {"p": "172.17.0.2@1", "q": "172.17.0.2@1"}
    assert hazards(tmp_path, ids) == [("same-client-id", "duplicate-client-id")]


def test_a_small_process_id_at_an_inner_address_is_a_note(tmp_path: Path) -> None:
    ids = {"p": "172.17.0.2@1", "q": "10.20.30.22@31154#2464487564990"}
    assert hazards(tmp_path, ids) == [("container-client-id", "duplicate-client-id")]


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
