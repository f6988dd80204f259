"""Files inside Kubernetes' ConfigMaps, as `kubectl get configmap -o yaml` (or json) and Helm show them: a broker.conf under `data`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from kit.formats import plain_yaml

LARGEST: Final = 1 << 20
"""Characters of a document that is read: Kubernetes keeps no larger ConfigMap."""
_KIND: Final = re.compile(r"^\s*[\"']?kind[\"']?:\s*[\"']?(?:ConfigMap|List)\b", re.MULTILINE)


def holds(head: str) -> bool:
    """Return whether a text has the mark of a ConfigMap, or of a list of objects."""
    return _KIND.search(head) is not None


def files(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name, content) of the files in all ConfigMaps of a YAML or JSON text, named by map and file; nothing behind
    what is damaged. Raise `plain_yaml.Endless`.
    """
    try:
        for document in plain_yaml.documents(text):
            yield from _files(document)
    except yaml.YAMLError:
        return


def _files(said: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(said, dict):
        return
    items = said.get("items")
    for item in items if isinstance(items, list) else ():
        yield from _files(item)
    data = said.get("data")
    if said.get("kind") == "ConfigMap" and isinstance(data, dict):
        about = said.get("metadata")
        place = f"{about['name']} " if isinstance(about, dict) and isinstance(about.get("name"), str) else ""
        yield from ((f"{place}{name}", content) for name, content in data.items() if isinstance(content, str))
