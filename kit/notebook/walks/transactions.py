"""What follows at each stop of notebook 60."""

from __future__ import annotations

import pandas as pd

from kit.notebook.stops import Said, stop, words

LATE = 1000
"""Milliseconds from the row to the end of the transaction from which on a check has ended it, not the producer's own answer."""
WORDS = words(__name__)


@stop
def symptom(rows: pd.DataFrame) -> Said:
    """Tell which services have what the other side lacks."""
    alone = rows[rows["found"].isin(["message only", "row only"])]
    if alone.empty:
        return "same", {}
    each = [f"{row['producer_group']}: {row['transactions']} × {row['found']}" for row in alone.to_dict("records")]
    return "differ", {"services": each}


@stop
def accounted(rows: pd.DataFrame) -> Said:
    """Tell how all transactions ended."""
    by = rows.groupby("state")["transactions"].sum().astype(int).to_dict()
    pending, gone = by.get("pending", 0), by.get("discarded", 0)
    return "all", {
        "all": sum(by.values()),
        "committed": by.get("committed", 0),
        "rolled": by.get("rolled_back", 0),
        "gone": gone,
        "pending": pending,
    }


@stop
def disagree(rows: pd.DataFrame) -> Said:
    """Tell how many keys disagree, by service."""
    by = rows.groupby(["kind", "producer_group"]).size()
    each = [
        WORDS["each"].say(n=row["n"], what=WORDS.get(row["kind"], row["kind"]), group=row["producer_group"])
        for row in by.rename("n").reset_index().astype({"n": int}).to_dict("records")
    ]
    return "disagree", {"each": each}


@stop
def story(rows: pd.DataFrame) -> Said:
    """Tell how one key came apart."""
    row = rows["what"].astype(str).str.contains("row").any()
    ends = rows.loc[rows["what"].isin(["answer"]), "text"].tolist()
    return "story", {
        "row": WORDS["row"] if row else WORDS["no_row"],
        "answer": str(ends[-1]) if ends else WORDS["plain"],
    }


@stop
def local(rows: pd.DataFrame) -> Said:
    """Tell which local step is behind the keys."""
    known = int(rows.loc[rows["cause"].notna(), "keys"].sum())
    thrown = int(rows.loc[rows["cause"] == "exception", "keys"].sum())
    return "steps", {"known": known, "all": int(rows["keys"].sum()), "thrown": thrown}


def places(rows: pd.DataFrame) -> dict[str, str]:
    """Return {service: placement} as far as the times of half record, row, log row and answer tell."""
    read = {}
    for row in rows.to_dict("records"):
        if pd.notna(row["end_after_row_ms"]) and float(row["end_after_row_ms"]) >= LATE:
            read[str(row["producer_group"])] = "last"
        elif pd.notna(row["log_row_after_half_ms"]):
            apart = int(row["rows_without_log_row"]) > 0 or float(row["log_row_after_half_ms"]) < float(
                row["row_after_half_ms"]
            )
            read[str(row["producer_group"])] = "middle" if apart else "first"
    return read


@stop
def placed(rows: pd.DataFrame) -> Said:
    """Tell which placement each service uses."""
    read = places(rows)
    if not read:
        return "unknown", {}
    each = [WORDS["place"].say(group=group, place=WORDS[place]) for group, place in read.items()]
    return "read", {"each": each}


@stop
def repair(rows: pd.DataFrame) -> Said:
    """Tell what to do with which keys now."""
    by = rows.groupby("repair")["key"].agg(list).to_dict()
    each = [f"{repair}: {', '.join(map(str, keys))}" for repair, keys in by.items()]
    return "repair", {"each": each}


@stop
def drawn(rows: pd.DataFrame) -> Said:
    """Tell where row and message part."""
    return "parted", {}
