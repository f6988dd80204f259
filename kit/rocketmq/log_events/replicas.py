"""Known texts about masters, slaves and the name server that loses one (store.log and broker.log of a slave, namesrv.log)."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_events.event import Event

_HA = "store/ha/HAService.HAClient, DefaultHAClient (5.0.0+)"
_ROUTES = "namesrv/routeinfo/RouteInfoManager"

EVENTS: Final[tuple[Event, ...]] = (
    Event("ha-read-failed", "HAClient, processReadEvent read socket", r"read socket (?P<what>exception|< 0)", "store", "INFO", _HA, "HAClient, processReadEvent read socket exception", harmless=None),
    Event("ha-expired", "HAClient, housekeeping, found this connection[", r"connection\[(?P<address>[^\]]*)\] expired, (?P<interval>\d+)", "store", "WARN", _HA,
          "HAClient, housekeeping, found this connection[10.20.29.11:10912] expired, 1795303465194", harmless=None),
    Event("ha-closed", "HAClient, master not response some time, so close connection", "master not response", "store", "WARN", _HA, "HAClient, master not response some time, so close connection", harmless=None),
    Event("ha-connect-failed", "HAClient connect to master ", r"connect to master (?P<address>\S+) failed", "store", "WARN", _HA, "HAClient connect to master 10.20.29.11:10912 failed", since="5.0.0", harmless=None,
          confirm=r"connect to master \S+ failed"),
    Event("ha-offset-mismatch", "master pushed offset not equal the max phy offset in slave", r"SLAVE: (?P<slave>\d+) MASTER: (?P<master>\d+)", "store", "ERROR", _HA,
          "master pushed offset not equal the max phy offset in slave, SLAVE: 812952 MASTER: 0"),
    Event("slave-sync-failed", ("SyncTopicConfig Exception, ", "SyncConsumerOffset Exception, ", "SyncDelayOffset Exception, ", "SyncSubscriptionGroupConfig Exception, ", "SyncSubscriptionGroup Exception, "),
          r"Sync(?P<what>\w+) Exception, (?P<address>\S+)", "broker", "ERROR", "broker/slave/SlaveSynchronize", "SyncConsumerOffset Exception, 10.20.29.11:10911", harmless=None),
    Event("slave-master-known", "update master address, OLD: ", r"NEW: (?P<address>\S+)", "store", "INFO", _HA, "update master address, OLD: null NEW: 10.20.29.11:10912", harmless=True),
    Event("broker-lost", ("remove brokerAddr[", "The broker channel expired, ", "unregisterBroker, remove from brokerLiveTable OK, "),
          r"(?:remove brokerAddr\[(?P<broker_id>\d+), (?P<address>[^\]]+)\] from brokerAddrTable|(?:channel expired|brokerLiveTable OK), (?:BrokerAddrInfo \[.{0,200}?brokerAddr=)?(?P<address_2>[^\s,\]]+))", "namesrv", "INFO WARN", f"{_ROUTES}.onChannelDestroy, scanNotActiveBroker, unregisterBroker",
          "remove brokerAddr[0, 10.20.29.11:10911] from brokerAddrTable, because channel destroyed", harmless=None),
)  # fmt: skip
