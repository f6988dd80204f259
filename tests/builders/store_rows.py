"""Commit logs as rows of data say them, one row a record: what lies in `tests/causes/evidence/*.yaml` under `stores`.

`{key, born, stored}` is what a producer sent, `{traffic: ms}` much of it (`busy_evidence`). Of transactions, a second apart: `{half: KEY, size: bytes}`,
`{op: KEY}`, `{commit: KEY}`; `{delayed: NAME, real_topic, level, size}` is a record that waits, `{moved: GROUP, topic, queue, offset, next}` a corrected offset. `{cut: 20}` takes so many bytes from the end of the last record,
`{damage: 8}` turns a bit at that byte of every record.
"""

import ipaddress
import json

from busy_evidence import START, sent, traffic
from stores import Record, store

HALF, OP, SCHEDULE = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX"


def sized(topic, size, queue, offset, **properties):
    """A record of `size` bytes in all."""
    text = "".join(f"{name}\x01{value}\x02" for name, value in properties.items()).encode()
    return Record(topic.encode(), b"b" * (size - 91 - len(topic) - len(text)), text, numbers=(queue, 0, offset, 1, 0))


def waiting(row, earlier, named):
    """A record that a broker writes for itself, behind the earlier ones."""
    if "half" in row:
        key, nth = row["half"], sum(record.topic == HALF.encode() for record in earlier)
        uniq_key = f"{key.encode().hex():0>32}".upper()
        own = {"KEYS": key, "TRAN_MSG": "true", "UNIQ_KEY": uniq_key, "WAIT": "true", "PGROUP": "shop", "CLUSTER": "c"}
        return sized(HALF, row["size"], 0, nth, **own, REAL_TOPIC="orders", REAL_QID="0")
    if "delayed" in row:
        level, nth = row["level"], sum(record.topic == SCHEDULE.encode() for record in earlier)
        own = {"DELAY": str(level), "REAL_TOPIC": row["real_topic"], "REAL_QID": "0", "UNIQ_KEY": "0" * 32}
        return sized(SCHEDULE, row["size"], level - 1, nth, **own)
    if "moved" in row:
        place = {"brokerName": "broker-a", "queueId": row["queue"], "topic": row["topic"]}
        event = {"consumerGroup": row["moved"], "messageQueue": place, "offsetNew": row["next"]}
        return Record(b"OFFSET_MOVED_EVENT", json.dumps(event | {"offsetRequest": row["offset"]}).encode())
    half = named[row.get("op") or row["commit"]]
    if "op" in row:
        nth, body = sum(record.topic == OP.encode() for record in earlier), str(half.numbers[2]).encode()
        return Record(OP.encode(), body, b"WAIT\x01true\x02TAGS\x01d\x02", numbers=(0, 0, nth, 1, 0))
    before = next(n for n, record in enumerate(earlier) if record is half)
    place = sum(len(record.encode(0)) for record in earlier[:before])
    return Record(b"orders", half.body, half.properties, sys_flag=8, prepared=place)


def segment(base, rows):
    """Return a file that begins at `base`, and the offset ids in it: of keys and names, of `end+300` and the like behind it."""
    records: list[Record] = []
    named: dict[str, Record] = {}
    own = {name: row[name] for row in rows for name in ("cut", "damage") if name in row}
    for row in (row for row in rows if not own.keys() & row.keys()):
        if "key" in row or "traffic" in row:
            how = row | {"broker": ipaddress.ip_address(row.get("broker", "10.0.0.2")).packed}
            how |= {"topic": row["topic"].encode()} if "topic" in row else {}
            made = traffic(how.pop("traffic"), **how) if "traffic" in row else [sent(**how)]
        else:
            made = [waiting(row, records, named)]
            made[0].stored = START + 1000 * len(records)
            made[0].born = made[0].stored - 1
            made[0].store_host = ipaddress.ip_address(row.get("broker", "10.0.0.2")).packed
        records += made
        named.setdefault(str(row.get("key") or row.get("half") or row.get("delayed")), made[0])
    records.sort(key=lambda record: record.stored)
    log = store(records, base)
    host = f"{records[0].store_host.hex()}{10911:08x}".upper()
    places = {id(record): start for record, (start, _) in zip(records, log.spans, strict=True)}
    ids = {name: f"{host}{base + places[id(record)]:016X}" for name, record in named.items()}
    ids |= {f"end+{n}": f"{host}{base + len(log.data) + n:016X}" for n in range(0, 1000, 300)}
    data = bytearray(log.data if "cut" in own else log.data + bytes(4096))
    for start, _ in log.spans if "damage" in own else ():
        data[start + own["damage"]] ^= 1
    return bytes(data[: len(data) - own.get("cut", 0)]), ids
