"""Files of evidence that a test writes."""

from pathlib import Path


def put(path: Path, content: str | bytes) -> Path:
    """Write a file and the folders it lies in; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
