"""Stable pseudonyms for whatever names a site: addresses, topics, groups, hosts, keys, bodies, paths. The same original
has the same pseudonym everywhere.

A `Redactor` knows the names of one evidence set (gathered by `kit.redaction.names`) and finds them at word boundaries;
addresses, ids, bodies, paths and whatever is where a key is it knows by their form. A pseudonym is as long as its
original: lengths of names are evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from kit.redaction import forms as rf
from kit.redaction import ordinary
from kit.redaction.ordinary import PUBLIC, SHORT, is_ambiguous, is_ordinary
from kit.redaction.pseudonyms import Pseudonyms, parsed
from kit.rocketmq import names as own

HOMES: Final = ("home", "Users", "user")
"""Folders whose entries are people."""
GONE: Final = "[redacted]"
_NO_VALUE: Final = ("", "true", "false", "null")


class Redactor:
    """The mapping of one report. Not thread-safe: new originals are added."""

    def __init__(
        self,
        salt: bytes,
        names: Mapping[str, str] | None = None,
        addresses: Iterable[str] = (),
        *,
        exact: Collection[str] = (),
    ) -> None:
        """Take names (name → kind: topic, group, broker, cluster, host, client, key, value, dir, app) and addresses.

        `exact`: paths that are replaced as whole strings. Names that are also something else (`ordinary.is_ambiguous`)
        are replaced only where a name is expected.
        """
        self._pseudonyms = Pseudonyms(salt, names or (), [ip for text in addresses if (ip := parsed(text))])
        self.coin, self.is_pseudonym = self._pseudonyms.name, self._pseudonyms.is_one
        self._replacements: dict[str, Callable[[str], str | None]] = {
            "redacted": lambda said: GONE,
            "quoted": lambda said: rf.QUOTED.sub(lambda hit: f"{hit[1]}{GONE}{hit[2] or ''}", said, count=1),
            "value": self._number,
            "address": self._pseudonyms.address_text,
            "dashed": self._pseudonyms.dashed,
            "mac": self._pseudonyms.mac,
            "mail": lambda said: self.coin(said, "client"),
            "web": lambda said: None if said.startswith(PUBLIC) else self.path(said),
            "properties": self._properties,
            "dotted": self._dotted,
            "pieces": lambda said: None,
        }
        """What a form of `forms.yaml` becomes; None: it is searched for shorter forms."""
        self.names: dict[str, str] = {}
        self._shapes: dict[str, list[tuple[int, int]]] = {}
        for name, kind in sorted((names or {}).items()):
            self._learn(name, self.coin(name, kind))
        self.exact: dict[str, str] = {path: self.path(path) for path in sorted(exact)}
        for path, new in self.exact.items():
            # Inside a sentence a path with blanks in it has no form of its own.
            if new != path and not rf.PATH.fullmatch(path):
                self._learn(path, new)
        self._memo: dict[tuple[str, str | None], str] = {}

    def _learn(self, name: str, new: str) -> None:
        """Enter a name under its first word; one without a letter or digit in it is found only as a whole cell."""
        self.names[name] = new
        if word := rf.WORD.search(name):
            shapes = {*self._shapes.get(word.group(), ()), (word.start(), len(name))}
            self._shapes[word.group()] = sorted(shapes, key=lambda shape: (-shape[1], shape[0]))

    # --- texts --------------------------------------------------------------------------------------------------------

    def text(self, text: str, field: str | None = None) -> str:
        """Return a text with all originals replaced. `field`: its column or JSON field if it is a whole cell."""
        known = self._memo.get((text, field))
        if known is None:
            known = self._memo[text, field] = self._text(text, field)
        return known

    def _text(self, text: str, field: str | None) -> str:
        if text in self.exact:
            return self.exact[text]
        if field is not None:
            if rf.PLACES["position_field"].search(field) and text.isdigit():
                return text
            if rf.PLACES["key_field"].search(field):
                return re.sub(r"\S+", lambda token: self._key(token.group()), text)
            if rf.PLACES["name_field"].search(field) and text in self.names:
                return self.names[text]
        whole = rf.without_cut_word(text)
        pieces = (piece for part in rf.SPELLED.split(whole) for piece in self._pieces(part, rf.ANY))
        return "".join(new if new is not None else old for old, new in pieces)

    def _pieces(self, text: str, forms: rf.Pattern) -> Iterator[tuple[str, str | None]]:
        """Yield the text in pieces (original, replacement); None where a piece stays."""
        done = at = 0
        while (hit := forms.search(text, at)) is not None:
            start, end, new = self._form(text, hit, done)
            if new is None and hit.lastgroup != "word":
                plain = (rf.PLAIN if hit.lastgroup != "dotted" else rf.WORDS).search(text, hit.start())
                hit = plain if plain is not None else hit
                start, end, new = self._form(text, hit, done)
            if new is not None:
                if start > done:
                    yield text[done:start], None
                yield text[start:end], new
                done = end
            at = max(end, hit.start() + 1)
        if done < len(text):
            yield text[done:], None

    def _form(self, text: str, hit: re.Match[str], done: int) -> tuple[int, int, str | None]:
        """Return where a match begins and ends, and its replacement (None: it stays)."""
        start, end, form, said = hit.start(), hit.end(), str(hit.lastgroup), hit.group()
        if form == "path" and (bare := said.rstrip(".,:")) in self.exact:
            return start, start + len(bare), self.exact[bare]
        named = self._name_at(text, start + (form == "absolute"), done)
        if named is not None and form in ("word", "dotted", "path", "absolute", "colons", "quad"):
            return named
        if form == "word":
            return self._word(text, start, end)
        if form == "phone" and rf.PLACES["position_before"].search(text, max(0, start - 24), start):
            return start, end, None
        if form == "colons":
            said = said.rstrip(".")
            end = start + len(said)
        head = hit[f"head_{form}"]
        new = self._replacements[rf.FORMS[form].becomes](said[len(head) :])
        return start, end, None if new is None else head + new

    def _word(self, text: str, start: int, end: int) -> tuple[int, int, str | None]:
        """Replace one word: a key by its place, an id by its form."""
        before = text[max(0, start - 60) : start]
        if before[-1:] in tuple("=\"'[ :：号为是") and rf.PLACES["key_before"].search(before):
            token = rf.KEY.match(text, start)
            if token and not rf.QUADS.search(token.group()):
                return start, token.end(), self._key(token.group())
        said = text[start:end]
        if said.isdigit() and (decimal := self._pseudonyms.decimal(said)) is not None:
            return start, end, decimal
        new = rf.HEX.sub(lambda run: self._pseudonyms.hex_run(run.group()), said)
        return start, end, None if new == said else new

    def _name_at(self, text: str, start: int, done: int) -> tuple[int, int, str] | None:
        """Return the longest known name whose first word begins here, if it may be replaced."""
        word = rf.WORD.match(text, start)
        if word is None:
            return None
        for lead, size in self._shapes.get(word.group(), ()):
            begin = start - lead
            name = text[begin : begin + size]
            is_whole = begin >= done and name in self.names and not rf.inside(text, begin, begin + size)
            if is_whole and self._may(name, text, begin):
                return begin, begin + size, self.names[name]
        return None

    def _may(self, name: str, text: str, begin: int) -> bool:
        """Return whether a name may be replaced here: short and common ones only where a name is expected."""
        if not is_ambiguous(name):
            return True
        before, after = text[max(0, begin - 60) : begin], text[begin + len(name) : begin + len(name) + 1]
        if rf.PLACES["key_before"].search(before):
            return True
        if name.isdigit():
            alone = (not before or before[-1] in " \t\"'[(") and (not after or after in " \t\"'])|,")
            return len(name) >= 5 and alone
        return bool(rf.PLACES["name_before"].search(before))

    # --- what the forms become ----------------------------------------------------------------------------------------

    def _key(self, token: str) -> str:
        """Return the replacement of a token where a key is expected: ids stay ids, harmless words stay."""
        if token in self.names:
            return self.names[token]
        if rf.HEX.fullmatch(token) and len(token) in (32, 34, 56):
            return self._pseudonyms.hex_run(token)
        if token in _NO_VALUE or is_ordinary(token) or (token.isascii() and not rf.WORD.search(token)):
            return token
        return self.coin(token, "key")

    def _number(self, said: str) -> str | None:
        """Return the pseudonym of a personal number or name; that of a number looks like a number too."""
        return None if self.is_pseudonym(said) else self.names.get(said) or self.coin(said, "value")

    def _properties(self, said: str) -> str:
        """Return printed properties: RocketMQ's keep their values but for keys and names, a user's get pseudonyms."""
        head, _, inner = said.partition("{")
        return head + "{" + ", ".join(map(self._property, inner.split(", ")))

    def _property(self, part: str) -> str:
        name, sign, value = part.partition("=")
        if not sign:
            return self.coin(part, "value") if part.strip() else part
        if name in (own.KEYS, "__SHARDINGKEY"):
            new = " ".join(self._key(token) for token in value.split(" "))
        elif name in own.PROPERTIES:
            new = self.text(value)
        else:
            new = value if value in _NO_VALUE else self.coin(value, "value")
        return f"{name}={new}"

    def _dotted(self, said: str) -> str | None:
        """Return a package or a host with dots replaced, part by part."""
        if said.startswith(ordinary.VENDORS) or said.rpartition(".")[2] in ordinary.EXTENSIONS:
            return None
        return ".".join(
            part if part in ordinary.LABELS else self.names.get(part) or self.coin(part, "app")
            for part in said.split(".")
        )

    # --- paths --------------------------------------------------------------------------------------------------------

    def path(self, text: str) -> str:
        """Return a path or address of the web with every part replaced that is not RocketMQ's own."""
        # Where folders are parted by slashes, a backslash is part of a name.
        parts = re.split(r"(:/+|/|\?.*$)" if "/" in text and "://" not in text else r"(:/+|[/\\]|\?.*$)", text)
        whole = re.match(r"[/\\~]|[A-Za-z]+:", text) is not None
        made = [
            self._segment(part, whole, n >= 2 and parts[n - 2] in HOMES) if n % 2 == 0 else part
            for n, part in enumerate(parts)
        ]
        return "".join(part for part in made if not part.startswith("?"))

    def _segment(self, part: str, whole: bool, home: bool) -> str:
        """Return one part of a path; only in a `whole` one may short names be people's and hosts'."""
        is_folder = not home and (part.isdigit() or part in ordinary.FOLDERS)
        if is_folder or not part.strip(".~!") or (len(part) < SHORT and not whole):
            return part
        if rf.SCHEME.fullmatch(part) and whole and not home:
            return part
        if part in self.names:
            return self.names[part]
        pieces = list(self._pieces(part, rf.PLAIN))
        left = {word for old, new in pieces if new is None for word in rf.WORD.findall(old) if not word.isdigit()}
        if left <= rf.STOCK and not home and all(old.isascii() for old, new in pieces if new is None):
            return "".join(new if new is not None else old for old, new in pieces)
        stem, tail = rf.split_name(part)
        return (self.names.get(stem) or self.coin(stem, "dir")) + tail

    # --- anything -----------------------------------------------------------------------------------------------------

    def value(self, value: Any, field: str | None = None) -> Any:
        """Return anything JSON-like with texts and keys replaced, in the same shape; tables column by column."""
        if isinstance(value, str):
            return value if field in rf.KEPT["findings"] else self.text(value, field)
        if isinstance(value, Mapping):
            if isinstance(value.get("columns"), list) and isinstance(value.get("rows"), list):
                return self._table(value)
            named = "topic" if field is not None and rf.PLACES["name_field"].search(field) else None
            told = {k: self.text(k, named) if isinstance(k, str) else k for k in value}
            return {told[k]: self.value(each, str(k)) for k, each in value.items()}
        if isinstance(value, list | tuple | set | np.ndarray):
            return [self.value(each, field) for each in value]
        return value

    def _table(self, table: Mapping[str, Any]) -> dict[str, Any]:
        heads = [str(column.get("name")) for column in table["columns"]]
        rows = [[self.value(cell, head) for cell, head in zip(row, heads, strict=False)] for row in table["rows"]]
        rest = {name: self.value(each, name) for name, each in table.items() if name != "rows"}
        return {name: rows if name == "rows" else rest[name] for name in table}

    def frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with its texts replaced; times and numbers stay, but for numbers in a column of keys."""
        made = frame.copy()
        for name in made.columns:
            column = made[name]
            if column.dtype == object or isinstance(column.dtype, pd.StringDtype | pd.CategoricalDtype):
                made[name] = pd.Series(
                    [self.value(cell, str(name)) for cell in column], index=column.index, dtype=object
                )
            elif rf.PLACES["key_field"].search(str(name)) and pd.api.types.is_integer_dtype(column.dtype):
                made[name] = [self._key(str(cell)) for cell in column]
        made.columns = pd.Index([self.names.get(name, name) for name in made.columns])
        return made
