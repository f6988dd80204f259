"""Sentences of offset-jump."""

from __future__ import annotations

from typing import Final

from kit.i18n import T

# fmt: off
LOOKS_LIKE = (
    ("consumer-backlog", T("a backlog is still in front of the offset; what a jump skipped is behind it or deleted")),
    (
        "duplicate-client-id",
        T("an offset that goes back all the time, in small steps and from two addresses; a reset goes back once in each queue"),
    ),
    ("replica-loss", T("an offset beyond the end of the queue: the log was lost, not the offset moved")),
    ("producer-retry-duplicate", T("one UNIQ_KEY stored twice; after a reset one stored message is handled twice")),
)


class Text:
    """Title, summaries, what is wanted."""

    TITLE = T("A group's offset jumped: messages skipped or handled again")
    NONE = T("No group's offset moved by more than was consumed.")
    SUMMARY: Final = {
        "deleted-before-consumed": T("Group {group} came back to {topic} after its next messages had been deleted: {skipped} {skipped:message|messages} in {queues} {queues:queue was|queues were} never handled."),
        "reset": T("The offset of group {group} on {topic} was reset to an earlier one in {queues} {queues:queue|queues}: {again} {again:message was|messages were} handled again."),
        "skip": T("The offset of group {group} on {topic} was moved ahead in {queues} {queues:queue|queues}: {skipped} {skipped:message was|messages were} skipped."),
        "first-start": T("Group {group} began to consume {topic} at the end of {queues} {queues:queue|queues}: the {skipped} {skipped:message before was|messages before were} never delivered to it."),
    }
    WANT_BROKER_LOG = T("resets, corrections of offsets and the creation of a group are written there")
    WANT_CLIENT_LOG = T("the first offset of each queue, illegal offsets and resets are written there, with the queue")
    WANT_COPIES = T("two copies show whether an offset went back or passed over messages; consumerOffset.json.bak is the one before the last")
    WANT_PROGRESS = T("a difference with #LastTime N/A says that the message in front of the offset is deleted")
    WANT_LEDGER = T("which messages were handled, and which twice, is written only there")


class Claim:
    """What each step says."""

    NOT_MOVED = T("No line says that an offset moved by more than was consumed.")
    NO_RANGE = T("The range that was skipped or repeated.")
    MOVED: Final = {
        "deleted-before-consumed": T("The next messages of group {group} in {queues} {queues:queue|queues} of {topic} were deleted before it consumed them: the broker corrected its offset to the first one that is left."),
        "reset": T("Somebody reset the offset of group {group} on {topic}: {queues} {queues:queue|queues} went back."),
        "skip": T("Somebody moved the offset of group {group} on {topic} ahead in {queues} {queues:queue|queues}."),
        "first-start": T("Group {group} was new and its first pulls of {queues} {queues:queue|queues} of {topic} began behind the first message."),
    }
    QUEUE = T("queue {queue} from {start} to {end}")
    RANGE = T("The offsets moved: {ranges}; skipped {skipped}, handled again {again}.")
    RANGE_UNKNOWN = T("The offsets of the {queues} {queues:queue|queues} before that are not in the evidence.")
    ASKED = T("A reset was asked for ({count} {count:line|lines}).")
    CORRECTED = T("Requested offsets lay outside their queue and were corrected ({count} {count:line|lines}).")
    IN_FRONT_OF_FIRST = T("{messages} {messages:message|messages} in front of the offset of group {group} on {topic} {messages:is|are} no longer stored: it will jump when it returns, or has.")
    IN_FRONT_DELETED = T("The message in front of the offset of group {group} is no longer stored in {queues} {queues:queue|queues} of {topic} (#LastTime N/A), although messages wait: what follows it may be deleted too.")
    NEW_FROM_LAST = T("Group {group} was new and says {policy}, and {topic} no longer began at 0 (first offset {first}): it began at the end of the queues, unless its offsets had been set.")
    WENT_BACK = T("{queues} {queues:queue|queues} went back once, by {messages} {messages:message|messages} together.")
    LOOKS_BACK = T("A later look shows smaller offsets of group {group} on {topic} than an earlier one: {queues} {queues:queue|queues}, {messages} {messages:message|messages} together.")
    STARTS_LATE = T("Group {group} begins to pull {queues} {queues:queue|queues} of {topic} behind their first message; whether it had an offset before is not shown.")
    DELETED = T("Clean-up deleted files of the store ({count} {count:line|lines}).")
    POLICY = T("The group says {policy}: it counts only where no offset is stored.")


FIXES: Final = {
    "deleted-before-consumed": (
        (
            T("Send the skipped messages again from the producers' records; consumers have to be idempotent."),
            T("The messages are deleted from the broker: nothing there can bring them back."),
            T("Medium: a message that was handled after all is handled twice."),
            T("The ledger of the consumer holds every key of the skipped range."),
        ),
        (
            T("Raise fileReservedTime (and the disk), and alarm on the age of a group's next message against it, not on its number."),
            T("The group was away longer than the broker keeps messages."),
            T("Low: more disk."),
            T("consumerProgress shows a #LastTime well within fileReservedTime for every group."),
        ),
    ),
    "reset": (
        (
            T("Before a reset, stop the consumers or make sure they are idempotent; save consumerOffset.json first."),
            T("Everything between the new and the old offset is delivered again."),
            T("Low."),
            T("No key of the range has two effects."),
        ),
        (
            T("Where it was a mistake and is still going on, reset again to the saved offsets."),
            T("Stops what has not been delivered again yet."),
            T("Medium: an offset too far ahead skips messages."),
            T("consumerProgress shows the saved offsets or later ones."),
        ),
    ),
    "skip": (
        (
            T("Reset the group to the time before the skip while the messages are still stored; consumers have to be idempotent."),
            T("The skipped messages are behind the offset, not deleted."),
            T("Medium: what was handled since is delivered again."),
            T("The ledger of the consumer holds every key of the skipped range."),
        ),
    ),
    "first-start": (
        (
            T("If the earlier messages are needed, reset the group to the time of the first one; consumers have to be idempotent."),
            T("The offset that the first start stored counts from then on; CONSUME_FROM_* does not any more."),
            T("Medium: what was handled since is delivered again."),
            T("consumerProgress falls back to that time and catches up."),
        ),
        (
            T("Before a group goes live, set its offsets with resetOffsetByTime, or CONSUME_FROM_FIRST_OFFSET in its code."),
            T("CONSUME_FROM_LAST_OFFSET starts at the end of every queue whose first files are deleted, and at 0 of the others."),
            T("Low."),
            T("The first `add a new pull request` line of each queue names the offset you meant."),
        ),
    ),
}
