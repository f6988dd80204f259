"""A commit log reader in plain Python, slow and simple: what the kernels are compared with."""

import struct
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

from stores import BLANK, V1, V2

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MS = 253_402_300_799_999


def parse(data: bytes, at: int) -> dict[str, Any] | None:
    """Return the fields of the record at `at`, None if its lengths do not agree or it is not all there."""
    magic = data[at + 4 : at + 8]
    if at < 0 or at + 91 > len(data) or magic not in (V1, V2):
        return None
    (size,) = struct.unpack_from(">i", data, at)
    if size < 91 or at + size > len(data):
        return None
    one = data[at : at + size]
    try:
        crc, queue, flag, offset, physical, flags, born = struct.unpack_from(">iiiqqiq", one, 8)
        pos = 48
        born_host = one[pos : pos + (20 if flags & 0x10 else 8)]
        pos += len(born_host)
        (stored,) = struct.unpack_from(">q", one, pos)
        store_host = one[pos + 8 : pos + 8 + (20 if flags & 0x20 else 8)]
        pos += 8 + len(store_host)
        again, prepared, length = struct.unpack_from(">iqi", one, pos)
        pos += 16
        if length < 0 or pos + length > size:
            return None
        body = one[pos : pos + length]
        pos += length
        (count,) = struct.unpack_from(">h" if magic == V2 else ">b", one, pos)
        pos += 2 if magic == V2 else 1
        if count < 0 or pos + count > size:
            return None
        topic = one[pos : pos + count]
        pos += count
        (count,) = struct.unpack_from(">h", one, pos)
        if count < 0 or pos + 2 + count != size:
            return None
    except struct.error:
        return None
    return {
        "size": size, "crc": crc, "queue": queue, "flag": flag, "offset": offset, "physical": physical, "flags": flags,
        "born": born, "stored": stored, "born_host": born_host, "store_host": store_host, "again": again,
        "prepared": prepared, "body": body, "topic": topic, "properties": one[pos + 2 :],
    }  # fmt: skip


def frame(data: bytes, at: int, base: int, head: int) -> tuple[int, list[str]] | None:
    """Return (bytes, problems) of the record or entry that a walk in step meets at `at`."""
    one = parse(data, at + head)
    if one is None:
        return None
    problems = [] if one["physical"] == base + at + head else ["physical_offset"]
    if head:
        magic, size, _, _, pos, _, _, _, body = struct.unpack_from(">iiqqqiiii", data, at)
        if (magic, size, pos, body) != (1, 48 + one["size"], base + at, one["size"]):
            if problems:
                return None
            problems = ["dledger_header"]
    return head + one["size"], problems


def whole(data: bytes, at: int, base: int, head: int) -> bool:
    """Return whether a record or entry without problems begins at `at`."""
    step = frame(data, at, base, head)
    return step is not None and not step[1]


def resync(data: bytes, at: int, base: int, head: int) -> int:
    """Return the first place from `at` where a record says that it belongs there."""
    for start in range(at, len(data) - head - 90):
        if data[start + head + 4] == 0xDA:
            one = parse(data, start + head)
            if one and one["physical"] == base + start + head:
                return start
    return len(data)


def blank(data: bytes, at: int, head: int) -> bool:
    rest = struct.pack(">i", len(data) - at)
    return data[at : at + 8] == (b"\xff" * 4 + rest if head else rest + BLANK)


def walk(data: bytes, base: int, head: int) -> tuple[list[tuple[int, list[str]]], list[tuple[int, int, str]]]:
    """Return (starts of records with their problems, ranges without records and why)."""
    at, found, gaps = 0, [], []
    while at < len(data):
        step = frame(data, at, base, head)
        if step:
            found.append((at + head, step[1]))
            at += step[0]
            continue
        filled = _filler(data, at, base, head)
        if filled > at:
            gaps.append((at, filled, "blank"))
            at = filled
            continue
        following = resync(data, at, base, head)
        if following < len(data):
            gaps.append((at, following, "corrupt"))
        else:
            gaps += _tail(data, at, base, head)
        at = following
    return found, gaps


def _filler(data: bytes, at: int, base: int, head: int) -> int:
    rest = data[at:]
    if len(rest) < 8:
        return at
    if blank(data, at, head):
        return len(data)
    first, second = struct.unpack_from(">ii", rest)
    if head:
        began = struct.pack(">ii", 1, 48), struct.pack(">q", base + at), bytes(4)
        if len(rest) >= 48 and (rest[:8], rest[24:32], rest[44:48]) == began:
            return at + 48
        if first == -1 and 8 <= second < len(rest) and whole(data, at + second, base, head):
            return at + second
        return len(data) if first == -1 and second > len(rest) and not any(rest[8:]) else at
    if rest[4:8] != BLANK:
        return at
    return at + first if 8 <= first < len(rest) and whole(data, at + first, base, head) else len(data)


def _tail(data: bytes, at: int, base: int, head: int) -> list[tuple[int, int, str]]:
    rest = data[at:]
    if not any(rest):
        return [(at, len(data), "zero_tail")]
    if _cut(rest, at, base, head):
        return [(at, len(data), "truncated")]
    used = at + len(rest.rstrip(b"\0"))
    for place in range(at, min(used, len(data) - 7)):
        if blank(data, place, head):
            return [(at, place, "corrupt"), (place, len(data), "blank")]
    if len(data) - used < 8:
        return [(at, len(data), "corrupt")]
    return [(at, used, "corrupt"), (used, len(data), "zero_tail")]


def _cut(rest: bytes, at: int, base: int, head: int) -> bool:
    if len(rest) < 8:
        return True
    first, second = struct.unpack_from(">ii", rest)
    if head:
        return first == 1 and second > len(rest) and (len(rest) < 32 or rest[24:32] == struct.pack(">q", base + at))
    if rest[4:8] not in (V1, V2) or first <= len(rest) or first < 91:
        return False
    # What is there must be the beginning of a record of that size: the missing part, filled up, decides no length but
    # its own.
    return (len(rest) < 36 or rest[28:36] == struct.pack(">q", base + at)) and _begins(rest, first)


def _begins(rest: bytes, size: int) -> bool:
    if len(rest) < 40:
        return True
    (flags,) = struct.unpack_from(">i", rest, 36)
    pos = 68 + (20 if flags & 0x10 else 8) + (20 if flags & 0x20 else 8)
    for width in (4, 2 if rest[4:8] == V2 else 1, 2):
        if pos + width > len(rest):
            return True
        length = int.from_bytes(rest[pos : pos + width], "big", signed=True)
        pos += width
        if length < 0 or pos + length > size:
            return False
        pos += length
    return pos == size


def row(data: bytes, start: int, base: int, problems: list[str]) -> dict[str, Any]:
    """Return the record at `start` as a row of `messages`, body included."""
    one = parse(data, start)
    assert one is not None
    said = list(problems)
    bits = (one["flags"] >> 8) & 7
    codec = {0: "zlib", 1: "lz4", 2: "zstd", 3: "zlib"}.get(bits) if one["flags"] & 1 else "none"
    begin = {
        "zlib": len(one["body"]) >= 2 and one["body"][0] % 16 == 8 and int.from_bytes(one["body"][:2], "big") % 31 == 0,
        "lz4": one["body"][:4] == bytes.fromhex("04224d18"),
        "zstd": one["body"][:4] == bytes.fromhex("28b52ffd"),
        "none": True,
        None: False,
    }
    if one["body"] and zlib.crc32(one["body"]) & 0x7FFFFFFF != one["crc"]:
        said.append("crc")
    if not begin[codec]:
        said.append("body_codec")
    if not one["topic"]:
        said.append("topic")
    raw, wrong = properties(one["properties"])
    if wrong:
        said.append("properties")
    times = [EPOCH + timedelta(milliseconds=t) if 0 <= t <= LAST_MS else None for t in (one["born"], one["stored"])]
    if None in times:
        said.append("timestamp")
    if any(not 0 <= int.from_bytes(h[-4:], "big", signed=True) <= 65535 for h in (one["born_host"], one["store_host"])):
        said.append("host")
    topic = text(one["topic"])
    if any(text(part).encode() != part for pair in raw.items() for part in pair) or "\ufffd" in topic:
        said.append("utf8")
    named = {text(name): text(value) for name, value in raw.items()}
    body = one["body"] if codec == "none" else inflated(one["body"]) if codec == "zlib" else None
    if body is None and codec is not None:
        said.append("body")
    return {
        "physical_offset": base + start,
        "store_size": one["size"],
        "topic": topic,
        "queue_id": one["queue"],
        "queue_offset": one["offset"],
        "flag": one["flag"],
        "sys_flag": one["flags"],
        "born_timestamp": times[0],
        "born_host": host(one["born_host"]),
        "store_timestamp": times[1],
        "store_host": host(one["store_host"]),
        "reconsume_times": one["again"],
        "prepared_transaction_offset": one["prepared"],
        "body_crc": one["crc"],
        "body_size": len(one["body"]),
        "body_codec": codec,
        "body": body,
        "properties": named,
        "offset_msg_id": (one["store_host"] + struct.pack(">q", base + start)).hex().upper(),
        "uniq_key": named.get("UNIQ_KEY"),
        "keys": named.get("KEYS"),
        "tags": named.get("TAGS"),
        "problem": ",".join(said) or None,
    }


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def properties(raw: bytes) -> tuple[dict[bytes, bytes], bool]:
    """Return names and values, and whether an item is invalid."""
    kept: dict[bytes, bytes] = {}
    wrong = False
    for item in raw.split(b"\2"):
        name, separator, value = item.partition(b"\1")
        wrong = wrong or bool(item and not (separator and name))
        if name and value:
            kept[name] = value
    return kept, wrong


def inflated(body: bytes) -> bytes | None:
    """Return what a zlib stream holds; bytes behind its end do not matter to an inflater."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(body)
    except zlib.error:
        return None
    return data if stream.eof else None


def host(raw: bytes) -> str:
    """Write an address as Java does."""
    port = int.from_bytes(raw[-4:], "big", signed=True)
    ip = raw[:-4]
    if len(ip) == 16 and ip[:12] == bytes(10) + b"\xff\xff":
        ip = ip[12:]
    if len(ip) == 4:
        return ".".join(str(b) for b in ip) + f":{port}"
    return "[" + ":".join(f"{int.from_bytes(ip[i : i + 2], 'big'):x}" for i in range(0, 16, 2)) + f"]:{port}"
