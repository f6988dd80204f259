"""Which file of the evidence belongs to which broker: by where stores and configuration lie beside each other."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow.dataset as ds

from kit.case.memoize import per_case

if TYPE_CHECKING:
    from kit.case.case import Case


@attrs.frozen
class Broker:
    """A broker's place in the evidence. `root`: the folder above `commitlog`, or of its configuration; `name`: brokerName, or the root where nothing says it."""

    root: str
    name: str
    slave: bool = False
    stored: bool = True
    """Whether there is a commitlog in it."""


def root_of(file: str) -> str:
    """Return the folder of a store from the name of one of its commitlog files."""
    folder = PurePosixPath(file).parent
    return str(folder.parent if folder.name == "commitlog" else folder)


def _near(a: str, b: str) -> int:
    """Return how many leading folders two places share."""
    count = 0
    for x, y in zip(PurePosixPath(a).parts, PurePosixPath(b).parts, strict=False):
        if x != y:
            break
        count += 1
    return count


@per_case
def all_of(case: Case) -> tuple[Broker, ...]:
    """Return the brokers whose store or configuration is in the evidence, in order of root."""
    table = ds.dataset(case.folder("configs"), format="parquet")
    wanted = ds.field("name").isin(["brokerName", "brokerId", "brokerRole"]) & ~ds.field("backup")
    # A subscription group has a brokerId of its own: which broker it is to be read from.
    wanted &= ds.field("origin").isin(["broker.conf", "broker.log", "getBrokerConfig"])
    said: dict[str, dict[str, str]] = {}
    for row in table.to_table(["file", "name", "value"], filter=wanted).to_pylist():
        said.setdefault(row["file"], {})[row["name"]] = (row["value"] or "").strip()
    stores = {root_of(item.file) for item in case.found.of_kind("commitlog", "dledger")}
    roots = stores or {str(PurePosixPath(file).parent) for file in said}
    found = []
    for root in sorted(roots):
        nearest = max((_near(file, root) for file in said), default=0)
        # Alone, a store belongs to whatever configuration there is; beside others only to what lies next to it.
        mine = [said[file] for file in sorted(said) if _near(file, root) == nearest and (nearest or len(roots) == 1)]
        names = {values["brokerName"] for values in mine if values.get("brokerName")}
        slave = any(
            values.get("brokerRole") == "SLAVE" or values.get("brokerId", "0") not in ("0", "") for values in mine
        )
        found.append(
            Broker(root, next(iter(names)) if len(names) == 1 else _named(case) or root, slave, root in stores)
        )
    return tuple(found)


@per_case
def _named(case: Case) -> str | None:
    """Return the only broker name that mqadmin outputs show, None where they show none or several."""
    if not case.found.of_kind("mqadmin"):
        return None
    table = ds.dataset(case.folder("admin"), format="parquet").to_table(
        ["value"], filter=ds.field("name") == "#Broker Name"
    )
    names: set[Any] = set(table["value"].to_pylist())
    return next(iter(names)) if len(names) == 1 else None


def of_file(case: Case, file: str) -> Broker | None:
    """Return the broker a file belongs to, None where several lie equally near."""
    known = all_of(case)
    if len(known) <= 1:
        return known[0] if known else None
    nearest = max(_near(file, broker.root) for broker in known)
    mine = [broker for broker in known if _near(file, broker.root) == nearest]
    return mine[0] if len(mine) == 1 and nearest else None


def names(case: Case) -> dict[str, str]:
    """Return {root of a store: name of its broker}."""
    return {broker.root: broker.name for broker in all_of(case)}
