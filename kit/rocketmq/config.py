"""Settings of brokers and clients: what they mean, the value in force and its origin, and contradictions.

Looked up in `facts/parameters.yaml` (meanings, defaults), `facts/conflicts.yaml` and `versions.RULES` (which differ).
"""

import contextlib
import ipaddress
import math
import operator
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

import attrs

from kit import data
from kit.i18n import T
from kit.rocketmq.versions import RULES, Version, rule, within

DOCKER_BRIDGE: Final = ipaddress.ip_network("172.17.0.0/16")
"""Docker's default bridge network (docs.docker.com, daemon option `bip`): it is not reachable from other hosts."""

Unit = Literal["ms", "s", "hours", "bytes", "percent", "count", "bool", "enum", "text"]


class Parameter(data.Row, frozen=True, kw_only=True):
    """One setting. `since`/`until`: first and last release that reads it under this name; `default`: None if it differs
    by version (see `versions.RULES`) or has none; `read`: whether a broker's getBrokerConfig has it; `values`: enums'.
    """

    side: Literal["broker", "store", "client"]
    unit: Unit
    meaning: T
    trade: T | None = None
    default: Any = None
    since: str | None = None
    until: str | None = None
    read: bool = True
    values: tuple[str, ...] = ()


_FILE: Final = "rocketmq/facts/parameters.yaml"
PARAMETERS: Final = data.read(_FILE, dict[str, Parameter], "parameters")
ALIASES: Final = data.read(_FILE, dict[str, str], "aliases")
"""Old name → new name."""
BROKER_SETTINGS: Final = frozenset(data.read(_FILE, list[str], "others")) | {
    name for name, each in PARAMETERS.items() if each.side != "client"
}
"""Names that identify a broker.conf among properties files."""


@attrs.frozen
class Settings:
    """Name → text as configured, with the broker's version if known."""

    given: Mapping[str, str]
    version: Version | None = None

    def text(self, name: str) -> str | None:
        """Return the text of a parameter where the broker takes it from the configuration, by its old name too."""
        names = (name, *(old for old, new in ALIASES.items() if new == name))
        return next(
            (self.given[each] for each in names if each in self.given and not ignored(each, self.version)), None
        )

    def value(self, name: str) -> Any:
        """Return the value in force of a parameter, typed, None if unknown; a text that is not a number stays text."""
        text = self.text(name)
        return default_of(name, self.version) if text is None else typed(name, text)

    def number(self, name: str) -> float | None:
        """Return a number in force, None if it is unknown or not a number."""
        value = self.value(name)
        return None if isinstance(value, bool) or not isinstance(value, int | float) else value


def default_of(name: str, version: Version | str | None) -> Any:
    """Return the default at a version; without a version only a default that never changed."""
    if name in RULES:
        return rule(name, version)
    parameter = PARAMETERS.get(name)
    return None if parameter is None else parameter.default


def ignored(name: str, version: Version | None) -> bool:
    parameter = PARAMETERS.get(name)
    if parameter is None or version is None:
        return False
    return not parameter.read or not within(version, parameter.since, parameter.until)


def typed(name: str, text: str) -> Any:
    """Return the text as the parameter's type; unchanged if it does not fit or the parameter is unknown."""
    plain = text.strip()
    parameter = PARAMETERS.get(name)
    unit = parameter.unit if parameter else "text"
    if unit == "bool":
        return {"true": True, "false": False}.get(plain.lower(), plain)
    with contextlib.suppress(ValueError):
        return plain if unit in ("enum", "text") else int(plain)
    return plain


def misfit(name: str, text: str) -> bool:
    """Return whether a value is no number, or none of the enum's: the broker then keeps its default.

    `common/MixAll.properties2Object` ignores what cannot be parsed; a bool that is not `true` is false.
    """
    parameter = PARAMETERS.get(name)
    if parameter is None or parameter.unit in ("text", "bool"):
        return False
    if parameter.unit == "enum":
        return bool(parameter.values) and text.strip() not in parameter.values
    return isinstance(typed(name, text), str)


class Conflict(data.Row, frozen=True, kw_only=True):
    """Settings that contradict each other or cannot work: `when`, the effect, what to set; `given`: which settings,
    where not all of those in `when`; `cause`: slug of the cause it leads to, "" for none.

    All conditions of `when` hold: `A > B` (and >=, <, <=) of numbers, settings and their products, `A is VALUE`, `A is
    set` (not left to the release's default), `version >= RELEASE`; ` or ` between two of them.
    """

    slug: str
    given: tuple[str, ...] = ()
    when: tuple[str, ...]
    cause: str = ""
    becomes: T
    instead: T

    @property
    def names(self) -> tuple[str, ...]:
        words = re.findall(r"\w+", " ".join(self.when))
        return self.given or tuple(dict.fromkeys(word for word in words if word in PARAMETERS))


CONFLICTS: Final = data.read("rocketmq/facts/conflicts.yaml", tuple[Conflict, ...])
_SIGNS: Final = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


def conflicts(settings: Settings) -> list[Conflict]:
    return [conflict for conflict in CONFLICTS if all(_holds(settings, condition) for condition in conflict.when)]


def _holds(settings: Settings, condition: str) -> bool:
    if " or " in condition:
        return any(_holds(settings, part) for part in condition.split(" or "))
    name, is_, wanted = condition.partition(" is ")
    if wanted == "set":
        return settings.text(name) is not None
    if wanted == "of one host":
        return network(str(settings.value(name) or "")) is not None
    if is_:
        return str(settings.value(name)).upper() == wanted.upper()
    left, sign, right = re.split(r" ([<>]=?) ", condition)
    if left == "version":
        return settings.version is not None and _SIGNS[sign](settings.version, Version.parse(right))
    one, other = _product(settings, left), _product(settings, right)
    return one is not None and other is not None and bool(_SIGNS[sign](one, other))


def _product(settings: Settings, text: str) -> float | None:
    """Return the product of numbers and settings, None if one of them is not known."""
    factors = [float(part) if part.isdigit() else settings.number(part) for part in text.split(" * ")]
    return math.prod(each for each in factors if each is not None) if None not in factors else None


def network(host: str) -> str | None:
    """Return in which network of no use to other hosts an address is: `loopback`, `link-local`, Docker's (`docker`)."""
    try:
        ip = ipaddress.ip_address(host.strip())
    except ValueError:
        return "loopback" if host.strip().lower() == "localhost" else None
    networks = {"loopback": ip.is_loopback, "link-local": ip.is_link_local, "docker": ip in DOCKER_BRIDGE}
    return next((name for name, inside in networks.items() if inside), None)
