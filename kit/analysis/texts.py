"""The sentences of this room, by subject: `sentences.yaml`."""

from __future__ import annotations

from importlib import resources
from typing import Final

import msgspec

from kit.i18n import T

TEXTS: Final = msgspec.yaml.decode(
    resources.files(__package__).joinpath("sentences.yaml").read_bytes(), type=dict[str, dict[str, T]]
)
