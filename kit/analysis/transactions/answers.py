"""What producers answered about their transactions, and what failed in their local step: frames from the logs, keyed by
UNIQ_KEY.

transaction.log prints every answer except a plain COMMIT; the client catches an exception of the local transaction,
logs it at INFO and passes its text on as the remark of an UNKNOWN answer. Source:
broker/processor/EndTransactionProcessor, client/impl/producer/DefaultMQProducerImpl.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.analysis.transactions import transactions
from kit.case import columnar, log_events, scan
from kit.case.memoize import once
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

SAID: Final = {
    "check-answer-commit": "COMMIT",
    "check-answer-rollback": "ROLLBACK",
    "check-answer-pending": "UNKNOWN",
    "end-transaction-rollback": "ROLLBACK",
    "end-transaction-pending": "UNKNOWN",
}
BY_CHECK: Final = tuple(slug for slug in SAID if slug.startswith("check-"))
LOCAL: Final = "local-transaction-exception"
PRINTED: Final = "send-attempt-message"
_LOCAL_CODE: Final = ("executeLocalTransaction", "sendMessageInTransaction", "checkLocalTransaction")
_APPLICATION: Final = ("app", "text")
"""Application logs, and texts in no known layout, which may be some."""
_PRODUCING: Final = (
    "local-transaction-answer",
    "client-check-rollback",
    "client-check-unknown",
    "end-transaction-failed",
)
"""Texts that only a transaction producer's client prints."""
_WORD: Final = re.compile(r"[\w-]+")
_SHORTEST: Final = 4
"""Characters of a key that is looked for in texts."""
_FOLLOWS: Final = 60
"""Lines after an exception within which the client prints the message it belongs to (the folded trace is not counted)."""


def answers(case: Case) -> pd.DataFrame | None:
    """Return every answer that the broker logged, None if it logged no answer; kept for the case.

    Columns uniq_key, ts, file, line, said (COMMIT, ROLLBACK, UNKNOWN), from_check, address (`ip:port` of the producer),
    commit_log_offset (of the record named), exception (bool: the remark mentions one in the local transaction).
    """
    return once(case, "answers", lambda: _answers(case) if refs.seen(case, *SAID) else None)


def _answers(case: Case) -> pd.DataFrame:
    found = log_events.events(case, tuple(SAID), ("ts", "file", "line", "events"))
    found = found.filter(pc.field("msg_id").is_valid())
    marked = log_events.holds(found["events"], (LOCAL,))
    offset = pc.if_else(
        pc.match_substring_regex(found["commit_log_offset"], r"^\d{1,18}$"), found["commit_log_offset"], None
    )
    told = columnar.to_pandas(found.select(["ts", "file", "line", "event", "address"]))
    return told.assign(
        uniq_key=found["msg_id"].to_pandas().str.upper(),
        said=told["event"].map(SAID),
        from_check=told["event"].isin(BY_CHECK),
        commit_log_offset=offset.cast(pa.int64()).to_pandas(),
        exception=marked,
    ).drop(columns="event")


def per_transaction(case: Case) -> pd.DataFrame | None:
    """Return the answers of each transaction, by uniq_key: first_said, first_exception, first_file and first_line (of
    the producer's own answer, not to a check), last_check (its last answer to a check), unknown (checks answered
    UNKNOWN), unsure_file and unsure_line (of the first of these).
    """
    found = answers(case)
    if found is None:
        return None
    found = found.sort_values(["ts", "file", "line"], na_position="first")
    own = found[~found["from_check"]].drop_duplicates("uniq_key").set_index("uniq_key")
    checks = found[found["from_check"]]
    unsure = checks[checks["said"] == "UNKNOWN"]
    first = unsure.drop_duplicates("uniq_key").set_index("uniq_key")
    told = pd.DataFrame(index=pd.Index(found["uniq_key"].unique(), name="uniq_key"))
    told = told.join(own[["said", "exception", "file", "line"]].add_prefix("first_"))
    last = checks.drop_duplicates("uniq_key", keep="last").set_index("uniq_key")["said"].rename("last_check")
    counted = unsure.groupby("uniq_key").size().rename("unknown")
    return told.join(last).join(counted).join(first[["file", "line"]].add_prefix("unsure_"))


def exception_count(case: Case) -> int | None:
    """Return how many exceptions of local transactions the client logs report; None if there is no producer's client
    log.

    Consumers and mqadmin write client logs too, which would not show them.
    """
    told = refs.count(case, LOCAL, "client")
    if told or any(refs.count(case, slug, "client") for slug in _PRODUCING):
        return told
    if not refs.count(case, "client-started", "client"):
        return None
    started = log_events.event(case, "client-started", ("source",))
    own = ~started["group"].isin([names.INNER_PRODUCER_GROUP, names.ADMIN_GROUP]) & started["group"].notna()
    return 0 if (own & (started["source"] == "client") & (started["role"] == "producer")).any() else None


def local_errors(case: Case) -> pd.DataFrame | None:
    """Return exceptions of local transactions by transaction: uniq_key, how (`exception`), ts, file, line.

    From the client's log (4.x prints the message in an entry of its own after the exception) and from the remarks in
    transaction.log.
    """
    frames = []
    if refs.seen(case, LOCAL):
        frames.append(_client_exceptions(case))
    found = answers(case)
    if found is not None:
        frames.append(found.loc[found["exception"], ["uniq_key", "ts", "file", "line"]])
    return pd.concat(frames).assign(how="exception") if frames else None


def _client_exceptions(case: Case) -> pd.DataFrame:
    found = columnar.to_pandas(
        log_events.events(case, (LOCAL, PRINTED), ("file", "line", "ts", "lines", "source")).select(
            ["file", "line", "ts", "lines", "source", "event", "msg_id"]
        )
    )
    told = found[~found["source"].isin(["transaction", "broker"]) & found["source"].notna()].sort_values(
        ["file", "line"]
    )
    key = told["msg_id"].str.upper()
    after = pd.DataFrame({"event": told["event"], "line": told["line"], "key": key}).groupby(told["file"]).shift(-1)
    near = (after["event"] == PRINTED) & (after["line"] <= told["line"] + told["lines"] + _FOLLOWS)
    told = told.assign(uniq_key=key.where(key.notna(), after["key"].where(near)))
    return told[(told["event"] == LOCAL) & told["uniq_key"].notna()][["uniq_key", "ts", "file", "line"]]


def bad_results(case: Case) -> pd.DataFrame | None:
    """Return send results other than SEND_OK: uniq_key, how (the status), ts, file, line. The client then rolls back by
    itself.
    """
    if not refs.seen(case, "send-result"):
        return None
    ok = pc.match_substring(scan.text("message"), "SEND_OK")
    found = log_events.events(case, ["send-result"], ("ts", "file", "line"), ~ok | ok.is_null())
    bad = found.filter((pc.field("status") != "SEND_OK") & pc.field("msg_id").is_valid())
    told = columnar.to_pandas(bad.select(["ts", "file", "line", "status", "msg_id"])).rename(columns={"status": "how"})
    return told.assign(uniq_key=told.pop("msg_id").str.upper())


def logged_errors(case: Case, keys: pd.DataFrame) -> pd.DataFrame | None:
    """Return errors that producing applications logged with one of these business keys: uniq_key, how (`error`), ts,
    file, line.

    `keys`: uniq_key, key. A producing application prints send results, or its stack trace runs through the transaction
    listener; what a consumer logs about the same key does not count. Only whole words match: SO1 is not found in SO12.
    """
    if not any(case.has_source(source) for source in _APPLICATION):
        return None
    files = {file for file, _ in refs.seen(case, "send-result").places}
    anchored: dict[str, list[str]] = {}
    for key in keys["key"].dropna().unique():
        if len(key) >= _SHORTEST and (words := _WORD.findall(key)):
            anchored.setdefault(max(words, key=lambda word: (len(word), word)), []).append(key)
    bad = pc.utf8_upper(scan.text("level")).isin(["ERROR", "FATAL", "SEVERE"])
    thrown = pc.match_substring(ds.field("message"), "Exception") | pc.match_substring(ds.field("trace"), "Exception")
    mine = scan.text("source").isin(_APPLICATION) & (bad | thrown)
    met = []
    for batch in scan.batches_of(case, "logs", ("ts", "file", "line", "message", "trace"), mine):
        for row in batch.to_pylist():
            text = "\n".join(filter(None, (row["message"], row["trace"])))
            if "consumeMessage" in text or not (row["file"] in files or any(name in text for name in _LOCAL_CODE)):
                continue
            for word in set(_WORD.findall(text[:20_000])) & anchored.keys():
                met += [(key, row["ts"], row["file"], row["line"]) for key in anchored[word] if key in text]
    found = pd.DataFrame(met, columns=["key", "ts", "file", "line"]).drop_duplicates()
    found["ts"] = pd.to_datetime(found["ts"], utc=True).dt.tz_localize(None)
    return found.merge(keys[["uniq_key", "key"]], on="key").drop(columns="key").assign(how="error")


def group_answers(case: Case) -> pd.DataFrame | None:
    """Return each check answer with its transaction: columns of `answers`, those of `transactions.accounts` with other
    names, and foreign.

    `foreign`: the address that answered is another host than the one that wrote the half message (ports differ after a
    reconnect).
    """
    found = answers(case)
    if found is None:
        return None
    told = found[found["from_check"]].merge(transactions.transactions(case), on="uniq_key")
    asked, born = (told[name].map(host_of, na_action="ignore") for name in ("address", "born_host"))
    return told.assign(foreign=(asked != born) & asked.notna() & born.notna())


def one_host(case: Case) -> bool:
    """Return whether all transactions were written and all checks answered by a single host, so that no answer can be foreign."""
    if not refs.seen(case, *SAID):
        return True
    half = (ds.field("topic") == names.HALF_TOPIC) & (ds.field(promoted(names.REAL_TOPIC)) != names.HALF_TOPIC)
    addresses = {
        a for batch in scan.batches(case, ("born_host",), half) for a in pc.unique(batch["born_host"]).to_pylist()
    }
    hosts = {host_of(address) for address in addresses}
    found = answers(case) if len(hosts) < 2 else None
    if found is not None:
        hosts |= {host_of(address) for address in found.loc[found["from_check"], "address"].dropna().unique()}
    return len(hosts) < 2


def host_of(address: str | None) -> str:
    """Return the host of an address, without port, brackets and the zeros that IPv6 may spell out."""
    return re.sub(r"^[/\[]+|\]+$", "", re.sub(r":\d+$", "", address or "")).lower()
