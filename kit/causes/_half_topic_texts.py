"""The sentences of `half_topic_blowup`."""

from __future__ import annotations

from kit.texts import T


class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("The transaction half topic feeds itself", "事务 half 主题自我增殖")
    NONE = T(
        "No half message of this evidence names the half topic as its own target.",
        "证据中没有任何 half 消息以 half 主题本身为目标。",
    )
    SUMMARY = T(
        "{messages} messages that a consumer could not send back leaked into the half topic and became {records} half records; they doubled every {seconds} s.",
        "消费者无法回发的 {messages} 条消息泄漏进 half 主题，变成 {records} 条 half 记录；每 {seconds} 秒翻一倍。",
    )
    SUMMARY_PUT_BACK = T(
        "{messages} messages that a consumer could not send back leaked into the half topic and became {records} half records: each check round puts each of them back once, until the check limit; they do not double.",
        "消费者无法回发的 {messages} 条消息泄漏进 half 主题，变成 {records} 条 half 记录：每轮回查将每条放回一次，直到达到回查上限；并不翻倍。",
    )
    SUMMARY_LOGS = T(
        "{lines} log lines print half messages whose real topic is the half topic itself.",
        "有 {lines} 行日志打印的 half 消息，其真实主题就是 half 主题本身。",
    )
    WANT_STORE = T(
        "the half and schedule records show whether messages leaked and whether they double",
        "half 与延时记录能说明消息是否泄漏、是否翻倍",
    )
    WANT_TRANSACTION_LOG = T(
        "discarded half messages are printed there with their REAL_TOPIC",
        "被丢弃的 half 消息会连同 REAL_TOPIC 打印在其中",
    )
    WANT_CLIENT_LOG = T(
        "its sendMessageBack Exception says why the send-back was refused",
        "其中的 sendMessageBack Exception 说明回发为何被拒绝",
    )
    WANT_STORE_LOG = T(
        "the broker writes there which name was too long",
        "Broker 会在其中写明哪个名称过长",
    )


class Claim:
    """One sentence per link of the chain, in the order in which it happened."""

    NAME_TOO_LONG = T(
        "Root: the retry topic %RETRY% + consumer group is {length} characters long; the broker stores names up to {limit}.",
        "根源：重试主题 %RETRY% + 消费者组共 {length} 个字符；Broker 只接受不超过 {limit} 个字符的名称。",
    )
    REASON = T("Root: the send-back failed: {reason}.", "根源：回发失败：{reason}。")
    REFUSED = T(
        "Trigger: a message failed in the consumer and the broker refused to take it back ({count} refusals seen).",
        "触发：消息消费失败，Broker 拒绝接收回发（看到 {count} 次拒绝）。",
    )
    RESENT = T(
        "The consumer's client, older than 4.6.1, sent {count} fresh copies that still carry TRAN_MSG and a delay; the delay diverted them "
        "into SCHEDULE_TOPIC_XXXX and REAL_TOPIC became the half topic.",
        "消费者客户端（低于 4.6.1）重新发送了 {count} 份副本，仍带有 TRAN_MSG 和延时；延时使其转入 SCHEDULE_TOPIC_XXXX，REAL_TOPIC 变成 half 主题。",
    )
    LEAKED = T(
        "{records} half records of {messages} messages have the half topic itself as REAL_TOPIC, with TRAN_MSG and DELAY still set.",
        "{messages} 条消息的 {records} 条 half 记录以 half 主题本身为 REAL_TOPIC，且仍带有 TRAN_MSG 和 DELAY。",
    )
    LEAKED_PRINTED = T(
        "{lines} log lines print half messages with the half topic itself as REAL_TOPIC, TRAN_MSG and DELAY still set.",
        "{lines} 行日志打印的 half 消息以 half 主题本身为 REAL_TOPIC，且仍带有 TRAN_MSG 和 DELAY。",
    )
    NOT_LEAKED = T(
        "A half or schedule record names the half topic itself as its target, with TRAN_MSG and DELAY set.",
        "某条 half 或延时记录以 half 主题本身为目标，且带有 TRAN_MSG 和 DELAY。",
    )
    DIVERTED = T(
        "Each check puts the leaked message back and its answer commits it; the surviving DELAY diverts the commit as well, "
        "so one becomes two ({commits} commits diverted, {records} records descend from them).",
        "每次回查都会把泄漏的消息写回，而回查的应答又将其提交；残留的 DELAY 使提交也被转入延时主题，于是一条变两条（{commits} 次提交被转移，由此衍生 {records} 条记录）。",
    )
    DIVERTED_PRINTED = T(
        "{lines} log lines print such half messages with the commit bit set: commits were diverted back into the half topic.",
        "{lines} 行日志打印的此类 half 消息带有提交标志位：提交又被转回 half 主题。",
    )
    TWINS = T(
        "Leaked half records of one UNIQ_KEY carry the same check count: one message became two.",
        "同一 UNIQ_KEY 的多条泄漏 half 记录具有相同的回查次数：一条消息变成了两条。",
    )
    ONLY_PUT_BACK = T(
        "A commit of a leaked message was diverted again. Not seen here: leaked messages are only put back, once per round, until the check limit.",
        "泄漏消息的提交再次被转移。此处未见：泄漏消息只在每轮被写回一次，直到回查上限。",
    )
    ANSWERED = T(
        "Contributing: the check listener answered COMMIT for messages of a topic it has no handler for ({count} such answers name a leaked record).",
        "助因：回查监听器对没有处理器的主题回答了 COMMIT（{count} 个回答指向泄漏记录）。",
    )
    BOUNDED = T(
        "What bounds it: after {limit} checks a copy is given up; {count} leaked records were moved to TRANS_CHECK_MAX_TIME_TOPIC or are on their way.",
        "增长的边界：回查 {limit} 次后副本被放弃；{count} 条泄漏记录已移入或正移往 TRANS_CHECK_MAX_TIME_TOPIC。",
    )


class Fix:
    """The three documented fixes; only the third lets the retries through."""

    SPLIT = T(
        "Shorten the consumer group's name (or split its tags over several groups) so that %RETRY% + group stays within 127 characters.",
        "缩短消费者组名（或把标签拆分到多个组），使 %RETRY% + 组名不超过 127 个字符。",
    )
    SPLIT_WHY = T(
        "The send-back is accepted, so nothing leaks ({count} records here) and the retries reach the consumer.",
        "回发会被接受，不再泄漏（此处 {count} 条记录），重试也能到达消费者。",
    )
    SPLIT_RISK = T(
        "A new group starts at its own offset: set it before switching, or messages are skipped or consumed again.",
        "新消费者组有自己的位点：切换前须先设置，否则会漏消费或重复消费。",
    )
    SPLIT_VERIFY = T(
        "Let one message fail: a record must appear in %RETRY% + group and the log must show no sendMessageBack Exception.",
        "让一条消息消费失败：%RETRY% + 组名中应出现记录，日志中不应再有 sendMessageBack Exception。",
    )
    CLIENT = T("Upgrade the consumers to client 4.6.1 or newer.", "将消费者客户端升级到 4.6.1 或更高版本。")
    CLIENT_WHY = T(
        "It clears TRAN_MSG before re-sending, so none of the {count} leaked records would exist.",
        "它在重新发送前清除 TRAN_MSG，{count} 条泄漏记录都不会出现。",
    )
    CLIENT_RISK = T(
        "It does not make the retries arrive: with the same group name they stay in the consumer's memory and are tried every 5 s.",
        "它不能让重试到达：组名不变时，重试只停留在消费者内存中，每 5 秒尝试一次。",
    )
    CLIENT_VERIFY = T(
        "broker.log shows the group with version=335 or higher; the half topic stops growing.",
        "broker.log 中该组的 version 不低于 335；half 主题停止增长。",
    )
    ROLLBACK = T(
        "In the check listener, answer ROLLBACK (not COMMIT) for a topic without a handler.",
        "在回查监听器中，对没有处理器的主题回答 ROLLBACK（而不是 COMMIT）。",
    )
    ROLLBACK_WHY = T(
        "It ends the doubling: the {count} records that descend from commits would not exist.",
        "它终止翻倍：由提交衍生的 {count} 条记录不会出现。",
    )
    ROLLBACK_RISK = T(
        "Leaked messages are still put back once per round until the check limit, because their op messages "
        "go to a queue the checker never reads; the retries stay lost.",
        "泄漏消息仍会每轮写回一次直到回查上限，因为它们的 op 消息写入了回查服务从不读取的队列；重试依旧丢失。",
    )
    ROLLBACK_VERIFY = T(
        "The number of half records with sysFlag 8 stops growing.",
        "sysFlag 为 8 的 half 记录数不再增长。",
    )
