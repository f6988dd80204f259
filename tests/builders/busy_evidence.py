"""Hand-made evidence of a busy broker: commitlogs of one or two brokers, client and application logs, a ledger."""

import datetime as dt

from folders import put
from stores import Record, store

START = 1_715_652_000_000  # 2024-05-14 02:00:00 UTC
A, B = bytes([10, 0, 0, 2]), bytes([10, 0, 0, 3])


def sent(key, born, stored, broker=A, port=40001, body=b"", topic=b"orders", **properties):
    """A message of a producer: `born` and `stored` in ms after `START`. Its UNIQ_KEY follows from its key."""
    named = {"KEYS": key, "UNIQ_KEY": uniq_key(key), "WAIT": "true", **properties}
    text = "".join(f"{name}\x01{value}\x02" for name, value in named.items()).encode()
    times = {"born": START + born, "stored": START + stored}
    return Record(topic, body or key.encode(), text, store_host=broker, numbers=(0, 0, 0, port, 0), **times)


def uniq_key(key):
    return f"0A00000A00001B8D{key.encode().hex().upper():0>16}"[:32]


def traffic(until, every=10, pauses=(), broker=A, prefix="T"):
    """Messages born every so many ms; of a pause, stored at its end."""
    records = []
    behind = 0
    for n, born in enumerate(range(0, until, every)):
        end = next((end for start, end in pauses if start <= born < end), None)
        stored = born + 1 if end is None else end
        behind = max(stored, behind + 1)
        records.append(sent(f"{prefix}{n}", born, behind, broker))
    return records


def write_store(folder, records):
    put(folder / f"{0:020}", store(sorted(records, key=lambda r: r.stored), end=bytes(4096)).data)


def clock(ms, fraction="ms"):
    """Local time GMT+8 as 4.x clients print it: the seconds again after the comma."""
    at = dt.datetime.fromtimestamp((START + ms) / 1000, dt.timezone(dt.timedelta(hours=8)))
    return f"{at:%F %T}" + (f",{at.second:03}" if fraction == "seconds" else f".{at.microsecond // 1000:03}")


REFUSAL = "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: [{kind}]broker busy, start flow control for a while"
TIMEOUT = "org.apache.rocketmq.remoting.exception.RemotingTimeoutException: wait response on the channel <10.0.0.2:10911> timeout, 3000(ms)"
FRAME = "\tat org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.sendDefaultImpl(DefaultMQProducerImpl.java:583)"


def attempt(ms, key, error):
    """The two entries of a failed attempt in a 4.x client log."""
    queue = "MessageQueue [topic=orders, brokerName=broker-a, queueId=0]"
    properties = f"KEYS={key}, UNIQ_KEY={uniq_key(key)}, WAIT=true"
    return [
        f"{clock(ms, 'seconds')} WARN RocketmqClient - sendKernelImpl exception, resend at once, InvokeID: 1, RT: 402ms, Broker: {queue}",
        error,
        FRAME,
        "",
        f"{clock(ms, 'seconds')} WARN RocketmqClient - Message{{topic='orders', flag=0, properties={{{properties}}}, body=[1, 2], transactionId='null'}}",
    ]


STARTED = f"{clock(0, 'seconds')} INFO RocketmqClient - the producer [orders-producer] start OK. sendMessageWithVIPChannel=false"


def write_log(path, lines, ending="\n"):
    put(path, ending.join(lines) + ending)
