"""The sentences of `message_identity`."""

from __future__ import annotations

from kit.texts import T


class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("A message id was used where the other kind is needed", "在需要另一种 id 的地方使用了消息 id")
    NONE = T(
        "No look-up failed for the kind of its id, and no consumer handled a message again as a retry copy after it had succeeded.",
        "没有查询因 id 种类不对而失败，也没有消费者在成功之后又把重试副本再次处理成功。",
    )
    UNKNOWN = T(
        "The evidence shows neither look-ups nor what consumers did with each delivery.",
        "证据中既没有查询记录，也没有消费者对每次投递的处理结果。",
    )
    TWICE = T(
        "{twice} messages were handled twice because their copies have different offset ids; {lookups} look-ups were given the wrong kind of id.",
        "{twice} 条消息因副本的 offset id 不同而被处理两次；{lookups} 次查询用错了 id 种类。",
    )
    LOOKED = T(
        "{lookups} look-ups were given the other kind of id and found nothing; every copy of a message has an offset id of its own, UNIQ_KEY stays.",
        "{lookups} 次查询用了另一种 id，什么也没查到；消息的每个副本都有自己的 offset id，而 UNIQ_KEY 不变。",
    )
    WANT_STORE = T("the records say which offset ids belong to one message", "记录能说明哪些 offset id 属于同一条消息")
    WANT_LEDGER = T(
        "what the consumer did with each delivery, with the ids it saw, shows whether a message took effect twice",
        "消费者对每次投递的处理结果及其看到的 id，能说明消息是否重复生效",
    )
    WANT_LOOKUP = T("the command and its answer show which kind of id was looked up", "命令及其输出能说明查询用的是哪种 id")


class Claim:
    """One sentence per step."""

    EFFECT = T("An id was used in the wrong space, and that had an effect.", "id 被用在了错误的场合，并且产生了影响。")
    LOOKUP_FAILED = T(
        "{failed} of {seen} look-ups failed because the id was of the other kind: queryMsgById takes an offset id, the others a UNIQ_KEY.",
        "{seen} 次查询中有 {failed} 次因 id 种类不对而失败：queryMsgById 需要 offset id，其他命令需要 UNIQ_KEY。",
    )
    LOOKUP_WRONG = T(
        "{wrong} look-ups were given an id of the other kind; what came of it is not shown.",
        "{wrong} 次查询用了另一种 id，但没有看到结果。",
    )
    TWICE = T(
        "{count} messages took effect a second time when their retry copy came: another offset id, the same UNIQ_KEY.",
        "{count} 条消息在重试副本到来时再次生效：offset id 不同，UNIQ_KEY 相同。",
    )
    TWICE_UNKNOWN = T(
        "A message took effect a second time when its retry copy came.",
        "消息在重试副本到来时再次生效。",
    )
    DEDUP_UNKNOWN = T(
        "The consumer's own log names an offset id as what it deduplicates by.",
        "消费者自己的日志写明以 offset id 去重。",
    )
    DEDUP = T(
        "The consumer's own log names an offset id as what it deduplicates by ({count} lines).",
        "消费者自己的日志写明以 offset id 去重（{count} 行）。",
    )
    SEVERAL = T(
        "{several} of {keys} messages have several offset ids, one for each copy. That alone is normal.",
        "{keys} 条消息中有 {several} 条有多个 offset id，每个副本一个。仅此一点属于正常。",
    )


class Fix:
    """What to do."""

    DEDUP = T(
        "Deduplicate by the business key (KEYS) or by UNIQ_KEY (getMsgId of the push consumer), never by getOffsetMsgId.",
        "以业务 key（KEYS）或 UNIQ_KEY（推消费者的 getMsgId）去重，不要用 getOffsetMsgId。",
    )
    DEDUP_WHY = T(
        "Every retry, check-back, delay and dead letter is a new record with a new offset id; these {count} messages would have been recognised.",
        "每次重试、回查、延时、死信都是带有新 offset id 的新记录；改后这 {count} 条消息本可被识别。",
    )
    DEDUP_RISK = T(
        "UNIQ_KEY does not tell apart a business event that a producer sent twice as two messages; the business key does.",
        "生产者把同一业务事件作为两条消息发送时，UNIQ_KEY 无法识别，业务 key 可以。",
    )
    DEDUP_VERIFY = T(
        "Let a handled message be delivered again (return RECONSUME_LATER after success in a test): it must take effect once.",
        "测试中在处理成功后返回 RECONSUME_LATER 使其再次投递：应只生效一次。",
    )
    LOOKUP = T(
        "Look a UNIQ_KEY up with `queryMsgByUniqueKey -t TOPIC -i ID`, an offset id with `queryMsgById -i ID`; `msgid ID` says which one it is.",
        "UNIQ_KEY 用 `queryMsgByUniqueKey -t TOPIC -i ID` 查询，offset id 用 `queryMsgById -i ID` 查询；`msgid ID` 可判断是哪一种。",
    )
    LOOKUP_WHY = T(
        "queryMsgById takes a broker address and an offset out of whatever it is given.",
        "queryMsgById 会从给它的任何 id 中取出 Broker 地址和位点。",
    )
    LOOKUP_RISK = T("None: both commands only read.", "无：两条命令都只读取。")
    LOOKUP_VERIFY = T(
        "The command prints the message; for all copies at once use `trace EVIDENCE ID`.",
        "命令会打印出消息；要一次看到所有副本，用 `trace EVIDENCE ID`。",
    )
    LOG = T("Log both ids with every send and delivery: getMsgId and getOffsetMsgId.", "每次发送和投递都记录两个 id：getMsgId 与 getOffsetMsgId。")
    LOG_WHY = T("Whoever searches has the one the tool needs.", "查询者总能找到工具需要的那一个。")
    LOG_RISK = T("A longer log line.", "日志行变长。")
    LOG_VERIFY = T("Take one line of each service and look its ids up.", "从每个服务取一行日志，用其中的 id 查询。")
