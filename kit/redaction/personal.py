"""The forms of secrets and personal numbers: tokens, keys, passwords, telephones, identity cards, bank cards.

References: RFC 6750 (bearer tokens), RFC 7519 (JSON web tokens), GB 11643 (Chinese identity cards: region, date of birth, order, check digit),
ISO/IEC 7812 (card numbers: the first digit names the industry, 3 to 6 are payment), and the documented prefixes of cloud providers' access keys.
"""

from __future__ import annotations

import re
from typing import Final

GONE: Final = "[redacted]"

_NAMES: Final = (
    r"(?:access[_.-]?key(?:[_.-]?(?:id|secret))?|(?:access[_.-]?)?secret(?:[_.-]?(?:access[_.-]?)?key|[_.-]?id)?|api[_.-]?key|private[_.-]?key"
    r"|security[_.-]?token|token|password|passwd|passphrase|pwd|credentials?|signature|cookie|session[_.-]?id|密码|口令|密钥|令牌)"
)
_SECRET_NAME: Final = (
    rf"""(?i:(?<![A-Za-z0-9])(?:(?:[\w.-]{{0,40}}{_NAMES}|[as]k)\\?["']?(?:\s*[=:：]\s*|\s+is\s+|\s*[是为]\s*(?=[!-~]))|--?[\w-]{{0,40}}{_NAMES}(?:\\?["'],)?\s+"""
    r"""|(?:-u|--user)[\s=]+(?=["']?[^\s:"']+:\S)|-u\s?\S+\s+-p(?=\S)))"""
)
_SCHEME: Final = r"""(?i:\bbearer\s+|\bjdbc:oracle:\w+:|\bauthorization\\?["']?\s*[=:]\s*\\?["']?(?:(?:basic|bearer|digest|negotiate)\s+)?)"""
SECRETS: Final = [
    r"(?P<pem>-----BEGIN [A-Z ]+-----(?:[^-]|-(?!----END))*(?:-----END [A-Z ]+-----)?)",
    rf"""(?P<bearer>{_SCHEME}(?=[^\s,;"'}})\]]{{6}})[^\s,;"'}})\]]+)""",
    r"(?P<jwt>\beyJ[\w-]{5,}(?:\.[\w-]+){1,2})",
    (
        r"(?P<vendor>\b(?:(?:AKIA|ASIA)[0-9A-Z]{12,}|(?:LTAI|AKID)[0-9A-Za-z]{10,}|AIza[\w-]{20,}|gh[pousr]_\w{16,}"
        r"|glpat-[\w-]{12,}|xox[abprs]-[\w-]{10,}|sk[-_](?:live_|test_)?[0-9A-Za-z]{16,}))"
    ),
    rf"(?P<tag><(?i:[\w.:-]{{0,40}}{_NAMES})>[^<]+)",
    (
        rf"""(?P<secret>{_SECRET_NAME}(?!null\b|true\b|false\b|\[redacted)"""
        r"""(?:\\?"(?:[^"\\]|\\.)*\\?"?|'[^']*'?|[^\s,;}\])&"'，。；）]+))"""
    ),
]
"""A password wherever its name is before it; a token or access key by its form alone."""

PEOPLE: Final = [
    (
        r"(?P<phone>(?<![\w.+-])(?:\+\d{1,3}[ -]?(?:\(\d+\)[ -]?)?\d{2,4}(?:[ -]?\d{3,4}){2}|\(0\d{2,3}\)[ -]?\d{4}[ -]?\d{4}"
        r"|0\d{2,3}-\d{7,8}|1[3-9]\d[ -]\d{4}[ -]\d{4}|(?:86)?1[3-9]\d{9})(?![\w-]|\.\d|\s*(?:字节|[毫微纳]秒|条)))"
    ),
    r"(?P<identity>(?<![\w.])[1-9]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\w|\.\d))",
    (
        r"(?P<card>(?<![\w.-])(?:[3-6]\d{3}[ -]\d{4}[ -]\d{4}[ -]\d{4}(?:[ -]?\d{1,3})?|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}"
        r"|[3-6]\d{15,18})(?![\w-]|\.\d))"
    ),
]
"""Numbers of people. Offsets have eleven digits too: a bare one is no telephone where an offset is expected."""

_POSITION: Final = re.compile(
    r"(?i)(?:offset|offsets|position|pos|size|bytes|length|@|diff|lag|total|wrote|where|file|位点|偏移量?|[大最]小|最大|长度|字节|文件)\W{0,4}[为是到至]?\s*$"
)


def is_position(text: str, at: int) -> bool:
    """Return whether the text calls the number that begins here an offset, a size or a place."""
    return _POSITION.search(text, max(0, at - 24), at) is not None


_HEAD: Final = re.compile(rf"""(?:{_SCHEME}|{_SECRET_NAME})\\?["']?""", re.ASCII)
_TAIL: Final = re.compile(r"""\\?["']$""")


def without_secret(said: str) -> str:
    """Return what names a secret, `accessKey=`, `Bearer `, `<password>`, without the secret."""
    if said.startswith("<"):
        return said[: said.index(">") + 1] + GONE
    head = _HEAD.match(said)
    tail = _TAIL.search(said, head.end()) if head else None
    return (head.group() if head else "") + GONE + (tail.group() if tail else "")
