"""What a notebook shows for one message: its journey, its copies, who handled it, what mentions it, what is missing.
Takes a dict from `kit.trace`.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from kit.charts import Captions, Chart, Table, figure
from kit.charts.messages import ids
from kit.charts.messages import journey as lanes
from kit.i18n import Lang, Sentence, labels

MESSAGE = Captions.of("message")


def journey(life: dict[str, Any], lang: Lang = "en") -> Chart:
    """Chart the journey of a traced message; of several with one key, the first."""
    first = next(iter(life["uniq_keys"]), None)
    records = [r for r in life["records"] if first is None or r["uniq_key"] in (first, None)]
    handled = [h for h in life["handled"] if first is None or h["uniq_key"] == first]
    return lanes.journey(pd.DataFrame(records), pd.DataFrame(handled), lang)


def apart(life: dict[str, Any], lang: Lang = "en") -> Chart:
    """Decode the message's UNIQ_KEY, else the id asked for; an invalid id gives an empty chart that says so."""
    from kit.rocketmq.ids import BadId

    text = next(iter(life["uniq_keys"]), life["id"])
    try:
        return ids.anatomy(text, lang)
    except BadId as bad:
        said = bad.sentence
        return ids.ANATOMY.chart(figure(), pd.DataFrame(), said, lang, alt=said)


def copies(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Return the copies, each with what wrote it: without the sentence about a new id, which is true of every one."""
    new = labels("analysis")["copies"]["new-id"].render(lang)
    return _table(
        [{**r, "why": r["why"].replace(new, "").strip()} if r.get("why") else r for r in life["records"]],
        ["store_timestamp", "stage", "topic", "offset_msg_id", "copied_from", "why"],
        MESSAGE["copies"].say(id=life["id"]),
        lang,
    )


def deliveries(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Return what consumers recorded about each delivery."""
    return _table(
        life["handled"],
        ["time", "consumer", "offset_msg_id", "reconsume_times", "result", "file", "line"],
        MESSAGE["deliveries"],
        lang,
    )


def mentions(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Return every mention of one of its ids or its key: lines, and entries of the message trace topic."""
    rows = [{**m, "line": str(m["line"])} for m in life["mentions"]]
    rows += [{**t, "line": f"@ {t['physical_offset']}"} for t in life["traces"]]
    return _table(rows, ["file", "line", "text"], MESSAGE["mentions"], lang)


def consumers(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Return what became of each copy in every group that could have consumed it."""
    rows = [{**c, "file": next((e["file"] for e in c["evidence"]), None), "line": _line(c)} for c in life["consumers"]]
    return _table(
        rows, ["group", "topic", "queue_id", "queue_offset", "text", "file", "line"], MESSAGE["consumers"], lang
    )


def _line(told: dict[str, Any]) -> str:
    """Return the line of the first reference to what became of a copy."""
    first: dict[str, Any] = next(iter(told["evidence"]), {})
    return str(first["line"]) if "line" in first else f"@ {first['physical_offset']}" if first else ""


def gaps(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Return the missing steps of its life."""
    return _table(life["gaps"], ["text", "offset_msg_id"], MESSAGE["gaps"], lang)


def calls(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Return which id each call returns. `frame`: from `kit.analysis.messages.lookups.on_message`; of several messages, the first."""
    shown = frame[frame["message"] == frame["message"].iloc[0]] if "message" in frame and len(frame) else frame
    columns = ["call", "which", "id", "copy", "says"]
    return Table(shown.reindex(columns=columns), MESSAGE["calls"], MESSAGE.columns, lang)


def _table(rows: list[dict[str, Any]], columns: list[str], caption: Sentence, lang: Lang) -> Table:
    if not rows:
        return Table(pd.DataFrame(), MESSAGE["nothing"].say(caption=caption), lang=lang)
    frame = pd.DataFrame(rows).reindex(columns=columns)
    times = {
        name: pd.to_datetime(frame[name], utc=True, format="ISO8601")
        for name in ("store_timestamp", "time")
        if name in frame
    }
    return Table(frame.assign(**times), caption, MESSAGE.columns, lang)
