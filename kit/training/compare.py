"""Compare a typed answer with the true one: strict about values, lenient about form."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Final

from kit import data
from kit.training.lab import Kind, Question

UNITS: Final = data.read("training/units.yaml", dict[str, dict[str, float]])
"""By the kind of a number: how many of the plain unit each unit is."""
_NUMBER: Final = re.compile(
    r"(?:about|around|roughly|ca\.?|约|大约|≈|~)?\s*([+-]?\d(?:[\d.,_' ]*\d)?)\s*([^\d\s.,][^\d]*)?\.?"
)
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}([,_' ])\d{3}(?:\1\d{3})*(?:\.\d+)?")
_DECIMAL_COMMA: Final = re.compile(r"[+-]?\d+,\d{1,2}")
_LISTED: Final = re.compile(r"[,;/+&、，；]|\band\b|和|与")
_SPLIT: Final = re.compile(r"[,;/+&、，；\s]+|\band\b|和|与")
_NEGATED: Final = re.compile(r"\b(?:not?|never|neither)\b|n't|[不非没无]")
_FILLERS: Final = frozenset([
    "", "a", "an", "the", "it", "its", "is", "was", "to", "at", "by", "of", "in", "on", "for", "with", "and", "from", "that",
    "who", "what", "did", "because", "tried", "address", "group", "named", "called",
])  # fmt: skip
"""What may stand around a name that is asked for."""
MOST: Final = 400
"""Most characters of an answer that are used."""


def blank(given: Any) -> bool:
    """Return whether an answer is a placeholder: None, `...`, empty text or `?`."""
    return given is None or given is ... or (isinstance(given, str) and _plain(given) in ("", "?", "…", "..."))


def number(given: Any, kind: Kind = "count") -> float | None:
    """Return a typed number in pieces, bytes or seconds; None if it is no number, or of another kind of unit."""
    if not isinstance(given, str):
        known = isinstance(given, int | float) or hasattr(given, "item")
        return float(given) if known and not isinstance(given, bool) and math.isfinite(given) else None
    # A cut-off text is never read as a number: it would be a different one.
    hit = _NUMBER.fullmatch(_plain(given).casefold()) if len(given) <= MOST else None
    if hit is None:
        return None
    digits, unit = hit[1], (hit[2] or "").strip()
    if _GROUPED.fullmatch(digits):
        digits = re.sub(r"[,_' ]", "", digits)
    elif _DECIMAL_COMMA.fullmatch(digits):
        digits = digits.replace(",", ".")
    # For pieces any word may follow the number: "9 sends".
    times = UNITS[kind].get(unit, 1.0 if kind == "count" else None)
    if times is None or not re.fullmatch(r"[+-]?\d+(\.\d+)?", digits):
        return None
    return float(digits) * times if math.isfinite(float(digits)) else None


def single(value: Any) -> bool:
    """Return whether a value is one word or number, not several."""
    return isinstance(value, str) or not isinstance(value, Iterable)


def word(given: Any) -> str:
    """Return one word normalised: lower case, `-` for everything that is neither letter nor digit."""
    return re.sub(r"[\W_]+", "-", _plain(str(given)).casefold()).strip("-")


def choices(given: Any, question: Question) -> list[str]:
    """Return the words of an answer in order, plain words (“the consumer did”) replaced by the option they mean."""
    if not isinstance(given, str):
        return [_option(str(part), question) for part in ([given] if single(given) else given)]
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
    """Return whether an answer is the true one; a number may be off by the question's tolerance, a share of it."""
    if question.kind in UNITS:
        value = number(given, question.kind)
        return value is not None and abs(value - float(truth)) <= max(question.tolerance * abs(float(truth)), 1e-9)
    chosen, true = choices(given, question), choices(truth, question)
    if question.kind == "word" and not question.options:
        before, hit, behind = f"-{chosen[0]}-".partition(f"-{true[0]}-")
        return bool(hit) and _FILLERS.issuperset(f"{before}-{behind}".strip("-").split("-"))
    return chosen == true if question.kind == "order" else set(chosen) == set(true)


def _option(given: str, question: Question) -> str:
    """Return the one option that an answer names, among other words too; else the answer normalised."""
    plain = word(given)
    names = {word(name): word(option) for name, option in question.aliases.items()}
    for option, text in question.options.items():
        names |= dict.fromkeys(map(word, (text.en, text.zh, option)), word(option))
    if plain in names or not question.options or _NEGATED.search(_plain(given).casefold()):
        return names.get(plain, plain)
    hits = [name for name in names if f"-{name}-" in f"-{plain}-" or (not name.isascii() and name in plain)]
    # A name inside a longer one is not meant: “key” in “UNIQ_KEY”.
    named = {names[name] for name in hits if not any(name in other and name != other for other in hits)}
    return named.pop() if len(named) == 1 else plain


def _plain(text: str) -> str:
    """Return a text stripped, with full-width forms and unusual blanks normalised."""
    return unicodedata.normalize("NFKC", text[:MOST]).replace("\u2019", "'").strip()
