"""Which files would answer a question."""

from __future__ import annotations

from typing import Final

from kit.i18n import T

COMMITLOG: Final = T("the broker's commit log (store/commitlog)", "Broker 的 commitlog（store/commitlog）")
TRANSACTIONS: Final = T("the commit log, or the broker's transaction.log", "commitlog，或 Broker 的 transaction.log")
REFUSALS: Final = T(
    "store.log of the broker, or the consumer's rocketmq_client.log",
    "Broker 的 store.log，或消费者的 rocketmq_client.log",
)
CLIENT: Final = T("rocketmq_client.log of the clients", "客户端的 rocketmq_client.log")
TRANSACTION_LOG: Final = T("the broker's transaction.log", "Broker 的 transaction.log")
LEDGER: Final = T("the senders' own ledger of sends", "发送方自己的发送台账")
LEDGERS: Final = T("the consumers' own ledgers of deliveries", "消费者自己的消费台账")
ROWS: Final = T("an export of the business table", "业务表的导出")
METRICS: Final = T("sar, iostat or vmstat of the broker's host", "Broker 主机的 sar、iostat 或 vmstat")
LOOKUPS: Final = T(
    "outputs of mqadmin look-ups, or lines of the application about them", "mqadmin 查询的输出，或应用中相关的日志行"
)
OFFSETS: Final = T(
    "copies of consumerOffset.json or outputs of consumerProgress at two times",
    "两个时刻的 consumerOffset.json 或 consumerProgress 输出",
)
CONFIG: Final = T("broker.conf, or the output of getBrokerConfig", "broker.conf，或 getBrokerConfig 的输出")
STATUS: Final = T("consumerStatus with its files for each client", "consumerStatus 及其每个客户端的文件")
DUMPS: Final = T("thread dumps of the consumers (jstack)", "消费者的线程转储（jstack）")
NETWORK: Final = T("ip addr and ss of the hosts", "各主机的 ip addr 和 ss")
