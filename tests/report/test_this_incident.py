"""A report speaks of this incident: nothing of the published cases is in it as if it had happened here, whatever the verdict.

What the published cases say is in a report only beside a confirmed cause and set apart (a quotation headed "The documented
case"), or because the evidence itself says so.
"""

import re

import pytest
import recorded
from folders import opened
from page import Page
from table import rows_of

import kit
from kit.report import build, notebooks
from kit.rocketmq.catalogue import EVENTS

pytestmark = pytest.mark.seconds

CLAIMS = rows_of(__file__, "claims")
"""What the published investigations say of themselves, as it would read in a report. {cause: patterns}"""
COUNTED = re.compile(r"[\d,]*\d\d+ (?:messages|sends|half records|refusals|transactions|records)\b")


def report(case, out, *causes):
    """Make a report with the walks of these causes, whatever their verdict; return what it says and the verdicts."""
    findings = kit.triage(case)
    chosen = sorted({path for cause in causes for path in notebooks.chosen(findings, cause)})
    executed = notebooks.execute(chosen, out / "notebooks", build.parameters(case), case.failures)
    page = build.build(findings, build.evidence_tables(case), executed, out, failures=case.failures).read_text()
    assert case.failures == []
    return Page(page), {found["cause"]: found["verdict"] for found in findings["findings"]}


def stories(told, *causes):
    found = [(cause, match) for cause in causes for claim in CLAIMS[cause] for match in re.finditer(claim, told)]
    return [f"{cause}: {match.group()}" for cause, match in found]


def test_what_the_claims_look_for_is_what_the_walks_tell_of_the_published_cases():
    """Every list has something that the notebooks' quotations say: the patterns can find it."""
    books = [notebooks.read(path) for path in notebooks.folder().glob("*.ipynb")]
    for cause, claims in CLAIMS.items():
        (book,) = (each for each in books if each.metadata["rmq-kit"].get("causes") == [cause])
        cells = [c for c in book.cells if c.cell_type == "markdown"]
        apart = " ".join(c.source for c in cells if c.metadata["rmq-kit"].get("documented"))
        rest = " ".join(c.source for c in cells if not c.metadata["rmq-kit"].get("documented"))
        assert [claim for claim in claims if re.search(claim, apart)], cause
        assert stories(rest, cause) == []


@pytest.mark.recordings
def test_a_healthy_system_has_no_story(tmp_path):
    told, verdicts = report(recorded.case("healthy"), tmp_path / "out", *CLAIMS)
    assert {verdicts[cause] for cause in CLAIMS} <= {"ruled_out", "insufficient_evidence"}
    assert stories(told.own, *CLAIMS) == [] and told.apart == ""
    assert "The put-back was refused" not in told.own and "was refused for its size, again" not in told.own


@pytest.mark.recordings
def test_a_suspicion_tells_no_story(tmp_path):
    said = rows_of(__file__, "paste").format(leaked=EVENTS["leaked-half-printed"].example)
    told, verdicts = report(opened(tmp_path, {"paste.txt": said}), tmp_path / "out", *CLAIMS)
    assert {verdicts[cause] for cause in CLAIMS} == {"suspected"}
    own = [text for text in stories(told.own, *CLAIMS) if text.partition(": ")[2] not in said]
    assert own == [] and told.apart == ""
    # A few lines were pasted: nothing here comes in tens.
    assert COUNTED.findall(told.own) == []
