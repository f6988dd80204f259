"""What answers mean: response codes and send statuses (`facts/answers.yaml`).

common/protocol/ResponseCode, remoting/protocol/RemotingSysResponseCode, client/producer/SendStatus; for gRPC clients apache.rocketmq.v2.Code.
"""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.data import Row, facts


class Answer(Row, frozen=True):
    """One answer. `problem`: the known problem that explains it further ("" = none)."""

    name: str
    meaning: T
    next: T
    problem: str = ""


_EVERY: Final = facts("answers.yaml", dict[str, dict[int, Answer]])
CODES: Final = _EVERY["remoting"]
"""Response code → what it means."""
STATUSES: Final[dict[str, int]] = {"FLUSH_DISK_TIMEOUT": 10, "SLAVE_NOT_AVAILABLE": 11, "FLUSH_SLAVE_TIMEOUT": 12}
"""Send status (client/producer/SendStatus) → the response code it comes from."""
GRPC_CODES: Final = _EVERY["grpc"]
"""Code of apache.rocketmq.v2.Code → what it means."""
GRPC_NAMES: Final = {answer.name: code for code, answer in GRPC_CODES.items()}
