"""Pseudonyms of names: as long as the name, the same for the same name and salt, and unique."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kit.redaction.ids import Secret
from kit.redaction.ordinary import SHORT

_LETTERS: Final = {
    "topic": "topic-",
    "group": "group-",
    "broker": "broker-",
    "cluster": "cluster-",
    "host": "host-",
    "client": "client-",
    "key": "key-",
    "value": "value-",
    "dir": "dir-",
    "app": "app-",
}


class Pseudonyms:
    """The pseudonyms in use. `taken`: originals, which are never used as pseudonyms."""

    def __init__(self, secret: Secret, taken: Iterable[str]) -> None:
        self._secret = secret
        self._coined: dict[str, str] = {}
        self._taken = set(taken)
        self._given: set[str] = set()

    def of(self, name: str, kind: str = "key") -> str:
        """Return the pseudonym of a name, created on first use: as long as the name, from four characters on."""
        if name not in self._coined:
            attempt = 0
            while (made := self._letters(name, kind, attempt)) in self._taken:
                attempt += 1
            self._taken.add(made)
            self._given.add(made)
            self._coined[name] = made
        return self._coined[name]

    def is_one(self, text: str) -> bool:
        """Return whether a text is one of these pseudonyms."""
        return text in self._given

    def _letters(self, name: str, kind: str, attempt: int) -> str:
        size = len(name) if len(name) > SHORT else 6
        if name.isascii() and name.isdigit() and size == len(name):
            return "123456789"[self._secret.number("digit", name, attempt) % 9] + self._secret.letters(
                name, size - 1, attempt, "0123456789"
            )
        stem = _LETTERS[kind] if size >= len(_LETTERS[kind]) + 6 else kind[0]
        return stem + self._secret.letters(name, size - len(stem), attempt)
