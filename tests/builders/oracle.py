"""A commit log reader in plain Python, slow and simple: what the kernels are compared with."""

import struct
import zlib
from datetime import UTC, datetime, timedelta

from stores import V1, V2

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MS = 253_402_300_799_999


def parse(data, at):
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


def problems(data, at, base, head):
    """Return what is wrong with the place of the record or entry that begins at `at`, None if none begins there."""
    one = parse(data, at + head)
    if one is None:
        return None
    wrong = [] if one["physical"] == base + at + head else ["physical_offset"]
    if head:
        magic, size, _, _, pos, _, _, _, body = struct.unpack_from(">iiqqqiiii", data, at)
        if (magic, size, pos, body) != (1, 48 + one["size"], base + at, one["size"]):
            return None if wrong else ["dledger_header"]
    return wrong


def row(data, start, base=0, head=0):
    """Return the record at `start` as a row of `messages`, body included."""
    one, said = parse(data, start), problems(data, start - head, base, head)
    assert one is not None and said is not None
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
        "physical_offset": base + start, "store_size": one["size"], "topic": topic, "queue_id": one["queue"],
        "queue_offset": one["offset"], "flag": one["flag"], "sys_flag": one["flags"], "born_timestamp": times[0],
        "born_host": host(one["born_host"]), "store_timestamp": times[1], "store_host": host(one["store_host"]),
        "reconsume_times": one["again"], "prepared_transaction_offset": one["prepared"], "body_crc": one["crc"],
        "body_size": len(one["body"]), "body_codec": codec, "body": body, "properties": named,
        "offset_msg_id": (one["store_host"] + struct.pack(">q", base + start)).hex().upper(),
        "uniq_key": named.get("UNIQ_KEY"), "keys": named.get("KEYS"), "tags": named.get("TAGS"),
        "problem": ",".join(said) or None,
    }  # fmt: skip


def text(raw):
    return raw.decode("utf-8", "replace")


def properties(raw):
    """Return names and values, and whether an item is invalid."""
    kept: dict[bytes, bytes] = {}
    wrong = False
    for item in raw.split(b"\2"):
        name, separator, value = item.partition(b"\1")
        wrong = wrong or bool(item and not (separator and name))
        if name and value:
            kept[name] = value
    return kept, wrong


def inflated(body):
    """Return what a zlib stream holds; bytes behind its end do not matter to an inflater."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(body)
    except zlib.error:
        return None
    return data if stream.eof else None


def host(raw):
    """Write an address as Java does."""
    port = int.from_bytes(raw[-4:], "big", signed=True)
    ip = raw[:-4]
    if len(ip) == 16 and ip[:12] == bytes(10) + b"\xff\xff":
        ip = ip[12:]
    if len(ip) == 4:
        return ".".join(str(b) for b in ip) + f":{port}"
    return "[" + ":".join(f"{int.from_bytes(ip[i : i + 2], 'big'):x}" for i in range(0, 16, 2)) + f"]:{port}"
