"""Which id each call returns, by client version (`facts/id_calls.yaml`).

A message has one UNIQ_KEY and as many offset ids as copies; each API returns one of them and calls it "message id".
"""

from __future__ import annotations

from typing import Final, Literal

from kit.i18n import T
from kit.rocketmq.data import Row, facts
from kit.rocketmq.versions import Version


class Handed(Row, frozen=True, kw_only=True):
    """One call: its side, which id it returns, of which copy (`stages`, the newest; empty: of the message), since/until which client.

    `upstream`: the class below `org/apache/rocketmq` that determines it.
    """

    call: str
    side: Literal["producer", "listener", "consumer", "mqadmin", "log"]
    which: Literal["uniq", "offset", "none"]
    upstream: str
    says: T
    stages: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    transactional: bool | None = None
    """Only for transactional messages (True), only for others (False), for all (None)."""

    def holds(self, client: str | Version | None) -> bool:
        """Return whether it applies to a client of this version; an unknown version counts as the newest."""
        if client is None:
            return self.until is None
        version = Version.parse(client)
        after = self.since is None or version >= Version.parse(self.since)
        return after and (self.until is None or version <= Version.parse(self.until))


CALLS: Final = facts("id_calls.yaml", tuple[Handed, ...])
