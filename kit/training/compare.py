"""Compare a typed answer with the true one: numbers as text, thousands separators, units, case, lists. Strict about values, lenient about form."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

Kind = Literal["count", "bytes", "seconds", "word", "words"]

NUMBERS: Final = ("count", "bytes", "seconds")
_UNITS: Final[dict[str, dict[str, float]]] = {
    "count": {"k": 1e3, "thousand": 1e3, "千": 1e3, "万": 1e4, "m": 1e6, "million": 1e6, "百万": 1e6},
    "bytes": {
        "": 1,
        "b": 1,
        "byte": 1,
        "bytes": 1,
        "字节": 1,
        "k": 1024,
        "kb": 1024,
        "kib": 1024,
        "m": 1 << 20,
        "mb": 1 << 20,
        "mib": 1 << 20,
    },
    "seconds": {
        "": 1,
        "s": 1,
        "sec": 1,
        "secs": 1,
        "second": 1,
        "seconds": 1,
        "秒": 1,
        "ms": 1e-3,
        "millisecond": 1e-3,
        "milliseconds": 1e-3,
        "毫秒": 1e-3,
        "min": 60,
        "minute": 60,
        "minutes": 60,
        "分": 60,
        "分钟": 60,
    },
}
_NUMBER: Final = re.compile(
    r"(?:about|around|roughly|ca\.?|约|大约|≈|~)?\s*([+-]?\d(?:[\d.,_' ]*\d)?)\s*([^\d\s.,][^\d]*)?\.?"
)
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:([,_' ])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_DECIMAL_COMMA: Final = re.compile(r"[+-]?\d+,\d{1,2}")
_PLAIN: Final = re.compile(r"[+-]?\d+(?:\.\d+)?")
_SPLIT: Final = re.compile(r"[,;/+&、，；\s]+|\band\b|和|与")
MOST: Final = 400
"""Most characters of an answer that are used."""


def blank(given: Any) -> bool:
    """Return whether an answer is a placeholder: None, `...`, empty text or `?`."""
    return given is None or given is ... or (isinstance(given, str) and _plain(given) in ("", "?", "…", "..."))


def number(given: Any, kind: Kind = "count") -> float | None:
    """Return a typed number in the base unit of `kind` (pieces, bytes, seconds); None if it is not a number, or
    has the wrong kind of unit.
    """
    if isinstance(given, bool):
        return None
    if hasattr(given, "item"):
        given = given.item()
    if isinstance(given, int | float):
        return float(given) if math.isfinite(given) else None
    # A cut-off text is never read as a number: it would be a different one.
    found = _NUMBER.fullmatch(_plain(given).casefold()) if isinstance(given, str) and len(given) <= MOST else None
    if found is None:
        return None
    digits, unit = found[1], (found[2] or "").strip()
    if _GROUPED.fullmatch(digits):
        value = float(re.sub(r"[,_' ]", "", digits))
    elif _DECIMAL_COMMA.fullmatch(digits):
        value = float(digits.replace(",", "."))
    elif _PLAIN.fullmatch(digits):
        value = float(digits)
    else:
        return None
    units = _UNITS[kind]
    # For pieces any word may follow the number: "9 sends".
    times = units.get(unit, 1.0 if kind == "count" else None)
    return None if times is None or not math.isfinite(value) else value * times


def word(given: Any, aliases: Mapping[str, str] | None = None) -> str:
    """Return one word normalised: lower case, `-` for blanks and underscores, known aliases resolved."""
    plain = re.sub(r"[\s_\-]+", "-", _plain(str(given)).casefold()).strip("-\"'`.()")
    return {_form(k): _form(v) for k, v in (aliases or {}).items()}.get(plain, plain)


def _form(text: str) -> str:
    return re.sub(r"[\s_\-]+", "-", text.casefold())


def words(given: Any, aliases: Mapping[str, str] | None = None) -> frozenset[str]:
    """Return the words of a list, or of text that lists them."""
    parts = _SPLIT.split(_plain(given)) if isinstance(given, str) else given if isinstance(given, Iterable) else [given]
    return frozenset(w for part in parts if (w := word(part, aliases)))


def same(given: Any, truth: Any, kind: Kind, tolerance: float = 0.0, aliases: Mapping[str, str] | None = None) -> bool:
    """Return whether an answer is the true one. `tolerance`: how far a number may be off, as a share of the true one."""
    if kind in NUMBERS:
        value = number(given, kind)
        return value is not None and abs(value - float(truth)) <= max(tolerance * abs(float(truth)), 1e-9)
    if kind == "word":
        return word(given, aliases) == word(truth)
    return words(given, aliases) == words(truth)


def _plain(text: str) -> str:
    """Return a text stripped, with full-width forms and unusual blanks normalised."""
    return unicodedata.normalize("NFKC", text[:MOST]).replace("\u2019", "'").strip()
