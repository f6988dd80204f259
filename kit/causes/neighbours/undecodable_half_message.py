"""undecodable-half-message: a compressed half message was put back uncompressed with the flag still set; the checker
cannot read its own copy.

Deciding steps: a put-back copy with the COMPRESSED flag whose body is not the original's; check rounds that break off
over it (NullPointerException, or
the same check count written again and again). 4.3.0–4.5.2 only:
broker/transaction/queue/TransactionalMessageBridge.decodeMsgList (reference §6.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812

from kit.analysis import refs
from kit.analysis.transactions import transactions
from kit.case import setup
from kit.causes import collect_next
from kit.causes.findings import Figure, Finding, Kind, Remedy, Step
from kit.i18n import T
from kit.rocketmq import names
from kit.spark.properties import prop

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case.case import Case

SLUG = "undecodable-half-message"
KIND: Kind = "neighbour"
COMPRESSED = 0x1
"""common/sysflag/MessageSysFlag.COMPRESSED_FLAG."""

TITLE = T("A half message the checker cannot read stops every check round")
SUMMARY = T(
    "{messages} compressed half messages were put back uncompressed with the flag still set; rounds break off and finished transactions are checked again."
)
NONE = T("No half message was put back in a form that cannot be read.")
COPIES = T("{copies} put-back copies of {messages} compressed half messages hold another body than their original.")
NO_COPIES = T("A put-back copy of a compressed half message holds another body than its original.")
BROKEN = T(
    "Check rounds broke off ({errors} `Check error` lines; {again} copies carry a check count that was written before)."
)
NOT_BROKEN = T("Check rounds broke off over it.")
FAULTY = T("The broker's release ({versions}) has this fault; 4.6.0 and later have not.")
WANT = T("the put-back copies are in the half topic")
ACTION = T("Upgrade the broker to 4.6.0 or newer.")
WHY = T("It puts the compressed body back as it is.")
RISK = T("Unreadable copies stay in the half topic until they are discarded.")
VERIFY = T("`Check error` stops and the half offset in consumerOffset.json moves.")

LOOKS_LIKE = (
    ("message-size-mismatch", T("a put-back is refused; here it is stored and cannot be read")),
    ("half-topic-blowup", T("grows too, but by doubling, with REAL_TOPIC = the half topic")),
    ("duplicate-commit", T("finished transactions are checked again after an aborted round and committed twice")),
)

FIGURES: Final = {"copies": Figure(T("records of them")), "messages": Figure(T("messages", "labels"))}


def examine(case: Case) -> Finding:
    """Say whether put-back copies of compressed half messages cannot be read."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    errors = refs.seen(case, "check-round-error")
    if not case.has("messages"):
        finding.steps = [
            Step(NO_COPIES, "deciding", None, id="other-body"),
            Step(NOT_BROKEN, "deciding", None, id="rounds-broken"),
        ]
        finding.figures = {"messages": None, "copies": None}
        finding.missing = [collect_next.commitlog(WANT)]
        return finding
    # Only what a check renewed can be broken; in most stores that is nothing.
    found = _changed(case) if transactions.summary(case).total("renewed") and _may_have_fault(case) else None
    row = (
        found.agg(
            F.count("*").alias("copies"),
            F.count_distinct("uniq_key").alias("messages"),
            F.count_if("again").alias("again"),
        ).collect()[0]
        if found is not None
        else None
    )
    if found is None or row is None or not row.copies:
        finding.steps = [
            Step(NO_COPIES, "deciding", False, id="other-body"),
            Step(NOT_BROKEN, "deciding", None, id="rounds-broken"),
        ]
        finding.figures = {"messages": 0, "copies": 0}
        return finding
    broken = bool(row.again or errors)
    quoted = refs.records(found.where("again"), 2) if row.again else refs.quote(case, errors, 2)
    finding.steps = [
        Step(
            COPIES.say(copies=row.copies, messages=row.messages),
            "deciding",
            True,
            refs.records(found, 2),
            id="other-body",
        ),
        Step(
            BROKEN.say(errors=errors.count, again=row.again) if broken else NOT_BROKEN,
            "deciding",
            True if broken else None,
            quoted if broken else (),
            id="rounds-broken",
        ),
        Step(
            FAULTY.say(versions=list(setup.broker_versions(case))),
            "supporting",
            True if setup.broker_versions(case) else None,
            id="faulty-release",
        ),
    ]
    finding.figures = {"messages": row.messages, "copies": row.copies}
    finding.summary = SUMMARY.say(messages=row.messages)
    finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
    return finding


def _may_have_fault(case: Case) -> bool:
    from kit.rocketmq import versions

    known = setup.broker_versions(case)
    return not known or any(versions.rule("decompressesOnPutBack", version) for version in known)


def _changed(case: Case) -> DataFrame:
    """Return the put-back copies, still flagged as compressed, whose stored body differs from the original's: columns
    of `messages` plus `again`.
    """
    flagged = transactions.halves(case).where(F.col("sys_flag").bitwiseAND(COMPRESSED) != 0)
    original = (
        flagged.where(~F.col("renewed"))
        .groupBy("uniq_key")
        .agg(F.min("body_crc").alias("crc"), F.min("body_size").alias("size"))
    )
    copies = flagged.where("renewed").join(original, "uniq_key")
    from pyspark.sql import Window

    nth = F.row_number().over(Window.partitionBy("uniq_key", prop(names.CHECK_TIMES)).orderBy("physical_offset"))
    return (
        copies.where((F.col("body_crc") != F.col("crc")) | (F.col("body_size") != F.col("size")))
        .withColumn("again", nth > 1)
        .drop("crc", "size")
    )
