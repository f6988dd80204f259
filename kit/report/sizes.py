"""What the command `size` prints: a message followed through every rewrite, and the largest body that stays safe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.i18n import Lang, T, printable
from kit.report.console import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping

STAGE, TOPIC, BYTES = T("stage"), T("topic"), T("bytes")
GROWTH, LEFT, VERDICT = T("growth"), T("left"), T("stored?")
YES = T("yes")
REFUSED: Final = {
    "total": T("no: record too large"),
    "body": T("no: body too large"),
    "properties": T("no: properties too long"),
    "topic": T("no: topic too long"),
    "dledger": T("no: DLedger entry too large"),
}
MEASURED: Final = {
    "total": T("the whole record against {limit} bytes"),
    "body": T("the body alone against {limit} bytes"),
    "body+64k": T("the body against {limit} bytes, the whole record against {more}"),
}
ASSUMED = T("Broker version not given: {version} assumed.")
GIVEN = T("Broker version {version}.")
MEASURES = T("It measures {what}; transactionCheckMax {check_max}.")
BEFORE = T("Brokers before 4.9.4 measure the whole record: name yours with --broker.")
CLIENT = T("Client version not given: {version} assumed.")
GROUP = T("Producer group not given (PGROUP=…): each byte of its name makes a half message one byte larger.")
SAFE = T("Largest safe stored body")
SAFE_PLAIN = T("Largest stored body of a plain send")
RAW = T("Producer: setMaxMessageSize")
NO_BODY = T("none", "没有")
WHAT_SAFE = T("every put-back of a transaction fits")
WHAT_RAW = T("the raw body, even when compression enlarges it")


def card(spec: Mapping[str, Any], lang: Lang, *, broker: bool, client: bool, group: bool) -> str:
    """Return `kit.rocketmq.rewrites.table` as text; `broker`, `client`, `group`: whether its version or name was given, not assumed."""
    version, limit = spec["broker"], spec["limit"]
    what = MEASURED[spec["rule"]].say(limit=limit, more=limit + 65536)
    said = [(GIVEN if broker else ASSUMED).say(version=version), MEASURES.say(what=what, check_max=spec["check_max"])]
    if not broker:
        said.append(BEFORE.say())
    if not client:
        said.append(CLIENT.say(version=version))
    if not group:
        said.append(GROUP.say())
    rows = [[head.in_(lang) for head in (STAGE, TOPIC, BYTES, GROWTH, LEFT, VERDICT)]]
    for row in spec["rows"]:
        refused = ", ".join(REFUSED[why].in_(lang) for why in row["refused"]) or YES.in_(lang)
        left = f"{limit - row['bytes']:,}" if spec["rule"] == "total" else ""
        topic = row["topic"] if len(row["topic"]) <= 40 else f"{row['topic'][:39]}…"
        rows.append(
            [row["text"].render(lang), printable(topic), f"{row['bytes']:,}", f"+{row['growth']:,}", left, refused]
        )
    safe = [
        (SAFE, spec["safe_stored_body"], WHAT_SAFE.in_(lang)),
        (SAFE_PLAIN, spec["safe_plain_body"], ""),
        (RAW, spec["max_message_size"], WHAT_RAW.in_(lang)),
    ]
    ends = [
        f"{name.in_(lang)}: {NO_BODY.in_(lang) if value is None else f'{value:,}'}{f'  ({why})' if why else ''}"
        for name, value, why in safe
    ]
    return " ".join(s.render(lang) for s in said) + "\n\n" + aligned(rows, right=(2, 3, 4)) + "\n\n" + "\n".join(ends)
