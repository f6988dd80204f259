"""A step several causes share when a group's offsets are known at one time only: some queues move on, of others
nothing was ever handled.
"""

from __future__ import annotations

from typing import Final

from kit.analysis.consumers import lag
from kit.causes.findings import Step, supporting
from kit.i18n import labels
from kit.tables.facts import Facts

SAYS: Final = labels("causes")["untouched_queues"]


def group(facts: Facts) -> str | None:
    """Return the group with untouched queues, the one with the most messages waiting; None if absent."""
    return next((pair.group for pair in lag.pairs(facts) if pair.untouched), None)


def steps(facts: Facts, of: str | None) -> list[Step]:
    """Return the supporting step of a group (`of` None: of any group); nothing if it has no such queue."""
    for pair in lag.pairs(facts):
        if (idle := pair.untouched) and of in (None, pair.group):
            queues = [q.queue_id for q in idle]
            claim = SAYS["untouched"].say(
                group=pair.group, queues=queues, topic=pair.topic, messages=sum(q.last_lag for q in idle)
            )
            refs = lag.refs(facts, pair.group, pair.topic, queues[0], most=1)
            return [supporting("queues-untouched", claim, True, refs)]
    return []
