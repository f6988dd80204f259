"""The sentences of `message_size_mismatch`."""

from __future__ import annotations

from typing import Final

from kit.i18n import T

# fmt: off

class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("A half message outgrows the broker's size limit when it is put back")
    NONE = T("No put-back of a half message was refused for its size.")
    BODY_ONLY = T("No put-back was refused for its size; broker {version} measures the body alone, which a put-back does not change.")
    SUMMARY = T(
        "The check's put-backs were refused for their size {count} {count:time|times} (limit {limit} bytes, looping half messages: {records}); {risk} open "
        "transactions do not fit, and what is behind them in the half queue is not checked."
    )
    SUMMARY_RISK = T("{risk} {risk:open transaction is|open transactions are} stored but will exceed {limit} bytes when the check puts them back; no refusal is in these logs.")
    SUMMARY_UNKNOWN = T("Put-backs failed {count} {count:time|times} (half messages concerned: {records}); why is not shown.")
    WANT_STORE = T("the half records show which messages do not fit, to the byte")
    WANT_TRANSACTION_LOG = T("each refused put-back names its record there")
    WANT_STORE_LOG = T("`message size exceeded` prints size and limit of each refused record")
    WANT_CONFIG = T("maxMessageSize and transactionCheckMax decide what fits")


class Claim:
    """One sentence per link of the chain, in the order in which it happens."""

    LIMIT = T("The broker allows {limit} bytes and measures {what} (release {version}).")
    REJECTED = T("At the edge: {count} {count:send was|sends were} refused at once for their size, the largest {largest} bytes.")
    NOT_REJECTED = T("At the edge: sends were refused at once for their size.")
    AT_RISK_OPEN = T("Open transactions were accepted as half messages but exceed the limit at some put-back.")
    AT_RISK = T(
        "{count} {count:open transaction was|open transactions were} accepted as half messages but exceed the limit at some put-back until check {check_max}: a put-back adds "
        "{first} bytes, {last} in the end."
    )
    REFUSED = T("The check's put-back was refused for its size, again and again: {count} {count:refusal|refusals} from {first} to {last}, {rate} a second ({total} bytes, {limit} allowed).")
    NOT_REFUSED = T("A put-back of a half message was refused for its size.")
    OTHER_REASON = T("Put-backs failed {count} {count:time|times}, but their records stay within the limit: another reason.")
    FAILED = T("Put-backs failed {count} {count:time|times}; whether for their size is not shown.")
    TIED = T("It is the record {msg_id} of {topic}: {stored} bytes stored, {wanted} when put back, {over} over the limit.")
    NOT_TIED = T("The refused put-back belongs to a record of the commitlog.")
    STANDS = T("The half queue does not advance: the saved offset {saved} is at or before that record (offset {offset}); {waiting} {waiting:open transaction waits|open transactions wait} behind it.")
    NOT_STANDS = T("The half queue does not advance.")
    VOLUME = T("It wrote {lines} {lines:log line|log lines}, about {megabytes} MB. {lost}")
    NO_VOLUME = T("The refusals fill the logs.")
    BEGIN_LOST = T("The logs begin in the middle of it: earlier refusals have rolled away.")
    GAP_LOST = T("{seconds} s between the files have rolled away.")
    COMPLETE = T("Its beginning is still there.")


MEASURES: Final = {
    "total": T("the whole record"),
    "body": T("the body alone"),
    "body+64k": T("the body, and the record up to 64 KiB more"),
}
UNKNOWN = T("not known what")


class Fix:
    """What to do now, and what keeps it from coming back."""

    RAISE = T("Now: raise maxMessageSize of the broker by at least {bytes} bytes and restart it.")
    RAISE_WHY = T("The put-back fits then; the check goes on with the record it stopped at and all that waits behind.")
    RAISE_RISK = T("A limit raised for good is soon reached by larger bodies: set the producers' limit as well.")
    RAISE_VERIFY = T("`Before check` in transaction.log shows msgOffset advancing; no `PutBackToHalfQueueReturnResult write failed` any more.")
    CLIENT = T("Producers: setMaxMessageSize({bytes}), the largest raw body that is safe here even when compression enlarges it.")
    CLIENT_WHY = T("The client refuses what the broker could not put back; its default of 4 MiB looks at the raw body only.")
    CLIENT_RISK = T("Larger properties than seen here lower the safe body; compute it again.")
    CLIENT_VERIFY = T("A body of one byte more is refused in the client before anything is sent.")
    UPGRADE = T("Upgrade the broker to 4.9.4 or later.")
    UPGRADE_WHY = T("It measures the body alone: what was accepted once can always be put back (DLedger keeps its 4 MiB per entry).")
    UPGRADE_RISK = T("An upgrade of the broker; records of 4.9.1–5.1.x end their properties differently, old clients read both.")
    UPGRADE_VERIFY = T("A half message just below the limit is checked and ends.")
