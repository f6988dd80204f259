"""What a notebook shows of one message: its journey, its copies, who handled it, what mentions it, what is missing. From a dict as `kit.trace` gives it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from kit.show import Chart, Table, figure
from kit.show import identity as charts
from kit.texts import Lang, T

COPIES = T("Every copy of {id}, in store order", "{id} 的全部副本，按存储顺序")
DELIVERIES = T("What consumers did with it", "消费者对它的处理")
MENTIONS = T("Where it is mentioned", "何处提到它")
GAPS = T("What is missing", "缺失之处")
CALLS = T("Which id each call hands the programmer", "每个调用交给程序员的是哪个 id")
HEADS = {
    "store_timestamp": T("stored", "存储时间"), "stage": T("stage", "阶段"), "topic": T("topic", "主题"), "offset_msg_id": T("offset id", "offset id"),
    "why": T("why it was written", "写入原因"), "copied_from": T("written from", "写自"), "time": T("at", "时间"), "consumer": T("consumer", "消费者"),
    "result": T("result", "结果"), "reconsume_times": T("retry", "重试次数"), "file": T("file", "文件"), "line": T("line @ byte", "行号 @ 字节"),
    "text": T("text", "内容"), "call": T("call", "调用"), "which": T("kind", "种类"), "id": T("answers here", "在此消息上返回"),
    "copy": T("of the copy", "对应副本"), "says": T("what it is", "含义"),
}  # fmt: skip


def journey(life: dict[str, Any], lang: Lang = "en") -> Chart:
    """Chart the journey of a traced message; of several with one key, the first."""
    first = next(iter(life["uniq_keys"]), None)
    records = [r for r in life["records"] if first is None or r["uniq_key"] in (first, None)]
    handled = [h for h in life["handled"] if first is None or h["uniq_key"] == first]
    return charts.journey(pd.DataFrame(records), pd.DataFrame(handled), lang)


def apart(life: dict[str, Any], lang: Lang = "en") -> Chart:
    """Take the message's UNIQ_KEY apart, else the id asked for; what is no id gives an empty chart that says so."""
    from kit.model.ids import BadId

    text = next(iter(life["uniq_keys"]), life["id"])
    try:
        return charts.anatomy(text, lang)
    except BadId as bad:
        said = bad.sentence.render(lang)
        return Chart(figure(), pd.DataFrame(), said, said, charts.ANATOMY.render(lang), {}, lang)


def copies(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Return the copies with what wrote each."""
    return _table(life["records"], ["store_timestamp", "stage", "topic", "offset_msg_id", "copied_from", "why"], COPIES.say(id=life["id"]).render(lang), lang)


def deliveries(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Return what consumers wrote down about each delivery."""
    return _table(life["handled"], ["time", "consumer", "offset_msg_id", "reconsume_times", "result", "file", "line"], DELIVERIES.render(lang), lang)


def mentions(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Return every place that mentions one of its ids or its key."""
    rows = [{**m, "line": str(m["line"]) if "line" in m else f"@ {m['physical_offset']}"} for m in life["mentions"]]
    return _table(rows, ["file", "line", "text"], MENTIONS.render(lang), lang)


def gaps(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Return the steps that are missing in its life."""
    return _table(life["gaps"], ["text", "offset_msg_id"], GAPS.render(lang), lang)


def calls(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Return which id each call hands out. `frame` as `kit.inquiry.handed.on_message` gives it; of several messages, the first."""
    shown = frame[frame["message"] == frame["message"].iloc[0]] if "message" in frame and len(frame) else frame
    columns = ["call", "which", "id", "copy", "says"]
    return Table(shown.reindex(columns=columns), CALLS.render(lang), {name: HEADS[name].render(lang) for name in columns}, lang)


def _table(rows: list[dict[str, Any]], columns: list[str], caption: str, lang: Lang) -> Table:
    return Table(pd.DataFrame(rows).reindex(columns=columns), caption, {name: HEADS[name].render(lang) for name in columns}, lang)
