"""The sentences of `transaction_consistency`."""

from __future__ import annotations

from typing import Final

from kit.texts import T


class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("Finished transactions disagree with the business rows", "已结束的事务与业务数据不一致")
    NONE = T("No finished transaction of this evidence disagrees with its business row.", "证据中没有已结束的事务与其业务数据不一致。")
    NO_TRANSACTIONS = T("The stores of this evidence hold no transactional message.", "证据中的存储没有事务消息。")
    UNKNOWN = T("Transactions and business rows cannot be held against each other with this evidence.", "现有证据无法将事务与业务数据对账。")
    SUMMARY = T(
        "{rows} business rows stand whose message was rolled back, and {messages} messages were committed without their row; {caused} of these {wrong} are explained by a local step.",
        "{rows} 条业务数据存在但其消息已回滚，{messages} 条消息已提交却没有业务数据；这 {wrong} 处中有 {caused} 处可由本地步骤解释。",
    )
    ONLY_EXCEPTIONS = T(
        "{count} local transactions threw an exception; whether their messages agree with the business rows is not known.",
        "{count} 个本地事务抛出异常；其消息与业务数据是否一致尚不清楚。",
    )
    WANT_ROWS = T(
        "each committed message must have its row and each standing row its message; only the rows can show it",
        "每条已提交的消息应有对应数据，每条有效数据应有对应消息；只有业务数据能够证明",
    )
    WANT_STORE = T("half, op and committed records show how each transaction ended", "half、op 与提交记录能说明每个事务的结局")
    WANT_CLIENT_LOG = T(
        "the client catches exceptions of the local transaction and only logs them (executeLocalTransactionBranch exception)",
        "客户端会捕获本地事务的异常并只写日志（executeLocalTransactionBranch exception）",
    )
    WANT_APP_LOG = T("errors that the application swallowed and committed anyway stand only there", "应用吞掉错误后仍然提交的情况只能从中看到")
    WANT_TRANSACTION_LOG = T("every ROLLBACK and UNKNOWN answer stands there with its UNIQ_KEY", "每个 ROLLBACK 与 UNKNOWN 应答都连同 UNIQ_KEY 记录在其中")


class Claim:
    """One sentence per link of the chain."""

    DISAGREE = T(
        "{rows} finished transactions were rolled back although their business row stands, {messages} were committed although they have none.",
        "{rows} 个已结束的事务被回滚而业务数据仍在，{messages} 个已提交而没有业务数据。",
    )
    AGREE = T(
        "A finished transaction disagrees with its business row. Not so: all {finished} finished ones agree with theirs, as far as the rows reach.",
        "有已结束的事务与业务数据不一致。并非如此：在数据覆盖范围内，{finished} 个已结束的事务均与之相符。",
    )
    NO_TRANSACTIONS = T("A finished transaction disagrees with its business row: there is no transaction at all.", "有已结束的事务与业务数据不一致：根本没有事务。")
    NOT_JOINED = T(
        "A finished transaction disagrees with its business row: no key of the {rows} rows stands in the KEYS of a message.",
        "有已结束的事务与业务数据不一致：{rows} 条数据的键都不在任何消息的 KEYS 中。",
    )
    NO_ROWS = T("A finished transaction disagrees with its business row.", "有已结束的事务与业务数据不一致。")
    LOCAL = T("The local step shows why in {caused} of {wrong}: {reasons}.", "其中 {caused}/{wrong} 可由本地步骤解释：{reasons}。")
    THROWN = T("An exception broke a local transaction ({count} in the client logs).", "异常中断了本地事务（客户端日志中 {count} 次）。")
    NO_LOCAL = T("A local step caused it: an exception, an answer that does not fit, a send result nobody looked at.",
                 "由本地步骤造成：异常、不相符的应答、没有检查发送结果。")  # fmt: skip
    EXCEPTIONS = T(
        "Contributing: the client caught {count} exceptions of local transactions, logged them at INFO and told the caller nothing.",
        "助因：客户端捕获了 {count} 次本地事务异常，只以 INFO 级别写日志，调用方毫不知情。",
    )
    GIVEN_UP = T("Beside it: {count} business rows stand whose message was given up after the last check.", "旁证：有 {count} 条业务数据的消息在最后一次回查后被放弃。")


class Fix:
    """Repair of what is wrong now, then of the code."""

    RESEND = T("Send the messages of {count} standing rows again (inconsistent.csv, repair `re-send`).", "为 {count} 条仍有效的数据重新发送消息（inconsistent.csv 中 repair 为 `re-send`）。")
    RESEND_WHY = T("Their half records still hold the bodies; consumers have never seen them.", "其 half 记录仍保存着消息体；消费者从未收到。")
    RESEND_RISK = T("A new message has a new UNIQ_KEY: consumers must recognise the business key.", "新消息的 UNIQ_KEY 不同：消费者须按业务键识别。")
    RESEND_VERIFY = T("`trace` of each key shows a committed record and rows_without_message is 0.", "对每个键执行 `trace` 可见已提交的记录，且 rows_without_message 为 0。")
    COMPENSATE = T(
        "Take back what consumers did for {count} messages without a row, or write the row after all (inconsistent.csv, repair `compensate`).",
        "撤销消费者针对 {count} 条无业务数据的消息所做的操作，或补写业务数据（inconsistent.csv 中 repair 为 `compensate`）。",
    )
    COMPENSATE_WHY = T("The message told them of an order that does not exist.", "消息告知了一个并不存在的订单。")
    COMPENSATE_RISK = T("Some consumers may have failed or not yet tried: look at retries and dead letters first.", "有些消费者可能失败或尚未处理：先查看重试与死信。")
    COMPENSATE_VERIFY = T("messages_without_row is 0, and the consumers' own books agree.", "messages_without_row 为 0，且消费者自己的账目相符。")
    PLACE = T(
        "Put all business writes inside executeLocalTransaction (half first), let exceptions out of it, and answer a check UNKNOW while there is no row yet.",
        "将所有业务写入放进 executeLocalTransaction（half 在前），不要吞掉异常，回查时若尚无数据则返回 UNKNOW。",
    )
    PLACE_WHY = T(
        "Then row and answer come from one database transaction; no path of the placement model leaves one without the other.",
        "这样业务数据与应答出自同一个数据库事务；模型中没有任何路径会只留下其中之一。",
    )
    PLACE_RISK = T(
        "Long local work is checked before it is done, and may be committed twice: consumers stay idempotent.",
        "本地处理过久会在完成前被回查，可能提交两次：消费者须保持幂等。",
    )
    PLACE_VERIFY = T("Make the local transaction fail on purpose: no row, no message, one exception in the client log.", "有意让本地事务失败：没有数据、没有消息、客户端日志有一条异常。")


REASONS: Final = {
    "exception": T("{count} exceptions in the local transaction", "本地事务异常 {count} 次"),
    "error": T("{count} errors logged by the application for the same key", "应用为同一键记录的错误 {count} 个"),
    "send_status": T("{count} send results that were not SEND_OK and were not looked at", "未检查的非 SEND_OK 发送结果 {count} 个"),
    "rollback_answer": T("{count} ROLLBACK answers for a row that stands", "数据仍在却应答 ROLLBACK {count} 次"),
    "commit_answer": T("{count} COMMIT answers without a row", "没有数据却应答 COMMIT {count} 次"),
}
