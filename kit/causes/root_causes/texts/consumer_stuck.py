"""Sentences of consumer-stuck."""

from __future__ import annotations

from kit.i18n import T

TITLE = T("One message blocks its queue")
SUMMARY = T(
    "Queue {queue_id} of topic {topic} does not move for group {group}: it stays at offset {offset} with {behind} messages behind it, while {others} other queues go on."
)
NONE = T("No queue stalls while the group's others go on.")
MAYBE = T("A message is attempted again and again; whether its queue stalls is not shown.")
MAYBE_LAGS = T("One queue alone lags at one moment; whether it stalls takes a second look.")
ONE_LAGS = T(
    "Queue {queue_id} of {topic} alone lags for group {group}: {behind} messages wait at offset {offset}, the other queues are at their end."
)
STANDS = T(
    "The offset of group {group} in queue {queue_id} of {topic} stays at {offset} while the queue's end grows to {end}; {others} other queues of the topic go on."
)
NOT_STANDS = T("The offset of one queue stays the same while its end grows and the group's other queues go on.")
ATTEMPTED = T(
    "The ordered listener of group {group} does not finish the message at offset {offset}: {count} attempts, the last one with reconsumeTimes {times}."
)
HELD = T(
    "The consumer's memory holds {count} messages of this queue, the first of them at offset {offset}: it was pulled and is not finished."
)
THREAD = T("Thread {thread} is in {frame} in {first} and still in {last}.")
DEADLOCK = T("The dump reports a deadlock of {count} consuming threads, one of them in {frame}.")
SPANNING = T("Pulls of this queue are held back with the same minOffset {offset} in every line ({count} lines).")
NO_MESSAGE = T(
    "The message at that offset is shown to be in work: attempts, the consumer's memory, or the thread that has it."
)
NO_OWNER = T("No client holds this queue: nobody pulls it, no message blocks it.")
RECORD = T("The record at offset {offset} of the queue is stored.")
NO_RECORD = T("The record at that offset.")
EXPIRED = T(
    "After consumeTimeout the client sent the message back and dropped it from the queue ({count} lines); the thread that has it is not freed."
)
NOT_EXPIRED = T("The client discarded the message after consumeTimeout.")
WANT_POSITIONS = T("whether one queue is takes the group's offsets at two times")
WANT_STATUS = T("it shows for each queue the first message in the consumer's memory, and who holds it")
WANT_DUMP = T("the thread that has the message is in the same frame in two dumps; a deadlock is reported at the end")
WANT_MESSAGE = T("the message at the offset where the queue is")
WANT_CLIENT = T("it has a line for each attempt of an ordered message, and for pulls held back")
SKIP = T("Repair the data of this message, or catch its failure in the listener and put it aside.")
SKIP_WHY = T(
    "An ordered listener that answers SUSPEND is asked again every second without end: the queue waits for this one message."
)
SKIP_RISK = T("Medium: the later messages of its key are handled without it.")
SKIP_VERIFY = T(
    "The offset of the queue moves, and consumerProgress shows its difference falling to that of the others."
)
LIMIT = T("Set maxReconsumeTimes of the ordered consumer.")
LIMIT_WHY = T("Its default is without limit; with one the message goes to the dead letter topic and the queue goes on.")
LIMIT_RISK = T("Medium: the order of that key is broken.")
RESTART = T("Restart the process whose thread is blocked, after taking a second thread dump.")
RESTART_WHY = T(
    "The committed offset waits for this message although the others behind it are handled; a restart delivers them all again."
)
RESTART_RISK = T("Medium: {behind} messages may be handled a second time; handlers must be idempotent.")
TIMEOUT = T("Give the call in {frame} a time-out, and take locks in one order.")
TIMEOUT_WHY = T("A listener that never returns keeps its thread and its queue's offset for good.")
TIMEOUT_RISK = T("Low: a time-out makes a retry.")
