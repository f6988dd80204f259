"""Compare a typed answer with the true one: numbers as text, thousands separators, units, case, lists. Strict about values, lenient about form."""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Final

from kit.training.lab import Kind, Question

NUMBERS: Final = ("count", "bytes", "seconds")
_UNITS: Final[dict[str, dict[str, float]]] = {
    "count": {"k": 1e3, "thousand": 1e3, "千": 1e3, "万": 1e4, "m": 1e6, "million": 1e6, "百万": 1e6},
    "bytes": dict.fromkeys(("", "b", "byte", "bytes", "字节"), 1.0)
    | dict.fromkeys(("k", "kb", "kib"), 1024.0)
    | dict.fromkeys(("m", "mb", "mib"), 1048576.0),
    "seconds": dict.fromkeys(("", "s", "sec", "secs", "second", "seconds", "秒"), 1.0)
    | dict.fromkeys(("ms", "millisecond", "milliseconds", "毫秒"), 1e-3)
    | dict.fromkeys(("min", "minute", "minutes", "分", "分钟"), 60.0),
}
_NUMBER: Final = re.compile(
    r"(?:about|around|roughly|ca\.?|约|大约|≈|~)?\s*([+-]?\d(?:[\d.,_' ]*\d)?)\s*([^\d\s.,][^\d]*)?\.?"
)
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:([,_' ])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_DECIMAL_COMMA: Final = re.compile(r"[+-]?\d+,\d{1,2}")
_PLAIN: Final = re.compile(r"[+-]?\d+(?:\.\d+)?")
_LISTED: Final = re.compile(r"[,;/+&、，；]|\band\b|和|与")
_SPLIT: Final = re.compile(r"[,;/+&、，；\s]+|\band\b|和|与")
_NEGATED: Final = re.compile(r"\b(?:not?|never|neither)\b|n't|[不非没无]")
_EMPTY: Final = frozenset(
    ["the", "was", "its", "that", "thi", "with", "for", "and", "did", "who", "because", "from", "what"]
)
MOST: Final = 400
"""Most characters of an answer that are used."""


def blank(given: Any) -> bool:
    """Return whether an answer is a placeholder: None, `...`, empty text or `?`."""
    return given is None or given is ... or (isinstance(given, str) and _plain(given) in ("", "?", "…", "..."))


def number(given: Any, kind: Kind = "count") -> float | None:
    """Return a typed number in the base unit of `kind` (pieces, bytes, seconds); None if it is not a number, or has the wrong kind of unit."""
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


def word(given: Any) -> str:
    """Return one word normalised: lower case, `-` for everything that is neither letter nor digit."""
    return re.sub(r"[\W_]+", "-", _plain(str(given)).casefold()).strip("-")


def choices(given: Any, question: Question) -> list[str]:
    """Return the words of an answer in its order, known names and plain words (“the consumer did”) replaced by the option they mean."""
    if not isinstance(given, str):
        return [_option(str(part), question) for part in (given if isinstance(given, Iterable) else [given])]
    if question.kind == "word":
        return [_option(given, question)]
    known = {word(option) for option in question.options}
    names: list[str] = []
    for separator in (_LISTED, _SPLIT):
        names = [_option(part, question) for part in separator.split(_plain(given)) if part.strip()]
        if known.issuperset(names):
            break
    return names


def same(given: Any, truth: Any, question: Question) -> bool:
    """Return whether an answer is the true one; a number may be off by the question's tolerance, a share of the true one."""
    if question.kind in NUMBERS:
        value = number(given, question.kind)
        return value is not None and abs(value - float(truth)) <= max(question.tolerance * abs(float(truth)), 1e-9)
    said, true = choices(given, question), choices(truth, question)
    return said == true if question.kind == "order" else set(said) == set(true)


def _option(given: str, question: Question) -> str:
    """Return the option that an answer names, or in plain words describes; else the answer normalised."""
    plain = word(given)
    names = {word(name): word(option) for name, option in question.aliases.items()}
    names |= {word(option): word(option) for option in question.options}
    if plain in names or not question.options or _NEGATED.search(_plain(given).casefold()):
        return names.get(plain, plain)
    in_full = {word(text): word(option) for option, both in question.options.items() for text in (both.en, both.zh)}
    if plain in in_full:
        return in_full[plain]
    named = {option for name, option in names.items() if f"-{name}-" in f"-{plain}-"}
    if not named and not plain.isascii():
        named = {option for name, option in names.items() if not name.isascii() and name in plain}
    if not named:
        named = _described(_plain(given), question)
    return named.pop() if len(named) == 1 else plain


def _described(given: str, question: Question) -> set[str]:
    """Return the options whose description shares the most with an answer, and at least half of the answer."""
    said = _terms(given)
    shared = {}
    for option, text in question.options.items():
        terms = _terms(f"{option} {text.en} {text.zh}")
        shared[word(option)] = len(said & terms)
    most = max(shared.values())
    return {option for option, count in shared.items() if count == most} if most * 2 >= max(len(said), 1) else set()


def _terms(text: str) -> set[str]:
    """Return what carries the meaning of a text: words above two letters without endings, pairs of Chinese characters."""
    latin = {w.rstrip("s") for w in re.findall(r"[a-z0-9]{3,}", text.casefold())} - _EMPTY
    return latin | {
        pair for run in re.findall(r"[\u4e00-\u9fff]+", text) for pair in map("".join, itertools.pairwise(run))
    }


def _plain(text: str) -> str:
    """Return a text stripped, with full-width forms and unusual blanks normalised."""
    return unicodedata.normalize("NFKC", text[:MOST]).replace("\u2019", "'").strip()
