"""Lab 83, the busy broker: which sends failed, which of them are lost, and whether “system busy loses messages, broker busy does not”."""

from __future__ import annotations

from typing import Any, Final

from kit.inquiry.attempts import REFUSALS
from kit.lab.bench import Bench
from kit.lab.question import Lab, Question, Slip
from kit.texts import T

CAUSE: Final = "broker-busy"

SAYS_BROKER_BUSY: Final = ("PC_SYNCHRONIZED", "PCBUSY_CLEAN_QUEUE", "TIMEOUT_CLEAN_QUEUE")
"""Kinds whose text says “broker busy”: broker/latency/BrokerFastFailure, broker/processor/SendMessageProcessor. REJECTREQUEST says “system busy”."""
KINDS: Final = {
    "REJECTREQUEST": T("[REJECTREQUEST]system busy: refused on arrival", "[REJECTREQUEST]system busy：到达即被拒"),
    "PC_SYNCHRONIZED": T("[PC_SYNCHRONIZED]broker busy: refused while appending", "[PC_SYNCHRONIZED]broker busy：追加时被拒"),
    "PCBUSY_CLEAN_QUEUE": T("[PCBUSY_CLEAN_QUEUE]broker busy: taken out of the queue, page cache busy",
                            "[PCBUSY_CLEAN_QUEUE]broker busy：页缓存繁忙，从队列中清出"),
    "TIMEOUT_CLEAN_QUEUE": T("[TIMEOUT_CLEAN_QUEUE]broker busy: waited too long in the queue", "[TIMEOUT_CLEAN_QUEUE]broker busy：在队列中等待过久"),
    "CLIENT_TIMEOUT": T("the client's own time-out: no answer in time", "客户端自己的超时：未及时得到应答"),
}
WHYS: Final = {
    "process-stood-still": T("the broker's process stood still", "Broker 进程停顿"),
    "co-located-load": T("something else wrote to its disk", "另有程序写它的磁盘"),
    "flush": T("flushes to disk were slow", "刷盘过慢"),
    "host": T("the host had nothing left", "主机资源耗尽"),
    "gc": T("garbage collections were long", "垃圾回收过久"),
    "append": T("appends held their lock too long", "追加写持锁过久"),
    "replication": T("it waited for a slave", "等待从节点"),
    "queue-wait": T("too few threads, or too little patience", "线程太少，或等待上限太短"),
}


def facts(bench: Bench) -> dict[str, Any]:
    """Return the figures of the cause, sums over its kinds, and what they are mistaken for."""
    figures = bench.figures(CAUSE)
    errors: dict[str, int] | None = figures["errors_by_kind"]
    outcome: dict[str, dict[str, int]] | None = figures["outcome_by_kind"]
    tries = figures["attempts_by_kind"]
    stored = {kind: n["stored"] for kind, n in (outcome or {}).items()}
    refused = {kind: n for kind, n in (errors or {}).items() if kind in REFUSALS}
    copies = bench.table("duplicated")
    return {
        "failed": figures["sends_failed"],
        "tries": sum(tries.values()) if tries else None,
        "refused": sum(refused.values()) if refused else None,
        "commonest": max(refused, key=lambda kind: refused[kind]) if refused else None,
        "timed_out": (errors or {}).get("CLIENT_TIMEOUT"),
        "stored": figures["failed_but_stored"],
        "lost": figures["lost"],
        "twice": figures["stored_twice"],
        "copies": len(copies) or None,
        "says_busy": sum(n for kind, n in refused.items() if kind in SAYS_BROKER_BUSY) or None,
        "says_busy_stored": None if not refused or outcome is None else sum(stored.get(kind, 0) for kind in SAYS_BROKER_BUSY),
        "kinds_stored": frozenset(kind for kind, n in stored.items() if n) or None,
        **_pauses(bench),
        **_why(bench),
    }


def _pauses(bench: Bench) -> dict[str, Any]:
    pauses, stalls = bench.table("busy_pauses"), bench.table("busy_stalls")
    if pauses.empty:
        return {"longest": None, "burst": None, "pauses": None}
    longest = (pauses["end_ms"] - pauses["start_ms"]).max() / 1000
    return {"longest": float(longest), "pauses": len(pauses), "burst": float(stalls["seconds"].max()), "together": float(stalls["stood_seconds"].sum())}


def _why(bench: Bench) -> dict[str, Any]:
    why = bench.table("busy_why")
    if why.empty:
        return {"why": None, "share": None}
    first = why.sort_values("rank").iloc[0]
    share = first["share"]
    return {"why": str(first["why"]), "share": None if share != share or share is None else f"{share:.0%}"}


QUESTIONS: Final = (
    Question(
        "83-1", "count", "failed",
        T("“system busy”, “broker busy”, timeouts. How many sends failed for the application, that is: threw?",
          "“system busy”、“broker busy”、超时。有多少次发送对应用而言失败了，即抛出了异常？"),
        T("A send is a call of the application. Its own ledger has one row for each.", "一次发送是应用的一次调用。它自己的台账中每次一行。"),
        T("The client made {tries} failed attempts for them.", "客户端为此有 {tries} 次失败的尝试。"),
        (Slip(T("Those are attempts. A call that times out is tried again, and is still one call.",
                "这是尝试次数。超时的调用会再试，但仍是一次调用。"), "tries"),),
    ),
    Question(
        "83-2", "word", "commonest",
        T("Which kind of refusal was the commonest?", "哪一种拒绝最多？"),
        T("The kind stands in brackets in the broker's answer. The client's own time-out is no refusal.",
          "种类写在 Broker 应答的方括号里。客户端自己的超时不是拒绝。"),
        T("The client does not retry any of these: code 2 is not among the codes its send loop retries.",
          "这些客户端都不会重试：代码 2 不在其发送循环会重试的代码之列。"),
        (Slip(T("No broker refused those: the client gave up waiting. What the broker did with them is another question.",
                "这些不是被 Broker 拒绝的：是客户端放弃了等待。Broker 如何处理是另一个问题。"),
              value="CLIENT_TIMEOUT"),),
        KINDS,
    ),
    Question(
        "83-3", "seconds", "longest",
        T("How many seconds did the longest single standstill of the broker last?", "Broker 最长的一次停顿持续了多少秒？"),
        T("No record is stored although messages are waiting: a hole in the store times.", "有消息在等待却没有任何存储：存储时间中的空洞。"),
        T("There were {pauses} of them.", "这样的停顿共有 {pauses} 次。"),
        (
            Slip(T("That is a burst: several short standstills, with work in between.", "那是一串：多次短停顿，其间仍在工作。"), "burst"),
            Slip(T("That is all of them together.", "那是全部停顿之和。"), "together"),
        ),
        tolerance=0.05,
    ),
    Question(
        "83-4", "count", "stored",
        T("How many of the failed sends are stored all the same?", "失败的发送中有多少其实已经存储？"),
        T("Look the keys of the failed sends up in the store.", "用失败发送的键到存储中查找。"),
        T("The sender was told of a failure, and consumers got the message.", "发送方得到的是失败，而消费者收到了消息。"),
        (
            Slip(T("An exception says that no answer came, or a bad one; not that nothing was written.",
                   "异常只说明没有应答或应答不好，并不说明没有写入。"), value="0"),
            Slip(T("Those are the lost ones.", "那是丢失的。"), "lost"),
            Slip(T("Those are stored more than once; many others are stored once.", "那是存了不止一份的；还有许多只存了一份。"), "twice"),
        ),
    ),
    Question(
        "83-5", "count", "says_busy_stored",
        T("“System busy loses messages, broker busy does not.” How many sends refused with “broker busy” are in the store?",
          "“system busy 会丢消息，broker busy 不会。”被“broker busy”拒绝的发送有多少在存储里？"),
        T("Kinds other than REJECTREQUEST say “broker busy”. Hold each kind against the store.",
          "REJECTREQUEST 以外的种类都写着“broker busy”。把每种与存储对照。"),
        T("Of {says_busy} refused so. The belief is wrong: a refusal, whatever its words, came before the write.",
          "被这样拒绝的有 {says_busy} 次。这种看法是错的：无论措辞如何，拒绝都发生在写入之前。"),
        (
            Slip(T("That is how many were refused so, and the belief is that they are safe. Look their keys up: a refused request was never written.",
                   "这是如此被拒的数目，而那种看法认为它们安然无恙。请查它们的键：被拒的请求从未写入。"), "says_busy"),
            Slip(T("Those are stored, but none of them was refused: look at their kind.", "这些已存储，但没有一条是被拒绝的：看它们的种类。"), "stored"),
        ),
    ),
    Question(
        "83-6", "words", "kinds_stored",
        T("Of which kinds are the failed sends that are stored?", "已存储的失败发送属于哪些种类？"),
        T("One table does it: kind by stored and lost.", "一张表即可：按种类列出已存储与丢失。"),
        T("The broker did its work, late. This is where duplicates come from: the client sends again what is already waiting.",
          "Broker 做了工作，只是迟了。重复由此而来：客户端把已在等待的消息又发了一遍。"),
        (
            Slip(T("A refused request is answered and dropped; nothing of it is stored.", "被拒的请求得到应答后即丢弃，不会存储。"), value="REJECTREQUEST"),
            Slip(T("Taken out of the queue means: before it was written.", "从队列中清出，意味着尚未写入。"), value="PCBUSY_CLEAN_QUEUE"),
            Slip(T("Taken out of the queue means: before it was written.", "从队列中清出，意味着还没有写入。"), value="TIMEOUT_CLEAN_QUEUE"),
        ),
        KINDS,
    ),
    Question(
        "83-7", "count", "twice",
        T("How many keys are stored more than once with the same body?", "有多少个键以相同的消息体存了不止一份？"),
        T("Count keys, not copies.", "数键，而不是副本。"),
        T("They make {copies} records. Resending to a second topic, as was tried at first, adds more of them.",
          "它们共有 {copies} 条记录。像最初那样改发到第二个主题，只会更多。"),
        (
            Slip(T("Those are the copies of all of them.", "那是它们的全部副本。"), "copies"),
            Slip(T("Stored in spite of an error is not stored twice.", "报错却已存储，不等于存了两份。"), "stored"),
        ),
    ),
    Question(
        "83-8", "word", "why",
        T("Why was the broker busy? Which explanation covers most of the failed sends?", "Broker 为何繁忙？哪种解释覆盖的失败发送最多？"),
        T("Hold the windows of each against the times of the failed sends.", "将各解释的时间窗与失败发送的时间对照。"),
        T("It covers {share} of them. Raising a wait limit treats the symptom.", "它覆盖了 {share}。调高等待上限只是治标。"),
        (
            Slip(T("It was the cause in the published case (Elasticsearch and Redis on the same server), and it is seen here too; "
                   "but it has no times, and so explains no single send.",
                   "它是公开案例的原因（同机的 Elasticsearch 与 Redis），这里也能看到；但它没有时间，因而解释不了任何一次发送。"), value="co-located-load"),
            Slip(T("There were slow flushes, but fewer of the failed sends fall into them.", "确有缓慢的刷盘，但落在其中的失败发送更少。"), value="flush"),
            Slip(T("A busy host is a state, not a moment: it does not tell these sends from those that succeeded.",
                   "主机繁忙是状态而不是时刻：它无法区分这些发送与成功的发送。"), value="host"),
            Slip(T("That turns a wait into a refusal. It does not make anybody wait.", "它把等待变成拒绝，却不会使谁等待。"), value="queue-wait"),
        ),
        WHYS, {"stall": "process-stood-still"},
    ),
)  # fmt: skip

LAB: Final = Lab(83, T("The busy broker", "繁忙的 Broker"), lambda bench: QUESTIONS, facts)
