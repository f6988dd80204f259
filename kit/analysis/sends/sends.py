"""The ledger of losses and duplicates: what became of every failed send, and what is stored more than once.

Failed sends come from send ledgers if there are any, else from application and client logs; one send counts once
however many report it. What became of it is read from the originals on all brokers and topics: none (lost), one, or
several with the same body (stored twice). A timeout does not show whether it was stored (reference §7.1, §7.3).
"""

from collections.abc import Iterable
from typing import Final

import attrs
import pandas as pd

from kit.analysis import brokers, refs
from kit.analysis.sends import attempts
from kit.data import grouped
from kit.inventory.model import Ref, folder_of
from kit.rocketmq import names
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.tables.facts import Facts, memo

BODY: Final = ("body_crc", "body_size")
LONGEST_CALL: Final = 60
"""s between the first and the last attempt of one call: sendMsgTimeout is 3 s, rarely set beyond a minute."""
LONGEST_STALL: Final = 10
"""s after which a send that its client gave up is no longer stored."""
SECOND: Final = 1000
COPY_COLUMNS: Final = (
    "key", "uniq_key", "copies", "brokers", "kind", "topic", "queue_id", "queue_offset", "born_timestamp",
    "store_timestamp", "store_host", "offset_msg_id", "file", "physical_offset",
)  # fmt: skip


@attrs.frozen
class Ledger:
    """What became of the sends of a case. None: cannot be known from this evidence.

    `failed`: the rows of `failed_sends` of its senders, with `originals` and `brokers` (how many; None if unknown).
    `among`: the sends of the clusters in which one failed. `duplicated`: one row per original that is stored twice.
    `answered_not_ok`: results other than SEND_OK although the message is stored. `whole`: the evidence would show a
    failed send of another kind (a ledger that lists what is stored, the log of a producing client or of its
    application; not a paste).
    """

    source: str | None
    failed: pd.DataFrame
    sends: int | None = None
    among: int | None = None
    sends_failed: int | None = None
    failed_but_stored: int | None = None
    lost: int | None = None
    stored_twice: int | None = None
    outcome_by_kind: dict[str, dict[str, int]] | None = None
    errors_by_kind: dict[str, int] | None = None
    kind_unknown: int = 0
    duplicated: pd.DataFrame = attrs.field(factory=pd.DataFrame)
    answered_not_ok: dict[str, int] = attrs.field(factory=dict)
    whole: bool = False

    @property
    def knows_kinds(self) -> bool:
        """Whether a kind of error that the evidence does not show did not happen."""
        return self.whole and not self.kind_unknown

    def beside(self, files: Iterable[str]) -> pd.Series:
        """Return for each failed send whether it is reported in the folder (host) of one of these files."""
        return self.failed["file"].map(folder_of).isin([*map(folder_of, files)])

    def unanswered(self, files: Iterable[str]) -> pd.DataFrame:
        """Return the unanswered sends, not stored either, of the hosts of these files, or of any if none is theirs."""
        beside = self.beside(files)
        arrived = self.failed["kind"].isin(attempts.REFUSALS) | (pd.to_numeric(self.failed["originals"]) > 0)
        return self.failed[~arrived & (beside | (not beside.any()))]

    def of_kind(self, kind: str) -> pd.DataFrame:
        return self.failed[self.failed["kind"] == kind]


@memo
def ledger(facts: Facts, leave_out: str = "") -> Ledger:
    """Return the ledger of losses and duplicates, without the sends that failed in one way: OTHER than of a busy broker
    (another code, no connection). `errors_by_kind` is that of all failed sends.
    """
    listed = facts.has("sends")
    answers = facts.rows("send_answers") if listed else []
    count = sum(row["sends"] for row in answers) if listed else None
    rows, producer = facts("failed_sends"), attempts.has_producer_log(facts)
    failed = rows[~rows["other"] & (rows["kind"] != leave_out)].drop(columns="other").reset_index(drop=True)
    failed = failed.assign(originals=None, brokers=None)
    if attempts.too_many(facts) or not (listed or len(rows) or producer):
        return Ledger(None, failed, sends=count)
    unknown = int(failed["kind"].isna().sum())
    clusters = {row["file"]: row["cluster"] for row in facts.rows("file_clusters")}
    of_failed = {clusters.get(file, "") for file in failed["file"]}
    not_ok = grouped((row["status"], row["sends"]) for row in answers if row["status"] not in (None, "SEND_OK"))
    sources = set(attempts.entries(facts)["source"].dropna())
    known = Ledger(
        source="ledger" if listed else "logs", failed=failed, sends=count,
        sends_failed=int(failed["identity"].nunique()),
        errors_by_kind=None if unknown else attempts.counted(rows["kind"]), kind_unknown=unknown,
        whole=lists_all(facts) or producer or not sources.isdisjoint({"app", "client"}),
        answered_not_ok={status: sum(each) for status, each in not_ok.items()},
        among=sum(row["sends"] for row in answers if row["cluster"] in of_failed) if listed else None,
    )  # fmt: skip
    return _settled(facts, known) if facts.has("messages") else known


def lists_all(facts: Facts) -> bool:
    """Return whether the send ledgers list all that producers stored, but for a hundredth: one that is cut off, or of
    one sender among several, shows nothing of the other sends.
    """
    if not (facts.has("sends") and facts.has("messages")):
        return facts.has("sends")
    (row,) = facts.rows("listed_originals")
    return not row["names"] or bool(100 * row["unlisted"] <= row["originals"])


def _settled(facts: Facts, known: Ledger) -> Ledger:
    """Look up every failed send among the originals, and find what is stored more than once."""
    failed = known.failed
    named = failed["key"].notna() | failed["uniq_key"].notna()
    copies = facts("sent_copies") if named.any() else pd.DataFrame(columns=["identity", *COPY_COLUMNS, *BODY])
    by_send = copies.groupby("identity")
    counts = failed["identity"].map(by_send["offset_msg_id"].nunique()).astype("float64").fillna(0)
    originals = counts.where(named & ((counts > 0) | _covered(facts, failed)))
    failed = failed.assign(originals=originals, brokers=failed["identity"].map(by_send["store_host"].nunique()))
    each = failed.drop_duplicates("identity")
    is_stored, certain = each["originals"] > 0, bool(each["originals"].notna().all())
    outcome = {kind: one for kind in attempts.KINDS if (one := outcome_of(each[each["kind"] == kind]))}
    twice = _stored_twice(facts, failed, copies, listed=known.source == "ledger")
    unsure = any(stretch["large"] for stretch in brokers.stretches(facts))
    return attrs.evolve(
        known, failed=failed, failed_but_stored=int(is_stored.sum()) if certain else None,
        lost=int((~is_stored).sum()) if certain else None,
        outcome_by_kind=outcome if certain and not known.kind_unknown else None,
        stored_twice=int(twice["key"].nunique()) or (None if unsure else 0), duplicated=twice,
    )  # fmt: skip


def outcome_of(failed: pd.DataFrame) -> dict[str, int] | None:
    """Return how many of these failed sends are `stored` and `lost`; None without one, or where one may be either."""
    originals = failed.drop_duplicates("identity")["originals"]
    if originals.empty or originals.isna().any():
        return None
    stored = int((originals > 0).sum())
    return {"stored": stored, "lost": len(originals) - stored}


def _covered(facts: Facts, failed: pd.DataFrame) -> pd.Series:
    """Return for each failed send whether the commitlogs at hand would contain it: all its brokers, at its time."""
    uncovered = pd.Series(False, failed.index)
    if failed.empty or (hosts := facts("store_extent").dropna(subset=["store_host", "first"])).empty:
        return uncovered
    waited = set(facts("waited_hosts")["host"])
    # All brokers that did not answer are others than those that stored: the stores of another cluster hold no such
    # send.
    if waited and waited.isdisjoint(hosts["store_host"].str.rpartition(":")[0]):
        return uncovered
    # A store copied after the last line of the broker's logs cannot be told from one copied at that line.
    logs = [item for item in facts.zoned.items if item.kind == "log" and item.source in BROKER_SIDE]
    last = max([hosts["last"].max().timestamp(), *(item.last.timestamp() for item in logs if item.last)]) * SECOND
    begins, first = hosts["first_offset"].min() == 0, hosts["first"].min().timestamp() * SECOND
    ts = failed["ts"]
    inside = ts.isna() | ((ts <= last) & (begins | (ts >= first)))
    # One damaged record among thousands does not leave open what became of every send around it.
    large = [each for each in brokers.stretches(facts) if each["large"]]
    hidden = ts.isna() & bool(large)
    # A ledger has the begin of a send, a log its failure; what a client gave up may be stored when the broker's stall
    # ends.
    early = ts - (failed["source"] != "ledger").map({True: LONGEST_CALL * SECOND, False: SECOND})
    late = ts + failed["cost_ms"].fillna(0).astype("float64") + LONGEST_STALL * SECOND
    for each in large:
        begin, end = each["after_ms"], each["before_ms"]  # null where nothing shows it
        hidden |= (begin is None or late >= begin) & (end is None or early <= end)
    return inside & ~hidden & (attempts.attempts(facts)["broker"].nunique() <= hosts["store_host"].nunique())


def _stored_twice(facts: Facts, failed: pd.DataFrame, sent: pd.DataFrame, *, listed: bool) -> pd.DataFrame:
    """Return the originals that share key and body with another one (`COPY_COLUMNS`), in order of key and store time.

    With a ledger its keys count; without one, those of failed sends (`sent`) and those whose UNIQ_KEY is stored twice.
    """
    if listed:
        rows = facts("ledger_copies")
        rows = rows[rows.duplicated(["key", *BODY], keep=False)]
    else:
        again = sent[sent.duplicated(["identity", *BODY], keep=False)].drop(columns="identity")
        rows = repeated(facts)
        rows = (pd.concat([rows, again]) if len(again) else rows).drop_duplicates("offset_msg_id").dropna(subset="key")
    same = rows.groupby(["key", *BODY], sort=False)
    rows = rows.assign(
        copies=same["offset_msg_id"].transform("nunique"),
        brokers=same["store_host"].transform("nunique"),
        kind=rows["key"].map(failed.dropna(subset="key").set_index("key")["kind"].to_dict()),
    )
    return rows.sort_values(["key", "store_timestamp", "offset_msg_id"], ignore_index=True)[list(COPY_COLUMNS)]


def repeated(facts: Facts) -> pd.DataFrame:
    """Return the originals whose UNIQ_KEY is stored more than once in one real topic with one body and the same
    properties of the application, born no further apart than a call can last, as a client's retry leaves them.
    """
    rows = facts("repeated_originals").drop_duplicates("offset_msg_id")
    columns = ["real_topic", "uniq_key", *BODY, "own_names"]
    rows = rows.assign(own_names=rows.pop("properties_text").map(_own_names))
    rows = rows[rows.duplicated(columns, keep=False)]
    born = rows.groupby(columns)["born_timestamp"]
    close = born.transform("max") - born.transform("min") <= pd.Timedelta(LONGEST_CALL, unit="s")
    return rows[close].drop(columns="own_names").reset_index(drop=True)


def _own_names(text: str | None) -> str:
    """Return the names, sorted, of the properties that RocketMQ does not know: a copy made by it with one wrong bit
    seems to be an original, with a name that the other record does not have.
    """
    named = {pair.split("\x01", 1)[0] for pair in (text or "").split("\x02")}
    return "\x02".join(sorted(named - names.PROPERTIES))


def copy_refs(copies: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the first four records that are stored twice."""
    return tuple(
        refs.with_times(r, f"storeHost={r.store_host}", f"KEYS={r.key}", f"UNIQ_KEY={r.uniq_key}")
        for r in copies.head(4).itertuples()
    )
