"""The figures of a watch for Prometheus: a port on loopback, or a text file for the node exporter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, registry, start_http_server, write_to_textfile
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from kit.watch.loop import Watch

PREFIX: Final = "rmq_kit_watch_"
LOOPBACK: Final = "127.0.0.1"
MOST: Final = 500
"""Most groups and topics whose lag is reported, the largest first."""


class Collector(registry.Collector):
    """Reads a watch at each scrape."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def collect(self) -> Iterator[Metric]:
        figures, kept = self.watch.figures, self.watch.kept
        signs = CounterMetricFamily(
            PREFIX + "signs", "Signs seen: known log texts, stages of records.", labels=["sign"]
        )
        for name, count in list(figures.signs.items()):
            signs.add_metric([name], count)
        yield signs
        records = CounterMetricFamily(PREFIX + "records", "Records read, by what they are.", labels=["stage"])
        for name, count in list(figures.stages.items()):
            records.add_metric([name], count)
        yield records
        alerts = GaugeMetricFamily(PREFIX + "alert", "1 while an episode lasts.", labels=["cause", "severity", "place"])
        for episode in list(kept.episodes.open.values()):
            alerts.add_metric([episode.cause, episode.severity, " ".join(episode.key)], 1)
        yield alerts
        lag = GaugeMetricFamily(PREFIX + "lag_messages", "Messages a group is behind.", labels=["group", "topic"])
        for (group, topic), count in sorted(figures.lag.items(), key=lambda each: -each[1])[:MOST]:
            lag.add_metric([group, topic], count)
        yield lag
        free = GaugeMetricFamily(PREFIX + "disk_free_bytes", "Bytes free on the disk of a store.", labels=["path"])
        for path, count in figures.free.items():
            free.add_metric([path], count)
        yield free
        if figures.full_in is not None:
            yield GaugeMetricFamily(PREFIX + "disk_full_seconds", "Seconds until the disk is full.", figures.full_in)
        yield CounterMetricFamily(PREFIX + "entries", "Log entries read.", figures.entries)
        yield CounterMetricFamily(PREFIX + "read_bytes", "Bytes read.", figures.read)
        yield GaugeMetricFamily(PREFIX + "step_seconds", "Seconds the last step took.", figures.seconds)


def serve(watch: Watch, port: int, address: str = LOOPBACK) -> int:
    """Serve the figures until the process ends; return the port (a free one for 0)."""
    every = CollectorRegistry()
    every.register(Collector(watch))
    server, _ = start_http_server(port, address, every)
    return int(server.server_port)


def write(watch: Watch, path: Path) -> None:
    """Write the figures to a file, completely or not at all."""
    try:
        write_to_textfile(str(path), Collector(watch))
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
