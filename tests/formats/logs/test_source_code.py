"""Programs and scripts beside the logs, and lines of code between those of a paste: they hold what RocketMQ prints, and show nothing that happened."""

import pytest
from folders import opened
from table import rows_of

import kit
from kit.formats.logs import source_code
from kit.inventory import inventory

JAVA, PYTHON, SCRIPT, SHELL = (rows_of(__file__, name) for name in ("java", "python", "script", "shell"))
PRINTED = rows_of(__file__, "printed")
PROGRAMS = {"src/FastFailure.java": JAVA, "checker.py": PYTHON, "bin/mqbroker.cmd": SCRIPT, "bin/mqbroker": SHELL}


def found(tmp_path, **files):
    case = opened(tmp_path, files)
    return {
        f["cause"]: f["verdict"] for f in kit.triage(case)["findings"] if f["verdict"] in ("confirmed", "suspected")
    }


def test_programs_are_no_logs(tmp_path):
    assert found(tmp_path, **PROGRAMS) == {}
    assert {item.kind for item in inventory.take(tmp_path / "e", tmp_path / "ws").items} == {"source_code"}


@pytest.mark.parametrize(
    "text", [PRINTED * 20, '{\n"message": "CODE: 2",\n"status": 500,\n"data": {}\n}\n', "brokerName=broker-a\n# if;\n"]
)
@pytest.mark.parametrize("name", ["trace.java", "trace.txt"])
def test_what_a_program_printed_is_none(text, name):
    assert not source_code.is_program(text, name)


def test_the_name_alone_does_not_make_a_program():
    assert source_code.is_program(JAVA, "FastFailure.java") and not source_code.is_program(JAVA, "question.md")
    assert not source_code.is_program("why?\nthe broker is busy\n", "question.py")


def test_code_in_a_paste_shows_nothing_but_the_lines_around_it_do(tmp_path):
    assert found(tmp_path / "code", **{"question.md": f"Why does the broker call this?\n\n```java\n{JAVA}```\n"}) == {}
    shown = found(tmp_path / "both", **{"question.txt": f"I see\n{PRINTED}and the source says\n{JAVA}"})
    assert shown == {"broker-busy": "confirmed"}
