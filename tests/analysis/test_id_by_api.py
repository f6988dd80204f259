"""Which id each call hands out, as data and on a message."""

from kit.analysis.messages import lookups

UNIQ, HOST = "0A140D1500000C387F4466D0DB3F0003", "0A140D0B00002A9F"


def copy(n: int, stage: str, origin: str | None = None) -> dict[str, str | None]:
    return {"uniq_key": UNIQ, "offset_msg_id": f"{HOST}{n:016X}", "stage": stage, "origin_message_id": origin}


def answers(*records: dict[str, str | None], client: str | None = None) -> dict[str, str | None]:
    frame = lookups.on_message(list(records), client)
    return dict(zip(frame["call"], frame["id"], strict=True))


def test_a_transactional_message_that_was_retried() -> None:
    said = answers(
        copy(1, "half"),
        copy(2, "check-back"),
        copy(3, "commit"),
        copy(4, "schedule", f"{HOST}{3:016X}"),
        copy(5, "retry 1", f"{HOST}{3:016X}"),
    )
    assert said["TransactionSendResult.getMsgId()"] == UNIQ
    assert said["TransactionSendResult.getOffsetMsgId()"] is None
    assert "SendResult.getOffsetMsgId()" not in said
    assert said["checkLocalTransaction(MessageExt): getMsgId()"] == f"{HOST}{2:016X}"
    assert said["consumeMessage(MessageExt): getMsgId()"] == UNIQ
    assert said["consumeMessage(MessageClientExt): getOffsetMsgId()"] == f"{HOST}{5:016X}"
    assert said['getProperty("ORIGIN_MESSAGE_ID")'] == f"{HOST}{3:016X}"


def test_a_delayed_message() -> None:
    said = answers(copy(1, "schedule"), copy(2, "due"))
    assert said["SendResult.getOffsetMsgId()"] == f"{HOST}{1:016X}"
    assert said["consumeMessage(MessageClientExt): getOffsetMsgId()"] == f"{HOST}{2:016X}"
    assert not [name for name in said if name.startswith("Transaction")]


def test_by_client_version() -> None:
    assert "message trace: msgId" not in answers(copy(1, "original"), client="4.3.2")
    assert "message trace: msgId" in answers(copy(1, "original"), client="4.4.0")
    assert "SendReceipt.getMessageId() (gRPC client)" not in answers(copy(1, "original"), client="4.9.8")
