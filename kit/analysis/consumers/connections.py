"""The connections of consumer groups' clients to brokers, and which of one client id existed at the same time."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

import attrs

from kit.analysis.consumers import admin_output, consumer_logs
from kit.case.memoize import per_case
from kit.inventory.references import Ref
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

Pair = tuple["Connection", "Connection"]
LATE_CLOSE: Final = dt.timedelta(seconds=150)
"""How long a broker may keep a connection that is gone: clientChannelMaxIdleTimeSeconds and one scan."""


@attrs.frozen
class Connection:
    """One connection of a client. `listed`: number of the output that lists it, None for one of the broker's log."""

    group: str
    client_id: str
    address: str
    first: dt.datetime | None
    last: dt.datetime | None
    file: str
    line: int
    listed: bool = False

    @property
    def host(self) -> str:
        return self.address.rpartition(":")[0]

    def ref(self, case: Case) -> Ref:
        return case.ref(self.file, self.line)


@per_case
def every(case: Case) -> list[Connection]:
    """Return the connections of users' groups: those that consumerConnection lists, and those of broker logs with their time."""
    found = [
        Connection(
            block["-g"], block["#ClientId"], block.get("#ClientAddr", ""), at, at, block["file"], block["line"], True
        )
        for block in admin_output.admin_blocks(case)
        if block["command"] == "consumerConnection" and block.get("#ClientId") and block.get("-g")
        for at in [block["time"]]
    ]
    gone: dict[tuple[str, str], list[dt.datetime]] = defaultdict(list)
    for said in consumer_logs.of(case, "consumer-disconnected"):  # in order of time
        if said.first is not None:
            gone[said.file, said.values.get("address", "")].append(said.first)
    for said in consumer_logs.of(case, "consumer-connected"):
        address = said.values.get("address", "")
        ends = gone[said.file, address]
        after = len(ends) if said.first is None else bisect_left(ends, said.first)
        if said.group:
            client, last = said.values.get("client_id", ""), ends[after] if after < len(ends) else None
            found.append(Connection(said.group, client, address, said.first, last, said.file, said.line))
    return [c for c in found if names.of_users(c.group)]


@per_case
def simultaneous(case: Case) -> dict[str, list[Pair]]:
    """Return, by group, pairs of connections of one client id that existed at the same time on one broker."""
    pairs: dict[str, list[Pair]] = defaultdict(list)
    alike: dict[tuple[str, str, str, bool], list[Connection]] = defaultdict(list)
    for each in every(case):
        alike[each.group, each.client_id, each.file, each.listed].append(each)
    saved = {(s.group, s.values.get("address")): s.last for s in consumer_logs.of(case, "consumer-offset-back")}
    for (group, _, _, listed), members in alike.items():
        if len(members) > 1:
            found = (
                listed_together(members)
                if listed
                else open_together(members, lambda c: saved.get((c.group, c.address)))
            )
            pairs[group] += [(members[n], members[m]) for n, m in sorted(found)]
    return {group: found for group, found in pairs.items() if found}


def listed_together(listed: list[Connection]) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions of connections of one list, which all existed at its time: those of different addresses."""
    by_address: dict[str, list[int]] = defaultdict(list)
    for m, connection in enumerate(listed):
        yield from ((n, m) for address, there in by_address.items() if address != connection.address for n in there)
        by_address[connection.address].append(m)


def open_together(
    logged: list[Connection], saved: Callable[[Connection], dt.datetime | None]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions, the lower first, of connections of a broker's log that existed at the same time, of
    different addresses.

    A connection closed up to `LATE_CLOSE` after the next one opened may have been gone before, as may one without an
    end if the next comes from the same host; unless the client `saved` offsets over it later than that. Takes time
    in proportion to the pairs found, and to sorting the connections.
    """
    dated: list[tuple[dt.datetime, int]] = []
    by_host: dict[str, list[int]] = defaultdict(list)
    for n, connection in enumerate(logged):
        by_host[connection.host].append(n)
        if connection.first is not None:
            dated.append((connection.first, n))
    for n, undated in enumerate(logged):
        if undated.first is None:
            others = (m for host, there in by_host.items() if host != undated.host for m in there)
            yield from ((min(n, m), max(n, m)) for m in others if n < m or logged[m].first is not None)
    without_end: dict[str, list[int]] = defaultdict(list)  # by host
    alive: dict[str, dict[int, None]] = defaultdict(dict)  # by address, surely there until the time in `ends`
    ends: list[tuple[dt.datetime, int]] = []
    for opened, m in sorted(dated):
        while ends and ends[0][0] <= opened:
            _, gone = heappop(ends)
            del alive[logged[gone].address][gone]
            if not alive[logged[gone].address]:
                del alive[logged[gone].address]
        late = logged[m]
        early = {n for address, there in alive.items() if address != late.address for n in there}
        early |= {n for host, there in without_end.items() if host != late.host for n in there}
        yield from ((min(n, m), max(n, m)) for n in early)
        used = saved(late)
        if late.last is None:
            without_end[late.host].append(m)
            until = used
        else:
            until = max(late.last - LATE_CLOSE, min(late.last, used or opened))
        if until is not None and until > opened:
            alive[late.address][m] = None
            heappush(ends, (until, m))
