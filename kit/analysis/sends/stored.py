"""Messages in the commitlogs: the originals of failed sends, and what is stored more than once.

Looks at all brokers and topics: a retried send is often on two brokers (reference §7.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis import refs, unseen
from kit.analysis.messages.originals import which
from kit.analysis.sends import attempts
from kit.case import scan
from kit.case.memoize import once
from kit.formats.commitlog.schema import TEXT, promoted
from kit.formats.commitlog.strings import hashed
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.rocketmq.log_layouts import BROKER_SIDE

if TYPE_CHECKING:
    from kit.case.case import Case

MOST_COPIES: Final = 200_000
BODY: Final = ("body_crc", "body_size")
LONGEST_CALL: Final = 60
"""s between the first and the last attempt of one call: sendMsgTimeout is 3 s for all attempts, and rarely set beyond a
minute."""
LONGEST_STALL: Final = 10
"""s after which a send that its client gave up is no longer stored."""
SECOND: Final = 1000
COPY_COLUMNS: Final = (
    "key",
    "uniq_key",
    "copies",
    "brokers",
    "kind",
    "topic",
    "queue_id",
    "queue_offset",
    "born_timestamp",
    "store_timestamp",
    "store_host",
    "offset_msg_id",
    "file",
    "physical_offset",
)
_TARGET: Final = promoted(names.REAL_TOPIC)
PLACED: Final = ("key", "uniq_key", *COPY_COLUMNS[5:], "real_topic", *BODY)
"""An original as it is reported: its keys, where it lies, where it is bound for, its body."""


def parts(keys: Any) -> tuple[str, ...]:
    """Return the keys of a message as a whole and one by one: blanks separate them in KEYS."""
    return (keys, *keys.split()) if isinstance(keys, str) else ()


def copies_of(case: Case, failed: pd.DataFrame) -> pd.DataFrame:
    """Return the originals of the failed sends: `identity` and the columns of `PLACED`. By key if one is known, else by
    UNIQ_KEY.

    `failed`: identity, key, uniq_key. A message may have several keys, separated by blanks.
    """
    by_key = failed.loc[failed["key"].notna(), ["identity", "key"]]
    by_id = failed.loc[failed["key"].isna() & failed["uniq_key"].notna(), ["identity", "uniq_key"]]
    wanted = [by_key.rename(columns={"key": "sought"}), by_id.rename(columns={"uniq_key": "sought"})]
    wanted = [each.drop_duplicates().astype(str) for each in wanted]
    keys, ids = (pa.array(each["sought"].unique(), pa.string()) for each in wanted)
    # No failed send, or none that says which message it was of.
    empty = pd.DataFrame(columns=pd.Index(["identity", *PLACED]))
    places = [_holding(batch, keys, ids) for batch in scan.batches(case, ("file", "physical_offset", "keys", "uniq_key"), which(case))] if len(keys) + len(ids) else []  # fmt: skip
    if not (places := [each for each in places if each.num_rows]):
        return empty
    found = placed(case, pa.Table.from_batches(places))
    said = [found.assign(sought=found["key"].map(lambda text: list(dict.fromkeys(parts(text))))).explode("sought")]
    said.append(found.assign(sought=found["uniq_key"]))
    both = [each.merge(rows, on="sought")[["identity", *PLACED]] for each, rows in zip(said, wanted, strict=True)]
    return pd.concat([each for each in both if len(each)] or [empty], ignore_index=True).head(MOST_COPIES)


def _holding(batch: pa.RecordBatch, keys: pa.Array, ids: pa.Array) -> pa.RecordBatch:
    """Return the places of the records that have one of the keys, alone or among others, or one of the ids."""
    split = pc.split_pattern(batch["keys"], " ")
    parted = pc.list_parent_indices(split).filter(pc.is_in(pc.list_flatten(split), value_set=keys))
    whole = pc.or_(pc.is_in(batch["keys"], value_set=keys), pc.is_in(batch["uniq_key"], value_set=ids))
    rows = np.union1d(parted.to_numpy(zero_copy_only=False), np.flatnonzero(whole.to_numpy(zero_copy_only=False)))
    return batch.select(["file", "physical_offset"]).take(pa.array(rows))


def placed(case: Case, places: pa.Table) -> pd.DataFrame:
    """Return the originals at these places (file, physical_offset) with the columns of `PLACED`."""
    stored = [name for name in (*PLACED, "keys") if name not in ("key", "real_topic")]
    offsets, files = places["physical_offset"].unique(), places["file"].cast(pa.string()).unique()
    at = ds.field("physical_offset").isin(offsets) & scan.one_of("file", files)
    found = _shown(scan.records(case, (*stored, _TARGET), which(case) & at).to_pandas())
    wanted = places.to_pandas().astype({"file": object}).drop_duplicates()
    return found.merge(wanted, on=["file", "physical_offset"])


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """Return records as reported: with `real_topic` (the destination of one that waits) and `key` (KEYS as a whole),
    times in naive UTC.
    """
    frame = frame.astype(dict.fromkeys(("file", "topic", "store_host", _TARGET), object))
    for name in ("born_timestamp", "store_timestamp"):
        frame[name] = frame[name].dt.tz_localize(None)
    frame["real_topic"] = frame[_TARGET].fillna(frame["topic"])
    return frame.rename(columns={"keys": "key"})


def covered(case: Case, failed: pd.DataFrame) -> pd.Series:
    """Return for each failed send whether the commitlogs at hand would contain it: all brokers it may have gone to, at
    its time.
    """
    if failed.empty:
        return pd.Series(dtype=bool)
    asked = [("store_timestamp", "min"), ("store_timestamp", "max"), ("physical_offset", "min")]
    hosts = scan.extremes(case, ["store_host"], asked).to_pandas()
    first, end = hosts["store_timestamp_min"].min(), hosts["store_timestamp_max"].max()
    # A store copied after the last line of the broker's logs cannot be told from one copied at that line.
    ends = [
        item.last.timestamp() * 1000
        for item in case.inventory.items
        if item.kind == "log" and item.source in BROKER_SIDE and item.last
    ]
    last = max([0 if pd.isna(end) else end.timestamp() * 1000, *ends])
    named = attempts.attempts(case)["broker"].dropna().nunique()
    when = failed["ts"]
    begin = 0 if pd.isna(first) else first.timestamp() * 1000
    inside = when.isna() | ((when <= last) & ((hosts["physical_offset_min"].min() == 0) | (when >= begin)))
    inside &= ~_unseen(case, failed)
    return inside & (named <= hosts["store_host"].nunique() or named <= 1)


def _unseen(case: Case, failed: pd.DataFrame) -> pd.Series:
    """Return for each failed send whether its message may have been written where the logs at hand have nothing."""
    # One damaged record among thousands does not leave open what became of every send around it.
    found = [each for each in unseen.stretches(case) if each.large]
    # A ledger has the begin of a send, a log its failure; what a client gave up may be stored when the broker's stall ends.
    early = failed["ts"] - np.where(failed["source"] == "ledger", SECOND, LONGEST_CALL * SECOND)
    late = failed["ts"] + pd.to_numeric(failed["cost_ms"], errors="coerce").fillna(0) + LONGEST_STALL * SECOND
    timed = failed["ts"].notna()
    hidden = unseen.may_hold(found, early.fillna(0).to_numpy("float64"), late.fillna(0).to_numpy("float64"))
    return pd.Series(np.where(timed, hidden, bool(found)), index=failed.index, dtype=bool)


def stored_twice(case: Case, failed: pd.DataFrame, copies: pd.DataFrame, *, listed: bool) -> pd.DataFrame:
    """Return the originals that share key and body with another one, one row each in order of key and store time
    (`COPY_COLUMNS`).

    With a ledger its keys count; without one, those of failed sends and those whose UNIQ_KEY is stored twice.
    """
    if listed:
        found = twins(case)
        found = found[found["key"].notna() & found.duplicated(["key", *BODY], keep=False)]
        keys = pd.DataFrame(
            [(part, whole) for whole in found["key"].unique() for part in parts(whole)], columns=["key", "whole"]
        )
        found = found[found["key"].isin(_listed(case, keys))]
    else:
        sent = copies[copies.duplicated(["identity", *BODY], keep=False)]
        both = [repeated(case), sent.drop(columns="identity")]
        # Columns of a frame without rows have no types to agree on.
        found = pd.concat([each for each in both if len(each)] or both[:1]).drop_duplicates("offset_msg_id")
        found = found[found["key"].notna()]
    same = found.groupby(["key", *BODY], sort=False)
    kinds = dict(zip(failed["key"], failed["kind"], strict=True))
    found = found.assign(
        copies=same["offset_msg_id"].transform("nunique"),
        brokers=same["store_host"].transform("nunique"),
        kind=found["key"].map(kinds),
    )
    return found.sort_values(["key", "store_timestamp", "offset_msg_id"], ignore_index=True)[list(COPY_COLUMNS)]


def _listed(case: Case, keys: pd.DataFrame) -> set[str]:
    """Return those values of KEYS of which the ledger lists a key. `keys`: key (one of them), whole."""
    if keys.empty:
        return set()
    every = pa.array(keys["key"].unique(), pa.string())
    listed = scan.table(case, "sends", ["key"], scan.one_of("key", every))["key"].unique().to_pylist()
    return set(keys.loc[keys["key"].isin(listed), "whole"])


def repeated(case: Case) -> pd.DataFrame:
    """Return the originals whose UNIQ_KEY is stored more than once in one real topic with one body and the same
    properties of the application, as a client's retry leaves them.

    Without transactional records (a late commit repeats them for another reason) and those born further apart than a
    call can last.
    """
    return once(case, "repeated originals", lambda: _repeated(case))


def _repeated(case: Case) -> pd.DataFrame:
    found = twins(case)
    plain = found[(found["sys_flag"] & names.TRANSACTION_MASK == names.TRANSACTION_NOT) & found["uniq_key"].notna()]
    columns = ["real_topic", "uniq_key", *BODY, "own_names"]
    plain = plain.assign(own_names=plain[TEXT].map(_own_names))
    plain = plain[plain.duplicated(columns, keep=False)]
    born = plain.groupby(columns)["born_timestamp"]
    close = born.transform("max") - born.transform("min") <= pd.Timedelta(LONGEST_CALL, unit="s")
    return plain[close][list(PLACED)].reset_index(drop=True)


def _own_names(text: str | None) -> str:
    """Return the names of the properties that RocketMQ does not know, in order of name: a copy made by RocketMQ of which one bit is wrong seems to be an
    original, with a name that the other record does not have.
    """
    names_ = {pair.split("\x01", 1)[0] for pair in (text or "").split("\x02")}
    return "\x02".join(sorted(names_ - names.PROPERTIES.keys()))


def twins(case: Case) -> pd.DataFrame:
    """Return the originals that share UNIQ_KEY, topic and body with another one and, if there is a send ledger, those
    that share KEYS and body.

    Columns of `PLACED`, sys_flag and properties_text.
    """
    return once(case, "twin originals", lambda: _twins(case))


def _twins(case: Case) -> pd.DataFrame:
    listed = case.has("sends")
    columns = ("topic", _TARGET, "uniq_key", *BODY, *(["keys"] if listed else []))
    mine = (hash_ for batch in scan.batches(case, columns, which(case)) for hash_ in _hashes(batch, listed)[1])
    same, counts = np.unique(np.concatenate([np.empty(0, np.uint64), *mine]), return_counts=True)
    twice = same[counts > 1][:MOST_COPIES]
    if not len(twice):
        return pd.DataFrame(columns=pd.Index([*PLACED, "sys_flag", TEXT]))
    # Two records can share a hash without sharing the values: whoever asks groups by the values.
    stored = [name for name in (*PLACED, "sys_flag", TEXT, "keys") if name not in ("key", "real_topic")]
    found = []
    for batch in scan.batches(case, (*stored, _TARGET), which(case)):
        rows = [at[np.isin(hash_, twice)] for at, hash_ in zip(*_hashes(batch, listed), strict=True)]
        found.append(batch.take(pa.array(np.unique(np.concatenate(rows)))).to_pandas())
    frame = pd.concat([part for part in found if len(part)], ignore_index=True)
    kept = _shown(frame)[[*PLACED, "sys_flag", TEXT]].head(2 * MOST_COPIES)
    return kept.drop_duplicates("offset_msg_id", ignore_index=True)


def _hashes(batch: pa.RecordBatch, listed: bool) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the rows with a UNIQ_KEY and the hashes of topic, UNIQ_KEY and body; if `listed`, also those with KEYS and
    the hashes of KEYS and body.
    """
    mixed, body = np.uint64(1_000_003), np.zeros(batch.num_rows, np.uint64)
    for name in BODY:
        number = pc.fill_null(batch[name], -1).to_numpy(zero_copy_only=False).astype(np.int64)
        body = body * mixed + number.view(np.uint64)
    topic, target = batch["topic"], batch[_TARGET]
    known = hashed(pa.concat_arrays([target.dictionary, topic.dictionary, pa.nulls(1, topic.dictionary.type)]))
    real = known[pc.coalesce(target.indices, pc.add(topic.indices, len(target.dictionary)), len(known) - 1).to_numpy()]
    rows, found = [], []
    for name, seed in (("uniq_key", body * mixed + real), ("keys", body + np.uint64(1)))[: 2 if listed else 1]:
        at = np.flatnonzero(batch[name].is_valid().to_numpy(zero_copy_only=False))
        rows.append(at)
        found.append(hashed(batch[name], seed)[at])
    return rows, found


def copy_refs(copies: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the first four records that are stored twice."""
    return tuple(
        refs.with_times(r, f"storeHost={r.store_host}", f"KEYS={r.key}", f"UNIQ_KEY={r.uniq_key}")
        for r in copies.head(4).itertuples()
    )
