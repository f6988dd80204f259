"""The forms of what must not leave a site: addresses, bodies, properties, paths, and the places where a key or a name is expected."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kit.inventory.references import MAX_TEXT
from kit.redaction import stock_names
from kit.redaction.ids import COLONS, DASHED, QUAD
from kit.redaction.personal import GONE, PEOPLE, SECRETS
from kit.rocketmq import names

Form = re.Pattern[str]

CUT: Final = MAX_TEXT
"""Length at which a quoted line was cut, perhaps inside a name."""

_WORDS: Final = [
    *PEOPLE,
    r"(?P<mail>(?<![\w.+-])[A-Za-z0-9][\w.+-]*@[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)+)",
    rf"(?P<quad>{QUAD.pattern})",
    rf"(?P<dashed>{DASHED.pattern})",
    r"(?P<cut>(?<![\d.])\d{1,3}\.\d{1,3}\.[\d.]*(?=…))",
    r"(?P<mac>(?<![\w:-])[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\2[0-9A-Fa-f]{2}){4}(?![\w:-]))",
    rf"(?P<colons>{COLONS.pattern})",
    r"(?P<dotted>(?<![\w.@$-])[A-Za-z_][\w-]*(?:\.[A-Za-z_$][\w$-]*){2,})",
    r"(?P<word>[A-Za-z0-9]+)",
]
_BODY: Final = r"(?i:(?:msg|message)?_?(?:body|payload|content)|消息体|消息内容)"
_NESTED: Final = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}?"
_VALUE: Final = rf"""\\?"(?:[^"\\]|\\.)*"?|'[^']*'?|\[B@\w+|\[[^\]]*\]?|{_NESTED}"""
# Message.toString prints the bytes as a list of numbers; applications print words, up to the next `name=` or the end of the line.
_BARE: Final = r"[^\n\s,;}\]][^\n]*?(?=(?:[,;]\s*[A-Za-z_][\w.]*\s*[=:]|\s[A-Za-z_][\w.]*\s*=)|[}\]]|$|\n)"
BODIES: Final = [
    rf"(?P<body>(?<![A-Za-z]){_BODY}\s*[=＝]\s*(?:{_VALUE}|{_BARE}))",
    rf"""(?P<json>\\?["']{_BODY}\\?["']\s*:\s*(?:{_VALUE}|[^\s,}}]+))""",
    rf"(?P<said>(?<![\w-]){_BODY}\s*[:：]\s*(?!\[redacted)(?:{_VALUE}|{_BARE}))",
    rf"(?P<element><(?:{_BODY})>[^<]+)",
]
"""A message body wherever its name is printed before it."""
SCHEMES: Final = (
    r"https?|s?ftps?|jdbc:[\w:]+|rediss?|mongodb(?:\+srv)?|amqps?|postgres(?:ql)?|mysql|oracle|tcp|ssl|tls|wss?|grpcs?"
)
_CONTEXTS: Final = [
    *BODIES,
    *SECRETS,
    r"(?P<properties>\bproperties=\{[^}]*)",
    rf"""(?P<url>\b(?:{SCHEMES})://(?:[^\s"'<>/@]*@)?[^\s"'<>)\]}},]+)""",
    r"""(?P<windows>(?<![\w])[A-Za-z]:\\[^\s"'<>|,;:*]+)""",
    r"(?P<absolute>(?u:(?<![A-Za-z0-9_.:/%)-])/[A-Za-z_.~][\w.%+~@$!#-]*(?:/[\w.%+~@$!#-]+)+/?))",
    r"(?P<path>(?u:(?<![\w/.%-])[\w.%@$#+-]+(?:!?/[\w.%@$#+-]+)+))",
]


def _numbered(parts: list[str]) -> Form:
    """Join alternatives; the one back reference, of the MAC address, is by name since its number depends on what is before it.

    In ASCII: Chinese is written without blanks around numbers and names.
    """
    joined = "|".join(parts).replace("([:-])", "(?P<sep>[:-])").replace(r"\2", "(?P=sep)")
    return re.compile(joined, re.ASCII)


PLAIN: Final = _numbered(_WORDS)
"""What is replaced by its form alone."""
FORMS: Final = _numbered(_CONTEXTS + _WORDS)

KEY_BEFORE: Final = re.compile(
    r"""(?i)(?:(?:^|[^A-Za-z])\w*?keys?\s*=\s*['"\[]?|\\?["']\w*?keys?\\?["']\s*:\s*\\?["']"""
    r"""|(?:(?:^|[^A-Za-z])\w*?(?:order|biz|trade)_?(?:id|no|sn)\\?["']?\s*[=:：]|(?:订单|业务|交易|流水)编?号\\?["']?\s*[=:：为是]?)\s*\\?["'\[]?)$"""
)
"""What is before a key: `keys=`, `KEYS=`, `dedupKey=`, `"key": "`, `orderNo: `, `订单号`."""
NAME_BEFORE: Final = re.compile(
    r"""(?i)(?:(?:topics?|groups?|groupname|producer|consumer|broker|brokername|cluster|clustername|pgroup|host)\\?["']?(?:\s*[=:]\s*|\s+|\s*[(\[<]\s*)"""
    r"""["'`\[(<]?|[%@`])$"""
)
"""What is before a name that is also an ordinary word."""
KEY_FIELD: Final = re.compile(
    r"(?i)^(?:business[ _]|msg_|message_|row_|dedup_?)?keys?$|^业务 ?key$|^键$|^\w*(?:order|biz|trade)_?(?:id|no|sn)$|(?:订单|业务|交易|流水)编?号$"
)
"""Columns and fields of business keys; `uniq_keys` is a count."""
NAME_FIELD: Final = re.compile(
    r"(?i)topic|group|consumer|producer|broker|cluster|host|target|safe_body|主题|消费者|生产者|组$"
)

WORD: Final = re.compile(r"[A-Za-z0-9]+")
POSITION_FIELD: Final = re.compile(r"(?i)offset|byte|line|size|position|bytes|字节|行|位点|大小")
"""Columns whose numbers are places: eleven digits are no telephone there."""
SPELLED: Final = re.compile(r"(\\x[0-9a-f]{2}|\\u[0-9a-f]{4})")
"""Control characters as `kit.charts.clean` spells them: they end a word, as they did before."""
PATH: Final = re.compile(r"[A-Za-z0-9_.%@$#+!~/-]+")
WORDS: Final = re.compile(rf"(?P<word>{WORD.pattern})")
QUADS: Final = re.compile(r"\d\.\d+\.\d+\.\d")
STOCK: Final = frozenset(part for word in stock_names.WORDS for part in WORD.findall(word))
"""Words of which RocketMQ's own names of files and folders are made."""

_ID_PROPERTIES: Final = frozenset({names.KEYS, "__SHARDINGKEY"})


def properties(
    said: str, key: Callable[[str], str], coin: Callable[[str, str], str], text: Callable[[str], str]
) -> str:
    """Return printed message properties: those of RocketMQ keep their values, but for keys and names; a user's own get pseudonyms."""
    head, _, inner = said.partition("{")
    made = []
    for part in inner.split(", "):
        name, sign, value = part.partition("=")
        if not sign:
            made.append(coin(part, "value") if part.strip() else part)
        elif name in _ID_PROPERTIES:
            made.append(f"{name}={' '.join(key(token) for token in value.split(' '))}")
        elif name in names.PROPERTIES:
            made.append(f"{name}={text(value)}")
        else:
            made.append(part if value in ("", "true", "false", "null") else f"{name}={coin(value, 'value')}")
    return head + "{" + ", ".join(made)


def without_body(said: str) -> str:
    """Return what names a body, `body=`, `"payload": `, `<content>`, without the body."""
    head = re.match(r"<[^>]*>|[^=:：＝]*[=:：＝]\s*", said)
    return (head.group() if head else "") + GONE


def inside(text: str, begin: int, end: int) -> bool:
    """Return whether a piece of text continues a word on either side."""
    before, after = text[begin - 1 : begin] if begin else "", text[end : end + 1]
    return (before.isascii() and before.isalnum() and text[begin].isalnum()) or (
        after.isascii() and after.isalnum() and text[end - 1].isalnum()
    )


def split_name(part: str) -> tuple[str, str]:
    """Return the stem of a file name and its known extensions."""
    stem, tail = part, ""
    while (dot := stem.rfind(".")) > 0 and (stem[dot + 1 :] in stock_names.EXTENSIONS or stem[dot + 1 :].isdigit()):
        stem, tail = stem[:dot], stem[dot:] + tail
    return stem, tail
