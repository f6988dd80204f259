"""The sentences of `broker_busy` and its neighbours."""

from __future__ import annotations

from kit.i18n import T


class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("The broker refused messages because it was busy")
    NONE = T("No flow-control refusal of a broker in this evidence.")
    SUMMARY = T(
        "The broker refused messages by flow control: {failed} sends failed, {lost} are lost, {stored} are stored in spite of the error, {twice} keys "
        "stand there twice. Why: {why}."
    )
    SUMMARY_FATE_UNKNOWN = T(
        "The broker refused messages by flow control: {failed} failed sends are seen; what became of them is not. Why: {why}."
    )
    SUMMARY_TIMEOUTS = T(
        "Sends timed out at the client ({count} entries), but no refusal of the broker is in this evidence."
    )
    SUMMARY_STALLS = T("The broker stood still for {seconds} s, but no refusal is in this evidence.")
    NOT_SHOWN = T("not shown by this evidence")
    WANT_CLIENT = T("the broker does not log its refusals; the client prints each with its kind")
    WANT_STORE = T("whether a failed send was stored, and where the broker stood still, is written only there")
    WANT_SENDS = T("it says which sends failed, so that lost messages can be named")
    WANT_WATERMARK = T("a second without a block shows that the process stood still")
    WANT_METRICS = T("they show what else used disk and CPU")


class Claim:
    """One sentence per step."""

    REFUSED = T("The broker refused requests by flow control: {count} log entries say so ({kinds}).")
    NOT_REFUSED = T("The broker refused requests by flow control.")
    COUNTED = T("The broker itself counted {count} answers with code 2 (SYSTEM_BUSY).")
    STALLED = T(
        "The records show {count} stalls, {seconds} s together, in which nothing was stored while {waiters} messages waited."
    )
    STOOD = T("The broker stored nothing for {seconds} s while {waiters} messages waited")
    FIRST_LOST = T("First send that failed and is in no topic: {key}")
    LAST_LOST = T("Last send that failed and is in no topic: {key}")
    FIRST_STORED = T("First send that failed and is stored all the same: {key}")
    TIMED_OUT = T(
        "Clients waited in vain for an answer ({count} entries): their own time-out, which says nothing about storage."
    )
    OUTCOME = T("Of {failed} failed sends {stored} are stored and {lost} are in no topic of any broker: {by_kind}.")
    BELIEF = T("every refusal was lost, what is stored in spite of an error was a client time-out")
    TWICE = T(
        "{keys} keys stand in the store more than once with the same body ({brokers} of them on several brokers)."
    )
    WHY = T("Why, rank {rank}: {said} ({share} of the failed sends fall into it).")
    WHY_OPEN = T("Why, rank {rank}: {said}.")
    WHY_NOT = T("Why the broker was busy is not shown by this evidence.")
    PENDING = T(
        "{count} transactions whose half message met a stall were checked or are still open: a refused END_TRANSACTION is one-way and leaves no error."
    )


class Fix:
    """What to do, and its price."""

    HOST = T("Give the broker a host of its own, or move what writes beside it.")
    HOST_WHY = T("It takes away the cause, not the symptom; in the documented case it was the final answer.")
    HOST_RISK = T("Moving a broker needs a maintenance window.")
    HOST_VERIFY = T("watermark.log has a block every second; iostat shows only what the broker stores.")
    RESEND = T(
        "Catch MQBrokerException with code 2 and send again after a pause, to the same topic; make the consumers idempotent."
    )
    RESEND_WHY = T(
        "Clients before 5.3.0 do not retry it: {count} sends here were thrown at the application, {lost} messages are lost."
    )
    RESEND_RISK = T(
        'A resend after a time-out can store twice ({twice} keys here without any resend); without a pause it adds to the load. A second "bak" '
        "topic makes duplicates of its own."
    )
    RESEND_VERIFY = T("The ledger of the next incident shows no lost message.")
    LIMITS = T(
        "Raise waitTimeMillsInSendQueue (and osPageCacheBusyTimeOutMills) above the longest stall seen ({seconds} s)."
    )
    LIMITS_WHY = T("{count} of the refusals here would have been stored late instead.")
    LIMITS_RISK = T(
        "It hides the stall: senders wait instead of failing, their threads pile up, and beyond sendMsgTimeout it becomes time-outs and duplicates."
    )
    LIMITS_VERIFY = T("No CODE: 2 in the clients' logs; watch the p99 of sends.")
    POOL = T("transientStorePoolEnable=true on an asynchronous master, if appends hang in the page cache.")
    POOL_WHY = T("Writes no longer wait for the page cache that reads and others share.")
    POOL_RISK = T(
        "What is in the pool is lost when the process dies; an exhausted pool refuses every send; no help against a standing process."
    )
    POOL_VERIFY = T("remainTransientStoreBufferNumbs of brokerStatus stays above 0.")
    MORE = T("Add a broker, or move the topic to one with room.")
    MORE_WHY = T("Retries prefer another broker, and each has less to do.")
    MORE_RISK = T("A timed-out send is then often stored on two brokers.")
    MORE_VERIFY = T("The rate of arrival per broker falls.")
