"""Sentences of duplicate-client-id."""

from __future__ import annotations

from kit.i18n import T

# fmt: off

SUMMARY = T("Client id {ids} is used by {count} {count:connection|connections} of group {group}: queues {several} are pulled more than once, queues {nobody} by nobody.")
SUMMARY_PLAIN = T("Client id {ids} is used by {count} {count:connection|connections} of group {group} at the same time.")
NONE = T("Every connection of a consumer group has a client id of its own.")
MAYBE = T("Two processes of group {group} seem to pull the same queues.")
MAYBE_IDLE = T("Queues are pulled by nobody; whether two processes have one client id is not shown.")
TWICE = T("Client id {id} has {count} {count:connection|connections} in group {group} at the same time: {addresses}.")
NOT_TWICE = T("One client id has two connections of a group at the same time.")
LISTED = T("consumerStatus lists client id {id} of group {group} twice.")
LISTED_HERE = T("The list of connections shows client id {id} with two addresses: {addresses}.")
SHARES = T("Queues {several} of group {group} are pulled by several processes, queues {nobody} by nobody.")
NOT_SHARES = T("Queues of the group are pulled by several processes, or by nobody.")
BACK = T("Offsets of group {group} keep going back and forth between {addresses} in the same queues ({count} {count:line|lines}).")
NOT_BACK = T("The offsets of one queue are written by two connections in turn.")
SAME_SHARE = T("Two processes with client id {id} computed the same share of topic {topic}.")
NOT_SAME_SHARE = T("Two processes with the same client id computed the same share.")
HANDLED_TWICE = T("{count} {count:message was|messages were} handled by two processes of the group, each time as a first delivery.")
NOT_HANDLED_TWICE = T("Messages were handled by two processes of the group.")
WANT_CONNECTION = T("it lists every connection with its client id")
WANT_CLIENT = T("the logs of all processes of the group: each says which queues it took")
WANT_POSITIONS = T("queues that nobody pulls make no progress")
WANT_LEDGER = T("what was handled twice takes the ledgers of both processes")
ACTION = T("Remove the fixed instanceName (rocketmq.client.name), or make it unique for each process; give containers different pids or addresses.")
WHY = T("A client id is clientIP@instanceName. Up to 4.8 the instance name DEFAULT becomes the process id, and containers may all have the same one.")
RISK = T("Medium: the backlog of the queues that nobody pulled ({waiting} {waiting:message|messages}) arrives at once.")
VERIFY = T("consumerConnection lists different client ids, and consumerProgress shows progress in all queues.")
UPGRADE = T("Use clients of 4.9.0 or later.")
UPGRADE_WHY = T("They add the time in nanoseconds to the process id: the same id cannot happen unless instanceName is set.")
UPGRADE_RISK = T("Low.")
IDEMPOTENT = T("Correct what was handled twice ({count} {count:message|messages}), and make the handlers idempotent.")
IDEMPOTENT_WHY = T("Both deliveries were first ones: reconsumeTimes is 0 in both, nothing marks the second.")
IDEMPOTENT_RISK = T("Medium: it takes a look at the business data.")
IDEMPOTENT_VERIFY = T("No key has two effects.")
