"""Strings of records as Arrow arrays: texts decoded as Java decodes them, addresses and offset ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.formats.commitlog.columns import gather, number
from kit.formats.commitlog.records import Bytes
from kit.rocketmq import names

_HEX: Final = np.frombuffer(b"".join(b"%02X" % byte for byte in range(256)), np.uint16)
MAPPED: Final = bytes(10) + b"\xff\xff"
"""How an IPv6 address begins that is an IPv4 address."""


def binary(buf: Bytes, at: np.ndarray, sizes: np.ndarray) -> pa.BinaryArray:
    """Return the bytes at these positions; size -1 is null."""
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(np.maximum(sizes, 0), out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    gather(buf, at, offsets, data)
    absent = sizes < 0
    validity = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
    return pa.Array.from_buffers(pa.binary(), len(sizes), [validity, pa.py_buffer(offsets), pa.py_buffer(data)])


def texts(raw: pa.BinaryArray) -> tuple[pa.StringArray, np.ndarray | None]:
    """Return bytes as texts, each broken sequence as U+FFFD (`new String(bytes, UTF_8)`), and which were broken, None for none."""
    try:
        return raw.cast(pa.string()), None
    except pa.ArrowInvalid:
        values = raw.to_pylist()
    decoded = pa.array([None if value is None else value.decode("utf-8", "replace") for value in values], pa.string())
    return decoded, pc.fill_null(pc.not_equal(decoded.cast(pa.binary()), raw), False).to_numpy(zero_copy_only=False)


def coded(
    buf: Bytes, at: np.ndarray, sizes: np.ndarray, decode: Callable[[bytes], str] | None = None
) -> tuple[pa.DictionaryArray, np.ndarray | None]:
    """Return values of which few are different as a dictionary column, and which of them were not UTF-8 (None: all were)."""
    codes, firsts = np.empty(len(sizes), np.int32), np.empty(len(sizes), np.int64)
    firsts = firsts[: number(buf, at, sizes, codes, firsts)]
    raw = binary(buf, at[firsts], sizes[firsts])
    known, broken = texts(raw)
    if decode:
        known, broken = pa.array([decode(value) for value in raw.to_pylist()], pa.string()), None
    absent = codes < 0
    column = pa.DictionaryArray.from_arrays(pa.array(codes, mask=absent if absent.any() else None), known)
    return column, None if broken is None else ~absent & broken[codes]


def address(host: bytes) -> str:
    """Return an address as Java prints it: `10.0.0.1:10911`, `[fd20:0:0:0:0:0:0:1]:10911`; an IPv4 address inside an IPv6 one is one."""
    octets = host[:-4].removeprefix(MAPPED) if len(host) == 20 else host[:-4]
    port = int.from_bytes(host[-4:], "big", signed=True)
    if len(octets) == 4:
        return f"{'.'.join(map(str, octets))}:{port}"
    groups = (f"{int.from_bytes(octets[i : i + 2], 'big'):x}" for i in range(0, 16, 2))
    return f"[{':'.join(groups)}]:{port}"


def offset_ids(hosts: pa.BinaryArray, physical: np.ndarray) -> pa.StringArray:
    """Return offset message ids (`MessageDecoder.createMessageId`): store host and physical offset in upper-case hex."""
    sizes = np.diff(np.frombuffer(hosts.buffers()[1], np.int32)[: len(hosts) + 1])
    if len(sizes) and (sizes == sizes[0]).all():
        host = np.frombuffer(hosts.buffers()[2], np.uint8).reshape(len(hosts), sizes[0])
        raw = np.hstack([host, physical.astype(">i8").view(np.uint8).reshape(-1, 8)])
        offsets = np.arange(len(raw) + 1, dtype=np.int32) * (2 * raw.shape[1])
        digits = pa.py_buffer(np.ascontiguousarray(_HEX[raw]))
        return pa.Array.from_buffers(pa.string(), len(raw), [None, pa.py_buffer(offsets), digits])
    pairs = zip(hosts.to_pylist(), physical.tolist(), strict=True)
    return pa.array([(host + at.to_bytes(8, "big", signed=True)).hex().upper() for host, at in pairs], pa.string())


def tidy(text: bytes) -> tuple[bytes, bool]:
    """Return a property text with the items that count, each name once, and whether all items were well-formed."""
    items: dict[bytes, bytes] = {}
    whole = True
    for item in text.split(names.PROPERTY_SEPARATOR.encode()):
        name, separator, value = item.partition(names.NAME_VALUE_SEPARATOR.encode())
        whole &= bool(name) == bool(separator)
        if name and value:
            items.pop(name, None)
            items[name] = value
    return b"\x02".join(name + b"\x01" + value for name, value in items.items()), whole


def as_maps(text: pa.StringArray) -> pa.MapArray:
    """Return tidy property texts as maps."""
    items = pc.split_pattern(pc.if_else(pc.equal(text, ""), None, text), names.PROPERTY_SEPARATOR)
    pairs = pc.split_pattern(pc.list_flatten(items), names.NAME_VALUE_SEPARATOR, max_splits=1)
    return pa.MapArray.from_arrays(items.offsets, pc.list_element(pairs, 0), pc.list_element(pairs, 1))
