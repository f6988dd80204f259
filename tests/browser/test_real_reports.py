"""Reports of recordings in a real Chromium, in both languages, and evidence that tries to get into the page."""

import csv
import json

import pytest
import recorded
from processes import typed
from stores import Record, store

import kit
from kit.report import build

pytestmark = [pytest.mark.browser, pytest.mark.spark]

NAMES = ("half-topic-blowup", "size-mismatch", "message-identity", "broker-busy", "transaction-consistency")
SCRIPT = "<script>document.title='taken'</script>"
IMAGE = "<img/src=x/onerror=document.title='taken'>"
FORMULA = "=HYPERLINK(1)"
RLO, ANSI = "\u202e", "\x1b[31m"


@pytest.mark.parametrize("name", NAMES)
def test_the_report_of_each_root_cause_in_both_languages(visit, serious, tmp_path, name):
    texts = []
    for lang in ("en", "zh"):
        case = kit.open_case(recorded.ARCHIVES[name], tmp_path / "workspace", lang=lang)
        opened = visit(build.run(case, tmp_path / lang), bypass_csp=True)
        page = opened.page
        assert opened.requests == [] and opened.complaints == []
        assert page.evaluate("document.documentElement.lang").startswith(lang)
        drawn = page.evaluate(
            "[...document.querySelectorAll('figure[data-chart]')].map(f => f.querySelectorAll('svg.main-svg').length)"
        )
        assert len(drawn) > 2 and all(drawn)
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        findings = json.loads((tmp_path / lang / "findings.json").read_text(encoding="utf-8"))
        titles = {finding["cause"]: finding["title"] for finding in findings["findings"]}
        assert page.inner_text("h1") == titles[recorded.label(name)["root_causes"][0]]
        assert serious(page) == []
        texts.append((len(drawn), page.locator("main > section").count()))
    # Complete in both: what one language shows, the other shows too.
    assert texts[0] == texts[1]


@pytest.fixture(scope="module")
def taken(tmp_path_factory):
    """Return the report of evidence whose topic, keys, log lines and file names try to become part of the page."""
    root = tmp_path_factory.mktemp("hostile")
    evidence = root / f"case {IMAGE.replace('/', ' ')}"
    evidence.mkdir()
    keys = [f"{key}{1001 + n}" for n, key in enumerate((SCRIPT, IMAGE, FORMULA, f"@{RLO}SUM", "plain"))]
    half = b"RMQ_SYS_TRANS_HALF_TOPIC"
    records = [
        Record(
            topic=(half if n % 2 else SCRIPT.encode()),
            body=b"x" * 50,
            born=1_795_216_769_000 + 20_000 * n,
            stored=1_795_216_769_001 + 20_000 * n,
            numbers=(0, 0, n // 2, 1, 0),
            properties=f"KEYS\x01{key}\x02UNIQ_KEY\x010A14511500000C387F4466DA1B{n:06X}\x02TRAN_MSG\x01true\x02REAL_TOPIC\x01{SCRIPT}\x02".encode(),
        )
        for n, key in enumerate(keys[1:])
    ]
    (evidence / "00000000000000000000").write_bytes(store(records).data)
    refusal = "CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 208ms, size of queue: 8"
    rows = [["keys", "start", "cost_ms", "outcome", "uniq_key", "offset_msg_id"]]
    lines = []
    for n, key in enumerate(keys):
        at = f"2026-11-20 23:19:{30 + n}.566"
        rows.append([key, at, "283", f"MQBrokerException: {refusal}", "", ""])
        lines.append(
            f"{at.replace('.', ',')} ERROR [main] o.a.Order - {ANSI}{RLO}{key} {SCRIPT}{IMAGE} failed: MQBrokerException: {refusal}"
        )
    with (evidence / "sends.csv").open("w", newline="") as out:
        csv.writer(out).writerows(rows)
    (evidence / f"app {IMAGE.replace('/', ' ')} {RLO}gol.log").write_text("\n".join(lines) + "\n")
    return build.run(kit.open_case(evidence, root / "workspace"), root / "out")


def test_nothing_of_the_evidence_runs_in_the_report(visit, taken):
    opened = visit(taken)
    opened.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert opened.page.title() != "taken" and opened.requests == [] and opened.complaints == []
    text = opened.page.inner_text("body")
    assert SCRIPT in text and IMAGE in text and "broker-busy" in text
    assert RLO not in text and "\x1b" not in text and "\\u202e" in text
    assert opened.page.locator("img[src=x], script:has-text('taken')").count() == 0


def test_nothing_of_the_evidence_runs_in_the_notebooks(visit, taken, tmp_path):
    books = sorted((taken.parent / "notebooks").glob("*.ipynb"))
    assert len(books) >= 2
    assert typed("-m", "nbconvert", "--to", "html", "--output-dir", tmp_path, *books).returncode == 0
    seen = ""
    for page in sorted(tmp_path.glob("*.html")):
        opened = visit(page, offline=True)
        opened.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert opened.page.title() != "taken" and not [c for c in opened.complaints if c.startswith("dialog")]
        assert opened.page.locator("img[src=x]").count() == 0
        seen += opened.page.inner_text("body")
    assert SCRIPT in seen and RLO not in seen and "\x1b" not in seen
