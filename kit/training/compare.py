"""Compare a typed answer with the true one: strict about values, lenient about case, signs and units."""

import math
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Final

from kit import data
from kit.training.lab import Kind, Question

UNITS: Final = data.read("training/units.yaml", dict[str, dict[str, float]])
"""By the kind of a number: how many of the plain unit each unit is."""
_NUMBER: Final = re.compile(r"([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)\s*([^\d\s.,]\D*)?")
_LISTED: Final = re.compile(r"[,;/+&、]|\band\b|和|与")
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
    # For pieces any word may follow the number: "9 sends".
    times = UNITS[kind].get((hit[2] or "").strip(), 1.0 if kind == "count" else None) if hit else None
    value = float(hit[1].replace(",", "")) if hit else math.inf
    return value * times if times is not None and math.isfinite(value) else None


def single(value: Any) -> bool:
    """Return whether a value is one word or number, not several."""
    return isinstance(value, str) or not isinstance(value, Iterable)


def word(given: Any) -> str:
    """Return one word normalised: lower case, `-` for everything that is neither letter nor digit."""
    return re.sub(r"[\W_]+", "-", _plain(str(given)).casefold()).strip("-")


def choices(given: Any, question: Question) -> list[str]:
    """Return the words of an answer in order; what an option says in full is that option."""
    listed = isinstance(given, str) and question.kind != "word"
    parts = _LISTED.split(_plain(given)) if listed else [given] if single(given) else given
    said = {word(each): word(option) for option, text in question.options.items() for each in (text.en, text.zh)}
    return [said.get(name, name) for name in map(word, parts) if name]


def same(given: Any, truth: Any, question: Question) -> bool:
    """Return whether an answer is the true one; a number may be off by the question's tolerance, a share of it."""
    if question.kind in UNITS:
        value = number(given, question.kind)
        return value is not None and abs(value - float(truth)) <= max(question.tolerance * abs(float(truth)), 1e-9)
    chosen, true = choices(given, question), choices(truth, question)
    return chosen == true if question.kind == "order" else set(chosen) == set(true)


def _plain(text: str) -> str:
    """Return a text stripped, with full-width forms and unusual blanks normalised."""
    return unicodedata.normalize("NFKC", text[:MOST]).strip()
