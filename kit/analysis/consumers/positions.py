"""Offsets of consumer groups, by copies of consumerOffset.json and mqadmin outputs."""

from __future__ import annotations

from typing import Final

import pandas as pd

from kit.tables.facts import Facts, memo

KEYS: Final = ["group", "topic", "broker", "queue_id"]


@memo
def every(facts: Facts) -> pd.DataFrame:
    """Return the table `known_positions`: all positions of users' groups in order of time."""
    # Without any, nobody has to count how the queues grew.
    looks = facts("offset_looks")
    return looks.assign(begin=None, lag=None, at_least=None) if looks.empty else facts("known_positions")


def of_topic(facts: Facts, group: str, topic: str) -> pd.DataFrame:
    """Return the positions of one group in one topic, in order of time."""
    rows = every(facts)
    return rows[(rows["group"] == group) & (rows["topic"] == topic)]


def with_end(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the first positions with a known end, as a finding shows them."""
    return rows.loc[rows["end"].notna(), ["time", "source", *KEYS, "offset", "end", "lag", "file", "line"]].head(5_000)
