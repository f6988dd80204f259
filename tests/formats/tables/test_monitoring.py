"""Exports of monitoring: the text format of Prometheus, answers of its API, CSV of Grafana."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

import kit
from kit.causes.root_causes import consumer_backlog
from kit.explanation.explain import explain
from kit.formats.tables import metrics
from kit.formats.tables.host_tools.monitoring import labels

# prometheus/simpleclient TextFormat puts a comma behind the last label, OpenTelemetry's exporter none.
EXPORTER = """\
# HELP rocketmq_group_diff GroupDiff
# TYPE rocketmq_group_diff gauge
rocketmq_group_diff{{group="stock-audit",topic="stock-change",countOfOnlineConsumers="2",msgModel="1",}} {}
rocketmq_consumer_tps{{cluster="DefaultCluster",broker="broker-a",topic="stock-change",group="stock-audit",}} 12.2
"""
LAG_5 = 'rocketmq_consumer_lag_messages{{cluster="c",node_id="{}",consumer_group="g",topic="{}",is_retry="{}",is_system="false"}} {} 1795400551000\n'
AT = dt.datetime(2026, 11, 23, 2, 22, 31, tzinfo=dt.UTC)  # 1795400551 s since 1970


def rows(folder: Path, text: str, zone: int | None = None) -> list[dict[str, object]]:
    (folder / "m").write_text(text)
    assert metrics.sniff(text.encode())
    return metrics.read([("m", str(folder / "m"))], zone).to_pylist()


def backlog(folder: Path, **texts: str) -> tuple[str, str]:
    (folder / "e").mkdir(parents=True)
    for name, text in texts.items():
        (folder / "e" / f"{name}.txt").write_text(text)
    found = consumer_backlog.examine(kit.open_case(folder / "e", folder / "ws"))
    return found.verdict, found.shown_summary.render("en")


def test_samples_of_the_exporter(tmp_path: Path) -> None:
    found = {row["name"]: row for row in rows(tmp_path, EXPORTER.format("182332.0"))}
    diff = found["rocketmq_group_diff"]
    assert (diff["line"], diff["value"], diff["ts"], diff["origin"]) == (3, 182332, None, "prometheus")
    assert labels(str(diff["subject"]))["group"] == "stock-audit"
    assert found["rocketmq_consumer_tps"]["value"] == 12.2


def test_samples_with_a_time_an_exponent_and_without_labels(tmp_path: Path) -> None:
    text = LAG_5.format("a", "t", "false", "1.5E3") + 'process_cpu_seconds_total 3\nx NaN\nrocketmq_y{a="}"} +Inf\n'
    found = rows(tmp_path, text)
    assert [(r["name"], r["subject"] is None, r["value"], r["ts"]) for r in found] == [
        ("rocketmq_consumer_lag_messages", False, 1500, AT),
        ("process_cpu_seconds_total", True, 3, None),
        ("rocketmq_y", False, None, None),
    ]


@pytest.mark.parametrize(("values", "kind"), [("values", "matrix"), ("value", "vector")])
def test_answers_to_queries(tmp_path: Path, values: str, kind: str) -> None:
    sample = [1795400551, "0.98"]
    series = {"metric": {"__name__": "io", "device": 'v"b'}, values: [sample] if kind == "matrix" else sample}
    other = {"metric": {}, values: [[1795400551.5, "2"]] if kind == "matrix" else [1795400551.5, "2"]}
    answer = {"status": "success", "data": {"resultType": kind, "result": [series, other, None, {"metric": 1}]}}
    found = rows(tmp_path, json.dumps(answer))
    assert [(r["ts"], r["name"], r["value"]) for r in found] == [
        (AT, "io", 0.98),
        (AT + dt.timedelta(milliseconds=500), "value", 2),
    ]
    assert labels(str(found[0]["subject"])) == {"device": 'v"b'}


def test_csv_of_grafana(tmp_path: Path) -> None:
    text = '"Time","disk util vdb","iowait"\n2026-11-23 10:22:31,98.2,45.1%\n2026-11-23 10:22:46,,55.0\n'
    found = rows(tmp_path, text, 480)
    assert [(r["line"], r["name"], r["value"]) for r in found] == [
        (2, "disk util vdb", 98.2), (2, "iowait", 45.1), (3, "iowait", 55.0),
    ]  # fmt: skip
    assert found[0]["ts"] == AT
    (milliseconds, *_) = rows(tmp_path, "sep=,\nTime,a\n1795400551000,1\n")
    assert milliseconds["ts"] == AT


@pytest.mark.parametrize(
    "text",
    [
        "Time,order_id,total\n2026-11-23 10:22:31,7,3\n",  # business rows
        "Time,Line\n2026-11-23 10:22:31,broker busy\n",  # a log search of Grafana
        "Time,a\nyesterday,1\n",
        '{"status":"success","data":[]}',
    ],
)
def test_what_is_no_export_of_values(text: str) -> None:
    assert not metrics.sniff(text.encode())


def test_a_broken_answer_has_no_rows(tmp_path: Path) -> None:
    assert rows(tmp_path, '{"status":"success","data":{"resultType":"matrix","result":[{"metric"') == []


def test_one_scrape_suspects_a_backlog_and_never_confirms_it(tmp_path: Path) -> None:
    verdict, said = backlog(tmp_path / "much", scrape=EXPORTER.format("182332.0"))
    assert verdict == "suspected"
    assert "stock-audit" in said and "182332" in said.replace(",", "")
    # consumer-backlog.MUCH: what one client keeps of one queue, 1,000
    assert backlog(tmp_path / "little", scrape=EXPORTER.format("999.0"))[0] == "insufficient_evidence"


def test_brokers_are_added_up_and_retries_left_out(tmp_path: Path) -> None:
    parts = [("a", "t", "false", 700), ("b", "t", "false", 400), ("a", "%RETRY%g", "true", 90_000)]
    verdict, said = backlog(tmp_path, scrape="".join(LAG_5.format(*part) for part in parts))
    assert verdict == "suspected" and "1100" in said.replace(",", "")


def test_the_last_of_several_scrapes_counts(tmp_path: Path) -> None:
    # The number of consumers is a label: with one more the same lag has another name.
    later = EXPORTER.format("10.0").replace('Consumers="2"', 'Consumers="3"')
    assert backlog(tmp_path, scrape1=EXPORTER.format("182332.0"), scrape2=later)[0] == "insufficient_evidence"


def test_explain_names_an_export() -> None:
    prom = '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}'
    grafana = '"Time","a","b"\n2026-11-23 10:22:31,98.2,45.1\n2026-11-23 10:22:46,1,55.0\n'
    for text, tool in ((EXPORTER.format("1"), "prometheus"), (prom, "prometheus"), (grafana, "grafana")):
        assert [row["title"] for row in explain(text)] == [f"An output of {tool}"]
