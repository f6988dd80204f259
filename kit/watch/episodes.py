"""Signs → episodes → alerts: an episode rings once, again when it is ten times as large or more severe, and when it is over.

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

SAYS: Final = labels("watch")["notes"]
STOP: Final[dict[Lang, str]] = {"en": ".", "zh": "。"}

State = Literal["raised", "worse", "cleared"]

CLEAR: Final = 180.0
"""Seconds without a sign after which an episode is over: longer than the interval of check rounds and heartbeats."""
WORSE: Final = 10
"""It rings again at this multiple of the last count."""
KEYS: Final = 500
"""Most places kept for one rule; beyond that the one quiet for longest is forgotten."""
RANK: Final = {"notice": 0, "warning": 1, "critical": 2}


class Tally(msgspec.Struct):
    """What a rule has seen at one place: occurrences by second (the last `within` seconds), and in total."""

    seconds: dict[int, int] = {}
    total: int = 0
    different: list[str] = []
    cleared: bool = False
    ref: dict[str, Any] = {}
    last: float = 0.0


class Episode(msgspec.Struct):
    """One cause at one place while it lasts. `rung`: the count at which each rule rang last; `marks`: when the largest count reached 1, 2, 4, 8 …"""

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


class Ring(msgspec.Struct):
    """An alert: an episode that begins, gets worse or is over."""

    state: State
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
                if (key := self._counted(rule, sign, now)) is not None:
                    touched[rule.name, key] = rule
            touched |= self._beside(sign)
        rings = [ring for (_, key), rule in touched.items() if (ring := self._rung(rule, key, now))]
        return [*rings, *self._over(now)]

    def _counted(self, rule: Rule, sign: Sign, now: float) -> str | None:
        """Add a sign to its tally and return the tally's key, None if it does not count."""
        alert = rule.alert
        key = "\x1f".join(str(sign.values.get(name)) for name in alert.by)
        tallies = self.tallies.setdefault(rule.name, {})
        if alert.clears is not None and alert.clears(sign.values):
            tallies[key] = Tally(cleared=True, last=now)
            return None
        if (alert.when is not None and not alert.when(sign.values)) or sign.beside.intersection(alert.without):
            return None
        tally = tallies.get(key)
        if tally is None:
            if len(tallies) >= KEYS:
                tallies.pop(min(tallies, key=lambda each: tallies[each].last))
            tally = tallies[key] = Tally(ref=sign.ref.as_dict())
        tally.seconds[sign.at] = tally.seconds.get(sign.at, 0) + sign.count
        tally.total += sign.count
        tally.last = now
        if alert.differ and (value := str(sign.values.get(alert.differ))) not in tally.different:
            tally.different = [*tally.different, value][-4:]
        return key

    def _beside(self, sign: Sign) -> dict[tuple[str, str], Rule]:
        """Note a sign that others require; return those that waited for it."""
        waited: dict[tuple[str, str], Rule] = {}
        for rule in _needing(sign.name):
            key = "\x1f".join(str(sign.values.get(name)) for name in rule.alert.by)
            tallies = self.tallies.setdefault(f"{rule.name}/also", {})
            tallies[key] = Tally(seconds={sign.at: 1}, last=sign.at)
            if len(tallies) > KEYS:
                tallies.pop(min(tallies, key=lambda each: tallies[each].last))
            if self.tallies.get(rule.name, {}).get(key):
                waited[rule.name, key] = rule
        return waited

    def _rung(self, rule: Rule, key: str, now: float) -> Ring | None:
        tally = self.tallies[rule.name][key]
        if tally.cleared:
            tally.seconds = {}
            return None
        reached = _reached(rule.alert, tally) and self._accompanied(rule, key, tally)
        newest = max(tally.seconds)
        tally.seconds = {at: n for at, n in tally.seconds.items() if at > newest - rule.alert.within}
        place = f"{rule.cause}\x1f{key}"
        episode = self.open.get(place)
        if episode is None:
            if not reached:
                return None
            self.count += 1
            name = f"{rule.cause}-{int(now)}-{self.count}"
            episode = Episode(
                name, rule.cause, key.split("\x1f") if key else [], rule.alert.severity, now, now, ref=tally.ref
            )
            self.open[place] = episode
            self._note(episode, rule, tally, now)
            episode.rung[rule.name] = tally.total
            return Ring("raised", episode, rule.name, now, tally.ref)
        self._note(episode, rule, tally, now)
        graver = reached and RANK[rule.alert.severity] > RANK[episode.severity]
        known = episode.rung.get(rule.name)
        if known is None and reached:
            episode.rung[rule.name] = tally.total
        if graver or (known is not None and not rule.alert.steady and tally.total >= WORSE * known):
            episode.rung[rule.name] = tally.total
            if graver:
                episode.severity = rule.alert.severity
            return Ring("worse", episode, rule.name, now, tally.ref)
        return None

    def _accompanied(self, rule: Rule, key: str, tally: Tally) -> bool:
        if not rule.alert.also:
            return True
        beside = self.tallies.get(f"{rule.name}/also", {}).get(key)
        return beside is not None and any(abs(at - beside.last) <= rule.alert.within for at in tally.seconds)

    def _note(self, episode: Episode, rule: Rule, tally: Tally, now: float) -> None:
        episode.last = now
        episode.totals[rule.alert.sign] = tally.total
        most = max(episode.totals.values())
        while most >= 2 ** len(episode.marks):
            episode.marks.append(now)

    def _over(self, now: float) -> list[Ring]:
        over = [place for place, episode in self.open.items() if now - episode.last >= CLEAR]
        rings = []
        for place in over:
            episode = self.open.pop(place)
            rings.append(Ring("cleared", episode, "", now))
            key = place.partition("\x1f")[2]
            for name, tallies in self.tallies.items():
                if name.startswith(f"{episode.cause}/"):
                    tallies.pop(key, None)
        for tallies in self.tallies.values():
            # A tally that never rang is kept as long as it can still count; signs that make others harmless are kept.
            for key in [key for key, each in tallies.items() if not each.cleared and now - each.last > 4 * CLEAR]:
                tallies.pop(key)
        return rings


def doubling_seconds(episode: Episode) -> float | None:
    """Return the seconds of the last doubling, None before the third."""
    marks = episode.marks
    if len(marks) < 4 or marks[-1] <= marks[-2]:
        return None
    return round(marks[-1] - marks[-2], 1)


def _reached(alert: Alert, tally: Tally) -> bool:
    """Return whether a span of at most `within` seconds has enough occurrences that last long enough."""
    if alert.differ and len(tally.different) < 2:
        return False
    held: list[tuple[int, int]] = []
    count = 0
    for at in sorted(tally.seconds):
        held.append((at, tally.seconds[at]))
        count += tally.seconds[at]
        while held[0][0] <= at - alert.within:
            count -= held.pop(0)[1]
        if count >= alert.least and at - held[0][0] >= alert.lasts:
            return True
    return False


def _needing(sign: str) -> list[Rule]:
    return [rule for each in watched().values() for rule in each if rule.alert.also == sign]


# --- alerts -----------------------------------------------------------------------------------------------------------


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
        says = SAYS["place"].say(says=says.rstrip(".。"), place=place).render(lang) + STOP[lang]
    doubling = doubling_seconds(episode) if alert is not None and alert.grows else None
    count = max(episode.totals.values(), default=0)
    sentence = says
    if ring.state != "raised":
        sentence = SAYS[ring.state].say(says=says, count=count, minutes=int(CLEAR // 60)).render(lang)
    if ring.state != "cleared":
        if doubling is not None:
            sentence += " " + SAYS["doubles"].say(seconds=doubling).render(lang)
        if full_in is not None and (alert is None or alert.grows or episode.cause == "disk-full"):
            sentence += " " + SAYS["full"].say(minutes=max(1, round(full_in / 60))).render(lang)
    refs = [episode.ref, ring.ref]
    return {
        "id": f"{episode.id}-{ring.state}-{count}",
        "time": dt.datetime.fromtimestamp(ring.at, dt.UTC).isoformat(timespec="milliseconds"),
        "state": ring.state,
        "cause": episode.cause,
        "severity": episode.severity,
        "step": alert.step if alert else "",
        "summary": sentence,
        "evidence": [ref for n, ref in enumerate(refs) if ref and ref not in refs[:n]],
        "figures": {
            "counts": dict(episode.totals),
            "since": dt.datetime.fromtimestamp(episode.raised, dt.UTC).isoformat(timespec="milliseconds"),
            "doubling_seconds": doubling,
            "disk_full_seconds": None if full_in is None else round(full_in),
        },
    }
