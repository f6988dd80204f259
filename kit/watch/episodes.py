"""Signs → episodes → alerts: an episode rings once, again when it is ten times as large or more severe, and when it is
over.

An episode is one cause at one place (the same group, queue, address …). It begins when a rule's count within its time
and duration is reached, and ends when none of its signs was seen for `CLEAR` seconds. An alert is one JSON object.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec

from kit.causes.alerts import Alert, Rule, rules
from kit.i18n import Lang, labels
from kit.watch.signs import Sign, watched

TEXTS: Final = labels("watch")["notes"]
STOP: Final[dict[Lang, str]] = {"en": ".", "zh": "。"}

CLEAR: Final = 180.0
"""Seconds without a sign after which an episode is over: longer than the interval of check rounds and heartbeats."""
WORSE: Final = 10
"""It rings again at this multiple of the last count."""
KEYS: Final = 500
"""Most places kept for one rule; beyond that those quiet for longest are forgotten."""
RANK: Final = {"notice": 0, "warning": 1, "critical": 2}


class Tally(msgspec.Struct):
    """What a rule has seen at one place: occurrences by second (the last `within` seconds), and in total.

    `different`: the last values of `differ`; `beside`: the last second of the sign that must come with it.
    """

    seconds: dict[int, int] = {}
    total: int = 0
    different: list[str] = []
    cleared: bool = False
    beside: int | None = None
    ref: dict[str, Any] = {}
    last: float = 0.0

    def add(self, alert: Alert, sign: Sign, now: float) -> None:
        """Count a sign."""
        self.last = now
        self.ref = self.ref or sign.ref.as_dict()
        self.seconds[sign.at] = self.seconds.get(sign.at, 0) + sign.count
        self.total += sign.count
        value = str(sign.values.get(alert.differ))
        if alert.differ and value not in self.different:
            self.different = [*self.different, value][-4:]

    def reached(self, alert: Alert) -> bool:
        """Return whether a span of at most `within` seconds has enough occurrences that last long enough."""
        if alert.differ and len(self.different) < 2:
            return False
        if alert.also and not any(abs(at - (self.beside or 0)) <= alert.within for at in self.seconds):
            return False
        span: list[int] = []
        count = 0
        for at in sorted(self.seconds):
            span.append(at)
            count += self.seconds[at]
            while span[0] <= at - alert.within:
                count -= self.seconds[span.pop(0)]
            if count >= alert.least and at - span[0] >= alert.lasts:
                return True
        return False


class Episode(msgspec.Struct):
    """One cause at one place while it lasts. `rung`: the count at which each rule rang last; `marks`: when the largest
    count reached 1, 2, 4, 8 …
    """

    id: str
    cause: str
    key: list[str]
    severity: str
    raised: float
    last: float
    rung: dict[str, int] = {}
    totals: dict[str, int] = {}
    marks: list[float] = []
    ref: dict[str, Any] = {}

    def add(self, sign: str, total: int, now: float) -> None:
        """Set the count of a sign."""
        self.last = now
        self.totals[sign] = total
        while max(self.totals.values()) >= 2 ** len(self.marks):
            self.marks.append(now)

    def doubling_seconds(self) -> float | None:
        """Return the seconds of the last doubling, None before the third."""
        marks = self.marks
        return round(marks[-1] - marks[-2], 1) if len(marks) > 3 and marks[-1] > marks[-2] else None


class Ring(msgspec.Struct):
    """An alert: an episode that begins, gets worse or is over."""

    state: Literal["raised", "worse", "cleared"]
    episode: Episode
    rule: str
    at: float
    ref: dict[str, Any] = {}


class Episodes(msgspec.Struct):
    """The state of all episodes; kept between runs."""

    tallies: dict[str, dict[str, Tally]] = {}
    open: dict[str, Episode] = {}
    count: int = 0

    def feed(self, signs: Iterable[Sign], now: float) -> list[Ring]:
        """Count signs and return the alerts due now."""
        touched: dict[tuple[str, str], Rule] = {}
        for sign in sorted(signs, key=lambda each: each.at):
            for rule in watched().get(sign.name, ()):
                key = "\x1f".join(str(sign.values.get(name)) for name in rule.alert.by)
                if self._counted(rule, key, sign, now):
                    touched[rule.name, key] = rule
        rings = [ring for (_, key), rule in touched.items() if (ring := self._rung(rule, key, now))]
        return [*rings, *self._over(now)]

    def _counted(self, rule: Rule, key: str, sign: Sign, now: float) -> bool:
        """Add a sign to its tally; return whether the rule may ring now."""
        alert, tallies = rule.alert, self.tallies.setdefault(rule.name, {})
        if sign.name == alert.also:
            tally = tallies.setdefault(key, Tally())
            tally.beside, tally.last = sign.at, now
            return bool(tally.seconds)
        if alert.clears is not None and alert.clears(sign.values):
            tallies[key] = Tally(cleared=True, last=now)
            return False
        if (alert.when is not None and not alert.when(sign.values)) or sign.beside.intersection(alert.without):
            return False
        tally = tallies.setdefault(key, Tally())
        if not tally.cleared:
            tally.add(alert, sign, now)
        return not tally.cleared

    def _rung(self, rule: Rule, key: str, now: float) -> Ring | None:
        alert, tally = rule.alert, self.tallies[rule.name][key]
        if not tally.seconds:  # cleared in the same step
            return None
        reached = tally.reached(alert)
        newest = max(tally.seconds)
        tally.seconds = {at: n for at, n in tally.seconds.items() if at > newest - alert.within}
        place = f"{rule.cause}\x1f{key}"
        episode = self.open.get(place)
        begins = episode is None
        if episode is None:
            if not reached:
                return None
            self.count += 1
            name, parts = f"{rule.cause}-{int(now)}-{self.count}", key.split("\x1f") if key else []
            episode = Episode(name, rule.cause, parts, alert.severity, now, now, ref=tally.ref)
            self.open[place] = episode
        episode.add(alert.sign, tally.total, now)
        rung = episode.rung.get(rule.name)
        graver = reached and RANK[alert.severity] > RANK[episode.severity]
        worse = graver or (rung is not None and not alert.steady and tally.total >= WORSE * rung)
        if worse or (reached and rung is None):
            episode.rung[rule.name] = tally.total
        if graver:
            episode.severity = alert.severity
        return Ring("raised" if begins else "worse", episode, rule.name, now, tally.ref) if begins or worse else None

    def _over(self, now: float) -> list[Ring]:
        rings = []
        for place in [place for place, episode in self.open.items() if now - episode.last >= CLEAR]:
            episode = self.open.pop(place)
            rings.append(Ring("cleared", episode, "", now))
            for name, tallies in self.tallies.items():
                if name.startswith(f"{episode.cause}/"):
                    tallies.pop(place.partition("\x1f")[2], None)
        for tallies in self.tallies.values():
            # A tally that never rang is kept as long as it can still count; signs that make others harmless are kept.
            quiet = [key for key, each in tallies.items() if not each.cleared and now - each.last > 4 * CLEAR]
            for key in quiet or sorted(tallies, key=lambda each: tallies[each].last)[:-KEYS]:
                tallies.pop(key)
        return rings


def note(ring: Ring, lang: Lang, full_in: float | None = None) -> dict[str, Any]:
    """Return an alert: {id, time, state, cause, severity, step, summary, evidence, figures}.

    `id` is the same for one moment of one episode, however often it is sent; `full_in`: seconds until the disk of the
    store is full, None if it is not filling.
    """
    episode = ring.episode
    name = ring.rule or next(iter(episode.rung), "")
    alert = next((rule.alert for rule in rules() if rule.name == name), None)
    says = alert.says.in_(lang) if alert else episode.cause
    says = says if says.endswith((".", "。")) else says + STOP[lang]
    if episode.key:
        place = [part for part in episode.key if part != "None"]
        says = TEXTS["place"].say(says=says.rstrip(".。"), place=place).render(lang) + STOP[lang]
    doubling = episode.doubling_seconds() if alert is not None and alert.grows else None
    count = max(episode.totals.values(), default=0)
    sentence = says
    if ring.state != "raised":
        sentence = TEXTS[ring.state].say(says=says, count=count, minutes=int(CLEAR // 60)).render(lang)
    if ring.state != "cleared":
        if doubling is not None:
            sentence += " " + TEXTS["doubles"].say(seconds=doubling).render(lang)
        if full_in is not None and (alert is None or alert.grows or episode.cause == "disk-full"):
            sentence += " " + TEXTS["full"].say(minutes=max(1, round(full_in / 60))).render(lang)
    return {
        "id": f"{episode.id}-{ring.state}-{count}",
        "time": _utc(ring.at),
        "state": ring.state,
        "cause": episode.cause,
        "severity": episode.severity,
        "step": alert.step if alert else "",
        "summary": sentence,
        "evidence": [episode.ref, *([ring.ref] if ring.ref not in ({}, episode.ref) else [])],
        "figures": {
            "counts": dict(episode.totals),
            "since": _utc(episode.raised),
            "doubling_seconds": doubling,
            "disk_full_seconds": None if full_in is None else round(full_in),
        },
    }


def _utc(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat(timespec="milliseconds")
