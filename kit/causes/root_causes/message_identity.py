"""message-identity: a message id was used where the other kind is needed, with an effect.

Different ids alone are normal: the offset id is made at every append (common/message/MessageDecoder.createMessageId),
UNIQ_KEY once by the client (common/message/MessageClientIDSetter), and MessageClientExt.getMsgId returns the latter.
"""

import pandas as pd

from kit.analysis import refs
from kit.analysis.messages import lookups, trace
from kit.causes.declared import Observed
from kit.inventory.model import Ref
from kit.tables.facts import Facts


def observe(facts: Facts) -> Observed:
    stored, outputs = facts.has("messages"), any(facts.files.of_kind("mqadmin", "text"))
    seen, pasted = lookups.lookups(facts), lookups.mixed(facts)
    known = (facts.has("rows") or facts.has_source("app")) and facts("delivery_counts")["success"].notna().any()
    again = facts("handled_twice") if known else pd.DataFrame()
    same = again[again["same"].fillna(value=True)] if len(again) else again
    twice = int(again["messages_stored_once"].iloc[0]) if len(again) else 0
    counts = facts.rows("id_counts")[0] if stored else {}
    wrong = [one for one in seen if one.wrong]
    failed = [one for one in wrong if one.failed_by_kind]
    # The commands and, if they failed, the lines that report it.
    lines = ((one.file, line) for one in (failed or wrong)[:3] for line in (one.line, one.failed_line or one.line))
    failures = facts.refs(dict.fromkeys(lines))
    twice_refs = _twice_refs(facts, same) if twice else ()
    effect = bool(failed or twice)
    dedup = facts("dedup_lines") if twice and refs.seen(facts, "dedup-key") else None
    if dedup is not None:
        # Where the application's log uses an offset id as its key.
        kinds = lookups.kinds(facts, set(dedup["id"]))
        dedup = dedup[dedup["id"].map(kinds.get) == "offset"]
    key = same["uniq_key"].iloc[0] if effect and counts.get("several") and len(same) else None
    copies = trace.named_copies(facts, [key]) if key else []
    values = {
        "uniq_keys": counts.get("uniq_keys"), "several": counts.get("several"), "wrong": len(wrong),
        "wrong_seen": len(wrong) if seen else None,
        "failed": len(failed), "seen": len(seen),
        "texts_seen": outputs or facts.has_source("app") or facts.has_source("text"),
        "twice": twice if known else None, "effect": effect,
        "handled_twice_by_offset_id": None if not known else int(again["messages"].iloc[0]) if len(again) else 0,
        "deliveries_known": known, "outputs": outputs,
        "dedup_lines": None if dedup is None else int(dedup.drop_duplicates("id")["lines"].sum()) or None,
        "offset_ids": pasted and pasted.offset_ids, "pasted_keys": pasted and pasted.uniq_keys,
        "paired": pasted and pasted.paired,
    }  # fmt: skip
    quotes = {
        "effect": (*(failures[:2] if failed else ()), *twice_refs[:4]), "look-up-failed": failures,
        "handled-twice": twice_refs, "compared-by": () if dedup is None else refs.lines(facts, dedup, 2),
        "several-offset-ids": refs.records_at(facts, pd.DataFrame(copies), 4) if copies else (),
        "pasted-ids": lookups.quoted(facts, pasted.at) if pasted else (),
    }  # fmt: skip
    return Observed(values, quotes, refs.span(same["first_time"], same["time"]) if effect and len(same) else None)


def _twice_refs(facts: Facts, frame: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the two deliveries of the first messages, and the records delivered."""
    rows, place = frame.head(2), ["record_file", "physical_offset", "store_timestamp"]
    sides = [(row[f"{which}file"], int(row[f"{which}line"])) for _, row in rows.iterrows() for which in ("first_", "")]
    # A table may be Parquet, which has no lines.
    quoted = facts.refs((file, n) for file, n in sides if (item := facts.files.get(file)) and item.has_lines)
    firsts = rows[[f"first_{name}" for name in place]].set_axis(place, axis=1)
    records = pd.concat([firsts, rows[place]]).rename(columns={"record_file": "file"})
    return (*quoted, *refs.records_at(facts, records.drop_duplicates(), 4))
