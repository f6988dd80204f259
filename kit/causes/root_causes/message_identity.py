"""message-identity: a message id was used where the other kind is needed, with an effect.

Deciding step: a look-up that failed because its id is of the other kind, or a consumer that handled one stored message
again because the
retry copy has another offset id. Different ids alone are normal: the offset id is made at every append
(common/message/MessageDecoder.createMessageId),
UNIQ_KEY once by the client (common/message/MessageClientIDSetter), and MessageClientExt.getMsgId returns the latter.
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import refs, setup
from kit.analysis.messages import lookups
from kit.analysis.messages.trace import lives
from kit.causes import collect_next
from kit.causes.findings import Finding, Missing, Step, deciding, holds, supporting
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


@attrs.frozen
class Twice:
    """Messages that took effect twice in one consumer. `keys`: all (figure); `same`: those stored once;
    `frame`: the first of them.
    """

    keys: int
    same: int
    frame: pd.DataFrame


def examine(facts: Facts) -> Finding:
    """Report whether an id was used where the other kind is needed, and its effect."""
    finding = TEXTS.finding(TEXTS["unknown"])
    store = facts.has("messages")
    seen = lookups.lookups(facts)
    twice = _twice(facts)
    counts = facts.rows("id_counts")[0] if store else {}
    keys, several = counts.get("uniq_keys"), counts.get("several")
    wrong = [one for one in seen if one.wrong]
    failed = [one for one in wrong if one.failed_by_kind]
    finding.figures = {
        "uniq_keys": keys,
        "uniq_keys_with_several_offset_ids": several,
        "wrong_space_lookups": len(wrong) if _shows_lookups(facts) else None,
        "handled_twice_by_offset_id": twice.keys if twice else None,
    }
    effect = bool(failed) or bool(twice and twice.same)
    lookup_refs = tuple(ref for one in failed[:3] for ref in lookups.ref(facts, one))
    twice_refs = _twice_refs(facts, twice.frame) if twice and twice.same else ()
    known = twice is not None and any(facts.files.of_kind("mqadmin", "text"))
    again = TEXTS.say("twice", count=twice.same) if twice else TEXTS["twice_unknown"]
    copies = TEXTS.say("several_open") if several is None else TEXTS.say("several", several=several, keys=keys)
    copy_refs = _several_refs(facts, twice) if effect and several else ()
    finding.steps = [
        deciding("effect", TEXTS["effect"], holds(effect, known), (*lookup_refs[:2], *twice_refs[:4])),
        _lookup_step(facts, seen, wrong, failed, lookup_refs),
        supporting("handled-twice", again, twice and twice.same, twice_refs),
        _dedup_step(facts, effect=bool(twice and twice.same)),
        supporting("several-offset-ids", copies, effect and several, copy_refs),
        *_pasted_step(facts),
    ]
    if effect:
        _tell(facts, finding, twice, wrong, failed)
    elif (pasted := lookups.mixed(facts)) is not None:
        finding.summary = TEXTS.say("mixed", offsets=pasted.offset_ids, keys=pasted.uniq_keys)
        finding.remedies = [TEXTS.remedy("lookup")]
    elif known:
        finding.summary = TEXTS.say("none")
    finding.missing = _missing(facts, store=store, twice=twice, effect=effect)
    return finding


def _pasted_step(facts: Facts) -> list[Step]:
    """Return the step that a paste compares the two kinds of ids, if it does."""
    pasted = lookups.mixed(facts)
    if pasted is None:
        return []
    both = TEXTS.say("claim_mixed", offsets=pasted.offset_ids, keys=pasted.uniq_keys)
    return [supporting("pasted-ids", TEXTS["mixed_pair"] if pasted.paired else both, True, pasted.refs)]


def _shows_lookups(facts: Facts) -> bool:
    """Return whether the evidence has any text in which a look-up would appear."""
    return any(facts.files.of_kind("mqadmin", "text")) or facts.has_source("app") or facts.has_source("text")


def _twice(facts: Facts) -> Twice | None:
    """Return what took effect twice; None if nothing shows how deliveries ended."""
    if not (facts.has("rows") or facts.has_source("app")):
        return None
    if not facts("delivery_counts")["success"].notna().any():
        return None
    rows = facts("handled_twice")
    if rows.empty:
        return Twice(0, 0, rows)
    mine = rows[rows["same"].fillna(value=True)]
    return Twice(int(rows["messages"].iloc[0]), int(rows["messages_stored_once"].iloc[0]), mine)


def _lookup_step(
    facts: Facts,
    seen: list[lookups.Lookup],
    wrong: list[lookups.Lookup],
    failed: list[lookups.Lookup],
    quoted: tuple[Ref, ...],
) -> Step:
    if wrong and not failed:
        quoted = tuple(ref for one in wrong[:3] for ref in lookups.ref(facts, one))
        return supporting("look-up-failed", TEXTS.say("lookup_wrong", wrong=len(wrong)), True, quoted)
    return supporting("look-up-failed", TEXTS.say("lookup_failed", failed=len(failed), seen=len(seen)), failed, quoted)


def _twice_refs(facts: Facts, frame: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the two deliveries of the first messages, and the records delivered."""
    quoted: list[Ref] = []
    rows: list[dict[str, Any]] = [{str(k): v for k, v in row.items()} for row in frame.head(2).to_dict("records")]
    for row in rows:
        for file, line in ((row["first_file"], int(row["first_line"])), (row["file"], int(row["line"]))):
            item = facts.files.get(file)
            if item is not None and (item.kind not in ("rows", "sends") or item.detail.get("dialect")):
                quoted.append(facts.ref(file, line))
    place = ["record_file", "physical_offset", "store_timestamp"]
    firsts = frame[[f"first_{name}" for name in place]].set_axis(place, axis=1)
    records = pd.concat([firsts.head(2), frame[place].head(2)]).rename(columns={"record_file": "file"})
    return (*quoted, *refs.records_at(facts, records.drop_duplicates(), 4))


def _dedup_step(facts: Facts, *, effect: bool) -> Step:
    """Return the step that the application's log uses an offset id as its key, which is why the consumer took the retry for a new
    message.
    """
    if not effect or not refs.seen(facts, "dedup-key"):
        return supporting("compared-by", TEXTS["dedup_unknown"], None)
    lines = facts("dedup_lines")
    offsets = {text for text, kind in lookups.kinds(facts, set(lines["id"])).items() if kind == "offset"}
    lines = lines[lines["id"].isin(offsets)]
    count = int(lines.drop_duplicates("id")["lines"].sum())
    return supporting("compared-by", TEXTS.say("dedup", count=count), count, refs.lines(facts, lines, 2))


def _several_refs(facts: Facts, twice: Twice | None) -> tuple[Ref, ...]:
    if not twice or twice.frame.empty:
        return ()
    rows = facts("identity_records")
    return refs.records_at(facts, rows[rows["uniq_key"] == twice.frame["uniq_key"].iloc[0]], 4)


def _tell(
    facts: Facts, finding: Finding, twice: Twice | None, wrong: list[lookups.Lookup], failed: list[lookups.Lookup]
) -> None:
    """Add the rest of a confirmed finding: summary, window, remedies, tables."""
    again = twice.same if twice else 0
    finding.summary = (
        TEXTS.say("text_twice", twice=again, lookups=len(wrong)) if again else TEXTS.say("looked", lookups=len(failed))
    )
    if twice and len(twice.frame) and twice.frame["time"].notna().any():
        first, last = twice.frame["first_time"].min(), twice.frame["time"].max()
        finding.window = (first.to_pydatetime(), last.to_pydatetime())
    look_up = TEXTS.remedy("lookup")
    finding.remedies = [
        *([TEXTS.remedy("dedup", count=again)] if again else []),
        *([look_up] if wrong else []),
        TEXTS.remedy("log"),
    ]
    finding.tables = _tables(facts, twice, wrong)


def _tables(facts: Facts, twice: Twice | None, wrong: list[lookups.Lookup]) -> dict[str, Any]:
    columns = ["file", "line", "command", "ids", "found", "reason", "address"]
    tables: dict[str, Any] = {
        "identity_lookups": pd.DataFrame(
            [(o.file, o.line, o.command, ",".join(o.ids), o.found, o.reason, o.address) for o in wrong],
            columns=pd.Index(columns),
        ),
        "identity_twice": twice.frame if twice else pd.DataFrame(),
    }
    if not facts.has("messages"):
        return tables
    tables |= {
        "identity_copies": facts("message_stages"),
        "identity_journeys": facts("journeys").head(200),
        "identity_funnel": facts("retry_funnel"),
        "identity_never_came": facts("not_arrived"),
    }
    examples = [one for o in wrong for one in o.ids][:1]
    if twice and len(twice.frame):
        examples = list(twice.frame["uniq_key"].head(3))
    return tables | _examples(facts, examples, tables["identity_journeys"])


def _examples(facts: Facts, keys: list[str], journeys: pd.DataFrame) -> dict[str, Any]:
    """Return the lineage of a few messages: those concerned, and the one with the most records."""
    longest = journeys["example"].iloc[int(journeys["path"].str.count(">").argmax())] if len(journeys) else None
    wanted = list(dict.fromkeys([*keys, *([longest] if longest else [])]))
    records, deliveries = lives(facts, wanted)
    client = next(iter(reversed(setup.client_versions(facts))), None)
    calls = [
        lookups.on_message([r for r in records if r["id"] == key], client, facts.lang).assign(message=key)
        for key in wanted
    ]
    return {
        "identity_lives": pd.DataFrame(
            [
                *({"row": "copy", **{k: v for k, v in r.items() if k != "properties"}} for r in records),
                *({"row": "delivery", **d} for d in deliveries),
            ]
        ),
        "identity_calls": pd.concat(calls, ignore_index=True) if calls else pd.DataFrame(),
    }


def _missing(facts: Facts, *, store: bool, twice: Twice | None, effect: bool) -> list[Missing]:
    wanted = []
    if not store:
        wanted.append(collect_next.ask("commitlog", TEXTS["want_store"]))
    if twice is None:
        wanted += [
            collect_next.ask("business rows", TEXTS["want_ledger"]),
            collect_next.ask("consumer's application log", TEXTS["want_ledger"]),
        ]
    if not effect and not any(facts.files.of_kind("mqadmin", "text")):
        command = "mqadmin queryMsgById -n NAMESRV:9876 -i ID > queryMsgById.txt 2>&1"
        wanted.append(collect_next.ask("look-up", TEXTS["want_lookup"], command=command))
    return wanted
