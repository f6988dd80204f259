"""What a user declares about evidence: zones, times, columns of tables, the cluster to use."""

import datetime as dt
import hashlib
import json
from typing import Any

import attrs

from kit.formats.printed_times import iso
from kit.i18n import labels


def instant(text: str | dt.datetime | None) -> dt.datetime | None:
    """Return a point in time; without an offset it is in UTC. Raise `ValueError` for an invalid ISO time."""
    if text is None or isinstance(text, dt.datetime):
        return text if text is None or text.tzinfo else text.replace(tzinfo=dt.UTC)
    try:
        return iso(text)
    except ValueError:
        raise ValueError(labels("case")["opening"]["bad_time"].say(text=text)) from None


def window(since: dt.datetime | None, until: dt.datetime | None) -> None:
    """Raise `ValueError` for a window that ends before it begins: it would show a quiet cluster."""
    if since and until and since > until:
        raise ValueError(labels("case")["opening"]["empty_window"].say())


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

    def declared(self) -> dict[str, Any]:
        """Return what the user declared that changes results, spelled as on the command line."""
        times = {name: at.isoformat() for name in ("since", "until") if (at := getattr(self, name)) is not None}
        given = {"tz_broker": self.tz_broker, "tz_app": self.tz_app, **times, "rows": list(self.rows)}
        return {name: value for name, value in given.items() if value}

    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.declared()).encode()).hexdigest()[:12]
