"""Ports on loopback."""

import socket


def free_port() -> int:
    """Return a port on which nothing listens now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
