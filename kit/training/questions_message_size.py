"""Lab 81, a message that outgrows the limit: it fits when it is sent, and not when the check puts it back."""

from __future__ import annotations

from typing import Any, Final

from kit.i18n import T
from kit.training.bench import Bench
from kit.training.question import Lab, Question, Slip

CAUSE: Final = "message-size-mismatch"

MEASURED: Final = {
    "body": T("the body as it was before compression"),
    "stored-body": T("the body as stored"),
    "record": T("the whole record: fixed fields, body, topic and properties"),
}
MEASURES: Final = {"total": "record", "body": "stored-body", "body+64k": "stored-body"}
FIELDS: Final = {
    "body": T("the body"),
    "fixed": T("fixed fields"),
    "topic": T("the topic's name"),
    "tags-code": T("the tags code (setTagsCode)"),
    "application": T("properties of the application"),
    "client": T("properties of the producer's client"),
    "broker": T("properties the broker adds when it prepares the transaction"),
    "check": T("properties the check adds"),
}


def facts(bench: Bench) -> dict[str, Any]:
    """Return the figures of the cause, what one looping record weighs, and what they are mistaken for."""
    from kit.analysis.sizes import in_force
    from kit.rocketmq.versions import OLDEST, rule

    figures = bench.figures(CAUSE)
    told, risk = bench.table("size_refusals"), bench.table("size_at_risk")
    counts = {} if told.empty else _refusals(told)
    safe = [v for v in (figures["safe_body_bytes"] or {}).values() if v is not None]
    how = in_force.limits(bench.case).how
    first: dict[str, Any] = (
        {} if risk.empty else {str(k): v for k, v in risk.sort_values("queue_offset").iloc[0].to_dict().items()}
    )
    return {
        "limit": figures["broker_limit"],
        "default_limit": int(rule("maxMessageSize", OLDEST)),
        "measure": MEASURES.get(how or ""),
        "direct": figures["direct_rejects"],
        "at_risk": figures["at_risk_half_messages"],
        "looping": figures["looping_half_messages"],
        "open": bench.figures("transaction-consistency")["pending"],
        "stored": first.get("store_size"),
        "added": first["next_size"] - first["store_size"] if first else None,
        "added_last": first["last_size"] - first["store_size"] if first else None,
        "safe": min(safe, default=None),
        "planned": 60 << 10,
        **counts,
        **_grown(bench),
    }


def _refusals(told: Any) -> dict[str, Any]:
    put_back = told[told["writer"] == "put_back"].groupby("event")["count"].sum()
    exceeded = told[told["event"] == "message-size-exceeded"]["count"].sum()
    # Each refusal leaves a line in store.log and one in transaction.log; the longer log has more of them.
    return {
        "refused": int(put_back.max()) if len(put_back) else None,
        "lines": int(put_back.sum()),
        "exceeded": int(exceeded),
    }


def _grown(bench: Bench) -> dict[str, Any]:
    """Return which field the put-back made longer, and the body of the record that loops."""
    fields = bench.table("size_fields")
    if fields.empty:
        return {"grown": None, "looping_body": None}
    sizes_ = fields.pivot_table(index="field", columns="stage", values="bytes", aggfunc="sum")
    more = sizes_["put_back"] - sizes_["half"]
    return {"grown": str(more.idxmax()) if more.max() > 0 else None, "looping_body": int(sizes_["half"]["body"])}


QUESTIONS: Final = (
    Question(
        "81-1",
        "bytes",
        "limit",
        T("The half queue stops advancing and the logs fill. What is the broker's limit for a message, in bytes?"),
        T("maxMessageSize, as the running broker had it: mqadmin getBrokerConfig, or the refusals themselves."),
        T("The clients were not told: theirs is {default_limit} by default."),
        (
            Slip(
                T("That is the default, of client and broker alike. This broker was given another limit."),
                "default_limit",
            ),
            Slip(T("The broker's answer speaks of 128k whatever its limit is."), value="131072"),
        ),
    ),
    Question(
        "81-2",
        "count",
        "direct",
        T("At the edge the harmless case: how many sends were refused at once for their size?"),
        T("In store.log the thread shows who wrote: SendMessageThread for a send, the check's thread for a put-back."),
        T("Their senders were told. Nothing of them is stored, and nothing loops."),
        (
            Slip(
                T("That counts put-backs too: the same line comes from the check's thread, again and again."),
                "exceeded",
            ),
        ),
    ),
    Question(
        "81-3",
        "word",
        "measure",
        T("What does this broker compare with its limit?"),
        T("A refusal prints two sizes. Which of them is above the limit?"),
        T(
            "And the client looks at the body before compression: two rulers, and a message can pass one and fail the other."
        ),
        (
            Slip(T("That is what the client checks."), value="body"),
            Slip(
                T("Newer brokers do. This one prints a body below the limit and refuses it all the same."),
                value="stored-body",
            ),
        ),
        MEASURED,
    ),
    Question(
        "81-4",
        "count",
        "added",
        T("How many bytes does the first put-back add to a half message?"),
        T("Compare the stored record ({stored} bytes) with what the check wants to write."),
        T("A name, a value and two separators. Nothing more is added while the count keeps its digits."),
        (
            Slip(T("That is what has been added by the last check, when the count has two digits."), "added_last"),
            Slip(T("No: something is added at every first check. The record that loops did fit before."), value="0"),
            Slip(T("Eight bytes would be the tags code. It is in the consume queue, not in the record."), value="8"),
        ),
    ),
    Question(
        "81-5",
        "word",
        "grown",
        T("The document says setTagsCode makes it grow. Which part of the record did the put-back make longer?"),
        T("Compare the stages “half” and “put back” in the table of fields."),
        T("TRANSACTION_CHECK_TIMES it is: a property."),
        (
            Slip(
                T(
                    "That is the document's wrong turn: the tags code is computed for the consume queue and is not stored in the record."
                ),
                value="tags-code",
            ),
            Slip(T("They are there already: the broker added them when it prepared the half message."), value="broker"),
            Slip(T("The body is copied as it is."), value="body"),
        ),
        FIELDS,
        {
            "settagscode": "tags-code",
            "tagscode": "tags-code",
            "transaction-check-times": "check",
            "properties": "check",
        },
    ),
    Question(
        "81-6",
        "count",
        "at_risk",
        T("How many open transactions will be refused at some put-back?"),
        T(
            "Open ones whose record plus what the checks add exceeds the limit. The log names only those the check has come to."
        ),
        T("The check stops at the first of them and never comes to the others, nor to whatever is behind."),
        (
            Slip(T("That is how many the log shows looping. The check has not come to the others yet."), "looping"),
            Slip(T("That is every open transaction. Some of them fit and only wait behind."), "open"),
        ),
    ),
    Question(
        "81-7",
        "count",
        "refused",
        T("How often was the put-back refused, as far as the logs go back?"),
        T("Each refusal is in store.log and in transaction.log."),
        T(
            "In seconds, for one message that is a few bytes too long. Logs roll, and the beginning is the first thing lost."
        ),
        (
            Slip(
                T("That counts both logs. Each refusal leaves a line in store.log and another in transaction.log."),
                "lines",
            ),
        ),
        tolerance=0.01,
    ),
    Question(
        "81-8",
        "bytes",
        "safe",
        T(
            "The plan was to refuse bodies above 60 KB, “to be confirmed”. What is the largest body whose put-backs all fit?"
        ),
        T("The limit, less everything that is no body, less what the checks add until their limit."),
        T("For the longest properties seen on that topic; with longer ones it is less."),
        (
            Slip(T("Safe it is, but a guess: it gives away what would have fitted."), "planned"),
            Slip(T("That leaves no room for fixed fields, topic and properties."), "limit"),
            Slip(T("That is the body of the very record that loops."), "looping_body"),
        ),
    ),
)

LAB: Final = Lab(81, T("The message that outgrew the limit"), lambda bench: QUESTIONS, facts)
