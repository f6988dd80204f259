"""Episodes → alerts for people and programs: one JSON object each."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from kit.causes.alerts import rules
from kit.i18n import Lang, labels
from kit.watch.episodes import CLEAR, Episode, Ring, doubling_seconds

SAYS: Final = labels("watch")["notes"]
STOP: Final[dict[Lang, str]] = {"en": ".", "zh": "。"}


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
            SAYS["place"]
            .say(says=says.rstrip(".。"), place=[part for part in episode.key if part != "None"])
            .render(lang)
            + STOP[lang]
        )
    doubling = doubling_seconds(episode) if alert is not None and alert.grows else None
    count = max(episode.totals.values(), default=0)
    sentence = {
        "raised": lambda: says,
        "worse": lambda: SAYS["worse"].say(says=says, count=count).render(lang),
        "cleared": lambda: SAYS["cleared"].say(minutes=int(CLEAR // 60), says=says).render(lang),
    }[ring.state]()
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


def _first(episode: Episode) -> str:
    return next(iter(episode.rung), "")
