"""Python in a process of its own, with this kit: `typed("-m", "kit", "doctor", …)`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import kit

ROOT = Path(kit.__file__).resolve().parents[1]


def typed(*words: object, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run `python WORDS…`; `env` is added to the variables of this process, else as `subprocess.run` takes it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **how.pop("env", {})}
    return subprocess.run(
        [sys.executable, *map(str, words)], env=env, capture_output=True, text=True, timeout=600, check=False, **how
    )
