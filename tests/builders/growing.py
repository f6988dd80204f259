"""Files that grow under a follower or a watch, at the times of a clock that stands between two steps."""

import os

from kit.watch.loop import Watch


class Clock:
    def __init__(self, now):
        self.now = now

    def __call__(self):
        return self.now


def write(path, text, at):
    """Append a text to a file, which was last changed at that time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)
    os.utime(path, (at, at))


def watch(root, clock, *kept, **more):
    """Return a watch on a folder whose disk is half full."""
    return Watch([root], *kept, clock=clock, disk=lambda _: (100, 50, 50), **more)
