"""Names and addresses found only in the shown texts: by the words before them, or by their form."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from typing import Final

from kit.redaction import ordinary
from kit.redaction.ids import COLONS, DASHED, HEX, QUAD, host
from kit.redaction.ordinary import is_ordinary

_SAID: Final = re.compile(
    r"""(?ai)\b(?P<what>topic|real_topic|retry_topic|pgroup|(?:consumer|producer)?group|brokername|clustername|clientid"""
    r"""|instancename)\\?["']?\s*[=:]\s*\\?["'\[]?(?P<name>[%A-Za-z0-9_|.@#-]{2,300})"""
)
_HOST: Final = re.compile(
    r"""(?a)(?:(?<=[\[<=;/\s"'\u0080-\uffff])|^)(?P<port>[A-Za-z][\w-]*(?:\.[\w-]+)*):(?:[1-9]\d{3,4})(?![\w.:])"""
    r"""|(?P<slash>[A-Za-z][\w.-]*)/(?=\d{1,3}(?:\.\d{1,3}){3}:)"""
    r"""|(?i:unknown ?host(?:exception)?):? (?P<unknown>[A-Za-z][\w.-]*)|^Linux \S+ \((?P<sar>[\w.-]+)\)"""
    r"""|^(?:<\d+>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?P<syslog>[A-Za-z][\w.-]*) """
    r"""|(?<![\w.@$/-])(?P<domain>[A-Za-z][\w-]*\.(?:internal|local|lan|corp|intranet|svc|idc\w*|com|cn|net|org|io|top|cc|info))(?![\w-]|\.\w)"""
    r"""|(?i:\b(?:host(?:name)?|server|node|machine|主机|机器))\\?["']?\s*[=:：]\s*\\?["'\[]?(?P<said>[A-Za-z][\w-]*(?:\.[\w-]+)*)"""
)
_DECIMAL: Final = re.compile(
    r"""(?a)(?i:\b|(?<=_))(?:\w*(?:I[Pp]|A[Dd][Dd][Rr](?:ess|ESS)?|H[Oo][Ss][Tt])|ip|addr|address|host)\\?["']?\s*[=:]\s*\\?["']?(\d{8,10})(?!\d)"""
)
"""An IPv4 address written as one number, where a name says that it is an address."""
_NUMBERED: Final = re.compile(
    r"(?a)(?<![\w./@:#%-])[a-z][a-z0-9]*(?:(?:-[a-z0-9]+)*\d{1,3}|(?:-[a-z0-9]+)+-\d{1,3})(?![\w(-]|\.\w)"
)
"""`mqbroker7`, `web-01`, `mq-broker-0`: how machines are called where nothing else says that it is one."""
_MADE: Final = re.compile(
    r"(?a)(?<![\w./-])(?:[a-z][a-z0-9-]*-[bcdfghj-np-tv-xz2456789]{8,10}-[bcdfghj-np-tv-xz2456789]{5}"
    r"|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{12})(?![\w-])"
)
"""How Kubernetes calls the pods of a deployment, and Docker the host in a container."""
_NUMBERS: Final = (
    "thread pool queue exec nio level step batch retry worker times slot part lane shard page line item log sha md utf base int lz ipv jdk "
    "java http https log4j case group topic commit version executor boss loop scheduler"
)
_COUNTED: Final = frozenset(_NUMBERS.split())
"""What is numbered and no machine: threads, queues, algorithms."""


def names(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, kind)."""
    for text in texts:
        for hit in _SAID.finditer(text):
            what, name = hit["what"].lower(), hit["name"].strip("|.@#-")
            kind = next(
                (k for k in ("topic", "broker", "cluster") if k in what),
                "client" if what.startswith(("client", "inst")) else "group",
            )
            # The kit's own code and sentences say `group=name` too.
            if name and not is_ordinary(name) and not name.isdigit() and "." not in name:
                yield name, kind
        for hit in _HOST.finditer(text):
            name = next(filter(None, hit.groups())).rstrip(".")
            if (
                not (_is_known(name) or name.startswith(ordinary.VENDORS))
                and name.rpartition(".")[2] not in ordinary.EXTENSIONS
            ):
                yield name, "host"
        yield from ((hit.group(), "host") for hit in _MADE.finditer(text))
        yield from ((hit.group(), "host") for hit in _NUMBERED.finditer(text) if _is_machine(hit.group()))


def _is_known(host: str) -> bool:
    return is_ordinary(host) or host in ordinary.FOLDERS or ordinary.is_stock(host)


def _is_machine(name: str) -> bool:
    parts = re.findall(r"[a-z]+", name)
    letters = max(map(len, parts))
    return (
        letters > 1
        and not _COUNTED.intersection(parts)
        and not _is_known(name)
        and not (len(name) > 7 and HEX.fullmatch(name))
    )


def addresses(texts: Iterable[str]) -> set[str]:
    """Return every address that is shown: dotted, with colons, in the name of a host, at the head of an id."""
    found: set[str] = set()
    for text in texts:
        found |= set(QUAD.findall(text)) | {str(ip) for hit in COLONS.findall(text) if (ip := host(hit.rstrip("."))[0])}
        found |= {re.sub("[-_]", ".", hit.group()) for hit in DASHED.finditer(text)}
        found |= {str(ipaddress.IPv4Address(int(n))) for n in _DECIMAL.findall(text) if int(n) < 1 << 32}
        for run in HEX.findall(text):
            if len(run) in (32, 56):
                found.add(str(ipaddress.ip_address(bytes.fromhex(run[: 8 if len(run) == 32 else 32]))))
    return found
