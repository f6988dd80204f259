"""What follows at each stop of notebook 20."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from kit.analysis import setup
from kit.notebook.walks import Said, stop, walk
from kit.rocketmq.names import HALF_TOPIC, RETRY_PREFIX

if TYPE_CHECKING:
    from kit.notebook.inquiry import Inquiry

LONGEST: Final = 127
"""Characters of a topic's name that brokers store."""


@stop
def symptom(rows: pd.DataFrame) -> Said:
    most = rows.groupby("real_topic")["records"].max().sort_values(ascending=False)
    topic, largest = str(most.index[0]), int(most.iloc[0])
    first = rows.loc[rows["real_topic"] == topic, "records"].iloc[0]
    name = "steady" if largest < 16 or largest < 8 * max(1, first) else "grows"
    return name, {
        "topic": topic,
        "first": first,
        "most": largest,
        "other": int(most.iloc[1:].max() or 0) + 1 if len(most) > 1 else 1,
    }


@stop
def producer(rows: pd.DataFrame) -> Said:
    pending = rows.loc[rows["state"] == "pending", "transactions"].sum()
    return "open" if pending else "ended", {"pending": pending, "all": rows["transactions"].sum()}


@stop
def whose(rows: pd.DataFrame) -> Said:
    own = rows[rows["real_topic"] == HALF_TOPIC]
    if own.empty:
        return "ordinary", {}
    return "own", {"records": own["records"].sum(), "messages": own["messages"].max()}


@stop
def first_leaks(rows: pd.DataFrame) -> Said:
    retry, first = rows["property_RETRY_TOPIC"].dropna(), rows.iloc[0]
    if retry.empty:
        return "no_retry", {}
    return "retry", {
        "host": str(first["born_host"]).rpartition(":")[0],
        "topic": str(retry.iloc[0]),
        "times": str(first["property_RECONSUME_TIME"]),
        "delay": str(first["property_DELAY"]),
        "tran": walk(__name__).words["tran_msg"] if rows["property_TRAN_MSG"].eq("true").all() else "",
    }


@stop
def refused(rows: pd.DataFrame) -> Said:
    lengths = [int(text) for text in rows["length"].dropna() if str(text).isdigit()]
    if lengths:
        return "name", {"length": max(lengths), "limit": LONGEST}
    return "threw", {"count": (rows["event"] == "send-back-exception").sum()}


@stop
def group(rows: pd.DataFrame) -> Said:
    row, length = rows.iloc[0], int(rows["retry_topic_length"].iloc[0])
    if length <= LONGEST:
        return "fits", {"name": RETRY_PREFIX + str(row["consumer_group"]), "length": length}
    return "too_long", {"length": length, "over": length - LONGEST, "parts": len(row["parts"])}


@stop
def two(rows: pd.DataFrame) -> Said:
    return "doubles" if (rows["lane"] == "commit").any() else "circles", {}


@stop
def bounds(rows: pd.DataFrame) -> Said:
    count, limit = rows["half_records"].astype(float), rows["limit"].max()
    ratio = (count / count.shift()).median()
    limit = None if pd.isna(limit) else limit
    if not ratio >= 1.2:
        return "flat", {"limit": limit}
    return "grows", {
        "first": count.iloc[0],
        "last": count.iloc[-1],
        "rounds": len(count) - 1,
        "ratio": f"{ratio:.1f}",
        "megabytes": int(rows["bytes"].sum() / 1e6),
        "limit": limit,
    }


@stop
def drawn(rows: pd.DataFrame) -> Said:
    counts = dict(zip(rows["hop"], rows["records"], strict=True))
    return ("loop", {"due": counts["due"], "sent": counts.get("re-sent")}) if counts.get("due") else ("no_loop", {})


@stop
def fixes(rows: pd.DataFrame) -> Said:
    happened = rows.loc[rows["fix"] == "as it happened", "leaked_records"].sum()
    return "fixes", {"records": happened, "retries": rows["retries"].max()}


def retry(inquiry: Inquiry) -> tuple[str, str, str]:
    """Return group, client and broker release of this evidence; the last with the fault where it names none."""
    facts = inquiry.case.facts
    refusals = facts("refused_send_backs")["consumer_group"].dropna().tolist()
    consumers = [client for client in setup.clients(facts) if client["role"] == "consumer"]
    chosen = refusals[0] if refusals else max((client["group"] for client in consumers), key=len, default="")
    releases = [client["version"] for client in consumers if client["group"] == chosen]
    return chosen, next(iter(releases), "4.6.0"), next(iter(setup.broker_versions(facts)), "4.6.0")
