"""YAML that others wrote, an evidence or a team: texts, lists and mappings whatever its tags say, without aliases and
bounded, since a line of aliases expands to a page, and a few hundred bytes of them never end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import yaml

from kit.evidence.files import Damaged

MOST: Final = 50_000
"""Values of a file: some seconds of reading. All ConfigMaps of a cluster have a tenth of that."""
DEEPEST: Final = 60


class Endless(Damaged):
    """There is an alias, or too much: more than `MOST` values, or deeper than `DEEPEST`."""

    def __init__(self, *, alias: bool) -> None:
        super().__init__("YAML aliases" if alias else f"YAML of more than {MOST} values or {DEEPEST} levels")
        self.alias = alias


class _Loader(yaml.BaseLoader):
    values = depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.values += 1
        self.depth += 1
        alias = self.check_event(yaml.AliasEvent)
        if alias or self.values > MOST or self.depth > DEEPEST:
            raise Endless(alias=alias)
        made = super().compose_node(parent, index)
        self.depth -= 1
        return made


def documents(text: str) -> Iterator[Any]:
    """Yield the documents of a text. Raise `Endless`, `yaml.YAMLError` at what is damaged."""
    try:
        yield from yaml.load_all(text, _Loader)
    except (ValueError, OverflowError) as error:
        if isinstance(error, Endless):
            raise
        # PyYAML does not look at the number of a character, "\UFFFFFFFF".
        raise yaml.YAMLError(str(error)) from None
