"""Which id each call returns (`kit.rocketmq.id_calls`), shown on one message's records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kit.i18n import Lang
from kit.rocketmq import stages
from kit.rocketmq.id_calls import CALLS
from kit.rocketmq.versions import Version

if TYPE_CHECKING:
    import pandas as pd


def on_message(
    records: Sequence[dict[str, Any]], client: str | Version | None = None, lang: Lang = "en"
) -> pd.DataFrame:
    """Return the id that each call returns for this message: columns call, side, which, id, copy (stage), says,
    upstream.

    `records` as in `kit.trace`, in store order; `id` is None if the call answers null or the message has no such copy.
    """
    import pandas as pd

    transactional = any(r["stage"] in (stages.HALF, stages.CHECK_BACK, stages.COMMIT) for r in records)
    rows = []
    for one in CALLS:
        if not one.holds(client) or (one.transactional is not None and one.transactional is not transactional):
            continue
        copy = next((r for r in reversed(records) if plain(r["stage"]) in one.stages), None)
        origin = next((r["origin_message_id"] for r in records if r.get("origin_message_id")), None)
        uniq = next((r["uniq_key"] for r in records if r["uniq_key"]), None)
        text = {
            "uniq": uniq,
            "none": None,
            "offset": origin if "origin" in one.stages else copy and copy["offset_msg_id"],
        }[one.which]
        shown = copy["stage"] if copy and one.which == "offset" else None
        rows.append((one.call, one.side, one.which, text, shown, one.says.in_(lang), one.upstream))
    return pd.DataFrame(rows, columns=pd.Index(["call", "side", "which", "id", "copy", "says", "upstream"]))


def plain(stage: str) -> str:
    """Return the stage without a retry's number."""
    return stage.split(" ")[0]
