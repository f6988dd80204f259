"""Episodes → alerts for people and programs: one JSON object each."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from kit.causes.alerts import rules
from kit.i18n import Lang, T
from kit.watch.episodes import CLEAR, Episode, Ring, doubling_seconds

WORSE: Final = T("{says} It is getting worse: {count} so far.")
CLEARED: Final = T("Not seen for {minutes} {minutes:minute|minutes}: {says}")
PLACE: Final = T("{says} ({place})")
STOP: Final[dict[Lang, str]] = {"en": ".", "zh": "。"}
DOUBLES: Final = T("It doubles every {seconds} s.")
FULL: Final = T("The disk will be full in {minutes} {minutes:minute|minutes} at the current rate.")


def note(ring: Ring, lang: Lang, full_in: float | None = None) -> dict[str, Any]:
    """Return an alert: {id, time, state, cause, severity, step, summary, evidence, figures}.

    `id` is the same for one moment of one episode, however often it is sent; `full_in`: seconds until the disk of the
    store is full, None if it is not filling.
    """
    episode = ring.episode
    alert = next((rule.alert for rule in rules() if rule.name == (ring.rule or _first(episode))), None)
    says = alert.says.in_(lang) if alert else episode.cause
    says = says if says.endswith((".", "。")) else says + STOP[lang]
    if episode.key:
        says = (
            PLACE.say(says=says.rstrip(".。"), place=[part for part in episode.key if part != "None"]).render(lang)
            + STOP[lang]
        )
    doubling = doubling_seconds(episode) if alert is not None and alert.grows else None
    count = max(episode.totals.values(), default=0)
    sentence = {
        "raised": lambda: says,
        "worse": lambda: WORSE.say(says=says, count=count).render(lang),
        "cleared": lambda: CLEARED.say(minutes=int(CLEAR // 60), says=says).render(lang),
    }[ring.state]()
    if ring.state != "cleared":
        if doubling is not None:
            sentence += " " + DOUBLES.say(seconds=doubling).render(lang)
        if full_in is not None and (alert is None or alert.grows or episode.cause == "disk-full"):
            sentence += " " + FULL.say(minutes=max(1, round(full_in / 60))).render(lang)
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


def _first(episode: Episode) -> str:
    return next(iter(episode.rung), "")
