"""The sentences of `half_topic_blowup`."""

from __future__ import annotations

from kit.i18n import T

# fmt: off

class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("The transaction half topic feeds itself")
    NONE = T("No half message of this evidence names the half topic as its own target.")
    ONLY_REFUSED = T("{count} {count:send-back was|send-backs were} refused. Whether half messages came of them is not known: this evidence has no half message that names the half topic as its target.")
    SUMMARY = T("{messages} {messages:message|messages} leaked into the half topic and became {records} {records:half record|half records}; they doubled every {seconds} s. {origin}")
    SUMMARY_TWICE = T("{messages} {messages:message|messages} leaked into the half topic and became {records} {records:half record|half records}; checks made two of one. {origin}")
    SUMMARY_PUT_BACK = T("{messages} {messages:message has|messages have} the half topic itself as their target, in {records} {records:half record|half records}; that they multiply is not shown. {origin}")
    FROM_SEND_BACK = T("They come from send-backs that the broker refused ({count} {count:refusal seen|refusals seen}).")
    FROM_UNKNOWN = T("How they came there is not shown.")
    SUMMARY_LOGS = T("{lines} {lines:log line prints|log lines print} half messages whose real topic is the half topic itself.")
    WANT_STORE = T("the half and schedule records show whether messages leaked and whether they double")
    WANT_TRANSACTION_LOG = T("discarded half messages are printed there with their REAL_TOPIC")
    WANT_CLIENT_LOG = T("its sendMessageBack Exception says why the send-back was refused")
    WANT_STORE_LOG = T("the broker writes there which name was too long")


class Claim:
    """One sentence per link of the chain, in the order in which it happened."""

    GROUP = T("consumer group")
    NAME_TOO_LONG = T("Root: the retry topic %RETRY% + {groups} is {length} characters long; the broker stores names up to {limit}.")
    NAME_PRINTED = T("Root, probably: the store refused a topic name of {length} characters and stores up to {limit}; only retry topics (%RETRY% + consumer group) get that long. Whose it is, this evidence does not show.")
    REASON = T("Root: the send-back failed: {reason}.")
    WHY_UNKNOWN = T("Why a send-back was refused.")
    REFUSED_UNKNOWN = T("The broker refused to take back a message.")
    RESENT_UNKNOWN = T("A consumer's client sent fresh copies that still carry TRAN_MSG and a delay.")
    DIVERTED_UNKNOWN = T("A commit of such a half message was diverted back into the half topic.")
    ANSWERED_UNKNOWN = T("A check of a leaked message was answered COMMIT.")
    BOUNDED_UNKNOWN = T("Copies were discarded after the last check.")
    REFUSED = T("Trigger: a message failed in the consumer and the broker refused to take it back ({count} {count:refusal seen|refusals seen}).")
    RESENT = T(
        "A consumer's client that keeps TRAN_MSG (Java before 4.6.1) sent {count} fresh {count:copy|copies} with a delay; the delay diverted them "
        "into SCHEDULE_TOPIC_XXXX and REAL_TOPIC became the half topic."
    )
    LEAKED = T("{records} {records:half record|half records} of {messages} {messages:message|messages} {records:has|have} the half topic itself as REAL_TOPIC, with TRAN_MSG and DELAY still set.")
    LEAKED_PRINTED = T("{lines} {lines:log line prints|log lines print} half messages with the half topic itself as REAL_TOPIC, TRAN_MSG and DELAY still set.")
    NOT_LEAKED = T("A half or schedule record names the half topic itself as its target, with TRAN_MSG and DELAY set.")
    DIVERTED = T(
        "Each check puts the leaked message back and its answer commits it; the surviving DELAY diverts the commit as well, "
        "so one becomes two ({commits} {commits:commit|commits} diverted, {records} half, scheduled and discarded records descend from them)."
    )
    DIVERTED_PRINTED = T("{lines} {lines:log line prints|log lines print} such half messages with the commit bit set: commits were diverted back into the half topic.")
    TWINS = T("Leaked half records of one UNIQ_KEY carry the same check count: one message became two.")
    ONLY_PUT_BACK = T("A commit of a leaked message was diverted again, or two leaked records share a check count. Neither is seen here.")
    ANSWERED = T("Contributing: checks of leaked messages were answered COMMIT ({count} such {count:answer names|answers name} a leaked record).")
    ANSWERED_PRINTED = T("Contributing: checks of the {messages} leaked {messages:message|messages} were answered COMMIT {commits} {commits:time|times}, by transaction.log.")
    BOUNDED_PRINTED = T("What bounds it: transaction.log prints {lines} {lines:copy|copies} of {messages} leaked {messages:message|messages} as discarded after the last check.")
    DOUBLED = T("{records} leaked half records")
    BOUNDED = T("What bounds it: after {limit} {limit:check|checks} a copy is discarded; {count} {count:copy was|copies were} sent to TRANS_CHECK_MAX_TIME_TOPIC, {arrived} {arrived:has|have} arrived there.")


class Fix:
    """The three documented fixes; only the third lets the retries through."""

    CONTAIN = T("Now: stop the listener of the group whose send-backs are refused from failing (skip or store aside what fails), and let the checks run out.")
    CONTAIN_WHY = T("No new message leaks; what has leaked ends at the check limit by itself.")
    CONTAIN_RISK = T("What the listener skips is not processed: keep its keys. Lowering transactionCheckMax ends the leak sooner, and discards healthy transactions sooner too.")
    CONTAIN_VERIFY = T("No new `sendMessageBack Exception` in the consumers' logs; the half queue's offset slows with each round.")
    CONTAIN_UNDO = T("let the listener fail again once a lasting fix is in place")
    SPLIT_WHEN = T("the name is the reason: the store's log says `topic length too long`")
    SPLIT_UNDO = T("start the consumers with the old group again; its offsets are kept")
    CLIENT_UNDO = T("install the old client again")
    ROLLBACK_WHEN = T("the leaked messages' checks are answered COMMIT")
    DELIVER = T("Deliver the retries that were lost: for each UNIQ_KEY of half_topic_timeline.csv let `trace` show the committed record, and process it again by its business key.")
    DELIVER_WHY = T("The leaked copies never reach a listener; only the record in the real topic still holds the body.")
    DELIVER_RISK = T("A message may have taken effect before its listener failed: process by business key, a dry run first.")
    DELIVER_VERIFY = T("The application's own books show one effect for each key.")
    SPLIT = T("Shorten the consumer group's name (or split its tags over several groups) so that %RETRY% + group stays within 127 characters.")
    SPLIT_WHY_OPEN = T("The send-back is accepted, so nothing leaks and the retries reach the consumer.")
    SPLIT_WHY = T("The send-back is accepted, so nothing leaks (here {count} half, scheduled and discarded records together) and the retries reach the consumer.")
    SPLIT_RISK = T("A new group starts at its own offset: set it before switching, or messages are skipped or consumed again.")
    SPLIT_VERIFY = T("Let one message fail: a record must appear in %RETRY% + group and the log must show no sendMessageBack Exception.")
    CLIENT = T("Upgrade the consumers to client 4.6.1 or newer.")
    CLIENT_WHY_OPEN = T("It clears TRAN_MSG before re-sending, so no leaked record would exist.")
    CLIENT_WHY = T("It clears TRAN_MSG before re-sending, so none of the {count} leaked records (half, scheduled and discarded ones together) would exist.")
    CLIENT_RISK = T("It does not make the retries arrive: with the same group name they stay in the consumer's memory and are tried every 5 s.")
    CLIENT_VERIFY = T("broker.log shows the group with version=335 or higher; the half topic stops growing.")
    ROLLBACK = T("In the check listener, answer ROLLBACK (not COMMIT) for a topic without a handler.")
    ROLLBACK_WHY_OPEN = T("It ends the doubling: no record that descends from a commit would exist.")
    ROLLBACK_WHY = T("It ends the doubling: the {count} records (half, scheduled and discarded ones together) that descend from commits would not exist.")
    ROLLBACK_RISK = T(
        "Leaked messages are still put back once per round until the check limit, because their op messages "
        "go to a queue the checker never reads; the retries stay lost."
    )
    ROLLBACK_VERIFY = T("The number of half records with sysFlag 8 stops growing.")
