"""Differences between releases: limits, defaults, rules, when faults were fixed (`facts/releases.yaml`)."""

from __future__ import annotations

import contextlib
import re
from functools import cached_property
from typing import Any, Final, Literal

import attrs

from kit import data
from kit.i18n import T, labels

FIRST_ORDINAL: Final = 273
"""common/MQVersion.Version.V4_3_0."""
SAYS: Final = labels("rocketmq")["versions"]


@attrs.frozen(order=True)
class Version:
    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str | int | Version) -> Version:
        """Read "4.6.1", "V4_6_1", "rocketmq-all-4.6.1-bin", "4.6", an MQVersion ordinal; raise ValueError otherwise."""
        if isinstance(text, Version):
            return text
        plain = str(text).strip()
        if plain.isdecimal() and FIRST_ORDINAL - 1 <= int(plain) < 613:
            # The enum lists .0 to .9 of every minor release, a snapshot before each; 4.9 is followed by 5.0.
            minor, patch = divmod(int(plain) // 2 - FIRST_ORDINAL // 2 + 30, 10)
            return cls(4 + minor // 10, minor % 10, patch)
        match = re.search(r"(?<!\d)(\d{1,2})[._](\d{1,2})(?:[._](\d{1,2}))?(?!\d)", plain)
        if not match:
            raise ValueError(SAYS["not_a_version"].say(text=plain[:80]))
        return cls(int(match[1]), int(match[2]), int(match[3] or 0))

    @classmethod
    def maybe(cls, text: object) -> Version | None:
        """Read a version, None if absent."""
        with contextlib.suppress(ValueError):
            return cls.parse(text) if isinstance(text, str | int | Version) else None
        return None

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


OLDEST: Final = Version(4, 3, 0)
NEWEST: Final = Version(5, 3, 3)


def within(version: str | Version, since: str | Version | None, until: str | None) -> bool:
    """Return whether a release is between two others, which belong to it; None: no bound."""
    release = Version.parse(version)
    return (since is None or Version.parse(since) <= release) and (until is None or release <= Version.parse(until))


class Rule(data.Row, frozen=True):
    """Something that differs by version. `side`: whose version decides; `values`: first version → value."""

    side: Literal["broker", "client", "writer"]
    values: dict[str, Any]
    reference: str

    @cached_property
    def rows(self) -> tuple[tuple[Version, Any], ...]:
        return tuple((Version.parse(since), value) for since, value in self.values.items())

    def at(self, version: str | int | Version | None) -> Any:
        """Return the value in force at `version`; None if the version is unknown or older than the rule."""
        if version is None:
            return None
        release = Version.parse(version)
        return next((value for since, value in reversed(self.rows) if since <= release), None)


class Fix(data.Row, frozen=True, kw_only=True):
    """A fault of releases from `since` to before `fixed` (None: still there); `leads_to`: causes it makes or worsens."""

    slug: str
    side: Literal["broker", "client"]
    symptom: T
    since: str
    fixed: str | None = None
    reference: str
    leads_to: tuple[str, ...] = ()

    def has(self, version: str | int | Version | None) -> bool | None:
        """Return whether `version` has the fault; None if the version is unknown."""
        if version is None:
            return None
        release = Version.parse(version)
        return Version.parse(self.since) <= release and (self.fixed is None or release < Version.parse(self.fixed))


RULES: Final = data.read("rocketmq/facts/releases.yaml", dict[str, Rule], "rules")
FIXED: Final = data.read("rocketmq/facts/releases.yaml", tuple[Fix, ...], "faults")


def rule(name: str, version: str | int | Version | None) -> Any:
    """Return the value of `name` at `version`; None if the version is unknown. Raise KeyError for an unknown rule."""
    return RULES[name].at(version)
