"""Known texts about reaching brokers and topics: connects, routes, advertised addresses, rights (clients, applications, name server)."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_events.event import Event

_REMOTING = "remoting/netty/NettyRemotingClient.createChannel"

EVENTS: Final[tuple[Event, ...]] = (
    Event("client-connect", "createChannel: connect remote host[", r"connect remote host\[(?P<address>[^\]]+)\] (?P<how>success|failed|timeout)", "client app remoting broker", "INFO WARN", _REMOTING,
          "createChannel: connect remote host[172.17.0.3:10911] timeout 3000ms, DefaultChannelPromise@3857f613(uncancellable)", harmless=None),
    Event("route-found", "topicRouteTable.put. Topic = ", r"topicRouteTable\.put\. Topic = (?P<topic>[^,\s]+), TopicRouteData.{0,20000}?brokerDatas=\[(?P<brokers>.{0,20000}?)\], filterServerTable", "client", "INFO", "client/impl/factory/MQClientInstance.updateTopicRouteInfoFromNameServer",
          "topicRouteTable.put. Topic = orders, TopicRouteData[TopicRouteData [orderTopicConf=null, queueDatas=[], brokerDatas=[BrokerData [brokerName=broker-a, brokerAddrs={0=10.20.29.11:10911}]], filterServerTable={}]]", harmless=True),
    Event("topic-unknown-to-consumer", ", but the topic[", r"doRebalance, (?P<group>\S+), but the topic\[(?P<topic>[^\]]*)\] not exist", "client", "WARN", "client/impl/consumer/RebalanceImpl.rebalanceByTopic",
          "doRebalance, points, but the topic[orders] not exist."),
    Event("no-consumer-list", ", get consumer id list failed", r"doRebalance, (?P<group>\S+) (?P<topic>\S+), get consumer id list failed", "client", "WARN", "client/impl/consumer/RebalanceImpl.rebalanceByTopic",
          "doRebalance, points orders, get consumer id list failed", harmless=None),
    Event("consumer-list-failed", "getConsumerIdListByGroup exception, ", r"ByGroup exception, (?P<address>\S+) (?P<group>\S+)", "client", "WARN", "client/impl/factory/MQClientInstance.findConsumerIdList",
          "getConsumerIdListByGroup exception, 172.17.0.3:10911 points", harmless=None),
    Event("access-denied", ("AclException: ", "rocketmq.auth.authentication.exception.", "rocketmq.auth.authorization.exception.",
                            "DESC: User:", "DESC: check signature failed", "DESC: username cannot be null", "DESC: Authentication failed. Please verify", "DESC: Authorization failed. Please verify"),
          r"(?:(?:Acl|Authentication|Authorization)Exception: |DESC: (?!org\.apache))(?P<reason>(?:Check signature failed for accessKey=(?P<access_key>[^,\s]+)|No acl config for (?P<unknown_key>[^,\s]+)|No (?:default )?permission for (?P<resource_type>topic|group):(?P<resource>[^,\s]+)|User:(?P<user>[^\s,]+) has no permission to access (?P<kind>\w+):(?P<right>[^,\s]+)|User:(?P<unknown_user>[^\s,]+) is not found|[^\n]{0,200}))",
          "client app remoting broker broker_default text", "WARN ERROR", "acl/plain/PlainPermissionManager (4.4.0+), auth/authentication and auth/authorization (5.3.0+: the answer is code 16 with the exception's message alone, broker/auth/pipeline)",
          "CODE: 1  DESC: org.apache.rocketmq.acl.common.AclException: Check signature failed for accessKey=importer, org.apache.rocketmq.acl.plain.PlainPermissionManager.validate(PlainPermissionManager.java:683) BROKER: 10.20.29.11:10911",
          confirm=r"^(?![\s\S]*(?:file for Plain mode was not found|file is not data))"),
    Event("broker-registered", "new broker registered, ", r"new broker registered, (?:BrokerAddrInfo \[.{0,200}?brokerAddr=)?(?P<address>[^\s,\]]+)\]?", "namesrv", "INFO", "namesrv/routeinfo/RouteInfoManager.registerBroker",
          "new broker registered, 10.20.29.11:10911 HAServer: 10.20.29.11:10912", harmless=True),
)  # fmt: skip
