"""Messages in the commitlogs: the originals of failed sends, and what is stored more than once.

Looks at all brokers and topics: a retried send is often on two brokers (reference §7.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.analysis import refs, unseen
from kit.analysis.sends import attempts
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.rocketmq.log_layouts import BROKER_SIDE

if TYPE_CHECKING:
    from kit.case.case import Case

BODY: Final = ("body_crc", "body_size")
LONGEST_CALL: Final = 60
"""s between the first and the last attempt of one call: sendMsgTimeout is 3 s for all attempts, and rarely set beyond a
minute."""
LONGEST_STALL: Final = 10
"""s after which a send that its client gave up is no longer stored."""
SECOND: Final = 1000
COPY_COLUMNS: Final = (
    "key", "uniq_key", "copies", "brokers", "kind", "topic", "queue_id", "queue_offset", "born_timestamp", "store_timestamp",
    "store_host", "offset_msg_id", "file", "physical_offset",
)  # fmt: skip


def parts(keys: Any) -> tuple[str, ...]:
    """Return the keys of a message as a whole and one by one: blanks separate them in KEYS."""
    return (keys, *keys.split()) if isinstance(keys, str) else ()


def covered(case: Case, failed: pd.DataFrame) -> pd.Series:
    """Return for each failed send whether the commitlogs at hand would contain it: all brokers it may have gone to, at
    its time.
    """
    if failed.empty or (hosts := case.facts("store_hosts")).empty:
        return pd.Series(False, failed.index)
    # A store copied after the last line of the broker's logs cannot be told from one copied at that line.
    logs = [item for item in case.inventory.items if item.kind == "log" and item.source in BROKER_SIDE]
    last = max([hosts["last_ms"].max(), *(item.last.timestamp() * 1000 for item in logs if item.last)])
    begins = hosts["first_offset"].min() == 0
    ts = failed["ts"]
    inside = ts.isna() | ((ts <= last) & (begins | (ts >= hosts["first_ms"].min())))
    named = attempts.attempts(case)["broker"].nunique()
    return inside & ~_unseen(case, failed) & (named <= max(len(hosts), 1))


def _unseen(case: Case, failed: pd.DataFrame) -> pd.Series:
    """Return for each failed send whether its message may have been written where the logs at hand have nothing."""
    # One damaged record among thousands does not leave open what became of every send around it.
    large = [each for each in unseen.stretches(case) if each.large]
    # A ledger has the begin of a send, a log its failure; what a client gave up may be stored when the broker's stall ends.
    early = failed["ts"] - LONGEST_CALL * SECOND
    early = early.where(failed["source"] != "ledger", failed["ts"] - SECOND)
    late = failed["ts"] + failed["cost_ms"].fillna(0).astype("float64") + LONGEST_STALL * SECOND
    hidden = failed["ts"].isna() & bool(large)
    for each in large:
        hidden |= (each.after <= late) & (each.before >= early)
    return hidden


def copies(case: Case, failed: pd.DataFrame) -> pd.DataFrame:
    """Return the originals of the failed sends, as the table `sent_copies` has them."""
    if failed["key"].isna().all() and failed["uniq_key"].isna().all():
        return pd.DataFrame(columns=pd.Index(["identity", *COPY_COLUMNS, *BODY]))
    return case.facts("sent_copies")


def stored_twice(case: Case, failed: pd.DataFrame, sent: pd.DataFrame, *, listed: bool) -> pd.DataFrame:
    """Return the originals that share key and body with another one, one row each in order of key and store time
    (`COPY_COLUMNS`).

    With a ledger its keys count; without one, those of failed sends (`sent`) and those whose UNIQ_KEY is stored twice.
    """
    if listed:
        rows = case.facts("ledger_copies")
        rows = rows[rows.duplicated(["key", *BODY], keep=False)]
    else:
        again = sent[sent.duplicated(["identity", *BODY], keep=False)]
        both = [repeated(case), again.drop(columns="identity")]
        # Columns of a frame without rows have no types to agree on.
        rows = pd.concat([each for each in both if len(each)] or both[:1]).drop_duplicates("offset_msg_id")
        rows = rows[rows["key"].notna()]
    same = rows.groupby(["key", *BODY], sort=False)
    rows = rows.assign(
        copies=same["offset_msg_id"].transform("nunique"),
        brokers=same["store_host"].transform("nunique"),
        kind=rows["key"].map(dict(zip(failed["key"], failed["kind"], strict=True))),
    )
    return rows.sort_values(["key", "store_timestamp", "offset_msg_id"], ignore_index=True)[list(COPY_COLUMNS)]


def repeated(case: Case) -> pd.DataFrame:
    """Return the originals whose UNIQ_KEY is stored more than once in one real topic with one body and the same
    properties of the application, as a client's retry leaves them (the table `repeated_originals`).

    Without transactional records (a late commit repeats them for another reason) and those born further apart than a
    call can last.
    """
    rows = case.facts("repeated_originals").drop_duplicates("offset_msg_id")
    columns = ["real_topic", "uniq_key", *BODY, "own_names"]
    rows = rows.assign(own_names=rows.pop("properties_text").map(_own_names))
    rows = rows[rows.duplicated(columns, keep=False)]
    born = rows.groupby(columns)["born_timestamp"]
    close = born.transform("max") - born.transform("min") <= pd.Timedelta(LONGEST_CALL, unit="s")
    return rows[close].drop(columns="own_names").reset_index(drop=True)


def _own_names(text: str | None) -> str:
    """Return the names of the properties that RocketMQ does not know, in order of name: a copy made by RocketMQ of which
    one bit is wrong seems to be an original, with a name that the other record does not have.
    """
    names_ = {pair.split("\x01", 1)[0] for pair in (text or "").split("\x02")}
    return "\x02".join(sorted(names_ - names.PROPERTIES.keys()))


def copy_refs(copies: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the first four records that are stored twice."""
    return tuple(
        refs.with_times(r, f"storeHost={r.store_host}", f"KEYS={r.key}", f"UNIQ_KEY={r.uniq_key}")
        for r in copies.head(4).itertuples()
    )
