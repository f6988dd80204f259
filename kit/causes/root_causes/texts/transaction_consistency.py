"""The sentences of `transaction_consistency`."""

from __future__ import annotations

from typing import Final

from kit.i18n import T

# fmt: off

class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("Finished transactions disagree with the business rows")
    NONE = T("No finished transaction of this evidence disagrees with its business row.")
    NO_TRANSACTIONS = T("The stores of this evidence hold no transactional message.")
    UNKNOWN = T("This evidence does not allow comparing transactions with business rows.")
    SUMMARY = T("{rows} {rows:business row exists|business rows exist} although their message was rolled back, and {messages} {messages:message was|messages were} committed without their row; a local step explains {caused} of these {wrong}.")
    ONLY_EXCEPTIONS = T("{count} local {count:transaction|transactions} threw an exception; whether their messages agree with the business rows is not known.")
    WANT_ROWS = T("each committed message must have its row and each existing row its message; only the rows can show it")
    WANT_STORE = T("half, op and committed records show how each transaction ended")
    WANT_CLIENT_LOG = T("the client catches exceptions of the local transaction and only logs them (executeLocalTransactionBranch exception)")
    WANT_APP_LOG = T("errors that the application swallowed and committed anyway are only there")
    WANT_TRANSACTION_LOG = T("every ROLLBACK and UNKNOWN answer is printed there with its UNIQ_KEY")


class Claim:
    """One sentence per link of the chain."""

    DISAGREE = T("{rows} {rows:finished transaction was|finished transactions were} rolled back although their business row exists, {messages} {messages:was|were} committed although {messages:it has|they have} none.")
    AGREE = T("A finished transaction disagrees with its business row. Not so: all {finished} finished ones agree with theirs, as far as the rows reach.")
    NO_TRANSACTIONS = T("A finished transaction disagrees with its business row: there is no transaction at all.")
    NOT_JOINED = T("A finished transaction disagrees with its business row: no key of the {rows} {rows:row|rows} exists in the KEYS of a message.")
    NO_ROWS = T("A finished transaction disagrees with its business row.")
    LOCAL = T("The local step shows why in {caused} of {wrong}: {reasons}.")
    THROWN = T("An exception broke a local transaction ({count} in the client logs).")
    NO_LOCAL = T("A local step caused it: an exception, an answer that does not fit, a send result nobody looked at.")
    OVERTAKEN = T("The check came while the local transaction was still running: it sees no row yet, and answering ROLLBACK kills a transaction that then commits.")
    EXCEPTIONS = T("Contributing: the client caught {count} {count:exception|exceptions} of local transactions, logged them at INFO and told the caller nothing.")
    GIVEN_UP = T("Beside it: {count} {count:business row exists|business rows exist} whose message was discarded after the last check.")


class Fix:
    """Repair of what is wrong now, then of the code."""

    RESEND = T("Send the messages of {count} {count:row|rows} again (inconsistent.csv, repair `re-send`): a dry run that looks each key up with `trace` first, then in small batches.")
    RESEND_WHY = T("Their half records still hold the bodies; consumers have never seen them.")
    RESEND_RISK = T("A new message has a new UNIQ_KEY: consumers must recognise the business key.")
    RESEND_VERIFY = T("`trace` of each key shows a committed record and rows_without_message is 0.")
    COMPENSATE = T("Take back what consumers did for {count} {count:message|messages} without a row, or write the row after all (inconsistent.csv, repair `compensate`): list what would change first, then change it.")
    COMPENSATE_WHY = T("The message told them of an order that does not exist.")
    COMPENSATE_RISK = T("Some consumers may have failed or not yet tried: look at retries and dead letters first.")
    COMPENSATE_VERIFY = T("messages_without_row is 0, and the consumers' own books agree.")
    STATUS = T("Throw in the caller unless the send result is SEND_OK, so that its own database transaction rolls back.")
    STATUS_WHY = T("With any other status the client rolls the message back by itself and skips the local transaction; the row stays without it.")
    STATUS_RISK = T("While a slave or a disk is slow, orders fail instead of losing their message.")
    STATUS_VERIFY = T("Stop the slave of a SYNC_MASTER in a test: no row without a message.")
    ANSWER = T("Answer a check from the row alone: COMMIT when it exists, ROLLBACK only when it never will, UNKNOW until then.")
    ANSWER_WHY = T("An answer that does not fit the row ended these transactions.")
    ANSWER_RISK = T("UNKNOW runs into the check limit where the row never comes: something must end those (a timeout of the order, a job that rolls back).")
    ANSWER_VERIFY = T("A slow order that is checked before its row exists is committed in the end.")
    PLACE_WHEN = T("the row is written outside executeLocalTransaction")
    PLACE = T("Put all business writes inside executeLocalTransaction (half first), let exceptions out of it, and answer a check UNKNOW while there is no row yet, with a timeout of the order that ends those that never get one.")
    PLACE_WHY = T("Then row and answer come from one database transaction; no path of the placement model leaves one without the other.")
    PLACE_RISK = T("Long local work is checked before it is done, and may be committed twice: consumers stay idempotent.")
    PLACE_VERIFY = T("Make the local transaction fail on purpose: no row, no message, one exception in the client log.")


REASONS: Final = {
    "exception": T("{count} {count:exception|exceptions} in the local transaction"),
    "error": T("{count} {count:error|errors} logged by the application for the same key"),
    "send_status": T("{count} send {count:result that was|results that were} not SEND_OK and {count:was|were} not looked at"),
    "rollback_answer": T("{count} ROLLBACK answers for a row that exists"),
    "commit_answer": T("{count} COMMIT answers without a row"),
}
