"""Neighbours about sends: time-outs, duplicates of a retry, refusals for size, a full disk."""

from pathlib import PurePosixPath
from typing import Any, Final

import pandas as pd

from kit.analysis import reach, refs, setup, sizes
from kit.analysis.sends import attempts, busy, sends
from kit.causes.declared import Observed
from kit.inventory.model import folder_of
from kit.tables.facts import Facts

DISK_TEXTS: Final = ("disk-full", "service-not-available", "store-not-writable")
FULL: Final = 0.90
STORES: Final = ("storePathCommitLog", "storePathRootDir")
NO_STORE: Final = ("/boot", "/dev", "/proc", "/run", "/snap", "/sys", "/media", "/cdrom", "/mnt/cdrom")
"""Mount points that hold no store; images mounted there are always full."""


def client_timeout(facts: Facts) -> Observed:
    """Count the sends that timed out waiting for their answer, or whose call ran out of time, and what became of them.

    Whether such a send is stored is open. An application's log prints the end of a send, not its attempts.
    """
    ledger, by_kind = sends.ledger(facts), attempts.by_kind(facts)
    tries = (by_kind or {}).get("CLIENT_TIMEOUT")
    rows = ledger.of_kind("CLIENT_TIMEOUT")
    count = (ledger.errors_by_kind or {}).get("CLIENT_TIMEOUT", len(rows))
    if not (count or tries):  # a ledger of another application
        count = int((attempts.entries(facts)["kind"] == "CLIENT_TIMEOUT").sum())
    happened = bool(count or tries)
    outcome = sends.outcome_of(rows)
    late = refs.seen(facts, "late-response-stored")
    quoted = attempts.quotes(facts, ("CLIENT_TIMEOUT",), 2) or refs.lines(facts, rows, 2)
    values = {
        **(outcome or {}), "outcome": outcome, "happened": happened, "timed_out_sends": count, "tries": tries,
        "late": late.count, "late_answers": None if by_kind is None else late.count,
        "attempts_known": by_kind is not None, "knows_kinds": ledger.knows_kinds,
    }  # fmt: skip
    quotes = {"timed-out": quoted, "late-answers": refs.quote(facts, late, 2), "stored-all-the-same": ()}
    return Observed(values, quotes, actors=attempts.brokers(facts) if happened else ())


def producer_retry_duplicate(facts: Facts) -> Observed:
    """Count the messages that a client's retry of a timed-out send stored more than once."""
    rows = sends.repeated(facts) if facts.has("messages") else None
    if rows is None or rows.empty:
        return Observed()
    rows = rows.sort_values(["uniq_key", "store_timestamp", "offset_msg_id"], ignore_index=True)
    by_message = rows.groupby("uniq_key")
    born = by_message["born_timestamp"]
    tries = (attempts.by_kind(facts) or {}).get("CLIENT_TIMEOUT", 0)
    values = {
        "messages": rows["uniq_key"].nunique(), "copies": len(rows),
        "on_several_brokers": int((by_message["store_host"].nunique() > 1).sum()),
        "apart": int((born.max() - born.min()).max().total_seconds() * 1000),
        "attempts": tries, "tries": tries and sends.ledger(facts).source,
    }  # fmt: skip
    quotes = {
        "stored-twice": sends.copy_refs(rows),
        "timed-out": attempts.quotes(facts, ("CLIENT_TIMEOUT",), 2) if tries else (),
    }
    window, topics = refs.span(rows["store_timestamp"], rows["store_timestamp"]), sorted(set(rows["topic"].dropna()))
    return Observed(values, quotes, window, actors=topics)


def client_oversize_reject(facts: Facts) -> Observed:
    """Count the sends that were refused at once for their size: by the client's own limit, or the broker's answer 13.

    The client looks at the raw body (client/Validators.checkMessage), the broker at the record or the stored body
    (store/CommitLog, store/MessageExtEncoder); neither is retried.
    """
    rejects, known = sizes.rejects(facts), sizes.limits(facts)
    broker, client = rejects.by_broker, rejects.by_client
    happened = bool(broker or client)
    by_store = sizes.for_size(facts("size_refusals"), "send")["event"]
    of_properties = len(by_store) and not client and (by_store == "properties-too-long").all()
    values = {
        "broker": broker, "client": client, "happened": happened, "of_properties": bool(of_properties),
        "sized": happened and rejects.sized, "largest_refused_record": rejects.largest,
        # 4.9.4 and later print the limit itself.
        "printed_limit": known.max_size if broker and known.how == "total" and not of_properties else None,
    }  # fmt: skip
    quotes = {
        "refused-at-once": (*rejects.broker_refs, *rejects.client_refs)[:4] if happened else (),
        "limits": (known.where,) if known.where else (),
    }  # fmt: skip
    return Observed(values, quotes, rejects.window if happened else None, rejects.timed)


def disk_full(facts: Facts) -> Observed:
    """Count the log entries and the answers that say that a disk was full, so that the broker took no messages.

    What `df` shows supports it only: it was printed at another time, and older releases count reserved blocks as free.
    """
    ledger, measured, pressure = sends.ledger(facts), _full_disks(facts), facts("admin_pressure")
    answers = facts.rows("disk_answers") if refs.seen(facts, *DISK_TEXTS) else []
    highest = {row["state"]: row["highest"] for row in answers}
    values: dict[str, Any] = {
        "limit": str(FULL), "most": round(100 * FULL), "knows_kinds": ledger.knows_kinds, "whole": ledger.whole,
        "highest_ratio": highest.get("full", highest.get("room")),
    }  # fmt: skip
    for worst in measured.head(1).to_dict("records"):
        mount, percent = str(worst["subject"]), round(worst["value"])
        values |= {"mount": mount, "percent": percent, "of_store": _store_paths(facts)}
    named = pressure.loc[pressure["figure"] == "disk", "broker"].dropna().unique()
    return Observed(values, {"df": refs.lines(facts, measured, 1)}, actors=named)


def broker_not_available(facts: Facts) -> Observed:
    """Count the sends that failed while their client could not connect to a broker that clients reach otherwise."""
    columns = ["address", "file", "failed", "failed_line", "reached", "first", "last"]
    rows = pd.DataFrame(reach.tried(facts), columns=columns)
    by_address = rows.groupby("address")[["failed", "reached"]].sum().query("failed > 0 and reached > 0")
    if by_address.empty:
        return Observed()
    address = str(by_address["failed"].idxmax())
    tried = rows[(rows["address"] == address) & (rows["failed"] > 0)].sort_values("file")
    unanswered = sends.ledger(facts).unanswered(tried["file"]).query("kind == 'OTHER'")
    times, window = busy.intervals(unanswered), refs.span(tried["first"], tried["last"])
    if window:
        times = times[(times["start"] <= busy.ms(window[1])) & (times["end"] >= busy.ms(window[0]))]
    during = unanswered.loc[times.index]
    values = {
        "unreached": during["identity"].nunique(), "address": address, "tries": int(tried["failed"].sum()),
        "senders": sorted({folder_of(file) for file in during["file"]})[:3],
    }  # fmt: skip
    quotes = {"out-of-reach": facts.refs(zip(tried["file"], tried["failed_line"].astype(int), strict=True))}
    return Observed(values, quotes, window if values["unreached"] else None, actors=[address])


def _store_paths(facts: Facts) -> list[str]:
    """Return the folders in which the evidence says the store is; none if it only has its default."""
    settings = [setup.setting(facts, name) for name in STORES]
    paths = [path for setting in settings if setting.where for path in (setting.value or "").split(",")]
    return [path for path in paths if path.startswith("/")]


def _full_disks(facts: Facts) -> pd.DataFrame:
    """Return the file systems used to more than `FULL`: the columns of `host_metrics`, subject the mount point.

    Where the folder of the store is known, only the one that holds it. RocketMQ computes its ratio as df does
    (common/UtilAll.getDiskPartitionSpaceUsedPercent); older releases count the blocks reserved for root as free.
    """
    used = busy.host_metrics(facts, "use%")
    mounts, paths = set(used["subject"]), _store_paths(facts)
    above = [[mount for mount in mounts if PurePosixPath(path).is_relative_to(mount)] for path in paths]
    stores = {max(each, key=len) for each in above if each}
    if not paths:
        stores = {m for m in mounts if not any(PurePosixPath(m).is_relative_to(each) for each in NO_STORE)}
    full = used[used["subject"].isin(stores) & (used["value"] > 100 * FULL)]
    return full.sort_values("value", ascending=False, kind="stable")
