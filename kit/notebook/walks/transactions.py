"""What follows at each stop of notebook 60."""

from __future__ import annotations

import pandas as pd

from kit.notebook.walks import Said, always, stop, walk

LATE = 1000
"""Milliseconds from the row to the end of the transaction from which on a check has ended it."""
WORDS = walk(__name__).words
ALONE = {"message only": "message_without_row", "row only": "row_without_message"}

drawn = always(__name__, "drawn")


@stop
def symptom(rows: pd.DataFrame) -> Said:
    each = [
        WORDS["each"].say(n=row["transactions"], what=WORDS[ALONE[row["found"]]], group=row["producer_group"])
        for row in rows[rows["found"].isin(ALONE)].to_dict("records")
    ]
    return ("differ", {"services": each}) if each else ("same", {})


@stop
def accounted(rows: pd.DataFrame) -> Said:
    by = rows.groupby("state")["transactions"].sum()
    states = {"committed": "committed", "rolled": "rolled_back", "gone": "discarded", "pending": "pending"}
    return "all", {"all": by.sum(), **{name: by.get(state, 0) for name, state in states.items()}}


@stop
def disagree(rows: pd.DataFrame) -> Said:
    by = rows.groupby(["kind", "producer_group"]).size().rename("n").reset_index().to_dict("records")
    each = [
        WORDS["each"].say(n=row["n"], what=WORDS.get(row["kind"], row["kind"]), group=row["producer_group"])
        for row in by
    ]
    return "disagree", {"each": each}


@stop
def story(rows: pd.DataFrame) -> Said:
    row = rows["what"].astype(str).str.contains("row").any()
    answers = rows.loc[rows["what"] == "answer", "text"]
    said, check, _ = ("" if answers.empty else str(answers.iloc[-1])).partition(" to a check")
    answer = WORDS["to_check"].say(answer=said) if check else said or WORDS["plain"]
    return "story", {"row": WORDS["row" if row else "no_row"], "answer": answer}


@stop
def local(rows: pd.DataFrame) -> Said:
    known, thrown = rows["cause"].notna(), rows["cause"] == "exception"
    keys = rows["keys"]
    return "steps", {"known": keys[known].sum(), "all": keys.sum(), "thrown": keys[thrown].sum()}


def places(rows: pd.DataFrame) -> dict[str, str]:
    """Return {service: placement} as far as the times of half record, row, log row and answer tell."""
    read = {}
    for row in rows.dropna(subset=["producer_group"]).to_dict("records"):
        after_half = row["log_row_after_half_ms"]
        if pd.notna(row["end_after_row_ms"]) and float(row["end_after_row_ms"]) >= LATE:
            read[row["producer_group"]] = "last"
        elif pd.notna(after_half):
            apart = row["rows_without_log_row"] > 0 or float(after_half) < float(row["row_after_half_ms"])
            read[row["producer_group"]] = "middle" if apart else "first"
    return read


@stop
def placed(rows: pd.DataFrame) -> Said:
    each = [WORDS["place"].say(group=group, place=WORDS[place]) for group, place in places(rows).items()]
    return ("read", {"each": each}) if each else ("unknown", {})


@stop
def repair(rows: pd.DataFrame) -> Said:
    by = rows.groupby("repair")["key"].agg(lambda keys: ", ".join(map(str, keys)))
    return "repair", {"each": [f"{repair}: {keys}" for repair, keys in by.items()]}
