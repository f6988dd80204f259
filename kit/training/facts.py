"""What answers the questions, worked out from the evidence by name, and what each is mistaken for.

A fact that this evidence does not tell is None or absent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from kit.training.bench import Bench
    from kit.training.lab import Lab

Facts = dict[str, Any]
HALF_STORE: Final = """
select count_if(topic = 'RMQ_SYS_TRANS_HALF_TOPIC') as half_records,
  count_if((sys_flag & 12) = 8 and reconsume_times = 0 and stage in ('commit', 'due')) as commits from records
"""
COPIES: Final = """
select sum(copies) as records, max(copies) as most, count_if(retries > 0) as retried
from (select count(*) as copies, max(reconsume_times) as retries from records where uniq_key is not null group by uniq_key)
"""
SAYS_BROKER_BUSY: Final = ("PC_SYNCHRONIZED", "PCBUSY_CLEAN_QUEUE", "TIMEOUT_CLEAN_QUEUE")
"""Kinds whose text says “broker busy”: BrokerFastFailure, SendMessageProcessor; REJECTREQUEST says “system busy”."""
MEASURES: Final = {"total": "record", "body": "stored-body", "body+64k": "stored-body"}
CHAIN: Final = ("send-back-refused", "sent-anew", "leaked", "diverted-again", "bounded")


def of_lab(lab: Lab, bench: Bench) -> Facts:
    """Return the facts of a lab: the figures its file names, then what is worked out."""
    named = {fact: name.partition(".") for fact, name in lab.figures.items()}
    figures = {fact: bench.figures(cause).get(figure) for fact, (cause, _, figure) in named.items()}
    return figures | WORKED_OUT[lab.number](bench, figures)


def half_topic(bench: Bench, figures: Mapping[str, Any]) -> Facts:
    from kit.analysis.transactions import send_back
    from kit.rocketmq import names

    back = send_back.examine(bench.case.facts)
    length, pending = figures["length"], figures["pending"]
    steps = {step["id"]: step["holds"] for step in bench.inquiry().finding("half-topic-blowup")["steps"]}
    return {
        "unfinished": None if pending is None else pending + (figures["discarded"] or 0),
        "refusals": back.refusals,
        "reason": back.reason if back.refusals else None,
        "group_length": None if length is None else length - len(names.RETRY_PREFIX),
        "length_limit": send_back.store_limit(bench.case.facts),
        "chain": CHAIN if all(steps.get(step) for step in CHAIN) else None,
        **(_leaked(bench, figures["records"], figures["messages"]) if figures["records"] else {}),
    }


def _leaked(bench: Bench, records: int, messages: int) -> Facts:
    counts, fixes = bench.table("half_topic_counts"), bench.table("half_topic_fixes")
    stored = counts[counts["place"] != "discarded"]
    committed = stored[stored["committed"].astype(bool)]
    window = counts["last"].max() - counts["first"].min()
    writer = _writer(bench)
    left = fixes.set_index("fix")["left"]
    through = fixes[fixes["retries_delivered"].astype(bool) & (left.to_numpy() == 0)]["fix"]
    return {
        "half_records": bench.case.answers(HALF_STORE)[0]["half_records"],
        "anywhere": int(stored["records"].sum()),
        "writer": writer,
        # What a consumer sends anew has a delay; the store then keeps the topic it has by now, the half topic.
        "lost_by": "delay" if writer == "consumer" else None,
        "average": window.total_seconds() / math.log2(records / messages) if records > messages else None,
        "commits": int(counts["commits"].sum()),
        "with_bit": int(committed["records"].sum()),
        "half_with_bit": int(committed[committed["place"] == "half"]["records"].sum()),
        "fix": None if through.empty else str(through.iloc[0]),
        "left_by_rollback": left.get("rollback-unknown-topic"),
    }


def _writer(bench: Bench) -> str:
    """Return who wrote the first leaked record in the order of the store: what the others descend from."""
    places = bench.case.facts("leak_places")
    first: Any = places[places["role"] == "leaked"].iloc[0]
    if first.reconsume_times:
        return "consumer"
    if first.committed:
        return "commit"
    return "check" if first.check_times == first.check_times and first.check_times is not None else "producer"


def message_size(bench: Bench, figures: Mapping[str, Any]) -> Facts:
    from kit.analysis.sizes import limits
    from kit.rocketmq.versions import OLDEST, rule

    refusals, risk = bench.table("size_refusals"), bench.table("size_at_risk")
    facts: Facts = {
        "default_limit": int(rule("maxMessageSize", OLDEST)),
        "measure": MEASURES.get(limits.limits(bench.case.facts).how or ""),
        "safe": min((v for v in (figures["safe_bodies"] or {}).values() if v is not None), default=None),
        "planned": 60 << 10,
    }
    if len(risk):
        first: Any = risk.sort_values("queue_offset").iloc[0]
        facts |= {"stored": int(first.store_size), "added": int(first.next_size - first.store_size)}
        facts["added_last"] = int(first.last_size - first.store_size)
    if len(refusals):
        put_back = refusals[refusals["writer"] == "put_back"].groupby("event")["count"].sum()
        exceeded = refusals[refusals["event"] == "message-size-exceeded"]["count"].sum()
        # Each refusal leaves a line in store.log and one in transaction.log; the longer log has more of them.
        refused = int(put_back.max()) if len(put_back) else None
        facts |= {"refused": refused, "lines": int(put_back.sum()), "exceeded": int(exceeded)}
    fields = bench.table("size_fields")
    if len(fields):
        sizes = fields.pivot_table(index="field", columns="stage", values="bytes", aggfunc="sum")
        more = sizes["put_back"] - sizes["half"]
        facts["grown"] = str(more.idxmax()) if more.max() > 0 else None
        facts["looping_body"] = int(sizes["half"]["body"])
    return facts


def message_identity(bench: Bench, figures: Mapping[str, Any]) -> Facts:
    from kit.analysis.messages import lookups

    facts: Facts = dict(bench.case.answers(COPIES)[0])
    twice, seen = bench.table("identity_twice"), bench.table("identity_lookups")
    both = twice.dropna(subset=["first_offset_msg_id", "offset_msg_id"]) if len(twice) else twice
    if len(both):
        changed = (both["first_offset_msg_id"] != both["offset_msg_id"]).all()
        facts["by"] = "uniq-key" if changed else "offset-id"
    if len(seen):
        first: Any = seen.iloc[0]
        asked = str(first.ids).split(",")[0]
        kind = lookups.kinds(bench.case.facts, {asked}).get(asked) or ""
        facts |= {"asked": asked, "command": first.command}
        facts["kind"] = {"uniq": "uniq-key", "offset": "offset-id"}.get(kind)
        facts["address"] = first.address if isinstance(first.address, str) else None
    return facts


def broker_busy(bench: Bench, figures: Mapping[str, Any]) -> Facts:
    from kit.analysis.sends.attempts import REFUSALS

    errors, tries = figures["errors"] or {}, figures["attempts"] or {}
    stored = {kind: n["stored"] for kind, n in (figures["outcome"] or {}).items()}
    refused = {kind: n for kind, n in errors.items() if kind in REFUSALS}
    known = bool(refused) and figures["outcome"] is not None
    facts: Facts = {
        "tries": sum(tries.values()) or None,
        "refused": sum(refused.values()) or None,
        "commonest": max(refused, key=lambda kind: refused[kind]) if refused else None,
        "timed_out": errors.get("CLIENT_TIMEOUT"),
        "copies": len(bench.table("duplicated")) or None,
        "says_busy": sum(refused.get(kind, 0) for kind in SAYS_BROKER_BUSY) or None,
        "says_busy_stored": sum(stored.get(kind, 0) for kind in SAYS_BROKER_BUSY) if known else None,
        "kinds_stored": frozenset(kind for kind, n in stored.items() if n) or None,
    }
    pauses, stalls, why = bench.table("busy_pauses"), bench.table("busy_stalls"), bench.table("busy_why")
    if len(pauses):
        facts["longest"] = float((pauses["end_ms"] - pauses["start_ms"]).max() / 1000)
        facts |= {"pauses": len(pauses), "burst": float(stalls["seconds"].max())}
        facts["together"] = float(stalls["stood_seconds"].sum())
    if len(why):
        first: Any = why.sort_values("rank").iloc[0]
        facts |= {"why": str(first.why), "share": f"{first.share:.0%}" if first.share == first.share else None}
    return facts


def transactions(bench: Bench, figures: Mapping[str, Any]) -> Facts:
    facts: Facts = dict(bench.case.answers(HALF_STORE)[0])
    facts |= {"unsafe": unsafe(looks_at_status=True), "unsafe_unchecked": unsafe(looks_at_status=False)}
    wrong = bench.table("inconsistent")
    if len(wrong):
        rows = wrong[(wrong["kind"] == "row_without_message") & (wrong["state"] != "discarded")]
        dead = bench.table("dead_letters")
        keys = set(dead["keys"].dropna().str.split().explode()) if len(dead) else set()
        facts["dead_of_rows"] = int(rows["key"].isin(list(keys)).sum())
        for fact, column in (("group", "producer_group"), ("repair", "repair")):
            common = rows[column].dropna().mode()
            facts[fact] = str(common.iloc[0]) if len(common) else None
    return facts


def unsafe(*, looks_at_status: bool) -> frozenset[str]:
    """Return the placements that can end inconsistent under the published failures, by the kit's model."""
    from kit.rocketmq import placement

    given = attrs.evolve(placement.PUBLISHED_ASSUMPTIONS, looks_at_status=looks_at_status)
    return frozenset(each for each in placement.PLACEMENTS if not placement.safe(each, given))


def of_one(n: int, findings: Any) -> Facts:
    """Return `cause_n` (root causes, or none) and `also_n` (neighbours, without a root cause) of evidence n."""
    roots = frozenset(findings["root_causes"])
    # Who names the neighbour of an evidence without a root cause has understood it.
    also = frozenset() if roots else frozenset({"none", *neighbours(findings)})
    return {f"cause_{n}": roots or frozenset({"none"}), f"also_{n}": also}


def neighbours(findings: Any) -> list[str]:
    """Return the confirmed causes that are no root cause."""
    return [f["cause"] for f in findings["findings"] if f["verdict"] == "confirmed" and f["kind"] != "root_cause"]


WORKED_OUT: Final[dict[int, Callable[[Bench, Mapping[str, Any]], Facts]]] = {
    80: half_topic, 81: message_size, 82: message_identity, 83: broker_busy, 84: transactions,
}  # fmt: skip
