"""The sentences of `broker_busy` and its neighbours."""

from __future__ import annotations

from kit.texts import T


class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("The broker refused messages because it was busy", "Broker 繁忙，拒绝了消息")
    NONE = T("No flow-control refusal of a broker in this evidence.", "证据中没有 Broker 的流控拒绝。")
    SUMMARY = T(
        "The broker refused messages by flow control: {failed} sends failed, {lost} are lost, {stored} are stored in spite of the error, {twice} keys "
        "stand there twice. Why: {why}.",
        "Broker 以流控拒绝消息：{failed} 次发送失败，{lost} 条丢失，{stored} 条报错却已存储，{twice} 个 key 存了两份。原因：{why}。",
    )
    SUMMARY_FATE_UNKNOWN = T(
        "The broker refused messages by flow control: {failed} failed sends are seen; what became of them is not. Why: {why}.",
        "Broker 以流控拒绝消息：看到 {failed} 次失败的发送，其结局无从得知。原因：{why}。",
    )
    SUMMARY_TIMEOUTS = T(
        "Sends timed out at the client ({count} entries), but no refusal of the broker is in this evidence.",
        "客户端发送超时（{count} 条日志），但证据中没有 Broker 的拒绝。",
    )
    SUMMARY_STALLS = T("The broker stood still for {seconds} s, but no refusal is in this evidence.", "Broker 停顿共 {seconds} 秒，但证据中没有拒绝。")
    NOT_SHOWN = T("not shown by this evidence", "现有证据未能显示")
    WANT_CLIENT = T("the broker does not log its refusals; the client prints each with its kind", "Broker 不记录拒绝；客户端会打印每次拒绝及其类型")
    WANT_STORE = T(
        "whether a failed send was stored, and where the broker stood still, is written only there",
        "失败的发送是否已存储、Broker 何时停顿，只有其中有记录",
    )
    WANT_SENDS = T("it says which sends failed, so that lost messages can be named", "它说明哪些发送失败，从而能列出丢失的消息")
    WANT_WATERMARK = T("a second without a block shows that the process stood still", "缺失的秒说明进程停顿")
    WANT_METRICS = T("they show what else used disk and CPU", "它们显示还有谁占用磁盘与 CPU")


class Claim:
    """One sentence per step."""

    REFUSED = T(
        "The broker refused requests by flow control: {count} log entries say so ({kinds}).",
        "Broker 以流控拒绝请求：{count} 条日志如此记载（{kinds}）。",
    )
    NOT_REFUSED = T("The broker refused requests by flow control.", "Broker 以流控拒绝请求。")
    COUNTED = T("The broker itself counted {count} answers with code 2 (SYSTEM_BUSY).", "Broker 自己统计到 {count} 次代码 2（SYSTEM_BUSY）的应答。")
    STALLED = T(
        "The records show {count} stalls, {seconds} s together, in which nothing was stored while {waiters} messages waited.",
        "记录显示 {count} 次停顿，共 {seconds} 秒：其间没有存储，{waiters} 条消息在等待。",
    )
    TIMED_OUT = T(
        "Clients waited in vain for an answer ({count} entries): their own time-out, which says nothing about storage.",
        "客户端等待应答超时（{count} 条日志）：这是客户端自己的超时，不能说明是否已存储。",
    )
    OUTCOME = T(
        "Of {failed} failed sends {stored} are stored and {lost} are in no topic of any broker: {by_kind}.",
        "{failed} 次失败的发送中，{stored} 条已存储，{lost} 条不在任何 Broker 的任何主题：{by_kind}。",
    )
    BELIEF = T("every refusal was lost, what is stored in spite of an error was a client time-out", "拒绝的全部丢失，报错却已存储的都是客户端超时")
    TWICE = T(
        "{keys} keys stand in the store more than once with the same body ({brokers} of them on several brokers).",
        "{keys} 个 key 以相同消息体存了不止一份（其中 {brokers} 个分布在多个 Broker）。",
    )
    WHY = T("Why, rank {rank}: {said} ({share} of the failed sends fall into it).", "原因（第 {rank} 位）：{said}（{share} 的失败发送落在其中）。")
    WHY_OPEN = T("Why, rank {rank}: {said}.", "原因（第 {rank} 位）：{said}。")
    WHY_NOT = T("Why the broker was busy is not shown by this evidence.", "现有证据未能说明 Broker 为何繁忙。")
    PENDING = T(
        "{count} transactions whose half message met a stall were checked or are still open: a refused END_TRANSACTION is one-way and leaves no error.",
        "{count} 个事务的 half 消息遇上停顿，随后被回查或仍未结束：被拒绝的 END_TRANSACTION 是单向请求，不留下错误。",
    )


class Fix:
    """What to do, and its price."""

    HOST = T("Give the broker a host of its own, or move what writes beside it.", "让 Broker 独占主机，或迁走旁边写盘的程序。")
    HOST_WHY = T(
        "It takes away the cause, not the symptom; in the documented case it was the final answer.",
        "它消除的是原因而非症状；在公开案例中这是最终答案。",
    )
    HOST_RISK = T("Moving a broker needs a maintenance window.", "迁移 Broker 需要维护窗口。")
    HOST_VERIFY = T(
        "watermark.log has a block every second; iostat shows only what the broker stores.",
        "watermark.log 每秒都有记录；iostat 只显示 Broker 自己的写入。",
    )
    RESEND = T(
        "Catch MQBrokerException with code 2 and send again after a pause, to the same topic; make the consumers idempotent.",
        "捕获代码为 2 的 MQBrokerException，稍候向同一主题重发；消费者做好幂等。",
    )
    RESEND_WHY = T(
        "Clients before 5.3.0 do not retry it: {count} sends here were thrown at the application, {lost} messages are lost.",
        "5.3.0 之前的客户端不重试：此处 {count} 次发送直接抛给应用，{lost} 条消息丢失。",
    )
    RESEND_RISK = T(
        "A resend after a time-out can store twice ({twice} keys here without any resend); without a pause it adds to the load. A second \"bak\" "
        "topic makes duplicates of its own.",
        "超时后的重发可能存两份（此处未重发已有 {twice} 个 key）；不停顿地重发会加重负载。另设 \"bak\" 主题会产生新的重复。",
    )
    RESEND_VERIFY = T("The ledger of the next incident shows no lost message.", "下次事故的账目中没有丢失的消息。")
    LIMITS = T(
        "Raise waitTimeMillsInSendQueue (and osPageCacheBusyTimeOutMills) above the longest stall seen ({seconds} s).",
        "将 waitTimeMillsInSendQueue（及 osPageCacheBusyTimeOutMills）调到大于所见最长停顿（{seconds} 秒）。",
    )
    LIMITS_WHY = T("{count} of the refusals here would have been stored late instead.", "此处 {count} 次拒绝会变为推迟存储。")
    LIMITS_RISK = T(
        "It hides the stall: senders wait instead of failing, their threads pile up, and beyond sendMsgTimeout it becomes time-outs and duplicates.",
        "它掩盖了停顿：发送方由失败变为等待，线程堆积；超过 sendMsgTimeout 后会变成超时与重复。",
    )
    LIMITS_VERIFY = T("No CODE: 2 in the clients' logs; watch the p99 of sends.", "客户端日志不再有 CODE: 2；关注发送耗时 p99。")
    POOL = T(
        "transientStorePoolEnable=true on an asynchronous master, if appends hang in the page cache.",
        "若追加写卡在页缓存，可在异步主节点上设 transientStorePoolEnable=true。",
    )
    POOL_WHY = T("Writes no longer wait for the page cache that reads and others share.", "写入不再与读取及其他程序争用页缓存。")
    POOL_RISK = T(
        "What is in the pool is lost when the process dies; an exhausted pool refuses every send; no help against a standing process.",
        "进程死亡时池中数据丢失；池耗尽则拒绝一切发送；对进程停顿无效。",
    )
    POOL_VERIFY = T("remainTransientStoreBufferNumbs of brokerStatus stays above 0.", "brokerStatus 的 remainTransientStoreBufferNumbs 保持大于 0。")
    MORE = T("Add a broker, or move the topic to one with room.", "增加 Broker，或把主题迁到有余量的 Broker。")
    MORE_WHY = T("Retries prefer another broker, and each has less to do.", "重试会优先选择另一个 Broker，且各自负载更轻。")
    MORE_RISK = T("A timed-out send is then often stored on two brokers.", "超时的发送此后常会存到两个 Broker 上。")
    MORE_VERIFY = T("The rate of arrival per broker falls.", "每个 Broker 的到达速率下降。")
