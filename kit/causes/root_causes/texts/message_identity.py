"""The sentences of `message_identity`."""

from __future__ import annotations

from kit.i18n import T

# fmt: off

class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("A message id was used where the other kind is needed")
    NONE = T("No look-up failed for the kind of its id, and no consumer handled a message again as a retry copy after it had succeeded.")
    MIXED = T("Ids of both kinds are compared with each other: {offsets} offset message {offsets:id|ids} and {keys} {keys:UNIQ_KEY|UNIQ_KEYs}. They differ for one and the same message, and a search takes only one of them.")
    UNKNOWN = T("The evidence shows neither look-ups nor what consumers did with each delivery.")
    TWICE = T("{twice} {twice:message was|messages were} handled twice because their copies have different offset ids. Look-ups with the wrong kind of id: {lookups}.")
    LOOKED = T("Look-ups with the wrong kind of id, which found nothing: {lookups}. Every copy of a message has an offset id of its own, UNIQ_KEY stays.")
    WANT_STORE = T("the records say which offset ids belong to one message")
    WANT_LEDGER = T("what the consumer did with each delivery, with the ids it saw, shows whether a message took effect twice")
    WANT_LOOKUP = T("the command and its answer show which kind of id was looked up")


class Claim:
    """One sentence per step."""

    EFFECT = T("An id was used in the wrong space, and that had an effect.")
    LOOKUP_FAILED = T("{failed} of {seen} look-ups failed because the id was of the other kind: queryMsgById takes an offset id, the others a UNIQ_KEY.")
    LOOKUP_WRONG = T("Look-ups with an id of the other kind: {wrong}; what came of it is not shown.")
    TWICE = T("{count} {count:message|messages} took effect a second time when their retry copy came: another offset id, the same UNIQ_KEY.")
    TWICE_UNKNOWN = T("A message took effect a second time when its retry copy came.")
    DEDUP_UNKNOWN = T("The consumer's own log names an offset id as what it deduplicates by.")
    DEDUP = T("The consumer's own log names an offset id as what it deduplicates by ({count} {count:line|lines}).")
    SEVERAL_OPEN = T("Messages have several offset ids, one for each copy. That alone is normal.")
    SEVERAL = T("{several} of {keys} messages {several:has|have} several offset ids, one for each copy. That alone is normal.")

    MIXED = T("The paste holds ids of both kinds on different lines: {offsets} offset message {offsets:id|ids}, {keys} {keys:UNIQ_KEY|UNIQ_KEYs}.")
    MIXED_PAIR = T("The paste holds both ids of one message on different lines: the offset message id names the place of a copy, UNIQ_KEY the message.")


class Fix:
    """What to do."""

    DEDUP = T("Deduplicate by the business key (KEYS) or by UNIQ_KEY (getMsgId of the push consumer), never by getOffsetMsgId.")
    DEDUP_WHY = T("Every retry, check-back, delay and dead letter is a new record with a new offset id; {count} {count:message|messages} here would have been recognised.")
    DEDUP_RISK = T("UNIQ_KEY does not tell apart a business event that a producer sent twice as two messages; the business key does.")
    DEDUP_VERIFY = T("Let a handled message be delivered again (return RECONSUME_LATER after success in a test): it must take effect once.")
    LOOKUP = T("Look a UNIQ_KEY up with `queryMsgByUniqueKey -t TOPIC -i ID`, an offset id with `queryMsgById -i ID`; `msgid ID` says which one it is.")
    LOOKUP_WHY = T("queryMsgById takes a broker address and an offset out of whatever it is given.")
    LOOKUP_RISK = T("None: both commands only read.")
    LOOKUP_VERIFY = T("The command prints the message; for all copies at once use `trace EVIDENCE ID`.")
    LOG = T("Log both ids with every send and delivery: getMsgId and getOffsetMsgId.")
    LOG_WHY = T("Whoever searches has the one the tool needs.")
    LOG_RISK = T("A longer log line.")
    LOG_VERIFY = T("Take one line of each service and look its ids up.")
