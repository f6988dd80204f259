"""The sentences of `message_size_mismatch`."""

from __future__ import annotations

from typing import Final

from kit.texts import T


class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("A half message outgrows the broker's size limit when it is put back", "半消息放回时超出 Broker 的大小上限")
    NONE = T("No put-back of a half message was refused for its size.", "没有半消息因大小而被拒绝放回。")
    BODY_ONLY = T(
        "No put-back was refused for its size; broker {version} measures the body alone, which a put-back does not change.",
        "没有放回因大小被拒；Broker {version} 只衡量消息体，放回不会改变它。",
    )
    SUMMARY = T(
        "The check's put-backs were refused for their size {count} times (limit {limit} bytes, looping half messages: {records}); {risk} open "
        "transactions do not fit, and what stands behind them in the half queue is not checked.",
        "回查的放回因大小被拒绝 {count} 次（上限 {limit} 字节，循环中的半消息 {records} 条）；{risk} 个未决事务放不下，半消息队列中排在其后的都得不到回查。",
    )
    SUMMARY_RISK = T(
        "{risk} open transactions are stored but will exceed {limit} bytes when the check puts them back; no refusal is seen in the logs at hand.",
        "{risk} 个未决事务已存储，但回查放回时将超过 {limit} 字节；现有日志中未见拒绝。",
    )
    SUMMARY_UNKNOWN = T(
        "Put-backs failed {count} times (half messages concerned: {records}); why is not shown.",
        "放回失败了 {count} 次（涉及半消息 {records} 条）；原因未知。",
    )
    WANT_STORE = T("the half records tell which messages do not fit, to the byte", "半消息记录能精确到字节地说明哪些消息放不下")
    WANT_TRANSACTION_LOG = T("each refused put-back names its record there", "其中每次被拒的放回都写明是哪条记录")
    WANT_STORE_LOG = T("`message size exceeded` prints size and limit of each refused record", "`message size exceeded` 会打印每条被拒记录的大小和上限")
    WANT_CONFIG = T("maxMessageSize and transactionCheckMax decide what fits", "maxMessageSize 与 transactionCheckMax 决定什么放得下")


class Claim:
    """One sentence per link of the chain, in the order in which it happens."""

    LIMIT = T("The broker allows {limit} bytes and measures {what} (release {version}).", "Broker 允许 {limit} 字节，衡量的是{what}（版本 {version}）。")
    REJECTED = T(
        "At the edge: {count} sends were refused at once for their size, the largest {largest} bytes.",
        "边缘：{count} 次发送因大小当场被拒，最大 {largest} 字节。",
    )
    AT_RISK = T(
        "{count} open transactions were accepted as half messages but exceed the limit at some put-back until check {check_max}: a put-back adds "
        "{first} bytes, {last} in the end.",
        "{count} 个未决事务作为半消息被接受，但在第 {check_max} 次回查之前的某次放回时会超限：放回增加 {first} 字节，最终为 {last} 字节。",
    )
    REFUSED = T(
        "The check's put-back was refused for its size, again and again: {count} refusals from {first} to {last}, {rate} a second ({total} bytes, {limit} allowed).",
        "回查的放回因大小被反复拒绝：自 {first} 至 {last} 共 {count} 次，每秒 {rate} 次（{total} 字节，上限 {limit}）。",
    )
    NOT_REFUSED = T("A put-back of a half message was refused for its size.", "某条半消息的放回因大小被拒绝。")
    OTHER_REASON = T(
        "Put-backs failed {count} times, but their records stay within the limit: another reason.",
        "放回失败 {count} 次，但这些记录并未超限：另有原因。",
    )
    FAILED = T("Put-backs failed {count} times; whether for their size is not shown.", "放回失败 {count} 次；是否因为大小未知。")
    TIED = T(
        "It is the record {msg_id} of {topic}: {stored} bytes stored, {wanted} when put back, {over} over the limit.",
        "就是 {topic} 的记录 {msg_id}：存储 {stored} 字节，放回时 {wanted} 字节，超出上限 {over}。",
    )
    NOT_TIED = T("The refused put-back belongs to a record of the commitlog.", "被拒的放回对应 commitlog 中的一条记录。")
    STANDS = T(
        "The half queue stands: the saved offset {saved} lies at or before that record (offset {offset}); {waiting} open transactions wait behind it.",
        "半消息队列停滞：保存的位点 {saved} 在该记录（位点 {offset}）处或之前；其后有 {waiting} 个未决事务在等待。",
    )
    NOT_STANDS = T("The half queue does not advance.", "半消息队列没有前进。")
    VOLUME = T("It wrote {lines} log lines, about {megabytes} MB. {lost}", "由此写出 {lines} 行日志，约 {megabytes} MB。{lost}")
    NO_VOLUME = T("The refusals fill the logs.", "拒绝信息充斥日志。")
    BEGIN_LOST = T("The logs begin in the middle of it: earlier refusals have rolled away.", "日志从中途开始：更早的拒绝已随滚动丢失。")
    GAP_LOST = T("{seconds} s between the files have rolled away.", "文件之间有 {seconds} 秒已随滚动丢失。")
    COMPLETE = T("Its beginning is still there.", "其开头仍在。")


MEASURES: Final = {
    "total": T("the whole record", "整条记录"),
    "body": T("the body alone", "仅消息体"),
    "body+64k": T("the body, and the record up to 64 KiB more", "消息体，整条记录则可多出 64 KiB"),
}
UNKNOWN = T("not known what", "未知")


class Fix:
    """What to do now, and what keeps it from coming back."""

    RAISE = T(
        "Now: raise maxMessageSize of the broker by at least {bytes} bytes and restart it.",
        "立即：将 Broker 的 maxMessageSize 至少调高 {bytes} 字节并重启。",
    )
    RAISE_WHY = T(
        "The put-back fits then; the check goes on with the record it stands at and all that waits behind.",
        "此后放回即可成功；回查从停滞的记录继续，并处理其后等待的全部记录。",
    )
    RAISE_RISK = T(
        "A limit raised for good is soon reached by larger bodies: set the producers' limit as well.",
        "若只是永久调高上限，更大的消息体很快又会触及：生产者的上限也要设置。",
    )
    RAISE_VERIFY = T(
        "`Before check` in transaction.log shows msgOffset advancing; no `PutBackToHalfQueueReturnResult write failed` any more.",
        "transaction.log 的 `Before check` 中 msgOffset 前进；不再出现 `PutBackToHalfQueueReturnResult write failed`。",
    )
    CLIENT = T(
        "Producers: setMaxMessageSize({bytes}), the largest raw body that is safe here even when compression enlarges it.",
        "生产者：setMaxMessageSize({bytes})，即使压缩使其变大也安全的最大原始消息体。",
    )
    CLIENT_WHY = T(
        "The client refuses what the broker could not put back; its default of 4 MiB looks at the raw body only.",
        "由客户端拒绝 Broker 放不回的消息；其默认的 4 MiB 只看原始消息体。",
    )
    CLIENT_RISK = T("Larger properties than seen here lower the safe body; compute it again.", "若属性比此处更长，安全消息体会变小；需重新计算。")
    CLIENT_VERIFY = T("A body of one byte more is refused in the client before anything is sent.", "多一个字节的消息体在发送前即被客户端拒绝。")
    UPGRADE = T("Upgrade the broker to 4.9.4 or later.", "将 Broker 升级到 4.9.4 或更高版本。")
    UPGRADE_WHY = T(
        "It measures the body alone: what was accepted once can always be put back (DLedger keeps its 4 MiB per entry).",
        "它只衡量消息体：一经接受就总能放回（DLedger 仍有每条 4 MiB 的限制）。",
    )
    UPGRADE_RISK = T("An upgrade of the broker; records of 4.9.1–5.1.x end their properties differently, old clients read both.",
                     "需要升级 Broker；4.9.1–5.1.x 的记录属性结尾不同，旧客户端都能读取。")  # fmt: skip
    UPGRADE_VERIFY = T("A half message just below the limit is checked and ends.", "刚好低于上限的半消息能被回查并结束。")
