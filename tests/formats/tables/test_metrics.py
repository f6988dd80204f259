"""iostat, vmstat, sar, df, ip, ss and GC logs: values read by hand."""

import datetime as dt

import pytest
from folders import opened
from table import rows_of

from kit.explanation.explain import explain
from kit.formats.printed_times import converter
from kit.formats.tables import metrics
from kit.formats.values import batches, columns_of

VMSTAT = rows_of(__file__, "vmstat")
SAR = rows_of(__file__, "sar")
DF = rows_of(__file__, "df_output")


def rows(tmp_path, text, zone=None):
    (tmp_path / "m").write_text(text)
    read = metrics.read(tmp_path / "m", converter(zone))
    return [row for part in batches(read, columns_of("metrics")) for row in part.to_pylist()]


def values(tmp_path, text, zone=None):
    assert metrics.sniff(text.encode())
    return {(r["line"], r["subject"], r["name"]): (r["ts"], r["value"]) for r in rows(tmp_path, text, zone)}


def utc(text):
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


@pytest.mark.parametrize("given", rows_of(__file__, "read"), ids=lambda given: given["output"])
def test_values_of_an_output(tmp_path, given):
    found = values(tmp_path, given.get("text") or rows_of(__file__, given["output"]), given.get("zone"))
    for line, subject, name, time, value in given["values"]:
        assert found[line, subject, name] == (time and utc(time), pytest.approx(value))
    assert len(found) == given.get("count", len(found))


@pytest.mark.parametrize(("text", "expected"), rows_of(__file__, "printed_times_become_instants_or_nothing"))
def test_printed_times_become_instants_or_nothing(text, expected):
    at = None if expected is None else 1000 * int(utc(expected).timestamp() * 1000)
    assert metrics.moment(text, converter(None)) == at


@pytest.mark.parametrize("text", rows_of(__file__, "df"))
def test_df(tmp_path, text):
    found = {(subject, name): value for (_, subject, name), (_, value) in values(tmp_path, text).items()}
    assert found["/data", "use%"] == 96


@pytest.mark.parametrize(("before", "seconds"), rows_of(__file__, "a_time_comes_from_a_line_before"))
def test_a_time_comes_from_a_line_before(tmp_path, before, seconds):
    times = {row["ts"] for row in rows(tmp_path, before + DF, "+08:00")}
    assert times == {None if seconds is None else utc(seconds)}


def test_one_file_of_several_outputs_and_one_between_log_lines(tmp_path):
    """A line of 300 kB between them is one line."""
    text = f"2026-11-23 10:22:31\n{DF}\n{'x' * 300_000}\n{VMSTAT}\n{SAR}"
    found = rows(tmp_path, text)
    each = {origin: sum(row["origin"] == origin for row in found) for origin in ("df", "vmstat", "sar")}
    assert each == {"df": 3, "vmstat": 17, "sar": 6 + 5} and len(found) == sum(each.values())
    lines = text.split("\n")
    assert all(row["subject"] in lines[row["line"] - 1] for row in found if row["subject"])
    # An output between log lines is read as well.
    log = "2026-11-23 10:22:31 WARN main - broker busy, start flow control for a while\n"
    assert not metrics.sniff((log + DF).encode())
    answer = "service not available now, maybe disk full, CL:  0.31 CQ:  0.31 INDEX:  0.31\n"
    case = opened(tmp_path, {"paste.txt": "what is this?\n" + log + DF + log, "without a time": answer + DF})
    assert [item.kind for item in case.unzoned.items] == ["text", "text"]
    assert case.has("logs") and case.has("metrics")


def test_processors_that_wait_for_a_disk_are_not_busy(tmp_path):
    from kit.analysis.sends import busy, sends

    text = (
        "Linux 3.10.0 (mq-a) \t11/23/2026 \t_x86_64_\t(8 CPU)\n\n10:22:31 AM     CPU     %user   %iowait     %idle\n"
        "10:22:36 AM     all     12.30     58.90     20.40\n10:22:36 AM       3      0.00    100.00      0.00\n"
    )
    case = opened(tmp_path, {"sar.txt": text})
    # Of one processor nothing is said: it is not the host.
    assert busy.host_metrics(case.facts, "%idle")["value"].tolist() == [20.4]
    found = case.facts("processors")
    assert (found["busy"].tolist(), found["waiting"].tolist()) == ([pytest.approx(100 - 20.4 - 58.9)], [58.9])
    (why,) = [each for each in busy.explain(case.facts, sends.ledger(case.facts), []) if each.slug == "host"]
    assert "59" in why.sentence.render("en") and [ref.file for ref in why.evidence] == ["sar.txt"]


def test_explain_says_what_an_output_is_and_goes_on_behind_it():
    for text, tool in ((DF, "df"), (VMSTAT, "vmstat"), (SAR, "sar")):
        assert [(row["slug"], row["title"]) for row in explain(text)] == [("host-output", f"An output of {tool}")]
    known = "java.io.IOException: No space left on device"
    slugs = [row["slug"] for row in explain(f"{DF}{known}\nwhat does it mean?")]
    assert slugs == ["host-output", "no-space-left", None]


@pytest.mark.parametrize("row", rows_of(__file__, "network"), ids=lambda row: row["name"])
def test_addresses_and_sockets(row):
    text = rows_of(__file__, row["text"]) if row["text"] in ("ip_addr", "ss") else row["text"]
    for ends in ("\n", "\r\n"):
        found = [[each.get(name) for name in row["columns"]] for each in metrics.network(text.replace("\n", ends))]
        assert found == row["rows"]
