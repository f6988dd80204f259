"""Charts of transactions: the accounting as a flow, timelines grouped by path, one order told step by step."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.show import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, Chart, Table, common, escape, figure
from kit.texts import Lang, T

ACCOUNT = T("Every transaction accounted for", "每个事务的去向")
ACCOUNT_READING = T(
    "Of {total} transactions {committed} were committed, {rolled_back} rolled back, {discarded} given up, {pending} are open; "
    "{checked} had been checked.",
    "{total} 个事务中，{committed} 个已提交，{rolled_back} 个已回滚，{discarded} 个被放弃，{pending} 个未决；其中 {checked} 个经过回查。",
)
NOTHING = T("This evidence holds no transaction.", "这份证据中没有事务。")
NODES: Final = {
    "half": T("half message", "half 消息"), "answer COMMIT": T("answered COMMIT", "应答 COMMIT"), "answer ROLLBACK": T("answered ROLLBACK", "应答 ROLLBACK"),
    "answer UNKNOWN": T("answered UNKNOW", "应答 UNKNOW"), "answer exception": T("exception in the local transaction", "本地事务异常"),
    "answer none": T("no answer seen", "未见应答"), "check": T("checked", "回查"), "committed": T("committed", "已提交"),
    "committed twice": T("committed twice", "提交两次"), "rolled_back": T("rolled back", "已回滚"), "discarded": T("given up", "被放弃"),
    "pending": T("open", "未决"), "dead letter": T("dead letter", "死信"), "retried": T("consumed after retries", "重试后消费"),
}  # fmt: skip

TIMES = T("Transactions from their half message on, by path", "各路径事务自 half 消息起的时间线")
TIMES_READING = T(
    "{transactions} transactions on {paths} paths; the longest took {seconds} s from its half message to its last record.",
    "{transactions} 个事务，{paths} 条路径；最长的从 half 消息到最后一条记录历时 {seconds} 秒。",
)
TIMES_ALT = T(
    "One line for each transaction, one mark for each record or answer; the same rows are in the table.",
    "每个事务一行，每条记录或应答一个标记；表格中有同样的数据。",
)
AFTER = T("seconds after the half message", "half 消息之后的秒数")
STAGES: Final = {
    "half": T("half message", "half 消息"), "check": T("check: put-back copy", "回查：回写副本"), "op": T("op record: ended", "op 记录：已结束"),
    "commit": T("committed record", "已提交记录"), "discard": T("given up", "被放弃"), "retry": T("retry", "重试"), "dead letter": T("dead letter", "死信"),
    "stored": T("other record", "其他记录"), "answer COMMIT": T("answer COMMIT", "应答 COMMIT"), "answer ROLLBACK": T("answer ROLLBACK", "应答 ROLLBACK"),
    "answer UNKNOWN": T("answer UNKNOW", "应答 UNKNOW"), "answer exception": T("exception, answered UNKNOW", "异常，应答 UNKNOW"),
}  # fmt: skip
COLOURS: Final = {
    "half": BLUE, "check": SKY, "op": GREY, "commit": GREEN, "discard": VERMILLION, "retry": ORANGE, "dead letter": PURPLE, "answer COMMIT": GREEN,
    "answer ROLLBACK": VERMILLION, "answer UNKNOWN": ORANGE, "answer exception": PURPLE,
}  # fmt: skip
MARKERS: Final = {
    "half": "circle", "check": "star", "op": "square", "commit": "diamond", "discard": "x", "retry": "triangle-up", "dead letter": "cross",
    "answer COMMIT": "diamond-open", "answer ROLLBACK": "x-open", "answer UNKNOWN": "circle-open", "answer exception": "cross-open",
}  # fmt: skip
PATH, KEY, STAGE, SECONDS = T("path", "路径"), T("key", "键"), T("stage", "阶段"), T("seconds", "秒")
WRONG = T("Keys whose message and row disagree", "消息与业务数据不一致的键")
TAKEN = T("Paths the transactions took", "事务走过的路径")
LIMITS = T("Limits in force", "生效的限制")
KIND, CAUSE, REPAIR_COLUMN, STATE = T("what is alone", "单独存在的是"), T("cause", "原因"), T("repair", "修复"), T("state", "状态")
EVIDENCE, GROUP, COUNT = T("evidence", "证据"), T("producer group", "生产者组"), T("transactions", "事务数")
LIMIT, VALUE, UNIT, KNOWN = T("limit", "限制"), T("value", "值"), T("unit", "单位"), T("known from", "来源")
KINDS: Final = {"row_without_message": T("the row", "业务数据"), "message_without_row": T("the message", "消息")}
SOURCES: Final = {"evidence": T("evidence", "证据"), "default": T("default of the version", "版本默认值")}

STORY = T("{key}, step by step", "{key} 的逐步经过")
STORY_ROW = T("its business row: {status}", "其业务数据：{status}")
STORY_NO_ROW = T("no business row", "没有业务数据")
WHEN, WHAT, WHERE = T("time", "时间"), T("what happened", "发生了什么"), T("where", "位置")
CAUSES: Final = {
    "exception": T("the local transaction threw an exception", "本地事务抛出异常"),
    "error": T("the application logged an error for this key", "应用为该键记录了错误"),
    "rollback_answer": T("ROLLBACK was answered although the row stands", "数据仍在却应答了 ROLLBACK"),
    "commit_answer": T("COMMIT was answered without a row", "没有数据却应答了 COMMIT"),
}  # fmt: skip
BECAUSE = T("why: {cause}", "原因：{cause}")
REPAIR = T("repair: {repair}", "修复：{repair}")
REPAIRS: Final = {
    "re-send": T("send the message again", "重新发送消息"),
    "compensate": T("take back what consumers did, or write the row", "撤销消费者的操作，或补写数据"),
}


def accounting(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart where all transactions went. `frame`: source, target (keys of `NODES`), count."""
    named = frame.assign(**{side: [NODES[n].render(lang) if n in NODES else n for n in frame[side]] for side in ("source", "target")})
    chart = common.flow(named, lang)
    if frame.empty:
        return Chart(chart.figure, chart.table, NOTHING.render(lang), NOTHING.render(lang), ACCOUNT.render(lang), chart.names, lang)
    into = frame.groupby("target")["count"].sum()
    total = int(frame.loc[frame["source"] == "half", "count"].sum())
    said = {state: int(into.get(state, 0)) for state in ("rolled_back", "discarded", "pending")}
    committed = int(into.get("committed", 0) + into.get("committed twice", 0))
    reading = ACCOUNT_READING.say(total=total, committed=committed, checked=int(into.get("check", 0)), **said).render(lang)
    floor = common.FLOW_FLOOR.render(lang)
    shown = f"{reading} {floor}" if floor in chart.reading else reading
    return Chart(chart.figure, chart.table, shown, chart.alt, ACCOUNT.render(lang), chart.names, lang, chart.min_width)


def timelines(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart transactions as lines of records and answers, grouped by path.

    `frame`: path, uniq_key, key, stage (keys of `STAGES`), seconds, …, in order of path, transaction, time.
    """
    columns = ["path", "key", "stage", "seconds", "uniq_key"]
    shown = frame.reindex(columns=columns)
    named = {"path": PATH.render(lang), "key": KEY.render(lang), "stage": STAGE.render(lang), "seconds": SECONDS.render(lang)}
    if shown.empty:
        return Chart(figure(), shown, NOTHING.render(lang), NOTHING.render(lang), TIMES.render(lang), named, lang)
    shown = shown.assign(stage=[STAGES[s].render(lang) if s in STAGES else str(s) for s in frame["stage"]], _stage=frame["stage"])
    lanes = {key: n for n, key in enumerate(shown["uniq_key"].drop_duplicates())}
    first = shown.drop_duplicates("uniq_key")
    labels = [escape(k if isinstance(k, str) else u, 24) for k, u in zip(first["key"], first["uniq_key"], strict=True)]
    # Lines are no categories: two transactions may have the same business key.
    traces: list[Any] = []
    ends = shown.groupby("uniq_key")["seconds"].agg(["min", "max"])
    x = [v for key in lanes for v in (ends.loc[key, "min"], ends.loc[key, "max"], None)]
    y = [v for n in lanes.values() for v in (n, n, None)]
    traces.append(go.Scatter(x=x, y=y, mode="lines", line={"color": GREY, "width": 1}, opacity=0.5, hoverinfo="skip", showlegend=False))
    for stage, part in shown.groupby("_stage", sort=False):
        hover = [f"{escape(row.key)}<br>{escape(row.path)}" for row in part.itertuples()]
        symbol = MARKERS.get(str(stage), "triangle-down")
        marker = {"color": COLOURS.get(str(stage), GREY), "symbol": symbol, "size": 10 if symbol.endswith("open") else 9}
        traces.append(go.Scatter(x=part["seconds"], y=part["uniq_key"].map(lanes), mode="markers", name=part["stage"].iloc[0], marker=marker, customdata=hover,
                                 hovertemplate="%{customdata}<br>%{x:.3f} s<extra></extra>"))  # fmt: skip
    chart = figure(*traces, height=200 + 20 * len(lanes))
    chart.update_yaxes(tickvals=list(lanes.values()), ticktext=labels, autorange="reversed", tickfont={"size": 11})
    # Room at the right for the names of the paths.
    chart.update_xaxes(title=AFTER.render(lang), range=[-0.02 * float(shown["seconds"].max() or 1), 1.45 * float(shown["seconds"].max() or 1)])
    _bands(chart, first, lanes)
    reading = TIMES_READING.say(transactions=len(lanes), paths=shown["path"].nunique(), seconds=round(float(shown["seconds"].max()), 1))
    table = shown.drop(columns=["uniq_key", "_stage"])
    return Chart(chart, table, reading.render(lang), TIMES_ALT.render(lang), TIMES.render(lang), named, lang, min_width=640)


def _bands(chart: go.Figure, first: pd.DataFrame, lanes: dict[str, int]) -> None:
    """Shade every other path, and name each at the right end."""
    for n, (path, part) in enumerate(first.groupby("path", sort=False)):
        at = [lanes[key] for key in part["uniq_key"]]
        if n % 2 == 0:
            chart.add_hrect(y0=min(at) - 0.5, y1=max(at) + 0.5, fillcolor=GREY, opacity=0.12, line_width=0)
        chart.add_annotation(x=1, xref="paper", xanchor="right", y=min(at) - 0.05, yanchor="middle", showarrow=False, text=escape(path, 70), font={"size": 10})


def wrong(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the inconsistent keys with cause and repair. `frame`: that of `kit.inquiry.reconcile.inconsistent`."""
    said = [CAUSES[c].render(lang) if c in CAUSES else c for c in frame["cause"]]
    shown = pd.DataFrame({
        "key": frame["key"], "kind": [KINDS[k].render(lang) if k in KINDS else k for k in frame["kind"]], "state": frame["state"], "cause": said,
        "repair": [REPAIRS[r].render(lang) if r in REPAIRS else r for r in frame["repair"]],
        "evidence": [f"{f}:{n}" if isinstance(f, str) else None for f, n in zip(frame["evidence_file"], frame["evidence_line"], strict=True)],
    })  # fmt: skip
    heads = {"key": KEY, "kind": KIND, "state": STATE, "cause": CAUSE, "repair": REPAIR_COLUMN, "evidence": EVIDENCE}
    return Table(shown, WRONG.render(lang), {k: v.render(lang) for k, v in heads.items()}, lang)


def taken(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the paths with their counts. `frame`: that of `kit.inquiry.paths.paths`."""
    heads = {"path": PATH, "producer_group": GROUP, "transactions": COUNT}
    return Table(frame[list(heads)], TAKEN.render(lang), {k: v.render(lang) for k, v in heads.items()}, lang)


def in_force(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the limits and where they are known from. `frame`: that of `kit.inquiry.limits.table`."""
    shown = frame[["limit", "value", "unit"]].copy()
    shown["known"] = [
        f"{row['where']}:{row['line']}" if isinstance(row["where"], str) else (SOURCES[row["known"]].render(lang) if row["known"] in SOURCES else None)
        for row in frame.to_dict("records")
    ]
    heads = {"limit": LIMIT, "value": VALUE, "unit": UNIT, "known": KNOWN}
    return Table(shown, LIMITS.render(lang), {k: v.render(lang) for k, v in heads.items()}, lang)


def story(timeline: pd.DataFrame, wrong: pd.DataFrame, lang: Lang = "en") -> Table:
    """Tell one inconsistent transaction, the first of `wrong` that the timeline holds: its records, answers, row, cause and repair."""
    known = wrong[wrong["uniq_key"].isin(timeline["uniq_key"])] if len(wrong) and len(timeline) else wrong.head(0)
    if known.empty:
        return Table(pd.DataFrame(), NOTHING.render(lang), lang=lang)
    one: dict[Any, Any] = known.iloc[0].to_dict()
    mine: list[dict[Any, Any]] = timeline[timeline["uniq_key"] == one["uniq_key"]].to_dict("records")
    rows = [(r["time"], STAGES[r["stage"]].render(lang) if r["stage"] in STAGES else r["stage"], _where(r)) for r in mine]
    row = STORY_ROW.say(status=one["row_status"]).render(lang) if isinstance(one["row_file"], str) else STORY_NO_ROW.render(lang)
    rows.append((None, row, f"{one['row_file']}:{one['row_line']}" if isinstance(one["row_file"], str) else ""))
    if isinstance(one["cause"], str):
        cause = CAUSES[one["cause"]].render(lang) if one["cause"] in CAUSES else one["cause"]
        rows.append((None, BECAUSE.say(cause=cause).render(lang), f"{one['evidence_file']}:{one['evidence_line']}"))
    rows.append((None, REPAIR.say(repair=REPAIRS[one["repair"]]).render(lang), "inconsistent.csv"))
    frame = pd.DataFrame(rows, columns=["time", "what", "where"])
    named = {"time": WHEN.render(lang), "what": WHAT.render(lang), "where": WHERE.render(lang)}
    return Table(frame, STORY.say(key=one["key"]).render(lang), named, lang)


def _where(row: dict[Any, Any]) -> str:
    if pd.notna(row.get("line")):
        return f"{row['file']}:{int(row['line'])}"
    return f"{row['file']} @ {int(row['physical_offset'])}" if pd.notna(row.get("physical_offset")) else str(row["file"])
