"""Lab 82, which id is the message's: “it never changes”, “it changes at every retry”, and why both were seen."""

from __future__ import annotations

from typing import Any, Final

from kit.i18n import T
from kit.training.bench import Bench
from kit.training.question import Lab, Question, Slip

CAUSE: Final = "message-identity"

KINDS: Final = {
    "uniq-key": T("a UNIQ_KEY: given once by the producer's client"),
    "offset-id": T("an offset id: store host and offset, made at every append"),
    "business-key": T("a business key of the application"),
}
BY: Final = {
    "offset-id": T("the offset id (getOffsetMsgId)"),
    "uniq-key": T("UNIQ_KEY, which the consumer's getMsgId answers"),
    "origin-message-id": T("originMsgId of the send-back"),
    "reconsume-times": T("the number of retries"),
}
ALIASES: Final = {
    "uniq": "uniq-key",
    "uniqkey": "uniq-key",
    "getmsgid": "uniq-key",
    "msgid": "uniq-key",
    "unique-key": "uniq-key",
    "offset": "offset-id",
    "offset-msg-id": "offset-id",
    "offsetmsgid": "offset-id",
    "getoffsetmsgid": "offset-id",
    "originmsgid": "origin-message-id",
    "key": "business-key",
    "keys": "business-key",
    "origin-msg-id": "origin-message-id",
}
COPIES: Final = """
select sum(copies) as records, max(copies) as most, count_if(retries > 0) as retried
from (select count(*) as copies, max(reconsume_times) as retries from records where uniq_key is not null group by uniq_key)
"""


def facts(bench: Bench) -> dict[str, Any]:
    """Return the figures of the cause, what one message went through, and what they are mistaken for."""
    figures = bench.figures(CAUSE)
    (total,) = bench.case.answers(COPIES)
    dead = bench.figures("dead-letter")["dead_lettered"]
    return {
        "messages": figures["uniq_keys"],
        "several": figures["uniq_keys_with_several_offset_ids"],
        "twice": figures["handled_twice_by_offset_id"],
        "records": total["records"],
        "most": total["most"],
        "retried": total["retried"],
        "dead": dead,
        "by": _steady(bench),
        **_lookup(bench),
    }


def _steady(bench: Bench) -> str | None:
    """Return which id stayed the same over the two deliveries of what was handled twice."""
    twice = bench.table("identity_twice")
    both = twice.dropna(subset=["first_offset_msg_id", "offset_msg_id"]) if len(twice) else twice
    if both.empty:
        return None
    return "uniq-key" if (both["first_offset_msg_id"] != both["offset_msg_id"]).all() else "offset-id"


def _lookup(bench: Bench) -> dict[str, Any]:
    """Return the first look-up that failed for the kind of its id."""
    from kit.analysis.messages import lookups

    seen = bench.table("identity_lookups")
    if seen.empty:
        return {"asked": None, "kind": None, "address": None, "command": None}
    row = seen.iloc[0]
    asked = str(row["ids"]).split(",")[0]
    kind = lookups.kinds(bench.case, {asked}).get(asked)
    address = row["address"] if isinstance(row["address"], str) else None
    return {
        "asked": asked,
        "command": row["command"],
        "address": address,
        "kind": {"uniq": "uniq-key", "offset": "offset-id"}.get(kind or ""),
    }


QUESTIONS: Final = (
    Question(
        "82-1",
        "count",
        "messages",
        T(
            "Does the id of a message change when it is retried? First: how many messages, by UNIQ_KEY, are in this store?"
        ),
        T("Distinct values of the property UNIQ_KEY, over all topics."),
        T("They lie in {records} {records:record|records}: each write makes another one."),
        (
            Slip(
                T(
                    "Those are records. One message has one for each time it was written: half, commit, delay, retry, dead letter."
                ),
                "records",
            ),
        ),
    ),
    Question(
        "82-2",
        "count",
        "several",
        T(
            "“The msgId always found all retries”, says experience. How many of the messages have more than one offset id?"
        ),
        T("Group the records by UNIQ_KEY and count their offset ids."),
        T(
            "Normal: CommitLog makes an offset id of store host and offset at every append. That is not the id experience searched by."
        ),
        (
            Slip(
                T(
                    "It looks so in a consumer's log, where getMsgId answers UNIQ_KEY. In the store every copy has an offset id of its own."
                ),
                value="0",
            ),
            Slip(
                T("That is every message; one that was sent plainly and never retried has a single record."), "messages"
            ),
            Slip(T("Those were retried. A transaction has two ids without any retry: half and committed."), "retried"),
        ),
    ),
    Question(
        "82-3",
        "count",
        "most",
        T("Take the message that was written most often. How many offset ids has it?"),
        T("One for each of its records, whatever the topic."),
        T("And one UNIQ_KEY in all of them. So the id does change at every retry, and does not: there are two."),
        (Slip(T("It has one UNIQ_KEY. The offset ids are as many as its records."), value="1"),),
    ),
    Question(
        "82-4",
        "word",
        "kind",
        T("Somebody looked up {asked} with {command} and failed. What kind of id is that?"),
        T(
            "Both kinds have 32 digits for IPv4. Is there a record with this UNIQ_KEY? `python -m kit msgid` takes the id apart."
        ),
        T("{command} takes the other kind. It read a host and an offset out of this one all the same."),
        (
            Slip(
                T(
                    "It looks like one: 32 digits that begin with an address. But the address is the producer's, and what follows is its process, not a port. "
                    "It is the UNIQ_KEY of a stored record."
                ),
                value="offset-id",
            ),
            Slip(T("Keys are what the application chose, such as an order number."), value="business-key"),
        ),
        KINDS,
        ALIASES,
    ),
    Question(
        "82-5",
        "word",
        "address",
        T("Which address (host:port) did that command try to reach?"),
        T("It is in the command's output."),
        T("No broker listens there: host and process of the producer, taken for host and port of a broker."),
    ),
    Question(
        "82-6",
        "count",
        "twice",
        T("The consumer remembers what it has handled by its offset id. How many messages did it handle twice?"),
        T("Success, and success again as a retry copy: the consumer's own rows show it."),
        T("It granted, failed in a later step, was retried, and did not know its own message again."),
        (
            Slip(T("Those were retried. A retry of what had failed is as it should be."), "retried"),
            Slip(T("Those were dead-lettered: they lie in the dead letter topic."), "dead"),
            Slip(T("That several offset ids exist is normal. It needs somebody who compares them."), "several"),
        ),
    ),
    Question(
        "82-7",
        "word",
        "by",
        T("By what should the consumer know its messages again?"),
        T("Compare the two deliveries of one of them: what stayed the same?"),
        T("Or by a business key, which also catches what a producer sent twice."),
        (
            Slip(T("That is what it does now: each copy has another one."), value="offset-id"),
            Slip(
                T(
                    "A wrong turn of the document: the request carries it, and the broker does not use it. The first delivery has none."
                ),
                value="origin-message-id",
            ),
            Slip(
                T("It shows that this is a retry, not of what, nor whether the first try succeeded."),
                value="reconsume-times",
            ),
        ),
        BY,
        ALIASES,
    ),
)

LAB: Final = Lab(82, T("Which id is the message's"), lambda bench: QUESTIONS, facts)
