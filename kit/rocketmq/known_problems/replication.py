"""Known problems of replication: HA of master and slave, slave synchronisation, DLedger, controller and switch."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

_HA: Final = (
    "store/HAService",
    "store/HAConnection",
    "store/DefaultHAClient",
    "store/DefaultHAConnection",
    "store/DefaultHAService",
    "store/AutoSwitchHAClient",
    "store/AutoSwitchHAConnection",
    "store/AutoSwitchHAService",
    "store/GroupTransferService",
    "store/HAConnectionStateNotificationService",
    "store/AbstractHAReader",
    "store/EpochFileCache",
)

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "slave-offset-mismatch",
        T("The slave's commitlog does not continue where the master sends"),
        ("master pushed offset not equal the max phy offset in slave",),
        T(
            "The slave expects another offset than the master pushes: the slave holds data the master does not have, or was restored or cut. The slave closes the connection and never gets further."
        ),
        T("Both numbers in the line. Was the slave a master before, or was the master rebuilt?"),
        "store/ha/HAService.HAClient.dispatchReadRequest",
        decides=T(
            "SLAVE larger than MASTER: the slave has records of another history. Smaller: the master no longer has the range."
        ),
        remedy=T("Save the slave's store, then let it begin with an empty one."),
        risk=T("Records only this slave has are lost with it: decode them first."),
        verdict="confirmed",
    ),
    problem(
        "slave-ahead",
        T("A slave asks for an offset beyond the master's end"),
        ("greater than local commitLog offset",),
        T("The slave holds more than its master: the master lost its end, or the slave belongs to another cluster."),
        T("Compare both ends; look for an abnormal start of the master."),
        "store/ha/HAConnection.ReadSocketService",
        remedy=T("Decode the slave's extra range before anything is overwritten; then rebuild the slave."),
        risk=T("The extra range exists on the slave only."),
        verdict="confirmed",
    ),
    problem(
        "slave-connect-failed",
        T("The slave cannot connect to the master's HA port"),
        ("HAClient connect to master {} failed",),
        T(
            "The HA service listens on listenPort + 1 (haListenPort, 10912). A closed port, a wrong brokerIP2 or a firewall keeps the slave from following: with SYNC_MASTER every send then answers SLAVE_NOT_AVAILABLE."
        ),
        T("brokerIP2 of the master as the slave sees it; can the slave's host reach that port?"),
        "store/ha/HAService.HAClient.connectMaster",
        decides=T("Address wrong: brokerIP2 or several network cards. Address right: port or firewall."),
        remedy=T("Open haListenPort, or set brokerIP2 on the master."),
        risk=T("None."),
        verdict="confirmed",
        lasts=30.0,
    ),
    problem(
        "slave-silent",
        T("Master and slave lost their connection"),
        (
            "ha housekeeping, found this connection[",
            "housekeeping, found this connection[{}] expired",
            "master not response some time, so close connection",
            "read socket[{}] < 0",
        ),
        T(
            "No data and no heartbeat for haHousekeepingInterval (20 s): the network, a paused process or a slave that was stopped. The slave connects again by itself."
        ),
        T("Does it come back, and how often does it happen?"),
        "store/ha/HAConnection, HAService.HAClient",
        remedy=T("Look for the network or pauses; nothing to do after one stop."),
        risk=T("Meanwhile the master's records are on one host only."),
        verdict="suspected",
        least=3,
        lasts=60.0,
    ),
    problem(
        "replication-timeout",
        T("A synchronous send waited too long for the slave"),
        (
            "do sync transfer other node, wait return, but failed",
            "transfer messsage to slave timeout",
            "transfer message to slave timeout",
            "in-sync replicas not enough",
        ),
        T(
            "The record was stored on the master, but no (or too few) replicas confirmed it within syncFlushTimeout or slaveTimeout. The send is answered FLUSH_SLAVE_TIMEOUT or SLAVE_NOT_AVAILABLE."
        ),
        T("How far is the slave behind? Network between the hosts, disk of the slave, GC of both."),
        "store/CommitLog.handleHA, store/ha/GroupTransferService",
        decides=T("All sends: no slave is connected. Some: the slave is slow at those times."),
        remedy=T("Bring the slave back or relieve it; inSyncReplicas must not exceed the replicas there are."),
        risk=T("Treating this answer as a failure and sending again stores the message twice."),
        unlike=T("the message is stored on the master: it is no loss and no refusal"),
        verdict="confirmed",
    ),
    problem(
        "slave-far-behind",
        T("The slave is far behind the master"),
        (
            "Slave fall behind master: {} bytes",
            "slave fall behind master {} bytes",
            "slave fall behind master, how much",
        ),
        T(
            "The master prints each minute how many bytes its slave is behind. A steady large number means that the slave does not keep up; above haSlaveFallbehindMax (256 MB) it does not count as available."
        ),
        T("Is there a slave at all, and does the number grow? HA bandwidth (haTransferBatchSize), the slave's disk."),
        "broker/BrokerController.printMasterAndSlaveDiff",
        example="Slave fall behind master: 734003200 bytes",
        unlike=T("a master without any slave prints everything it holds: nothing is behind then"),
    ),
    problem(
        "ha-flow-control",
        T("The master slows down replication on purpose"),
        ("Trigger HA flow control, max transfer speed",),
        T("haFlowControlEnable limits the transfer to maxHaTransferByteInSecond (100 MB/s)."),
        T("Is the slave catching up? Otherwise raise the limit."),
        "store/ha/FlowMonitor",
    ),
    problem(
        "ha-other",
        T("Replication reports a difficulty"),
        (
            "AutoSwitchHAClient truncate log failed in handshake state",
            "Failed to truncate slave log to",
            "Failed to find a consistent point between masterEpoch",
        ),
        T(
            "A line of the HA threads: a broken connection, a handshake or an epoch that does not fit. One connection that ends leaves several."
        ),
        T("Which of the two hosts went away first? Do the epochs of both agree?"),
        "store/ha",
        classes=_HA,
    ),
    problem(
        "epoch-diverged",
        T("Master and slave share no common epoch"),
        (
            "Failed to find a consistent point between masterEpoch:{} and slaveEpoch",
            "State not matched, masterState",
            "is not bigger than lastEntry",
        ),
        T(
            "In controller mode each change of master begins an epoch. This slave's history has no point in common with the master's: it cannot be cut to it."
        ),
        T("epochFileCheckpoint of both; was one restored or moved from another cluster?"),
        "store/ha/autoswitch/AutoSwitchHAClient",
        remedy=T("Save and empty the slave's store, let it follow from the beginning."),
        risk=T("Records of its own epoch are on this host only."),
        verdict="confirmed",
        since="5.0.0",
    ),
    problem(
        "slave-sync-failed",
        T("The slave cannot copy topics and offsets from the master"),
        (
            "SyncTopicConfig Exception",
            "SyncConsumerOffset Exception",
            "SyncDelayOffset Exception",
            "SyncSubscriptionGroup Exception",
            "SyncMessageRequestMode Exception",
            "syncTimerCheckPoint Exception",
            "SyncTimerMetrics Exception",
            "SlaveSynchronize syncAll error",
            "Failed to sync all config for slave",
        ),
        T(
            "A slave asks its master every 10 s for topics, groups, consumer and delay offsets. Without them a later switch begins with old offsets, and topics that are missing on the slave cannot be read there."
        ),
        T("Is the master up? Does masterAddr point to it? Since when?"),
        "broker/slave/SlaveSynchronize",
        classes=("broker/SlaveSynchronize", "broker/DLedgerRoleChangeHandler"),
        remedy=T("Bring the master back or correct its address."),
        risk=T("Promoting this slave now repeats what was consumed since the last good copy."),
        verdict="suspected",
        least=3,
        lasts=30.0,
    ),
    problem(
        "slave-write-refused",
        T("A message was sent to a slave"),
        (
            "so putMessage is forbidden",
            "messages are put to the slave",
            "Can't modify topic or subscription group from slave broker",
            "no master available along with",
        ),
        T(
            "Slaves do not accept messages. The client had an old route, the configuration names the wrong role, or the controller has just made this broker a slave."
        ),
        T("brokerRole and brokerId of this broker; the route in the name servers; a switch at that time."),
        "store/DefaultMessageStore.checkStoreStatus, broker/util/HookUtils",
        cause="broker-not-available",
        verdict="suspected",
    ),
    problem(
        "dledger-append-failed",
        T("A DLedger append failed"),
        (
            "HandleAppend return false due to error code",
            "Failed to get dledger append result",
            "Put message error",
            "dledger.exception.DLedgerException: [code=",
            "Error in EntryDispatcher",
        ),
        T(
            "The DLedger group did not accept the entry: no leader, no majority (2 of 3 must be up), or a timeout. The send is answered with an error and may still be stored."
        ),
        T("The error code in the line (DLedgerResponseCode); who was leader then?"),
        "store/dledger/DLedgerCommitLog",
        classes=("store/DLedgerCommitLog",),
        decides=T("All brokers of the group alive: network or disk. One of three alive: no majority."),
        remedy=T("Bring a second member back; clients retry other groups."),
        risk=T("Starting a member with an empty store while no majority lives loses data."),
        verdict="suspected",
    ),
    problem(
        "dledger-no-leader",
        T("The DLedger group has no leader"),
        (
            "NOT_LEADER",
            "INCONSISTENT_LEADER",
            "LEADER_PENDING_FULL",
            "WAIT_QUORUM_ACK_TIMEOUT",
            "LEADER_NOT_READY",
            "UNKNOWN_MEMBER",
        ),
        T(
            "A DLedger response code: the member asked is no leader or cannot reach a majority. During an election (seconds) that is normal."
        ),
        T("Which members are up? dLegerPeers equal on all of them?"),
        "io.openmessaging.storage.dledger.protocol.DLedgerResponseCode",
        printed="store.log of DLedger brokers",
        decides=T(
            "WAIT_QUORUM_ACK_TIMEOUT: followers slow or gone. LEADER_PENDING_FULL: the leader has too many open requests. UNKNOWN_MEMBER: dLegerSelfId not in dLegerPeers."
        ),
        remedy=T("Restore the majority; correct dLegerPeers and dLegerSelfId."),
        risk=T("None."),
        verdict="suspected",
        least=3,
        lasts=30.0,
        unless=r"^(?!.*(?:[Dd][Ll]edger|code=))",
        example="HandleAppend return WAIT_QUORUM_ACK_TIMEOUT, dledger code=402",
    ),
    problem(
        "dledger-role-change",
        T("A DLedger member failed to change its role"),
        (
            "failed when changing to slave",
            "failed when changing to master",
            "Failed to change broker to",
            "[MONITOR]Failed handling broker role change",
        ),
        T(
            "The election made this broker master or slave, and switching its services failed half-way: delayed messages, transaction checks or the registration may run on no member, or on two."
        ),
        T("The exception beside it; restart this member."),
        "broker/dledger/DLedgerRoleChangeHandler, broker/BrokerController",
        remedy=T("Restart the member; upgrade (4.9.0 reloads the delay offsets at a change, 4.9.3 registers again)."),
        risk=T("A restart causes another election."),
        verdict="suspected",
        until="4.9.2",
        fixed="4.9.0 (#2518), 4.9.3 (#3442)",
    ),
    problem(
        "controller-unreachable",
        T("The broker finds no controller"),
        (
            "maybe the controllers in {} is not available",
            "Failed to register broker to controller",
            "Failed to update controller metadata",
            "Error happen when send heartbeat to controller",
            "fail to send registerBrokerToController request",
            "fail to get next broker id from controller",
            "fail to apply broker id",
            "addresses of controller is null",
        ),
        T(
            "In controller mode (5.0.0 and later) a broker needs a controller to learn its role. Without one it does not start or does not switch."
        ),
        T("controllerAddr of the broker; are a majority of controllers up (controllerDLegerPeers)?"),
        "broker/controller/ReplicasManager",
        classes=("broker/ReplicasManager", "broker/BrokerPreOnlineService"),
        remedy=T("Start a majority of controllers; correct controllerAddr."),
        risk=T("None."),
        verdict="suspected",
        least=3,
        lasts=10.0,
    ),
    problem(
        "controller-metadata",
        T("The broker's stored identity does not fit its configuration"),
        (
            "metadata is different from the",
            "Check and find that metadata/tempMetadata invalid",
            "Read metadata file failed",
            "Read temp metadata file failed",
        ),
        T(
            "brokerIdentity in the store names another cluster or broker name than broker.conf: the store was copied or the name changed."
        ),
        T("brokerClusterName and brokerName against the metadata file."),
        "broker/controller/ReplicasManager",
        remedy=T("Use the store's own names, or remove the identity file of a copied store."),
        risk=T("Two brokers with one identity overwrite each other's registration."),
        verdict="confirmed",
    ),
    problem(
        "controller-election",
        T("The controller cannot elect a master"),
        (
            "Failed to trigger elect-master in broker-set",
            "Failed to elect a new master for broker",
            "Failed to try elect",
            "No master in controller",
            "Now no master in broker set",
            "CONTROLLER_MASTER_NOT_AVAILABLE",
            "CONTROLLER_ELECT_MASTER_FAILED",
        ),
        T(
            "No replica of the in-sync set is alive, so no master may be elected (enableElectUncleanMaster=false): the broker set takes no messages."
        ),
        T("syncStateSet of the broker set (getSyncStateSet); which of its members are up?"),
        "controller/impl/manager/ReplicasInfoManager",
        remedy=T(
            "Start a member of the in-sync set; only if it is lost for good: elect by hand (electMaster) or allow an unclean master."
        ),
        risk=T("An unclean master loses what the others did not have."),
        verdict="suspected",
        lasts=10.0,
    ),
    problem(
        "controller-other",
        T("The controller reports a difficulty"),
        ("Append a initial log failed because current state is not leader", "Failed to append to jRaft node"),
        T("A line of the controller (heartbeats, events, raft) that one change of leader leaves as well."),
        T("Is there one controller leader, and does it repeat?"),
        "controller",
        classes=(
            "controller/DLedgerController",
            "controller/ControllerManager",
            "controller/ControllerRequestProcessor",
            "controller/DefaultBrokerHeartbeatManager",
            "controller/JRaftController",
            "controller/JRaftControllerStateMachine",
            "controller/RaftBrokerHeartBeatManager",
            "controller/RaftReplicasInfoManager",
            "controller/ReplicasInfoManager",
            "controller/ListEventSerializer",
            "controller/ControllerClosure",
            "controller/ControllerMetricsManager",
        ),
    ),
    problem(
        "escape-failed",
        T("A message could not be written to another broker in the master's place"),
        (
            "putMessageToRemoteBroker",
            "sendMessageInFailover to remote failed",
            "Put message failed, enableSlaveActingMaster",
            "Put message to specific queue failed, enableSlaveActingMaster",
            "Escaping failed! cost",
        ),
        T(
            "With enableSlaveActingMaster a slave takes over system duties and writes due messages to another master (enableRemoteEscape); that failed."
        ),
        T("Is another master of the cluster up, and does it have the topic?"),
        "broker/failover/EscapeBridge",
        classes=("broker/EscapeBridge",),
        remedy=T("Bring a master back; create the topic on it."),
        risk=T("Delayed, transaction and pop messages wait meanwhile."),
        verdict="suspected",
        lasts=10.0,
    ),
)
