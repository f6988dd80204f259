"""Replay of recorded arrivals against a broker that stalls now and then, under other limits. Arithmetic only."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

OUTCOMES: Final = ("stored", "refused", "timed out but stored", "timed out and refused")


def what_if(
    arrivals: np.ndarray, pauses: np.ndarray, timeout: float, retries: int, wait: float, sends: np.ndarray | None = None
) -> pd.DataFrame:
    """Return how many sends would be stored, refused or timed out: columns outcome (`OUTCOMES`) and sends.

    `arrivals`: times in ms at which messages are sent, `sends` of them each time (default one); `pauses`: rows (start, end) in ms, sorted, without
    overlap; `timeout`: sendMsgTimeout for all attempts, ms; `retries`: how often SYSTEM_BUSY is sent again (0 before client 5.3.0); `wait`:
    waitTimeMillsInSendQueue, ms. A request that reaches a stalled broker waits for the end of the pause; then it is refused if it waited `wait` ms
    or longer, else stored. A client that has waited `timeout` ms times out; its request is stored or refused all the same. A refused attempt is
    sent again at once.
    """
    starts, ends = pauses[:, 0], pauses[:, 1]
    weight = np.ones(len(arrivals), dtype="int64") if sends is None else sends
    outcome = np.zeros(len(arrivals), dtype="int8")
    now = arrivals.astype("float64").copy()
    open_ = np.ones(len(arrivals), dtype=bool)
    for _ in range(retries + 1):
        at = np.searchsorted(starts, now, side="right") - 1
        inside = open_ & (at >= 0) & (now < ends[np.maximum(at, 0)])
        waited = np.where(inside, ends[np.maximum(at, 0)] - now, 0.0)
        refused = inside & (waited >= wait)
        late = open_ & (now + waited - arrivals >= timeout)
        outcome[open_ & ~late] = refused[open_ & ~late]
        outcome[late] = 2 + refused[late]
        open_ &= refused & ~late
        now = np.where(open_, now + waited, now)
    return pd.DataFrame({"outcome": OUTCOMES, "sends": [int(weight[outcome == n].sum()) for n in range(len(OUTCOMES))]})
