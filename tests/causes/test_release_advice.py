"""Known faults of the releases found: first and last releases are those of the pull requests named in the reference (§9)."""

from pathlib import Path

import pytest
from table import rows_of

from kit.causes import doctor, release_advice
from kit.rocketmq.versions import Version


def slugs(side: str, release: str, *found: str) -> list[tuple[str, bool]]:
    return [(each.slug, each.fits) for each in release_advice.advise({side: [Version.parse(release)]}, found)]


@pytest.mark.parametrize(("side", "release", "fault", "has"), rows_of(__file__, "a_release_has_the_faults_of_its_time"))
def test_a_release_has_the_faults_of_its_time(side: str, release: str, fault: str, has: bool) -> None:
    assert (fault in dict(slugs(side, release))) is has


def test_what_fits_comes_first() -> None:
    found = slugs("broker", "4.6.0", "message-size-mismatch", "delay-offset-outside")
    fitting = [slug for slug, fits in found if fits]
    assert fitting == [slug for slug, _ in found][: len(fitting)]
    assert set(fitting) == {"total-size-check", "put-back-loop", "delay-offset-outside"}
    assert not any(fits for _, fits in slugs("broker", "4.6.0"))


def test_every_cause_that_a_fault_leads_to_exists() -> None:
    from kit import causes
    from kit.rocketmq.versions import FIXED

    assert {slug for fix in FIXED for slug in fix.leads_to} <= {cause.slug for cause in causes.discover()}


def test_the_release_is_told_by_a_library_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "conf" / "broker.conf").write_text("brokerName=b1\nmaxMessageSize=65536\n")
    (tmp_path / "lib" / "rocketmq-store-4.6.0.jar").write_bytes(b"PK\3\4")
    (tmp_path / "lib" / "rocketmq-client-4.9.4.jar").write_bytes(b"PK\3\4")
    found = doctor.of_files(tmp_path)
    assert found is not None and [str(v) for v in found.seen.broker_versions] == ["4.6.0"]
    assert found.faults[0].fits and "total-size-check" in {each.slug for each in found.faults}
    assert found.as_dict("en")["faults"][0]["release"] == "4.6.0"
