"""Known problems of routing and naming: topics, name servers, configuration."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "topic-no-route",
        T("No name server knows a route for the topic"),
        (
            "No route info of this topic",
            "No topic route info in name server for the topic",
            "No route info for this topic",
            "Can not find Message Queue for this topic",
            "not matched route info",
        ),
        T(
            "The client asked a name server for the topic's brokers and got none (code 17): the topic does not exist there, the brokers that have it are not registered with this name server, or the client talks to another cluster's."
        ),
        T("mqadmin topicRoute -n <the client's namesrvAddr> -t <topic>, and clusterList with the same address."),
        "client/impl/producer/DefaultMQProducerImpl.sendDefaultImpl, namesrv/processor/ClientRequestProcessor",
        decides=T(
            "clusterList empty: brokers register elsewhere. Brokers there, topic not: it was never created (autoCreateTopicEnable=false) or mistyped. Only at the first send: the route arrives with the next update (30 s)."
        ),
        remedy=T("Create the topic on the cluster (updateTopic -c), or correct namesrvAddr of client or broker."),
        risk=T("autoCreateTopicEnable=true creates a topic on one broker only and hides mistyped names."),
        unlike=T("TBW102 is the template for automatic creation, not a topic that is missing"),
        verdict="confirmed",
        least=2,
        cause="topic-missing",
    ),
    problem(
        "route-not-yet-known",
        T("A route is not there at the first try"),
        ("RouteInfoFromNameServer is not exist value", "getTopicRouteInfoFromNameServer return null, Topic"),
        T(
            "A client or broker asked for a topic that no broker has registered yet: TBW102 and %RETRY% topics before they are made, or a topic before its first message."
        ),
        T(
            "Nothing, unless it repeats for a topic that should exist: then see the exception `No route info of this topic`."
        ),
        "client/impl/MQClientAPIImpl.getTopicRouteInfoFromNameServer",
        unlike=T("TBW102 is the template for automatic creation; a client asks for it at its first send"),
    ),
    problem(
        "topic-not-on-broker",
        T("The topic does not exist on the broker that was asked"),
        (
            "not exist, apply first please!",
            "the topic {} not exist, producer",
            "the topic {} not exist, consumer",
            "The topic {} not exist, consumer",
            "topic[{}] not exist",
            "] not exist, apply first please",
        ),
        T(
            "A client sends to or pulls from a broker that does not have the topic: the broker was added or rebuilt without topics.json, or the topic exists on other brokers only."
        ),
        T("topics.json of that broker; was its store emptied?"),
        "broker/processor/AbstractSendMessageProcessor, PullMessageProcessor",
        remedy=T("Create the topic on that broker (updateTopic -b), or restore topics.json."),
        risk=T(
            "A broker that lost topics.json also lost groups and offsets: check consumerOffset.json before consumers connect."
        ),
        verdict="confirmed",
        least=2,
        cause="topic-missing",
    ),
    problem(
        "topic-auto-create-refused",
        T("A topic was not created automatically"),
        (
            "Create new topic failed, because the default topic",
            "createTopicInSendMessageMethod exception",
            "createTopicInSendMessageBackMethod exception",
            "createTopicIfAbsent",
            "create new topic failed",
            "create topic to broker exception",
        ),
        T(
            "Automatic creation needs the template topic TBW102 with inherit permission on the broker (autoCreateTopicEnable=true); it is missing there, or writing the new topic failed."
        ),
        T("autoCreateTopicEnable of every broker; the defaultTopic in the line."),
        "broker/topic/TopicConfigManager.createTopicInSendMessageMethod",
        remedy=T("Create the topic by hand on all brokers of the cluster."),
        risk=T("Automatic creation puts the topic on the brokers that happened to get the first message."),
        verdict="confirmed",
        unless=r"^(?![\s\S]*(?:default topic|exception|Exception|createTopicIfAbsent))",
    ),
    problem(
        "subscribed-topic-missing",
        T("A consumer subscribes to a topic that has no route"),
        ("but the topic[{}] not exist.", "The topic[{}] not exist", "no assignment for group[{}], the topic"),
        T("Rebalancing found no queues of the topic. The consumer waits; nothing is consumed."),
        T(
            "Is the topic's name right, and does it exist on the client's cluster? %RETRY% topics appear when the group connects for the first time."
        ),
        "client/impl/consumer/RebalanceImpl",
        remedy=T("Create the topic or correct the subscription."),
        risk=T("None."),
        verdict="suspected",
        least=3,
        lasts=60.0,
        unless=r"the topic\[%RETRY%",
        cause="topic-missing",
    ),
    problem(
        "namesrv-address-missing",
        T("The client has no name server address"),
        (
            "No name server address, please set it",
            "fetch nameserver address failed",
            "fetch name server address exception",
            "fetch nameserver address is null",
            "fetchNameServerAddr Exception",
            "ScheduledTask fetchNameServerAddr exception",
            "The configuration item NamesrvAddr is not configured",
            "Addresses of name server is empty!",
        ),
        T(
            "namesrvAddr is not set (or not yet, or to an empty property), and the address service jmenv.tbsite.net, which only exists at one company, was asked instead."
        ),
        T(
            "rocketmq.name-server / namesrvAddr of the application, NAMESRV_ADDR of its environment; is it set before start()?"
        ),
        "client/impl/producer/DefaultMQProducerImpl, common/namesrv/TopAddressing",
        remedy=T("Set namesrvAddr to `host:9876;host:9876`."),
        risk=T("None."),
        verdict="confirmed",
        unlike=T("a broker or client that is to fetch addresses prints it only while that service is away"),
    ),
    problem(
        "namesrv-unreachable",
        T("No name server can be reached"),
        (
            "connect to <{}:9876> failed",
            "connect to {}:9876 failed",
            "getAndCreateNameserverChannel: create name server channel exception",
            "Registration to one or more name servers does NOT complete within deadline",
            "Failed to register current broker to name server",
            "registerBroker Exception,",
            "registerBrokerAll Exception",
            "from name server {}  Exception",
            "scanAvailableNameSrv",
            "No response after {} from name server",
            "Registration single topic to one or more name servers timeout",
            "Query data version from name server {} exception",
            "query dataversion from nameserver countDownLatch await Exception",
        ),
        T(
            "A client or broker cannot connect to the name server address it was given. A broker that cannot register vanishes from routes after 120 s; clients go on with the route they have."
        ),
        T("Can this host reach the address and port (9876)? Is the name server process up?"),
        "remoting/netty/NettyRemotingClient, broker/out/BrokerOuterAPI",
        decides=T(
            "All addresses fail: configuration or network. One of several: that name server is down; the others serve."
        ),
        remedy=T("Start the name server or correct the address; several name servers do not need each other."),
        risk=T("None."),
        verdict="suspected",
        least=10,
        lasts=60.0,
        unlike=T("a name server that is stopped before the broker leaves a few such lines"),
        unless=r"unregisterBroker",
    ),
    problem(
        "namesrv-broker-expired",
        T("The name server removed a broker that did not report"),
        ("The broker channel expired,", "broker channel {} expired, brokerInfo"),
        T(
            "No registration for 120 s (or the heartbeat time-out): the broker hangs, its network is cut, or its register thread died. Clients lose it from the route."
        ),
        T("What did the broker do in those two minutes (gc.log, broker.log)?"),
        "namesrv/routeinfo/RouteInfoManager.scanNotActiveBroker",
        remedy=T("Find the pause; it comes back with the next registration."),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "namesrv-conflict",
        T("Two brokers claim one name and id"),
        (
            "conflicts with the existed one, just ignore",
            "has not registered.",
            "Register topic contains illegal broker",
        ),
        T(
            "A broker registered with the cluster, name and id of another one at a different address (5.x): a copied configuration. The newcomer is ignored or they replace each other."
        ),
        T("brokerName and brokerId of both addresses in the line."),
        "namesrv/routeinfo/RouteInfoManager.registerBroker",
        remedy=T("Give each broker its own brokerName (masters) or brokerId (slaves)."),
        risk=T("Until then clients see sometimes one, sometimes the other."),
        verdict="confirmed",
        unless=r"^(?!.*(?:conflicts with|topicConfigWrapper|illegal broker))",
    ),
    problem(
        "namesrv-other",
        T("The name server reports a difficulty"),
        (
            "name server not ready. request code",
            "receive registerBroker request,crc32 not match",
            "Handle unregister broker request failed",
        ),
        T(
            "A line of the name server that single requests leave: a damaged registration, configuration that cannot be saved, a request before it was ready."
        ),
        T("Whether it repeats from one broker."),
        "namesrv",
        classes=(
            "namesrv/RouteInfoManager",
            "namesrv/DefaultRequestProcessor",
            "namesrv/ClientRequestProcessor",
            "namesrv/KVConfigManager",
            "namesrv/NamesrvController",
            "namesrv/BatchUnregistrationService",
            "namesrv/ClusterTestRequestProcessor",
        ),
    ),
    problem(
        "broker-address-unknown",
        T("The client knows no address for a broker name"),
        (
            "The broker[{}] not exist",
            "The broker[{}, {}] does not",
            "The broker service address not found",
            "can't find broker service address",
            "Not found broker, maybe key is wrong",
            "Broker[{}] master node does not exist",
        ),
        T(
            "The route has a queue of a broker whose master address is not there: the master is down (a slave alone takes no messages), or an id of another broker was looked up."
        ),
        T("clusterList: does that broker name have an id 0?"),
        "client/impl/factory/MQClientInstance.findBrokerAddressInPublish",
        remedy=T(
            "Start the master; producers use other brokers after sendLatencyFaultEnable or the next route update."
        ),
        risk=T("None."),
        verdict="confirmed",
        least=2,
    ),
    problem(
        "route-update-failed",
        T("The client cannot refresh its routes"),
        (
            "updateTopicRouteInfoFromNameServer Exception",
            "updateTopicRouteInfoFromNameServer tryLock timeout",
            "ScheduledTask updateTopicRouteInfoFromNameServer exception",
            "failed to pull TopicRouteData from NameServer",
            "ScheduledTask refresh metadata exception",
        ),
        T(
            "Asking the name server for a route failed; the client goes on with the one it has. Changes of brokers are not seen meanwhile."
        ),
        T("The exception: address, time-out or `No topic route info`."),
        "client/impl/factory/MQClientInstance",
        classes=("broker/TopicRouteInfoManager",),
        remedy=T("Restore the connection to a name server."),
        risk=T("None."),
        verdict="suspected",
        least=5,
        lasts=120.0,
    ),
    problem(
        "heartbeat-failed",
        T("The client's heartbeats do not reach a broker"),
        (
            "send heart beat to broker[{}] failed",
            "send heart beat to broker[{}] exception, because the broker not up",
            "sendHeartbeatToAllBroker exception",
            "lock heartBeat, but failed",
            "ScheduledTask sendHeartbeatToAllBroker exception",
            "Check client in broker error",
        ),
        T(
            "Without heartbeats for 120 s the broker forgets the client: its group loses a member, checks find no producer."
        ),
        T("Which address, and since when? `because the broker not up, forget it` is about brokers that left."),
        "client/impl/factory/MQClientInstance.sendHeartbeatToAllBroker",
        remedy=T("Restore the connection."),
        risk=T("None."),
        verdict="suspected",
        least=5,
        lasts=60.0,
        unless=r"but no consumer and no producer",
    ),
    problem(
        "client-no-role",
        T("A client instance has neither producer nor consumer"),
        ("sending heartbeat, but no consumer and no producer",),
        T(
            "An instance runs that has nothing registered (any more): mqadmin, or a producer that was shut down while its instance stays."
        ),
        T("Nothing."),
        "client/impl/factory/MQClientInstance",
    ),
    problem(
        "client-instance-other",
        T("The client's background tasks report a difficulty"),
        ("cleanOfflineBroker Exception", "unregister client exception from broker", "adjustThreadPool exception"),
        T("A scheduled task of the client caught an exception and goes on with its next interval."),
        T("The exception; whether it repeats."),
        "client/impl/factory/MQClientInstance",
        classes=(
            "client/MQClientInstance",
            "client/RebalanceImpl",
            "client/RemoteBrokerOffsetStore",
            "client/DefaultMQPushConsumerImpl",
            "client/MQClientAPIImpl",
            "client/MQClientAPIExt",
            "client/PullAPIWrapper",
            "client/DefaultMQPushConsumer",
            "client/MQClientManager",
        ),
    ),
    problem(
        "broker-scheduled-task",
        T("A scheduled task of the broker failed"),
        (
            "schedule record error.",
            "printWaterMark error",
            "protectBroker error",
            "failed to record broker stats",
            "failed to protectBroker",
            "schedule dispatchBehindBytes error",
        ),
        T(
            "One of the broker's periodic tasks (statistics, watermarks, protection) threw an exception. Before 4.9.3 such a task does not run again until the restart (#3861)."
        ),
        T("The exception; do the watermark and statistics lines go on afterwards?"),
        "broker/BrokerController",
        classes=(
            "broker/BrokerController",
            "broker/BrokerOuterAPI",
            "broker/BrokerFastFailure",
            "broker/ClientHousekeepingService",
            "broker/BrokerMetricsManager",
            "broker/BrokerStartup",
            "broker/FilterServerManager",
            "broker/FilterServerUtil",
            "broker/ClientManageProcessor",
            "broker/ConsumerManageProcessor",
        ),
        fixed="4.9.3 (#3861)",
    ),
    problem(
        "topic-config-other",
        T("The broker's tables of topics, groups or offsets report a difficulty"),
        (
            "delete topic config failed, topic",
            "delete subscription group failed",
            "remove topic offset,",
            "clean group offset",
            "Clean group's offset",
            "Clean topic's offset",
        ),
        T("A topic or group was deleted or changed, and a step of it was not needed or failed."),
        T("Was that wanted? Offsets of a deleted topic or group are gone."),
        "broker/topic/TopicConfigManager, broker/offset/ConsumerOffsetManager",
        classes=(
            "broker/TopicConfigManager",
            "broker/SubscriptionGroupManager",
            "broker/ConsumerOffsetManager",
            "broker/LmqConsumerOffsetManager",
            "broker/ConsumerOffsetManagerV2",
            "broker/SubscriptionGroupManagerV2",
            "broker/TopicConfigManagerV2",
            "broker/ConfigStorage",
            "broker/RocksDBConsumerOffsetManager",
            "broker/RocksDBSubscriptionGroupManager",
            "broker/RocksDBTopicConfigManager",
            "common/Configuration",
            "remoting/Configuration",
        ),
    ),
    problem(
        "port-in-use",
        T("The port is already in use"),
        (
            "Address already in use",
            "already in use by another RemotingServer",
            "Failed to bind to {}:",
            "java.net.BindException",
        ),
        T(
            "Another process listens on listenPort, listenPort − 2 (fast), listenPort + 1 (HA), 9876 or the proxy's ports."
        ),
        T("ss -ltnp for the port; is an old process still there?"),
        "remoting/netty/NettyRemotingServer.start",
        remedy=T("End the old process or change listenPort: brokers on one host need ports at least 3 apart."),
        risk=T("None."),
        verdict="confirmed",
        example="java.net.BindException: Address already in use",
        printed="standard output, broker.log",
    ),
    problem(
        "config-value-invalid",
        T("A configuration value is not usable"),
        (
            "NumberFormatException: For input string",
            "java.lang.IllegalArgumentException: No enum constant org.apache.rocketmq",
            "Please set the ROCKETMQ_HOME variable",
            "The Name Server Address[{}] illegal",
            "Slave's brokerId must be > 0",
            "Unknown TLS mode",
        ),
        T(
            "A value of a configuration file holds something else than its setting takes: letters behind a number, a comment or blank behind the value, an unknown role or flush type. In properties files everything behind `=` is the value, comments included."
        ),
        T("The string printed in quotes: which line of broker.conf or of the application's properties holds it?"),
        "broker/BrokerStartup, common/MixAll.properties2Object",
        remedy=T("Put comments on lines of their own; correct the value."),
        risk=T("Values that cannot be parsed are skipped silently by brokers: the default is in force."),
        verdict="confirmed",
        unless=r"^(?![\s\S]*(?:rocketmq|ROCKETMQ|Name Server|brokerId|TLS))",
        example='java.lang.NumberFormatException: For input string: "9876 # name server" at org.apache.rocketmq.remoting.common.RemotingUtil.string2SocketAddress',
    ),
    problem(
        "config-update-refused",
        T("A configuration change through mqadmin was refused"),
        ("Can not update config in black list", "Can not update config path", "string2Properties error"),
        T(
            "Since 4.9.6 / 5.1.1 some settings may not be changed over the network, after CVE-2023-33246 and CVE-2023-37582: an open broker or name server port let anybody run commands through the configuration."
        ),
        T("Is the change really needed? Edit the file and restart instead. Is the port open to strangers?"),
        "broker/processor/AdminBrokerProcessor.updateBrokerConfig",
        remedy=T("Edit broker.conf and restart; keep ports 9876 and 10911 inside the network."),
        risk=T("None."),
        verdict="suspected",
        fixed="4.9.6 and 5.1.1 (CVE-2023-33246), 4.9.7 and 5.1.2 (CVE-2023-37582)",
    ),
    problem(
        "static-start",
        T("A service of the process could not be loaded"),
        (
            "No resource file with name",
            "Unable to locate any class",
            "Unable to init service",
            "Unable to get classloader for class",
            "Initialize plugin's class",
        ),
        T(
            "RocketMQ looks for optional services in META-INF/service (transaction, ACL). `No resource file` means that none is configured and the default is used."
        ),
        T("Only if a plugin was meant to be there."),
        "broker/util/ServiceProvider",
        classes=("broker/ServiceProvider", "common/ServiceProvider"),
        unlike=T("it is no fault of a stock broker"),
    ),
    problem(
        "admin-command-failed",
        T("An administrative request was not carried out"),
        (
            "getResponseCommand failed,",
            "getResponseCommand return null",
            "No topic in this broker",
            "No subscription group in this broker",
            "the producer group[{}] not exist",
            "consumeStats, topic config not exist",
            "The stats <{}> <{}> not exist",
            "THe consumer group <{}> not exist",
        ),
        T(
            "mqadmin, the dashboard or an exporter asked for something the broker does not have: a topic, a group without consumers, statistics that are not kept."
        ),
        T("Which object, and does it exist on this broker?"),
        "broker/processor/AdminBrokerProcessor, client/impl/MQAdminImpl",
        classes=("broker/AdminBrokerProcessor", "client/MQAdminImpl", "client/MqClientAdminImpl"),
        unlike=T("sending and consuming are not concerned"),
    ),
)
