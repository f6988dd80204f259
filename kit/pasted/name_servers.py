"""Which addresses of a paste are name servers': those it was given as such, and those asked for routes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from kit.pasted.plain_lines import Line

_GIVEN: Final = re.compile(
    r"(?:name-?_?srv(?:-?_?addr\w*)?|name-?_?server(?:-?_?addr\w*)?|namesrv\.addr)[\"']?\s*[:=]\s*[\"']?([^\s\"']{4,400})|\s-n\s+[\"']?([^\s\"']{4,400})",
    re.IGNORECASE,
)
_CONNECT: Final = re.compile(r"connect to [<\[]?([^\s>\],，]{4,200}?)[>\]]?(?: failed|，|,|$)")
ASKED: Final = ("RouteInfoFromNameServer", "MQClientAPIImpl.getBrokerClusterInfo", "BrokerOuterAPI.registerBroker")
"""Frames of a request that goes to a name server: client/impl/MQClientAPIImpl, client/impl/factory/MQClientInstance, broker/out/BrokerOuterAPI."""


def given(pasted: Iterable[Line]) -> frozenset[str]:
    """Return the addresses that settings and commands of a paste name as name servers."""
    found = (match for line in pasted for match in _GIVEN.finditer(line.text))
    return frozenset(part for match in found for part in re.split(r"[;,]", match[1] or match[2]) if ":" in part)


def unreached(pasted: Sequence[Line]) -> frozenset[int]:
    """Return the numbers of the lines that report a failed connect to a name server."""
    servers, found = given(pasted), set()
    for at, line in enumerate(pasted):
        tried = None if line.frame else _CONNECT.search(line.text)
        if tried is None:
            continue
        frames = _frames(pasted, at)
        if tried[1] in servers or any(name in frame for frame in frames for name in ASKED):
            found.add(line.number)
    return frozenset(found)


def _frames(pasted: Sequence[Line], at: int) -> list[str]:
    """Return the stack trace frames directly below a line."""
    frames = []
    for line in pasted[at + 1 :]:
        if not line.frame:
            break
        frames.append(line.text)
    return frames
