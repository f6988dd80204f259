"""Sentences of subscription-mismatch."""

from __future__ import annotations

from kit.i18n import T

# fmt: off

SUMMARY_FRONT = T("Clients of group {group} subscribe to different topics: queues of {topics} are pulled by nobody, {front} {front:message waits|messages wait} in them.")
SUMMARY_GONE = T("Clients of group {group} subscribe to {topics} with different expressions: {behind} {behind:message was|messages were} passed over and handled by nobody.")
SUMMARY = T("Clients of group {group} subscribe differently.")
NONE = T("All clients of a group subscribe alike.")
MAYBE = T("The broker's subscription of group {group} keeps changing; two clients with different subscriptions are not shown.")
MAYBE_ANY = T("Pulls are refused, or queues are pulled by nobody; two clients with different subscriptions are not shown.")
DIFFERENT = T("Client {one} of group {group} subscribes to {first}, client {other} to {second}, at the same time.")
NOT_DIFFERENT = T("Two clients of one group subscribe differently at the same time.")
GONE = T("{behind} {behind:message|messages} of {topics} {behind:lies|lie} behind the group's offset and no client of it handled them.")
WAIT = T("Queues {queues} of {topic} make no progress for group {group} although it subscribes to the topic and other queues go on: {front} {front:message waits|messages wait} in them.")
NO_EFFECT = T("All messages of the subscribed topics were handled, or are about to be.")
UNKNOWN_EFFECT = T("Messages of a subscribed topic were handled by nobody, or queues make no progress.")
FLAPPING = T("The broker's subscription of group {group} keeps changing: {what} ({count} {count:line|lines}).")
NOT_FLAPPING = T("The broker's subscription of a group keeps changing.")
REFUSED = T("The broker refuses pulls of group {group}: it has no subscription to topic {topic} ({count} {count:line|lines}).")
REFUSED_SOME = T("The broker refuses pulls of a group: it has no subscription to their topic ({count} {count:line|lines}).")
NOT_REFUSED = T("The broker refuses pulls because the subscription of the group lacks the topic.")
WARNED = T("consumerStatus says that clients of the group subscribe differently.")
NOT_WARNED = T("consumerStatus says that clients of the group subscribe differently; it says so after two minutes only.")
WANT_STATUS = T("it writes a file for each client, with what that client subscribes to")
WANT_CLIENT = T("each client's log has its own subscription in HeartbeatData")
WANT_POSITIONS = T("queues without progress show what nobody pulls")
WANT_LEDGER = T("messages passed over leave no lag: only what was handled against what is stored shows them")
ACTION = T("Give each subscription a consumer group of its own.")
WHY = T("A group means: any client may handle any message of it. The broker keeps one subscription for all of them.")
RISK = T("Medium: a new group needs a start offset chosen on purpose (CONSUME_FROM_* counts only where it has none).")
VERIFY = T("consumerStatus writes the same subscriptions for all clients, and consumerProgress shows no queue without progress.")
SAME = T("Or run the same code, with the same topics and expressions, in all processes of the group.")
SAME_WHY = T("Then each message may go to any client, and whichever heartbeat comes last changes nothing.")
SAME_RISK = T("Low: finish the deployment, and stop the last old process.")
AGAIN = T("After that, set the group's offsets back to the beginning of the mismatch to get the messages that were passed over.")
AGAIN_WHY = T("{behind} {behind:message lies|messages lie} behind the offset; no retry brings them.")
AGAIN_RISK = T("Medium: what was handled since is handled again; handlers must be idempotent.")
AGAIN_VERIFY = T("The ledgers of the group hold the keys that were missing.")
