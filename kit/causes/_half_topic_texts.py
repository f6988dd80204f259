"""The sentences of `half_topic_blowup`."""

from __future__ import annotations

from kit.i18n import T


class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("The transaction half topic feeds itself")
    NONE = T("No half message of this evidence names the half topic as its own target.")
    SUMMARY = T(
        "{messages} messages that a consumer could not send back leaked into the half topic and became {records} half records; they doubled every {seconds} s."
    )
    SUMMARY_PUT_BACK = T(
        "{messages} messages that a consumer could not send back leaked into the half topic and became {records} half records: each check round puts each of them back once, until the check limit; they do not double."
    )
    SUMMARY_LOGS = T("{lines} log lines print half messages whose real topic is the half topic itself.")
    WANT_STORE = T("the half and schedule records show whether messages leaked and whether they double")
    WANT_TRANSACTION_LOG = T("discarded half messages are printed there with their REAL_TOPIC")
    WANT_CLIENT_LOG = T("its sendMessageBack Exception says why the send-back was refused")
    WANT_STORE_LOG = T("the broker writes there which name was too long")


class Claim:
    """One sentence per link of the chain, in the order in which it happened."""

    NAME_TOO_LONG = T(
        "Root: the retry topic %RETRY% + consumer group is {length} characters long; the broker stores names up to {limit}."
    )
    REASON = T("Root: the send-back failed: {reason}.")
    REFUSED = T(
        "Trigger: a message failed in the consumer and the broker refused to take it back ({count} refusals seen)."
    )
    RESENT = T(
        "The consumer's client, older than 4.6.1, sent {count} fresh copies that still carry TRAN_MSG and a delay; the delay diverted them "
        "into SCHEDULE_TOPIC_XXXX and REAL_TOPIC became the half topic."
    )
    LEAKED = T(
        "{records} half records of {messages} messages have the half topic itself as REAL_TOPIC, with TRAN_MSG and DELAY still set."
    )
    LEAKED_PRINTED = T(
        "{lines} log lines print half messages with the half topic itself as REAL_TOPIC, TRAN_MSG and DELAY still set."
    )
    NOT_LEAKED = T("A half or schedule record names the half topic itself as its target, with TRAN_MSG and DELAY set.")
    DIVERTED = T(
        "Each check puts the leaked message back and its answer commits it; the surviving DELAY diverts the commit as well, "
        "so one becomes two ({commits} commits diverted, {records} records descend from them)."
    )
    DIVERTED_PRINTED = T(
        "{lines} log lines print such half messages with the commit bit set: commits were diverted back into the half topic."
    )
    TWINS = T("Leaked half records of one UNIQ_KEY carry the same check count: one message became two.")
    ONLY_PUT_BACK = T(
        "A commit of a leaked message was diverted again. Not seen here: leaked messages are only put back, once per round, until the check limit."
    )
    ANSWERED = T(
        "Contributing: the check listener answered COMMIT for messages of a topic it has no handler for ({count} such answers name a leaked record)."
    )
    DOUBLED = T("{records} leaked half records")
    BOUNDED = T(
        "What bounds it: after {limit} checks a copy is given up; {count} leaked records were moved to TRANS_CHECK_MAX_TIME_TOPIC or are on their way."
    )


class Fix:
    """The three documented fixes; only the third lets the retries through."""

    SPLIT = T(
        "Shorten the consumer group's name (or split its tags over several groups) so that %RETRY% + group stays within 127 characters."
    )
    SPLIT_WHY = T(
        "The send-back is accepted, so nothing leaks ({count} records here) and the retries reach the consumer."
    )
    SPLIT_RISK = T(
        "A new group starts at its own offset: set it before switching, or messages are skipped or consumed again."
    )
    SPLIT_VERIFY = T(
        "Let one message fail: a record must appear in %RETRY% + group and the log must show no sendMessageBack Exception."
    )
    CLIENT = T("Upgrade the consumers to client 4.6.1 or newer.")
    CLIENT_WHY = T("It clears TRAN_MSG before re-sending, so none of the {count} leaked records would exist.")
    CLIENT_RISK = T(
        "It does not make the retries arrive: with the same group name they stay in the consumer's memory and are tried every 5 s."
    )
    CLIENT_VERIFY = T("broker.log shows the group with version=335 or higher; the half topic stops growing.")
    ROLLBACK = T("In the check listener, answer ROLLBACK (not COMMIT) for a topic without a handler.")
    ROLLBACK_WHY = T("It ends the doubling: the {count} records that descend from commits would not exist.")
    ROLLBACK_RISK = T(
        "Leaked messages are still put back once per round until the check limit, because their op messages "
        "go to a queue the checker never reads; the retries stay lost."
    )
    ROLLBACK_VERIFY = T("The number of half records with sysFlag 8 stops growing.")
