"""What follows at each stop of notebook 20."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from kit.notebook.stops import Said, stop, words
from kit.rocketmq.names import HALF_TOPIC, RETRY_PREFIX

if TYPE_CHECKING:
    from kit.notebook.inquiry import Inquiry

LONGEST: Final = 127
"""Characters of a topic's name that brokers store."""

WORDS = words(__name__)


@stop
def symptom(rows: pd.DataFrame) -> Said:
    """Tell whether one series grows while the others do not."""
    by = {str(topic): part["records"].astype(float).tolist() for topic, part in rows.groupby("real_topic", sort=False)}
    topic, most = max(by.items(), key=lambda each: max(each[1]))
    others = [max(counts) for name, counts in by.items() if name != topic]
    if max(most) < 16 or max(most) < 8 * max(1, most[0]):
        return "steady", {"most": int(max(most))}
    return "grows", {
        "topic": topic,
        "first": int(most[0]),
        "most": int(max(most)),
        "other": int(max(others, default=0)) + 1,
    }


@stop
def producer(rows: pd.DataFrame) -> Said:
    """Tell whether transactions stay open."""
    by = rows.groupby("state")["transactions"].sum().astype(int).to_dict()
    everything, pending = sum(by.values()), by.get("pending", 0)
    if pending:
        return "open", {"pending": pending, "all": everything}
    return "ended", {"all": everything}


@stop
def whose(rows: pd.DataFrame) -> Said:
    """Tell whether records name the half topic as their own real topic."""
    own = rows[rows["real_topic"] == HALF_TOPIC]
    if own.empty:
        return "ordinary", {}
    return "own", {"records": int(own["records"].sum()), "messages": int(own["messages"].max())}


@stop
def first_leaks(rows: pd.DataFrame) -> Said:
    """Tell what the first leaked records carry."""
    retry, tran = rows["property_RETRY_TOPIC"].dropna(), rows["property_TRAN_MSG"].eq("true").all()
    if retry.empty:
        return "no_retry", {}
    return "retry", {
        "host": str(rows["born_host"].iloc[0]).rpartition(":")[0],
        "topic": str(retry.iloc[0]),
        "times": str(rows["property_RECONSUME_TIME"].iloc[0]),
        "delay": str(rows["property_DELAY"].iloc[0]),
        "tran": WORDS["tran_msg"] if tran else "",
    }


@stop
def refused(rows: pd.DataFrame) -> Said:
    """Tell why the send-back was refused."""
    lengths = [int(text) for text in rows["length"].dropna() if str(text).isdigit()]
    sent = int((rows["event"] == "send-back-exception").sum())
    if lengths:
        return "name", {"length": max(lengths), "limit": LONGEST}
    return "threw", {"count": sent}


@stop
def group(rows: pd.DataFrame) -> Said:
    """Tell whether the group's name is too long for a retry topic."""
    row = rows.iloc[0]
    if int(row["retry_topic_length"]) <= LONGEST:
        return "fits", {"name": RETRY_PREFIX + str(row["consumer_group"]), "length": int(row["retry_topic_length"])}
    return "too_long", {
        "length": int(row["retry_topic_length"]),
        "over": int(row["retry_topic_length"]) - LONGEST,
        "parts": len(row["parts"]),
    }


@stop
def two(rows: pd.DataFrame) -> Said:
    """Tell whether commits are diverted beside the put-backs."""
    lanes = rows["lane"].value_counts().to_dict()
    if not lanes.get("commit"):
        return "circles", {}
    return "doubles", {}


@stop
def bounds(rows: pd.DataFrame) -> Said:
    """Tell how the rounds grow and where they end."""
    count = rows["half_records"].astype(float)
    ratio = (count / count.shift()).dropna()
    limit = rows["limit"].dropna()
    if ratio.empty or ratio.median() < 1.2:
        return "flat", {"limit": int(limit.iloc[0]) if len(limit) else None}
    return "grows", {
        "first": int(count.iloc[0]),
        "last": int(count.iloc[-1]),
        "rounds": len(count) - 1,
        "ratio": float(ratio.median()),
        "megabytes": int(rows["bytes"].astype(float).sum() / 1e6),
        "limit": int(limit.iloc[0]) if len(limit) else None,
    }


@stop
def drawn(rows: pd.DataFrame) -> Said:
    """Tell what keeps the loop going."""
    counts = dict(zip(rows["hop"], rows["records"], strict=True))
    if not counts.get("due"):
        return "no_loop", {}
    return "loop", {
        "due": int(counts["due"]),
        "sent": None if pd.isna(counts.get("re-sent")) else int(counts["re-sent"]),
    }


@stop
def fixes(rows: pd.DataFrame) -> Said:
    """Tell which fix lets the retries through."""
    happened = int(rows.loc[rows["fix"] == "as it happened", "leaked_records"].sum())
    return "fixes", {"records": happened, "retries": int(rows["retries"].max())}


def retry(inquiry: Inquiry) -> tuple[str, str, str]:
    """Return group, client and broker release of this evidence, for `resend.explore`; the last releases with the fault where it names none."""
    from kit.analysis import setup

    refusals = inquiry.case.facts("refused_send_backs")["consumer_group"].dropna().tolist()
    consumers = [client for client in setup.clients(inquiry.case.facts) if client["role"] == "consumer"]
    chosen = refusals[0] if refusals else max((client["group"] for client in consumers), key=len, default="")
    releases = [client["version"] for client in consumers if client["group"] == chosen]
    return chosen, next(iter(releases), "4.6.0"), next(iter(setup.broker_versions(inquiry.case.facts)), "4.6.0")
