"""What one flipped bit must not become: a retried send."""

import asked

from kit.analysis.sends import sends


def test_a_delivered_copy_with_a_damaged_property_is_no_retried_send() -> None:
    """REAL_TOPIc: the copy seems to be an original, with a property that its message has not."""

    def found(*properties: str) -> int:
        stored = [
            {"file": "0", "physical_offset": n, "offset_msg_id": f"M{n}", "topic": "orders", "uniq_key": "U", "body_crc": 5, "body_size": 1,
             "sys_flag": 0, "stage": "original", "original": True, "store_timestamp": asked.at(n), "born_timestamp": asked.at(0), "properties_text": text}
            for n, text in enumerate(properties)
        ]  # fmt: skip
        return len(sends.repeated(asked.case(records=stored).facts))

    assert found("shop\x017\x02", "shop\x017\x02") == 2
    assert found("DELAY\x012\x02", "REAL_TOPIc\x01orders\x02DELAY\x012\x02") == 0
