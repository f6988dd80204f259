"""Message ids, both ways: the broker's offset id, the client's UNIQ_KEY, and the id of 5.x gRPC clients.

Layouts (all big-endian, upper-case hex):

* offset id, common/message/MessageDecoder.createMessageId: store host (4 or 16 bytes), port int32, physical
  offset int64.
* UNIQ_KEY, common/message/MessageClientIDSetter: ip (4 or 16 bytes), pid 2, class loader hash 4, milliseconds since the
  start of the month in the producer's zone 4 (unsigned; setStartTime, nextID), counter 2. It names neither the month
  nor the zone; a date near the message gives the month, its bornTimestamp gives both.
* gRPC clients (apache/rocketmq-clients MessageIdCodec): 0x01, MAC address 6, pid 2, seconds since 2021-01-01 UTC 4,
  sequence 4.

The first two have the same length; the port tells them apart: a pid and a loader hash hardly ever look like one.
"""

import datetime as dt
import ipaddress
import itertools
import re
import struct
from collections.abc import Collection, Iterable
from typing import Final, Literal

import attrs

from kit.i18n import Sentence, labels

Kind = Literal["offset", "uniq", "grpc"]
Surety = Literal["certain", "likely", "possible"]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

IN_TEXT: Final = re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{56}|[0-9A-Fa-f]{32}|01[0-9A-Fa-f]{32})(?![0-9A-Za-z])")
"""An id of any kind within a text."""
OFFSET_LIMIT: Final = 1 << 50
"""A petabyte: no commitlog is that large, and a UNIQ_KEY read as an offset id is nearly always beyond it."""
JDK17_LOADER: Final = 0x0C387F44
"""Class loader hash observed in every process on JDK 17."""
GRPC_EPOCH: Final = dt.datetime(2021, 1, 1, tzinfo=dt.UTC)

LONGEST_MONTH: Final = 31 * 86_400_000 + 3_600_000
"""31 days, one of them of 25 hours."""
WRAP: Final = 1 << 32
ZONES: Final = (dt.UTC, dt.timezone(dt.timedelta(hours=8)))
"""Zones tried if the producer's is unknown: containers run in UTC, most RocketMQ hosts in GMT+8."""
CALENDAR: Final = dt.datetime(1970, 1, 2, tzinfo=dt.UTC), dt.datetime(9000, 1, 1, tzinfo=dt.UTC)
"""Far enough from the ends of Python's calendar to calculate with."""
NEARBY: Final = dt.timedelta(days=16)
"""Half a month: two readings of one id are at least 28 days apart, so at most two are this near."""

SAYS: Final = labels("rocketmq")["ids"]


class BadId(ValueError):
    """Text that is not a message id; `sentence` says why."""

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(sentence.render())
        self.sentence = sentence


@attrs.frozen
class Sent:
    """One reading of a UNIQ_KEY's clock: the instant (UTC) if the producer ran in `zone`."""

    at: dt.datetime
    zone: dt.tzinfo


@attrs.frozen
class IdInfo:
    """A decoded id. Fields that its kind lacks are None; `times` are candidates, best first; `offset` is in bytes."""

    text: str
    kind: Kind
    how_sure: Surety
    why: Sentence
    ip: Address | None = None
    port: int | None = None
    offset: int | None = None
    pid: int | None = None
    loader: int | None = None
    millis: int | None = None
    counter: int | None = None
    mac: str | None = None
    times: tuple[Sent, ...] = ()
    notes: tuple[Sentence, ...] = ()

    @property
    def host(self) -> str | None:
        """`ip:port` or `[v6]:port` of an offset id's store host."""
        return None if self.ip is None or self.port is None else _host(self.ip, self.port)


def decode(text: str, near: dt.datetime | None = None, *, store_hosts: Collection[str] | None = None) -> IdInfo:
    """Decode an id of any kind; raise `BadId` with one sentence otherwise.

    `near`: a time near the message, which selects the month of a UNIQ_KEY (None: no times). `store_hosts` (`ip:port`):
    settles the kind.
    """
    raw, text = _bytes(text)
    if len(raw) == 17:
        return _grpc(raw, text)
    kind, sure, why = _kind(raw, store_hosts)
    ip, port, offset = _as_offset(raw)
    if kind == "offset":
        return IdInfo(text, kind, sure, why, ip=ip, port=port, offset=offset)
    pid, loader, millis, counter = struct.unpack(">HIIH", raw[-12:])
    times = candidates(millis, near) if near else ()
    info = IdInfo(text, kind, sure, why, ip=ip, pid=pid, loader=loader, millis=millis, counter=counter, times=times)
    return attrs.evolve(info, notes=tuple(_notes(info, near)))


def tried(text: str) -> tuple[str, int] | None:
    """Return (`ip:port`, offset) that queryMsgById decodes from any 32- or 56-digit id, None for what it refuses. Of a
    UNIQ_KEY that is the producer's address, with pid and loader hash as the port to which it tries to connect.
    """
    try:
        raw, _ = _bytes(text)
    except BadId:
        return None
    if len(raw) == 17:
        return None
    ip, port, offset = _as_offset(raw)
    return _host(ip, port), offset


def encode_offset_id(host: str, port: int, offset: int) -> str:
    """Return the offset id of the record at `offset` (bytes) in the store of `host` (IP address) and `port`."""
    return (ipaddress.ip_address(host).packed + struct.pack(">iq", port, offset)).hex().upper()


def host_prefix(address: str | None) -> str | None:
    """Return what an offset id has before its offset for a store host; None for a damaged address."""
    host, _, port = (address or "").rpartition(":")
    try:
        return encode_offset_id(host.strip("[]"), int(port), 0)[:-16]
    except (ValueError, OverflowError):
        return None


def decode_each(texts: Iterable[str], near: dt.datetime | None = None) -> Iterable[IdInfo | BadId]:
    """Yield each id, of lists with commas too, decoded, or what is wrong; without `near` as of now, which a note says."""
    for text in (text for each in texts for text in each.split(",")):
        try:
            info = decode(text, near or dt.datetime.now(dt.UTC))
        except BadId as bad:
            yield bad
        else:
            undated = near is None and info.kind == "uniq"
            yield attrs.evolve(info, notes=(*info.notes, SAYS["no_date"])) if undated else info


def _bytes(text: str) -> tuple[bytes, str]:
    """Return the bytes and the canonical spelling, without the quotes and blanks that a log prints around an id."""
    plain = text.strip().strip("\"'`[],;").strip()
    quoted = plain if len(plain) <= 60 else plain[:57] + "…"
    if not plain:
        raise BadId(SAYS["bad"].say(text=text[:60], why=SAYS["bad_empty"]))
    odd = re.search(r"[^0-9A-Fa-f]", plain)
    if odd:
        raise BadId(SAYS["bad"].say(text=quoted, why=SAYS["bad_digit"].say(char=odd.group())))
    if len(plain) not in (32, 34, 56):
        raise BadId(SAYS["bad"].say(text=quoted, why=SAYS["bad_length"].say(n=len(plain))))
    if len(plain) == 34 and not plain.startswith("01"):
        raise BadId(SAYS["bad"].say(text=quoted, why=SAYS["bad_grpc"]))
    return bytes.fromhex(plain), plain.upper()


def _as_offset(raw: bytes) -> tuple[Address, int, int]:
    port, offset = struct.unpack(">iq", raw[-12:])
    return ipaddress.ip_address(raw[:-12]), port, offset


def _kind(raw: bytes, store_hosts: Collection[str] | None) -> tuple[Kind, Surety, Sentence]:
    ip, port, offset = _as_offset(raw)
    if not 0 < port <= 65535:
        return "uniq", _uniq_surety(raw), SAYS["no_port"].say(port=str(port))
    if offset >= 0 and store_hosts and (_host(ip, port) in store_hosts or f"{ip.exploded}:{port}" in store_hosts):
        return "offset", "certain", SAYS["known_store"]
    if not 0 <= offset < OFFSET_LIMIT:
        return "uniq", _uniq_surety(raw), SAYS["no_offset"].say(offset=str(offset))
    return "offset", "likely" if port >= 1024 else "possible", SAYS["port_like"].say(port=str(port), offset=str(offset))


def _uniq_surety(raw: bytes) -> Surety:
    """Return how certain a UNIQ_KEY is: any 32 hex digits have that form, an MD5 sum too."""
    _, loader, millis, _ = struct.unpack(">HIIH", raw[-12:])
    ip = ipaddress.ip_address(raw[:-12])
    if millis >= LONGEST_MONTH:
        return "possible"
    return "certain" if loader == JDK17_LOADER or (ip.is_private and not ip.is_unspecified) else "likely"


def _notes(info: IdInfo, near: dt.datetime | None) -> Iterable[Sentence]:
    ip, times = info.ip, info.times
    if ip is not None and ip.version == 4 and (ip.packed[0] == 0 or ip.packed[0] >= 224):
        yield SAYS["made_up"].say(ip=str(ip))
    if ip is not None and ip.is_loopback:
        yield SAYS["loopback"]
    if info.pid == 0:
        yield SAYS["pid_zero"]
    if (info.millis or 0) >= LONGEST_MONTH:
        yield SAYS["stepped_back"]
    if near and any(abs(sent.at - times[0].at) > dt.timedelta(days=20) for sent in times):
        yield SAYS["two_months"]


def _grpc(raw: bytes, text: str) -> IdInfo:
    pid, seconds, sequence = struct.unpack(">HII", raw[7:])
    mac = ":".join(f"{byte:02X}" for byte in raw[1:7])
    at = Sent(GRPC_EPOCH + dt.timedelta(seconds=seconds), dt.UTC)
    return IdInfo(text, "grpc", "certain", SAYS["grpc_form"], pid=pid, mac=mac, counter=sequence, times=(at,))


def _host(ip: Address, port: int) -> str:
    return f"[{ip}]:{port}" if ip.version == 6 else f"{ip}:{port}"


def fields(info: IdInfo) -> list[tuple[str, str]]:
    """Return the fields of an id for printing, in the order of its layout."""
    named = {
        "store host": info.host, "physical offset": info.offset,
        "physical offset (hex)": None if info.offset is None else f"0x{info.offset:X}",
        "mac": info.mac, "ip": info.ip if info.kind == "uniq" else None, "pid": info.pid,
        "class loader": None if info.loader is None else f"{info.loader:08X}", "ms since month start": info.millis,
        "counter": info.counter,
    }  # fmt: skip
    return [(name, str(value)) for name, value in named.items() if value is not None]


def candidates(millis: int, near: dt.datetime, zones: Iterable[dt.tzinfo] = ZONES) -> tuple[Sent, ...]:
    """Return the possible times `millis` after the start of a month, nearest to `near` first, one set per zone.

    A time longer than any month is negative: the clock stepped back over the month's start. `near` without zone is UTC.
    """
    near = near.replace(tzinfo=dt.UTC) if near.tzinfo is None else near
    near = min(max(near, CALENDAR[0]), CALENDAR[1])
    since = dt.timedelta(milliseconds=millis if millis < LONGEST_MONTH else millis - WRAP)
    every: list[Sent] = []
    for zone in zones:
        sent = [Sent(start + since, zone) for start, end in _months(near, zone) if since < end - start]
        sent.sort(key=lambda each: abs(each.at - near))
        every += [each for each in sent if abs(each.at - near) <= NEARBY] or sent[:2]
    return tuple(sorted(every, key=lambda each: abs(each.at - near)))


def _months(near: dt.datetime, zone: dt.tzinfo) -> Iterable[tuple[dt.datetime, dt.datetime]]:
    """Yield (start, end) in UTC of the months around `near` in `zone`: an id counts real milliseconds."""
    local = near.astimezone(zone)
    first = local.year * 12 + local.month - 1
    starts = (dt.datetime(m // 12, m % 12 + 1, 1, tzinfo=zone) for m in range(first - 2, first + 3))
    return itertools.pairwise(start.astimezone(dt.UTC) for start in starts)
