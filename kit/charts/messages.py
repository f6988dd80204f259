"""Messages: an id byte by byte, retries, and the life of one (a dict from `kit.trace`) in lanes and tables."""

from collections.abc import Iterable
from typing import Any, Final

import pandas as pd

from kit.charts import COLUMNS, LABELS, Chart, Declared, Table, escape
from kit.charts.figures import segments
from kit.i18n import CLOCK, Lang, labels, on_clock
from kit.rocketmq import ids

JOURNEY = Declared.of("journey")
MESSAGE = Declared.of("message")
ID: Final = LABELS["id"]
PARTS: Final = LABELS["ids parts"]


def anatomy(text: str, lang: Lang = "en") -> Table:
    """Show the fields of one id in the order of its bytes. Raise `kit.rocketmq.ids.BadId` for an invalid id."""
    info = ids.decode(text)
    address = len(info.text) // 2 - 12
    fields: list[tuple[str, int, str]] = []
    if info.kind == "offset":
        fields = [("store host", address, str(info.ip)), ("port", 4, str(info.port))]
        fields += [("physical offset", 8, f"{info.offset:,}")]
    elif info.kind == "uniq":
        fields = [("ip", address, str(info.ip)), ("pid", 2, str(info.pid)), ("class loader", 4, f"{info.loader:08X}")]
        fields += [("ms since month start", 4, f"{info.millis:,}"), ("counter", 2, str(info.counter))]
    rows, at = [], 0
    for part, size, means in fields:
        end = at + size
        rows.append((f"{at}–{end - 1}", PARTS[part].render(lang), info.text[2 * at : 2 * end], means))
        at = end
    caption = ID["title"].say(id=info.text, kind=ID[info.kind]) if rows else ID["nothing"]
    return Table(pd.DataFrame(rows, columns=pd.Index(["bytes", "field", "hex", "means"])), caption, COLUMNS, lang)


def uniq_apart(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Take the UNIQ_KEY of the first message of `frame` apart."""
    return anatomy(str(frame["uniq_key"].dropna().iloc[0]), lang)


def offset_apart(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Take the offset id of the first copy of `frame` apart."""
    return anatomy(str(frame["offset_msg_id"].dropna().iloc[0]), lang)


# --- the life of one message ------------------------------------------------------------------------------------------


def traced(life: dict[str, Any], lang: Lang = "en") -> Chart:
    """Chart a traced message in lanes (of several with one key the first), a line from each copy to those made of it."""
    first = next(iter(life["uniq_keys"]), None)
    records = pd.DataFrame([r for r in life["records"] if first is None or r["uniq_key"] in (first, None)])
    handled = pd.DataFrame([h for h in life["handled"] if first is None or h["uniq_key"] == first])
    if records.empty:
        return JOURNEY.nothing(lang)
    copies = records.assign(at=_times(records["store_timestamp"]), what="copy").reset_index(drop=True)
    copies["tail"] = ["…" + str(copy)[-6:] for copy in copies["offset_msg_id"]]
    ends = {True: "success", False: "failed"}
    done = handled.reindex(columns=["time", "result", "success", "offset_msg_id", "consumer"])
    # A local time of an unknown zone has no place on the axis.
    done = done.assign(
        at=_times(done["time"].where(done["time"].astype(str).str.endswith("Z"))), topic=done["consumer"],
        stage=JOURNEY["consumer_lane"].in_(lang), why=done["result"], tail="",
        what=[ends.get(success, "unknown") for success in done["success"]],
    )  # fmt: skip
    drawn = done.dropna(subset="at")
    every = pd.concat([copies, drawn]) if len(drawn) else copies
    chart = JOURNEY.figure(every, lang)
    tails = {"mode": "markers+text", "textposition": "top center", "textfont": {"size": 11}, "cliponaxis": False}
    chart.data[0].update(text=copies["tail"], **tails)
    place = {
        copy: (at, escape(stage, 60))
        for copy, at, stage in zip(copies["offset_msg_id"], copies["at"], copies["stage"], strict=True)
    }
    sources = zip(copies["copied_from"], copies["offset_msg_id"], strict=True)
    chart.add_trace(segments((*place[source], *place[copy]) for source, copy in sources if source in place))
    values = {"records": len(copies), "ids": copies["offset_msg_id"].nunique(), "handled": len(done) or None}
    values["seconds"] = round((copies["at"].max() - copies["at"].min()).total_seconds(), 1)
    values |= {"good": int((done["what"] == "success").sum()), "undrawn": len(done) - len(drawn) or None}
    return JOURNEY.chart(every.sort_values("at", kind="stable", ignore_index=True), lang, values, chart)


def apart(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Take the message's UNIQ_KEY apart, else what was asked for; one line says why that is no id."""
    try:
        return anatomy(next(iter(life["uniq_keys"]), life["id"]).strip(), lang)
    except ids.BadId as bad:
        return Table(pd.DataFrame(), bad.sentence, lang=lang)


def copies(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Show the copies, each with what wrote it: without the sentence about a new id, which is true of every one."""
    new = labels("analysis")["copies"]["new-id"].render(lang)
    rows = [{**r, "why": (r.get("why") or "").replace(new, "").strip() or None} for r in life["records"]]
    return _table(
        rows, "store_timestamp stage topic offset_msg_id copied_from why", "copies", lang, id=life["id"] or None
    )


def deliveries(life: dict[str, Any], lang: Lang = "en") -> Table:
    return _table(life["handled"], "time consumer offset_msg_id reconsume_times result file line", "deliveries", lang)


def mentions(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Show every mention of one of its ids or its key: lines, and entries of the message trace topic."""
    return _table(map(_placed, [*life["mentions"], *life["traces"]]), "file line text", "mentions", lang)


def consumers(life: dict[str, Any], lang: Lang = "en") -> Table:
    """Show what became of each copy in every group that could have consumed it."""
    rows = [{**_placed(next(iter(c["evidence"]), {})), **c} for c in life["consumers"]]
    return _table(rows, "group topic queue_id queue_offset text file line", "consumers", lang)


def gaps(life: dict[str, Any], lang: Lang = "en") -> Table:
    return _table(life["gaps"], "text offset_msg_id", "gaps", lang)


def calls(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show which id each call returns on a message (`kit.analysis.messages.lookups`)."""
    columns = ["call", "which", "id", "copy", "says"]
    return Table(frame.reindex(columns=columns), MESSAGE["calls"], COLUMNS | MESSAGE.columns, lang)


def _times(values: pd.Series) -> pd.Series:
    return pd.to_datetime(values, utc=True, format="ISO8601")


def _placed(reference: dict[str, Any]) -> dict[str, Any]:
    """Return a reference with its place as text: a line, or `@` and a byte offset."""
    offset = reference.get("physical_offset")
    return {**reference, "line": str(reference.get("line") or ("" if offset is None else f"@ {offset}"))}


def _table(rows: Iterable[dict[str, Any]], columns: str, title: str, lang: Lang, **named: str | None) -> Table:
    frame, caption = pd.DataFrame(rows).reindex(columns=columns.split()), MESSAGE[title].say(**named)
    if frame.empty:
        return Table(pd.DataFrame(), caption, lang=lang)
    local = ~frame.get("time", pd.Series(dtype=str)).dropna().str.endswith("Z").astype(bool)
    times = {name: _times(frame[name]) for name in ("store_timestamp", "time") if name in frame}
    with on_clock(CLOCK.get() if not local.any() else "local" if local.all() else "either"):
        return Table(frame.assign(**times), caption, COLUMNS | MESSAGE.columns, lang)
