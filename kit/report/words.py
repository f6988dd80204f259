"""The report's own sentences: headings, verdicts, what each figure counts, the glossary."""

from __future__ import annotations

from typing import Final

from kit.texts import Lang, T

PAGE: Final[dict[str, T]] = {
    "kicker": T("RocketMQ incident report", "RocketMQ 事故报告"),
    "skip": T("Skip to the report", "跳到正文"),
    "contents": T("Contents", "目录"),
    "redacted": T(
        "Names, addresses, keys and paths on this page are pseudonyms: the same original always has the same one. Times, sizes, offsets and hashes are real.",
        "本页的名称、地址、key 和路径均为化名：同一原值始终对应同一化名。时间、大小、位点和哈希均为真实值。",
    ),
    "no_cause": T("No root cause is confirmed", "没有确认的根因"),
    "one_suspect": T("Not proven yet; the strongest lead is: {title}", "尚未证实；最可疑的是：{title}"),
    "quiet": T(
        "Nothing in this evidence points to a known fault. That is not proof of health: see below what was read, and what was not.",
        "这份证据中没有任何迹象指向已知故障。这不等于证明系统健康：请看下文读取了什么、没有读取什么。",
    ),
    "too_little": T(
        "What would decide is not in this evidence. What to fetch, and the exact commands, stand below; run the report again with it.",
        "能够定案的材料不在这份证据里。下面列出需要收集的内容和具体命令；收集后请重新生成报告。",
    ),
    "what": T("What happened", "发生了什么"),
    "since": T("Since when", "从什么时候开始"),
    "bad": T("How bad", "影响有多大"),
    "why": T("Why", "为什么"),
    "now": T("What to do now", "现在该做什么"),
    "collect": T("What to collect next", "接下来要收集什么"),
    "from_to": T("{first} to {last} UTC", "{first} 至 {last}（UTC）"),
    "lasted": T("for {span}", "持续 {span}"),
    "no_window": T("The evidence carries no times for it.", "证据中没有相关时间。"),
    "also": T("Also seen", "同时出现的现象"),
    "chain": T("Why we say so", "结论的依据"),
    "chain_note": T(
        "Each claim stands on lines and records of the evidence; file and line, or file and byte offset, are given so that anyone can look.",
        "每条论断都以证据中的日志行或记录为依据；注明文件与行号（或字节偏移），任何人都可以核对。",
    ),
    "deciding": T("deciding", "决定性"),
    "supporting": T("supporting", "佐证"),
    "holds": T("shown", "已证实"),
    "fails": T("shown false", "已证伪"),
    "open": T("not known", "未知"),
    "line": T("line {n}", "第 {n} 行"),
    "byte": T("byte {n}", "字节偏移 {n}"),
    "numbers": T("Numbers", "数字"),
    "not_known": T("Not known from this evidence:", "这份证据中无法得知："),
    "charts": T("What it looked like", "当时的情形"),
    "behind": T("The table behind the chart", "图表背后的数据"),
    "undrawn": T("The chart needs JavaScript; its numbers are in the table below.", "图表需要 JavaScript；数字见下面的表格。"),
    "remedies": T("What to do", "如何处理"),
    "helps": T("Why it helps", "为何有效"),
    "risk": T("Risk", "风险"),
    "verify": T("How to see that it worked", "如何确认已生效"),
    "missing": T("What is missing", "缺少的证据"),
    "run_this": T("Run this, add the result to the evidence, and run the report again:", "运行下面的命令，把结果加入证据，再重新生成报告："),
    "steps": T("The investigation, step by step", "逐步的调查过程"),
    "failed": T(
        "The notebook {name} stopped with an error before its end; what it had shown until then is below. The verdicts do not depend on it.",
        "笔记本 {name} 中途出错停止；以下是出错前已有的内容。结论不依赖于它。",
    ),
    "neighbours": T("Neighbouring findings", "相邻的发现"),
    "explains": T("This explains:", "由此导致："),
    "explained_by": T("This follows from:", "其起因："),
    "look_alikes": T("Looks like, tell apart by", "看起来像什么，如何区分"),
    "excluded": T("What it was not", "已排除的原因"),
    "excluded_note": T(
        "Every known cause was examined. These were ruled out, by the step that is shown false.",
        "所有已知原因都经过检查。以下原因因某一步被证伪而排除。",
    ),
    "undecided": T("What could not be decided", "无法判定的原因"),
    "undecided_note": T(
        "The evidence holds nothing that speaks for or against these. The commands fetch what would.",
        "证据中没有支持或否定它们的内容。下列命令可以取得所需的材料。",
    ),
    "complete": T("What was read, and what was not", "读取了什么，没有读取什么"),
    "kinds": T("Evidence by kind", "按类型统计的证据"),
    "inventory": T("Files of the evidence", "证据文件"),
    "every_file": T("Every file, with its hash", "全部文件及其哈希"),
    "unrecognised": T("Not recognised, so not used", "未识别，因此未使用"),
    "damage": T("Damaged, refused or unreadable", "损坏、拒绝读取或无法读取"),
    "skipped": T("Byte ranges that are not records", "不是记录的字节范围"),
    "nothing_skipped": T("No damaged range: every byte belongs to a record or is known filler.", "没有损坏的范围：每个字节都属于某条记录或已知的填充。"),
    "everything_used": T("Every file was recognised.", "所有文件都已识别。"),
    "glossary": T("Words used here", "术语"),
    "again": T("How to run this again", "如何重新运行"),
    "again_note": T(
        "The same evidence gives the same report, byte for byte. manifest.json beside this page names every input with its SHA-256.",
        "同样的证据会得到逐字节相同的报告。本页旁的 manifest.json 列出每个输入及其 SHA-256。",
    ),
    "manifest": T("Manifest hash", "清单哈希"),
    "made_by": T("Made by rmq-kit {version}.", "由 rmq-kit {version} 生成。"),
    "unknown": T("unknown", "未知"),
    "cause": T("Cause", "原因"),
    "verdict": T("Verdict", "结论"),
    "reason": T("Reason", "理由"),
    "slug": T("Name in the kit", "工具中的名称"),
    "false_step": T("Shown false", "被证伪的一步"),
    "refs": T("references", "引用数"),
}

VERDICTS: Final[dict[str, tuple[str, T]]] = {
    "confirmed": ("●", T("confirmed", "确认")),
    "suspected": ("◐", T("suspected", "疑似")),
    "ruled_out": ("○", T("ruled out", "排除")),
    "insufficient_evidence": ("?", T("not enough evidence", "证据不足")),
}

FIGURES: Final[dict[str, T]] = {
    "leaked_messages": T("messages leaked into the half topic", "条消息泄漏到半消息主题"),
    "leaked_half_records": T("half records made from them", "条由其产生的半消息记录"),
    "doubling_seconds": T("seconds to double", "秒翻一倍"),
    "max_check_times": T("checks of one message at most", "次（单条消息最多回查次数）"),
    "retry_topic_length": T("characters in the retry topic's name (127 allowed)", "个字符的重试主题名（上限 127）"),
    "refused_send_backs": T("send-backs refused by the broker", "次回发被 Broker 拒绝"),
    "retries_dropped": T("retries dropped when their delay was over", "条重试在延时到期时被丢弃"),
    "retries_unconsumable": T("retries stored where no consumer reads them", "条重试存于消费者读不到的位置"),
    "broker_limit": T("bytes allowed by the broker", "字节（Broker 的上限）"),
    "at_risk_half_messages": T("transactions that will not fit when put back", "个事务放回时会超限"),
    "looping_half_messages": T("half messages whose put-back is refused for ever", "条半消息的放回被反复拒绝"),
    "direct_rejects": T("sends refused at once for their size", "次发送因大小当场被拒"),
    "safe_body_bytes": T("largest safe body in bytes, by topic", "安全的最大消息体字节数（按主题）"),
    "refused_by_broker": T("sends refused by the broker for their size", "次发送因大小被 Broker 拒绝"),
    "refused_by_client": T("sends refused by the client itself for their size", "次发送因大小被客户端自身拒绝"),
    "largest_refused_record": T("bytes of the largest refused record", "字节（被拒的最大记录）"),
    "failed_deliveries": T("failed deliveries of delayed messages", "次延时消息投递失败"),
    "blocked_levels": T("delay levels that stand", "停滞的延时级别"),
    "waiting_behind": T("records waiting behind in these levels", "条记录在这些级别中排队等待"),
    "undeliverable_records": T("waiting records too large to be delivered", "条等待中的记录因过大而无法投递"),
    "uniq_keys": T("messages, told apart by UNIQ_KEY", "条消息（按 UNIQ_KEY 区分）"),
    "uniq_keys_with_several_offset_ids": T("of them have several offset ids (normal)", "条有多个 offset ID（属正常）"),
    "wrong_space_lookups": T("look-ups with the wrong kind of id", "次查询用错了 ID 种类"),
    "handled_twice_by_offset_id": T("messages handled twice because offset ids were compared", "条消息因比较 offset ID 而被处理两次"),
    "errors_by_kind": T("failed sends, by kind", "失败的发送（按种类）"),
    "attempts_by_kind": T("single attempts, by kind", "单次尝试（按种类）"),
    "stalls": T("pauses of the broker seen in the records", "次从记录中看到的 Broker 停顿"),
    "sends": T("sends", "次发送"),
    "sends_failed": T("sends that threw", "次发送抛出异常"),
    "failed_but_stored": T("failed for the sender, yet stored", "次发送方失败但已存储"),
    "lost": T("messages lost", "条消息丢失"),
    "stored_twice": T("messages stored twice", "条消息重复存储"),
    "outcome_by_kind": T("what became of failed sends, by kind", "失败发送的结局（按种类）"),
    "committed": T("transactions committed", "个事务已提交"),
    "rolled_back": T("rolled back", "个事务已回滚"),
    "discarded": T("discarded after the last check", "个事务在最后一次回查后被丢弃"),
    "pending": T("still open", "个事务未决"),
    "half_messages": T("transactions in all", "个事务（总数）"),
    "committed_twice": T("committed twice", "个事务被提交两次"),
    "dead_lettered": T("messages in dead-letter queues", "条消息进入死信队列"),
    "rows_without_message": T("business rows without a message", "行业务数据没有对应消息"),
    "rows_pending": T("of these still open", "行其事务未决"),
    "messages_without_row": T("messages without a business row", "条消息没有对应业务数据"),
    "exceptions_in_local_transaction": T("exceptions in local transactions", "次本地事务异常"),
    "answered_not_ok": T("answers that were not SEND_OK although the message is stored", "次应答不是 SEND_OK，但消息已存储"),
    "answered_unknown": T("of the discarded were answered UNKNOW", "条被丢弃的消息曾被应答 UNKNOW"),
    "answers": T("answers from a broker that could not take the request", "次由无法受理请求的 Broker 给出的应答"),
    "check_limit": T("checks allowed", "次（允许的回查次数）"),
    "copies": T("records of them", "条相应的记录"),
    "counted_by_broker": T("refusals the broker's own counters show", "次拒绝（Broker 自身的计数）"),
    "explanations": T("explanations, best shown first", "种解释（证据最充分者在前）"),
    "failed_resends": T("fresh copies that failed too", "次改发副本也失败"),
    "forbidden": T("answers that the topic or broker allows no such access", "次应答称主题或 Broker 无此权限"),
    "foreign_answers": T("checks answered by another host", "次回查由其他主机应答"),
    "groups": T("producer groups that no producer was connected for", "个没有生产者在线的生产者组"),
    "highest_ratio": T("highest share of the disk in use", "磁盘最高占用比例"),
    "kind_unknown": T("failed sends whose error is not known", "次失败的发送，错误种类不明"),
    "late_answers": T("answers that came after the client had given up", "次在客户端放弃之后到达的应答"),
    "late_commits": T("committed twice because the local transaction was slow", "个因本地事务过慢而提交两次"),
    "late_op_records": T("committed twice because the op record came late", "个因 op 记录迟到而提交两次"),
    "lines": T("lines that say so", "行日志如此记录"),
    "marked_full": T("times a disk was marked full", "次磁盘被标记为满"),
    "messages": T("messages", "条消息"),
    "on_several_brokers": T("stored on several brokers", "条存储在多个 Broker 上"),
    "refused_answers": T("sends refused for it", "次发送因此被拒"),
    "stored": T("of them stored all the same", "次其消息仍已存储"),
    "timed_out_attempts": T("single attempts that timed out", "次单次尝试超时"),
    "timed_out_sends": T("sends that timed out", "次发送超时"),
    "unreached_checks": T("checks that reached nobody", "次回查无人接收"),
    "unreadable_dlq_topics": T("dead letter topics nobody can read", "个无人可读的死信主题"),
    "wrong_answers": T("answers that do not fit what happened", "次应答与事实不符"),
}

SKIPPED: Final[dict[str, T]] = {
    "zero_tail": T("unwritten end of the file", "文件尚未写入的尾部"),
    "blank": T("filler at the end of a file", "文件末尾的填充"),
    "truncated": T("the file ends inside a record", "文件在记录中间结束"),
    "corrupt": T("corrupt", "损坏"),
}

COLUMNS: Final[dict[str, T]] = {
    "file": T("file", "文件"),
    "kind": T("kind", "类型"),
    "source": T("source", "来源"),
    "files": T("files", "文件数"),
    "bytes": T("bytes", "字节"),
    "first": T("first time", "最早时间"),
    "last": T("last time", "最晚时间"),
    "zone": T("zone", "时区"),
    "sha256": T("SHA-256 (start)", "SHA-256（开头）"),
    "replica_of": T("copy of", "副本，原件为"),
    "reason": T("reason", "原因"),
    "start": T("from byte", "起始字节"),
    "end": T("to byte", "结束字节"),
    "ranges": T("ranges", "范围数"),
}
"""Headings of the tables about the evidence itself."""

GLOSSARY: Final[tuple[tuple[T, T], ...]] = (
    (
        T("half message", "半消息"),
        T(
            "A transaction message the broker keeps in RMQ_SYS_TRANS_HALF_TOPIC until the producer says commit or rollback; consumers do not see it.",
            "事务消息的第一阶段：Broker 把它放在 RMQ_SYS_TRANS_HALF_TOPIC，直到生产者提交或回滚；消费者看不到它。",
        ),
    ),
    (
        T("check (check-back)", "回查"),
        T(
            "The broker asks the producer about a half message that stays open, after writing a fresh copy of it (put-back).",
            "Broker 先把仍未决的半消息重新写入一份（放回），再询问生产者其结果。",
        ),
    ),
    (
        T("op message", "op 消息"),
        T(
            "The note in RMQ_SYS_TRANS_OP_HALF_TOPIC that a half message is finished.",
            "写在 RMQ_SYS_TRANS_OP_HALF_TOPIC 中的标记，表示某条半消息已结束。",
        ),
    ),
    (
        T("send-back", "消息回发"),
        T(
            "A consumer that could not handle a message hands it back; the broker stores it in %RETRY%group for a later try.",
            "消费者处理失败后把消息交还 Broker，Broker 存入 %RETRY%组名，稍后再试。",
        ),
    ),
    (
        T("SCHEDULE_TOPIC_XXXX", "SCHEDULE_TOPIC_XXXX"),
        T(
            "Where delayed messages wait. Going in, the topic a record was meant for is kept in its REAL_TOPIC property.",
            "延迟消息等待的主题；进入时，原本要去的主题记在属性 REAL_TOPIC 中。",
        ),
    ),
    (
        T("UNIQ_KEY", "UNIQ_KEY"),
        T("The id a client gives a message once, at its first send; every copy keeps it.", "客户端在首次发送时赋予消息的 ID；所有副本都保留它。"),
    ),
    (
        T("offset message id", "offset 消息 ID"),
        T(
            "The broker's address and the byte offset of one stored record, in hex; every copy of a message has another.",
            "Broker 地址加某条记录的字节偏移，十六进制；同一消息的每个副本各不相同。",
        ),
    ),
    (
        T("commitlog", "commitlog"),
        T("The files in which a broker stores all records of all topics, one after another.", "Broker 按顺序存放所有主题全部记录的文件。"),
    ),
    (
        T("dead-letter queue", "死信队列"),
        T("%DLQ%group: messages whose retries ran out.", "%DLQ%组名：重试次数用尽的消息。"),
    ),
    (
        T("flow control", "流控"),
        T(
            "A broker that refuses requests because it cannot keep up (“system busy”, “broker busy”).",
            "Broker 处理不过来而拒绝请求（“system busy”“broker busy”）。",
        ),
    ),
)


def page(lang: Lang) -> dict[str, str]:
    """Return the sentences without placeholders, for the template."""
    return {name: text.in_(lang) for name, text in PAGE.items()}
