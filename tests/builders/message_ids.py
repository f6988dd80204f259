"""Ids and hashes as clients and brokers write them, after the layouts of common/message/MessageDecoder, MessageClientIDSetter and MessageIdCodec."""

import ipaddress
import struct

from kit.rocketmq.ids import GRPC_EPOCH, encode_offset_id


def uniq_key(host, pid, loader, millis, counter):
    packed = struct.pack(">HIIH", pid & 0xFFFF, loader, millis & 0xFFFFFFFF, counter)
    return (ipaddress.ip_address(host).packed + packed).hex().upper()


def encode(info):
    if info.kind == "offset":
        return encode_offset_id(str(info.ip), info.port or 0, info.offset or 0)
    if info.kind == "uniq":
        return uniq_key(str(info.ip), info.pid or 0, info.loader or 0, info.millis or 0, info.counter or 0)
    seconds = int((info.times[0].at - GRPC_EPOCH).total_seconds())
    return f"01{(info.mac or '').replace(':', '')}{info.pid or 0:04X}{seconds:08X}{info.counter or 0:08X}".upper()


def java_hash(text):
    """Return Java's `String.hashCode`."""
    value = 0
    for unit in struct.unpack(f">{len(text.encode('utf-16-be')) // 2}H", text.encode("utf-16-be")):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - (1 << 32 if value >> 31 else 0)
