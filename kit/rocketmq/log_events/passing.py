"""Log texts that every start or stop brings and that are a symptom where they go on: which, and how often and how long
that is. `kit.analysis.noise` judges by these numbers, never by a text alone.
"""

from __future__ import annotations

from typing import Final

import attrs

from kit.i18n import T

HEARTBEATS: Final = 60
"""s: two heartbeats of a client (heartbeatBrokerInterval, 30 s). Until then a broker that started does not know its
groups, and a client that started or stopped is not known to every broker."""
FORGOTTEN: Final = 120
"""s after which a broker forgets a client that died without a word (ClientChannelInfo, CHANNEL_EXPIRED_TIMEOUT): what such
a client leaves behind is over by then."""
PULLS: Final = 20
"""Entries: a refused pull is tried again after 3 s (pullTimeDelayMillsWhenException), so a minute of one queue has 20."""
POLLS: Final = 3
"""Entries: dashboards and exporters ask once a minute or less often."""
BURSTS: Final = 3
"""Minutes in which the text has to come: two restarts that left no line of their own are two bursts."""


@attrs.frozen
class Passing:
    """`slug`: the text; `starts`: the texts of starts and stops that bring it, of its own group where they name one; `what`:
    a heading for what goes on, in the `lane` of the timeline.

    It goes on where at least `least` entries are further than `around` s from every such start or stop, span at least
    `lasts` s, and come in at least `minutes` different minutes.
    """

    slug: str
    what: T
    starts: tuple[str, ...]
    least: int = PULLS
    around: int = HEARTBEATS
    lasts: int = FORGOTTEN
    minutes: int = BURSTS
    lane: str = "consumers"


_BROKER: Final = ("broker-boot", "store-shutdown", "store-last-shutdown")
_CONSUMERS: Final = ("consumer-connected", "consumer-disconnected", "client-started", "consumer-stopped", "consumer-group-changed", *_BROKER)  # fmt: skip
_CLIENTS: Final = (*_CONSUMERS, "producer-connected", "producer-unregistered", "producer-channel-removed")

PASSING: Final[tuple[Passing, ...]] = (
    Passing("consumer-group-missing", T("Pulls of a group the broker does not know"), _CONSUMERS),
    Passing("subscription-missing", T("Pulls of a topic the group is not subscribed to on the broker"), _CONSUMERS),
    Passing("subscription-not-latest", T("Pulls with another subscription than the broker's"), _CONSUMERS),
    Passing("no-consumer-online", T("Requests for a group of which nobody is connected"), _CONSUMERS, least=POLLS),
    Passing("response-lost", T("Answers whose client was gone"), _CLIENTS),
    Passing(
        "half-store-null",
        T("The check reads nothing from the half queue's store"),
        _BROKER,
        least=POLLS,
        lane="transactions",
    ),
    Passing(
        "check-pull-null",
        T("The check of a half queue fails for want of an answer"),
        _BROKER,
        least=POLLS,
        lane="transactions",
    ),
)

BY_SLUG: Final = {each.slug: each for each in PASSING}
STARTS: Final = tuple(dict.fromkeys(start for each in PASSING for start in each.starts))
