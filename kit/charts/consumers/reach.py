"""Charts of what clients reach: a broker's advertised address and the addresses of its host; connects of each client."""

from __future__ import annotations

from typing import Final

import pandas as pd

from kit.charts import GREEN, LABELS, VERMILLION, Captions, Chart, Table, bars, escape, figure, named
from kit.i18n import Lang

ADDRESSES = Captions.of("addresses")
CONNECTS = Captions.of("connects")
ROLES: Final = LABELS["reach roles"]


def addresses(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the table `reach_addresses`: address, interface, role, failed, reached."""
    return ADDRESSES.table(frame.assign(role=named(frame["role"], ROLES, lang)), lang)


def connects(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the table `reach_connects`: client, address, failed, reached."""
    table = frame[list(CONNECTS.columns)]
    if frame.empty:
        return CONNECTS.nothing(lang, table)
    ends = zip(frame["client"], frame["address"], strict=True)
    labels = [f"{escape(client, 40)} → {escape(address, 40)}" for client, address in ends]
    looks = {"failed": (VERMILLION, "/"), "reached": (GREEN, "")}
    chart = figure(
        *bars(labels, frame, CONNECTS.columns, looks, lang, least=None), height=150 + 44 * len(frame), barmode="group"
    )
    chart.update_xaxes(title=CONNECTS["lines"].render(lang))
    chart.update_yaxes(autorange="reversed")
    by_client = frame.groupby("client")["reached"].sum()
    said = CONNECTS["reading"].say(
        failed=int(frame["failed"].sum()),
        reached=int(frame["reached"].sum()),
        never=int((by_client == 0).sum()),
        clients=len(by_client),
    )
    return CONNECTS.chart(chart, table, said, lang, min_width=560)
