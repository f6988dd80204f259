"""What each record is in the life of its message, worked out once for each combination of topic, target and flags."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pyarrow as pa

from kit.rocketmq import names, stages


def columns(
    topic: pa.DictionaryArray,
    target: pa.DictionaryArray,
    has: Callable[..., np.ndarray],
    transaction: np.ndarray,
    fresh: np.ndarray,
) -> list[pa.Array]:
    """Return the columns of `kit.formats.commitlog.schema.LINEAGE`.

    `target`: REAL_TOPIC; `has` says which records have one of these properties; `transaction`: the bits of sysFlag for it;
    `fresh`: neither consumed before nor made from a half record.
    """
    targets = len(target.dictionary) + 1
    kinds = topic.indices.to_numpy().astype(np.int64) * targets + target.indices.fill_null(-1).to_numpy() + 1
    kinds = kinds << 4 | has(names.DELAY, "TIMER_OUT_MS").astype(np.int64) << 3
    kinds |= has(*stages.RENEWED).astype(np.int64) << 2
    kinds |= (transaction == names.TRANSACTION_COMMIT).astype(np.int64) << 1
    kinds |= fresh & (transaction < names.TRANSACTION_COMMIT) & ~has(*stages.MADE_BY_CONSUMER)
    different = pa.array(kinds).dictionary_encode()
    topics, known = topic.dictionary.to_pylist(), [None, *target.dictionary.to_pylist()]
    said = [
        _of(topics[(kind >> 4) // targets], known[(kind >> 4) % targets], kind & 15)
        for kind in different.dictionary.to_pylist()
    ]
    stage, group, original = map(list, zip(*said, strict=True))
    which = different.indices.to_numpy()
    return [*(_texts(each, which) for each in (stage, group)), pa.array(np.array(original, bool)[which])]


@lru_cache(4096)
def _of(topic: str, target: str | None, bits: int) -> tuple[str, str | None, bool]:
    """Return stage, consumer group and whether a producer wrote them, of records with these topics and `bits` of `columns`."""
    delayed, renewed, committed, new = (bool(bits >> bit & 1) for bit in (3, 2, 1, 0))
    stage = stages.stage_of(topic, target, delayed=delayed, renewed=renewed, committed=committed)
    original = new and not renewed and stages.may_be_original(topic, target)
    return stage, stages.consumer_group_of(topic, target), original


def _texts(said: list[str | None], which: np.ndarray) -> pa.DictionaryArray:
    """Return the column of the texts of these kinds."""
    known = pa.array(said, pa.string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(known.indices.take(pa.array(which)), known.dictionary)
