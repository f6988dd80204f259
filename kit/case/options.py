"""What a user declares about an evidence: zones, times, columns of tables, the cluster to work on."""

from __future__ import annotations

import datetime as dt
import hashlib
import json

import attrs

from kit.i18n import T

BAD_TIME = T("`{text}` is not an ISO time, such as 2024-05-14T10:00:00+08:00 (without an offset: UTC)")


def instant(said: str | dt.datetime | None) -> dt.datetime | None:
    """Return an instant; a time without an offset is in UTC. Raise `ValueError` for what is no ISO time."""
    if said is None or isinstance(said, dt.datetime):
        return said if said is None or said.tzinfo else said.replace(tzinfo=dt.UTC)
    try:
        at = dt.datetime.fromisoformat(said)
    except ValueError:
        raise ValueError(BAD_TIME.say(text=said).render()) from None
    return at if at.tzinfo else at.replace(tzinfo=dt.UTC)


@attrs.frozen
class Options:
    """What the user declared. Everything but `master` and `remote` changes results."""

    tz_broker: str | None = None
    tz_app: str | None = None
    since: dt.datetime | None = None
    until: dt.datetime | None = None
    rows: tuple[str, ...] = ()
    master: str | None = None
    remote: str | None = None

    def digest(self, *more: str) -> str:
        shown = [self.tz_broker, self.tz_app, str(self.since), str(self.until), list(self.rows), *more]
        return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:12]
