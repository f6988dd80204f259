"""Hand-made incidents for charts and reports: findings, and frames whose numbers follow from arithmetic."""

import copy
import datetime as dt

import nbformat
import numpy as np
import pandas as pd
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from table import rows_of

START = pd.Timestamp("2024-05-14 02:00:00")
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \x1b[31mred \u202eevil\u202c $\\href{javascript:alert(3)}{x}$ &amp; %{y}"
HALF, SCHEDULE = "RMQ_SYS_TRANS_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX"


def growth_frame(messages=4, doublings=10, seconds=5):
    """`messages` leaked records that double every `seconds`: record m x 2^k is stored at k x seconds."""
    seq = np.arange(1, messages * 2**doublings + 1)
    k = np.ceil(np.log2(np.maximum(1, -(-seq // messages)))).astype(int)
    high = messages * 2**k
    size = np.where(k == 0, messages, high // 2)
    when = START + pd.to_timedelta(seconds * k - (high - seq) / size, unit="s")
    keys = [f"KEY{n}" for n in seq % messages]
    frame = pd.DataFrame({"seq": seq, "store_timestamp": when, "half_queue_offset": 100 + seq})
    return frame.assign(check_times=np.where(k, k, np.nan), uniq_key=keys, doubling=seq == high)


def life_frame():
    rows = [
        (0, HALF, "trade", 0, None, False), (1, "trade", "trade", 0, None, True), (2, SCHEDULE, HALF, 1, None, False),
        (6, HALF, HALF, 1, None, False), (8, SCHEDULE, HALF, 0, 1, False), (9, SCHEDULE, HALF, 0, 1, True),
        (12, HALF, HALF, 0, 1, False), (13, HALF, HALF, 0, 1, True),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["s", "topic", "real_topic", "reconsume_times", "check_times", "committed"])
    frame["store_timestamp"] = START + pd.to_timedelta(frame.pop("s"), unit="s")
    ids = [f"0A140D0B00002A9F{n:016X}" for n in range(len(rows))]
    return frame.assign(queue_id=0, offset_msg_id=ids, uniq_key="KEY0")


def finding(cause, verdict, kind="root_cause", **more):
    plain = {
        "cause": cause, "kind": kind, "verdict": verdict, "title": cause.replace("-", " ").capitalize(),
        "summary": f"Summary of {cause}.", "window": None, "steps": [], "figures": {}, "missing": [], "remedies": [],
    }  # fmt: skip
    return {**plain, **more}


LOG = {
    "file": "broker/logs/store.log", "kind": "broker_log", "bytes": 5744, "sha256": "ab" * 32,
    "first": "2024-05-14T01:59:00.000Z", "last": "2024-05-14T02:05:00.000Z", "replica_of": None,
}  # fmt: skip


def findings(*found, files=None, path="incident"):
    confirmed = [f["cause"] for f in found if f["verdict"] == "confirmed" and f["kind"] == "root_cause"]
    evidence = {"path": path, "files": [{**LOG}] if files is None else files, "not_recognised": ["holiday.jpg"]}
    about = {"schema": 1, "kit_version": "0.1.0", "evidence": evidence}
    return about | {"root_causes": confirmed, "findings": list(found)}


def blow_up(text="putMessage message topic length too long 149"):
    """A confirmed blow-up with a neighbour, an excluded and an undecided cause; `text` is the quoted line."""
    told = [finding(**one) for one in copy.deepcopy(rows_of(__file__, "blow_up"))]
    for ref in (ref for one in told for each in one["steps"] for ref in each["evidence"]):
        ref["text"] = ref["text"].replace("{text}", text)
    return findings(*told)


def hostile():
    """The same with a hostile text wherever evidence can put one."""
    told = blow_up(HOSTILE)
    for one in told["findings"]:
        one |= {name: f"{one[name]} {HOSTILE}" for name in ("title", "summary")}
    told["evidence"] |= {"path": f"case {HOSTILE}", "not_recognised": [HOSTILE]}
    return told


def notebook(path, cause, *shown, lang="en"):
    """Write an executed notebook whose outputs are these charts, tables, or this text as foreign HTML."""
    prose = "It *feeds* itself. <b>raw</b> [x](javascript:alert(1)) ![pic](http://example.com/p.png)"
    cells = [new_markdown_cell(f"# Title\n\n## Hypothesis\n\n{prose}")]
    for thing in shown:
        data = {"text/html": thing, "text/plain": thing} if isinstance(thing, str) else thing._repr_mimebundle_()
        cells.append(new_code_cell("pass", outputs=[new_output("display_data", data=data)]))
    about = {"causes": [cause]} if cause else {"report": "overview"}
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return book(path, *cells, **about)


def book(path, *cells, **about):
    """Write a notebook of these cells; `about`: what it says of itself to the kit."""
    own = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"}, "rmq-kit": about,
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells), metadata=own), path)
    return path


def tables():
    first = dt.datetime(2024, 5, 14, 2, tzinfo=dt.UTC)
    files = [
        ("broker/logs/store.log", "broker_log", 5744, first, first, "+08:00 (layout)", None),
        ("holiday.jpg", "unknown", 12, None, None, None, None),
    ]
    return {
        "inventory": pd.DataFrame(files, columns=["file", "kind", "bytes", "first", "last", "zone", "replica_of"]),
        "damage": pd.DataFrame({"file": ["secret.log"], "reason": ["permission denied"]}),
        "skipped": pd.DataFrame({"file": ["commitlog/0"], "reason": ["corrupt"], "ranges": [1], "bytes": [228]}),
    }


def result_table(name):
    """Return what a case would: the timeline and growth of `blow_up`, nothing else."""
    if name == "half_topic_growth":
        return growth_frame()
    if name != "timeline":
        return pd.DataFrame()
    first, second, end = (pd.Timestamp(f"2024-05-14T02:00:{second}Z") for second in ("00", "07", "50"))
    log, store = "broker/logs/store.log", "broker/store/commitlog/00000000000000000000"
    rows = [
        (first, pd.NaT, "half-topic-blowup", "First leaked record", "第一条泄漏的记录", None, store, None, 18468, True),
        (second, end, "refusals", "Records refused (4 entries)", "记录被拒绝（4 条）", 4, log, 17, None, False),
    ]
    columns = ["at", "until", "lane", "en", "zh", "count", "file", "line", "physical_offset", "decides"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(("count", "line", "physical_offset"), "Int64"))
