"""What code and configuration of an application say about its RocketMQ clients: group, subscriptions, settings, each with its line.

Java (and Kotlin): constructors and setters of client/consumer/DefaultMQPushConsumer and client/producer/DefaultMQProducer, client/ClientConfig; the annotation
RocketMQMessageListener of rocketmq-spring. YAML and properties: `rocketmq.consumer.*`, `rocketmq.producer.*` of rocketmq-spring, the bindings of
Spring Cloud Stream, and `-Drocketmq.client.name`. Only what is written out counts: a placeholder (`${…}`) or an expression has no value here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

MOST: Final = 1 << 20
"""Bytes of a file that are looked at."""
_STRING: Final = r'"((?:[^"\\\n]|\\.)*)"'
_CONSTANT: Final = re.compile(rf"\b(?:String|val)\s+(\w+)(?:\s*:\s*String)?\s*=\s*{_STRING}")
_NEW: Final = re.compile(
    r"(?:\b(?P<variable>\w+)\s*=\s*)?(?:\bnew\s+)?\bDefault(?:MQ(?P<push>Push|Pull)|Lite(?P<lite>Pull))Consumer\s*\(\s*(?P<group>[^,()]*)|"
    r"(?:\b(?P<maker>\w+)\s*=\s*)?(?:\bnew\s+)?\b(?:DefaultMQ|TransactionMQ)Producer\s*\(\s*(?P<of>[^,()]*)"
)
_CALL: Final = re.compile(
    r"(?:\b(?P<variable>\w+)\s*)?\.\s*(?P<name>set[A-Z]\w*|subscribe|registerMessageListener)\s*\((?P<arguments>[^;]{0,400}?)\)\s*[;.\n]"
)
_LISTENER: Final = re.compile(r"@RocketMQMessageListener\s*\((?P<body>[^)]*(?:\([^)]*\)[^)]*)*)\)")
_MEMBER: Final = re.compile(r"\b(?P<name>\w+)\s*=\s*(?P<value>\"(?:[^\"\\\n]|\\.)*\"|[\w.\-]+)")
_ORDERLY: Final = re.compile(r"MessageListenerOrderly|ConsumeMode\.ORDERLY|ConsumeOrderlyStatus")
_SYNCHRONIZED: Final = re.compile(
    r"\bsynchronized\s+\w*(?:ConsumeConcurrentlyStatus|void|ConsumeResult)\s+(?:consumeMessage|onMessage|consume)\s*\("
)
_PLACEHOLDER: Final = re.compile(r"\$\{|#\{|@\w+@")
_LINE: Final = re.compile(r"^(?P<indent>[ ]*)(?:- )?(?P<name>[\w.\-\[\]]+)\s*:(?:\s+(?P<value>.*))?$")
_PROPERTY: Final = re.compile(r"^\s*(?P<name>[\w.\-\[\]]+)\s*=\s*(?P<value>.*)$")
_OPTION: Final = re.compile(r"-Drocketmq\.client\.name=(?P<name>[^\s'\"]+)")
_STREAM: Final = re.compile(
    r"^spring\.cloud\.stream\.(?:rocketmq\.)?bindings\.(?P<binding>[\w\-]+)\.(?:consumer\.)?(?:push\.)?(?P<name>\w+)$"
)
_STARTER: Final = re.compile(r"^rocketmq\.(?P<kind>consumer|pullconsumer|producer)\.(?P<name>\w+)$")
_SAME: Final = {
    "consumergroup": "group", "producergroup": "group", "destination": "topic", "selectorexpression": "expression", "subexpression": "expression", "tags": "expression",
    "subscription": "expression", "messageselectortype": "selectorType",
}  # fmt: skip
"""What names of several sources are called here; others as the setter, with a small first letter."""
SETTINGS: Final = (
    "instanceName", "clientIP", "consumeFromWhere", "consumeTimeout", "maxReconsumeTimes", "consumeThreadMin", "consumeThreadMax", "consumeThreadNumber",
    "pullInterval", "pullThresholdForQueue", "messageModel", "consumeMode", "orderly", "serial", "unitName",
)  # fmt: skip
_PLAIN: Final = {name.lower(): name for name in SETTINGS}


@attrs.frozen
class Value:
    """A text as written, and its line (the first is 1)."""

    text: str
    line: int


@attrs.define
class Client:
    """One client as described in one place of a file. `group`: None if it is not written out; `subscriptions`: {topic:
    expression}.
    """

    consumer: bool
    line: int
    group: Value | None = None
    subscriptions: dict[str, Value] = attrs.field(factory=dict)
    settings: dict[str, Value] = attrs.field(factory=dict)


def read(text: str, name: str = "") -> list[Client]:
    """Return the clients that a source or configuration file describes. `name`: of the file, which determines its kind."""
    text = text[:MOST]
    if name.lower().endswith((".yml", ".yaml")):
        return _configured(_yaml(text), text)
    if name.lower().endswith(".properties"):
        return _configured(_properties(text), text)
    found = _java(text)
    return found or _configured([*_yaml(text), *_properties(text)], text)


# --- Java ----------------------------------------------------------------------------------------------------------------


def _java(text: str) -> list[Client]:
    known = dict(_CONSTANT.findall(text))
    found = [_annotated(m["body"], _at(text, m.start()), known) for m in _LISTENER.finditer(text)]
    by_variable: dict[str, Client] = {}
    last: Client | None = None
    calls = sorted([*_NEW.finditer(text), *_CALL.finditer(text)], key=lambda m: m.start())
    for call in calls:
        line = _at(text, call.start())
        if call.re is _NEW:
            consumer = call["of"] is None
            last = Client(consumer, line, _value(call["group"] if consumer else call["of"], line, known))
            found.append(last)
            by_variable[call["variable"] or call["maker"] or ""] = last
            continue
        client = by_variable.get(call["variable"] or "") or (last if len(by_variable) == 1 else None)
        if client is not None:
            _set(client, call["name"], call["arguments"], line, known)
    for client in found:
        if client.consumer and _ORDERLY.search(text):
            client.settings.setdefault("orderly", Value("true", client.line))
        if client.consumer and (serial := _SYNCHRONIZED.search(text)):
            client.settings.setdefault("serial", Value("true", _at(text, serial.start())))
    return found


def _annotated(body: str, line: int, known: dict[str, str]) -> Client:
    client = Client(consumer=True, line=line)
    said = {m["name"]: _value(m["value"], line, known) for m in _MEMBER.finditer(body)}
    _take(client, {name: value for name, value in said.items() if value is not None})
    if _ORDERLY.search(body):
        client.settings["orderly"] = Value("true", line)
    return client


def _set(client: Client, name: str, arguments: str, line: int, known: dict[str, str]) -> None:
    parts = [part.strip() for part in _split(arguments)]
    if name == "subscribe" and parts:
        topic, expression = _value(parts[0], line, known), _value(parts[1] if len(parts) > 1 else '"*"', line, known)
        if topic is not None and expression is not None:
            client.subscriptions[topic.text] = expression
    elif name.startswith("set") and len(parts) == 1 and (value := _value(parts[0], line, known)) is not None:
        _take(client, {name[3].lower() + name[4:]: value})


def _split(arguments: str) -> list[str]:
    return re.findall(r'(?:"(?:[^"\\]|\\.)*"|[^,"])+', arguments)


def _value(text: str | None, line: int, known: dict[str, str]) -> Value | None:
    """Return a literal, a number, a constant of the file or of an enumeration; None for anything computed at run time."""
    plain = (text or "").strip()
    if quoted := re.fullmatch(_STRING, plain):
        return None if _PLACEHOLDER.search(quoted[1]) else Value(quoted[1], line)
    if re.fullmatch(r"-?\d+[lL]?", plain):
        return Value(plain.rstrip("lL"), line)
    name = plain.rpartition(".")[2]
    if name in known:
        return Value(known[name], line)
    return Value(name, line) if re.fullmatch(r"(?:\w+\.)+[A-Z][A-Z_]+", plain) else None


def _at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


# --- YAML, properties ----------------------------------------------------------------------------------------------------

Pair = tuple[str, str, int]
"""(name with all its parents, value, line)."""


def _yaml(text: str) -> Iterator[Pair]:
    """Yield the leaves of a YAML text by indentation alone, so that a truncated paste or a tab only loses its own
    lines.
    """
    parents: list[tuple[int, str]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = _LINE.match(re.sub(r"\s#.*$", "", raw.rstrip()))
        if line is None or raw.lstrip().startswith("#"):
            continue
        indent = len(line["indent"])
        while parents and parents[-1][0] >= indent:
            parents.pop()
        value = (line["value"] or "").strip().strip("'\"")
        if value:
            yield ".".join([*(name for _, name in parents), line["name"]]), value, number
        else:
            parents.append((indent, line["name"]))


def _properties(text: str) -> Iterator[Pair]:
    for number, raw in enumerate(text.splitlines(), 1):
        if (line := _PROPERTY.match(raw)) and not raw.lstrip().startswith(("#", "!")):
            yield line["name"], line["value"].strip(), number


def _configured(pairs: Iterable[Pair], text: str) -> list[Client]:
    clients: dict[str, Client] = {}
    for name, value, line in pairs:
        plain = (
            name.replace("-", "").replace("_", "").lower() if not name.startswith("spring") else name.replace("-", "")
        )
        place = _STARTER.match(plain) or _STREAM.match(plain)
        if place is None or _PLACEHOLDER.search(value):
            continue
        said = place.groupdict()
        of = said.get("binding") or said["kind"]
        client = clients.setdefault(of, Client(of != "producer", line))
        _take(client, {place["name"]: Value(value, line)})
    found = list(clients.values())
    for option in _OPTION.finditer(text):
        if not _PLACEHOLDER.search(option["name"]) and "$" not in option["name"]:
            line = _at(text, option.start())
            found.append(Client(True, line, settings={"instanceName": Value(option["name"], line)}))
    return found


def _take(client: Client, said: dict[str, Value]) -> None:
    """Store named values of a client: its group, a topic with its expression, settings."""
    plain = {_SAME.get(name.lower(), name): value for name, value in said.items()}
    if "group" in plain:
        client.group = plain["group"]
    topic, expression = plain.get("topic"), plain.get("expression")
    if topic is not None:
        client.subscriptions[topic.text] = expression or Value("*", topic.line)
    elif expression is not None and client.subscriptions:
        client.subscriptions = dict.fromkeys(client.subscriptions, expression)
    for name, value in plain.items():
        if (known := _PLAIN.get(name.lower())) is not None:
            client.settings[known] = value
