"""Charts of transactions: the accounting as a flow, the inconsistent keys, the ways of a transaction."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.charts import LABELS, Captions, Chart, Table, common, named, pictures
from kit.i18n import Lang

ACCOUNT = Captions.of("accounting")
WRONG = Captions.of("disagreements")
NODES: Final = LABELS["transactions nodes"]

KINDS: Final = LABELS["transactions kinds"]

CAUSES: Final = LABELS["transactions causes"]
REPAIRS: Final = LABELS["transactions repairs"]


def accounting(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart where all transactions went. `frame`: source, target (keys of `NODES`), count."""
    flows = frame.assign(source=named(frame["source"], NODES, lang), target=named(frame["target"], NODES, lang))
    if frame.empty:
        return common.flow(flows, lang, ACCOUNT["title"], ACCOUNT["nothing"])
    into = frame.groupby("target")["count"].sum()
    total = int(frame.loc[frame["source"] == "half", "count"].sum())
    said = {state: int(into.get(state, 0)) for state in ("rolled_back", "discarded", "pending")}
    committed = int(into.get("committed", 0) + into.get("committed twice", 0))
    reading = ACCOUNT["reading"].say(total=total, committed=committed, checked=int(into.get("check", 0)), **said)
    return common.flow(flows, lang, ACCOUNT["title"], reading)


def wrong(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the inconsistent keys with cause and repair. `frame`: the table `disagreements`."""
    lines = zip(frame["evidence_file"], frame["evidence_line"], strict=True)
    places: list[Any] = [f"{file}:{line}" if isinstance(file, str) else None for file, line in lines]
    shown = frame.assign(
        kind=named(frame["kind"], KINDS, lang),
        cause=named(frame["cause"], CAUSES, lang),
        repair=named(frame["repair"], REPAIRS, lang),
        evidence=places,
    )
    return WRONG.table(shown, lang)


def path(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw the ways of a transaction with their counts. `frame`: `hop`, `records`."""
    return pictures.diagram("transaction path", frame, lang)
