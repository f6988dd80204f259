"""Charts of what clients reach: a broker's advertised address and the addresses of its host; connects of each client."""

from __future__ import annotations

import pandas as pd

from kit.charts import GREEN, VERMILLION, Chart, Table, bar, escape, figure
from kit.i18n import Lang, T

ADDRESSES = T("The advertised address and the addresses of the broker's host")
ADDRESS, INTERFACE, ROLE = T("address"), T("interface"), T("what it is")
ROLES = {
    "advertised": T("advertised: clients get this one"),
    "reachable": T("reachable for clients"),
    "only the host": T("reachable only on the host itself"),
    "other": T("another address of the host"),
}
FAILED, REACHED = T("connects that failed"), T("connects that succeeded")
TITLE = T("Which addresses clients tried")
READING = T(
    "{failed} {failed:connect|connects} failed, {reached} succeeded; {never} of {clients} {clients:client|clients} never reached a broker."
)
ALT = T(
    "One bar for each client and address, failed and successful connects side by side; the numbers are in the table."
)
NOTHING = T("No connect of a client is known.")
CLIENT, LINES = T("client"), T("lines")


def addresses(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the table `reach_addresses`: address, interface, role, failed, reached."""
    shown = frame.assign(role=[ROLES[r].render(lang) if r in ROLES else r for r in frame["role"]])
    names = {"address": ADDRESS, "interface": INTERFACE, "role": ROLE, "failed": FAILED, "reached": REACHED}
    return Table(shown[list(names)], ADDRESSES, names, lang)


def connects(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the table `reach_connects`: client, address, failed, reached."""
    names = {"client": CLIENT, "address": ADDRESS, "failed": FAILED, "reached": REACHED}
    table = frame[list(names)]
    if frame.empty:
        return Chart(figure(), table, NOTHING, NOTHING, TITLE, names, lang)
    labels = [
        f"{escape(str(c), 40)} → {escape(str(a), 40)}" for c, a in zip(frame["client"], frame["address"], strict=True)
    ]
    bars = [
        bar(labels, frame[column], names[column].render(lang), colour, shape)
        for column, colour, shape in (("failed", VERMILLION, "/"), ("reached", GREEN, ""))
    ]
    chart = figure(*bars, height=150 + 44 * len(frame), barmode="group")
    chart.update_xaxes(title=LINES.render(lang))
    chart.update_yaxes(autorange="reversed")
    by_client = frame.groupby("client")["reached"].sum()
    said = READING.say(
        failed=int(frame["failed"].sum()),
        reached=int(frame["reached"].sum()),
        never=int((by_client == 0).sum()),
        clients=len(by_client),
    )
    return Chart(chart, table, said, ALT, TITLE, names, lang, min_width=560)
