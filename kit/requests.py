"""What to collect next: each kind of evidence that could decide, why, and the exact command that fetches it.

Paths are the defaults of a stock installation (`broker.conf` may say otherwise); commands only read.
"""

from __future__ import annotations

from typing import Final

from kit.findings import Missing
from kit.texts import Sentence, T

BROKER_LOGS: Final = "~/logs/rocketmqlogs"

COMMITLOG = T("the commitlog files of the broker", "Broker 的 commitlog 文件")
BROKER_LOG = T("{name} of the broker, with its rolled files", "Broker 的 {name}，连同滚动出去的文件")
CLIENT_LOG = T("rocketmq_client.log of the {who}", "{who}的 rocketmq_client.log")
APP_LOG = T("the application log of the {who}", "{who}的应用日志")
CONFIG = T("the broker's configuration in force", "Broker 当前生效的配置")
STORE_CONFIG = T("the broker's store/config files", "Broker 的 store/config 文件")
ROWS = T("the business rows of the time in question, as CSV", "相应时段的业务数据，导出为 CSV")
SENDS = T("the sender's own record of each send", "发送方自己的发送记录")
LOOKUP = T("what the look-up printed", "查询命令的输出")
METRICS = T("host metrics of the broker host", "Broker 主机的系统指标")

PRODUCER = T("producer", "生产者")
CONSUMER = T("consumer", "消费者")


def commitlog(why: Sentence) -> Missing:
    return Missing(COMMITLOG, why, "tar -cSzf commitlog.tar.gz -C ~/store commitlog")


def broker_log(name: str, why: Sentence) -> Missing:
    """`name` is the file's name, e.g. `transaction.log`."""
    stem = name.removesuffix(".log")
    command = f"tar -czf {stem}-logs.tar.gz -C {BROKER_LOGS} {name} $(cd {BROKER_LOGS} && ls otherdays/{stem}.*)"
    return Missing(BROKER_LOG.say(name=name), why, command)


def client_log(who: Sentence, why: Sentence) -> Missing:
    return Missing(CLIENT_LOG.say(who=who), why, f"tar -czf client-log.tar.gz -C {BROKER_LOGS} $(cd {BROKER_LOGS} && ls rocketmq_client.log*)")


def app_log(who: Sentence, why: Sentence) -> Missing:
    return Missing(APP_LOG.say(who=who), why, "tar -czf app-log.tar.gz /path/to/application.log")


def broker_config(why: Sentence) -> Missing:
    return Missing(CONFIG, why, "mqadmin getBrokerConfig -n NAMESRV:9876 -b BROKER:10911 > getBrokerConfig.txt")


def store_config(why: Sentence) -> Missing:
    return Missing(STORE_CONFIG, why, "tar -czf store-config.tar.gz -C ~/store config")


def rows(why: Sentence) -> Missing:
    return Missing(ROWS, why, "SELECT key, status, created_at FROM business_table WHERE created_at BETWEEN … AND …  -- export as CSV")


def sends(why: Sentence) -> Missing:
    return Missing(SENDS, why, "grep -E 'SendResult|MQBrokerException|Remoting.*Exception' /path/to/application.log > sends.log")


def lookup(command: str, why: Sentence) -> Missing:
    """`command` as it should be typed, its output saved."""
    return Missing(LOOKUP, why, command)


def host_metrics(why: Sentence) -> Missing:
    return Missing(METRICS, why, "iostat -dxt 1 60 > iostat.txt; vmstat -t 1 60 > vmstat.txt")
