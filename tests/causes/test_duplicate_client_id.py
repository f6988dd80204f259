"""duplicate-client-id: what a pasted list of connections shows."""

from __future__ import annotations

from pathlib import Path

import taken_away

from kit import causes


def test_a_copied_list_of_connections_shows_one_id_twice(tmp_path: Path) -> None:
    """The dashboard's columns; it names the group in a heading that nobody copies."""
    lines = [
        "some queues have no consumer, 3 containers in docker",
        "ClientId             | ClientAddr              | Language | Version",
        "172.17.0.1@173 | 10.0.0.1:59606 | JAVA | V4_5_1",
        "172.17.0.1@170 | 10.0.0.2:48864 | JAVA | V4_5_1",
        "172.17.0.1@170 | 10.0.0.3:48112 | JAVA | V4_5_1",
    ]
    finding = causes.examine(taken_away.paste(tmp_path, *lines).facts, "duplicate-client-id")
    (step,) = [s for s in finding.steps if s.id == "one-id-two-connections"]
    assert finding.verdict == "suspected" and step.holds is True
    assert [(ref.line, ref.text) for ref in step.evidence] == [(4, lines[3]), (5, lines[4])]
    assert finding.summary.render("en") == step.claim.render("en") and "172.17.0.1@170" in step.claim.render("en")
