"""Fixtures every test may use."""

import gc
import os
import re
import time
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

OWN = re.compile("RMQ_KIT_(?!TEST_)|SPARK_REMOTE$|FORCE_COLOR$|NO_COLOR$")
"""Variables of whoever runs the tests that would change what the kit does."""

ASKING = (
    "test_failed.py", "test_partial.py", "test_rows.py", "test_sends.py", "test_setup.py", "test_small_evidence.py",
    "test_unread.py", "test_variants.py",
)  # fmt: skip
"""Nearly all tests of these files open evidence and ask its tables."""


def pytest_addoption(parser):
    """`--no-spark`: what would start Spark is skipped; `make quick` runs so."""
    parser.addoption("--no-spark", action="store_true", help="skip every test that needs a Spark session")


def pytest_configure(config):
    """Before any test module is imported: `nbformat` without what takes it a second, and without Spark no session.

    How long an example takes says nothing on a busy machine. Modules leave little garbage, and looking for it takes a tenth.
    """
    gc.set_threshold(50_000, 20, 100)
    from kit.report import notebook_format  # noqa: F401

    settings.register_profile("kit", deadline=None, suppress_health_check=list(HealthCheck))
    settings.load_profile("kit")
    if not config.getoption("--no-spark"):
        return
    import effort

    import kit.spark
    from kit.spark import sessions

    effort.quick = True

    def refuse(*_, **__):
        raise pytest.skip.Exception("needs a Spark session")

    sessions.session = kit.spark.session = refuse


@cache
def triages_recordings(file):
    """Tell whether a test of this file finds in the run's cache what another has worked out of a recording."""
    return re.search(r"\b(recorded\.case|recorded\.whole)\b", file.read_text(encoding="utf-8")) is not None


def pytest_collection_modifyitems(config, items):
    """Mark what asks for the session, so that nobody has to remember it, nor `make quick` reads evidence to find out.

    Files that take long or hold many tests come first, so that no worker is left alone with one of them. The first of all triages every
    recording; what needs one of them comes last and finds it triaged.
    """
    long: set[Path] = set()
    many = Counter(item.path for item in items)
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()) or item.path.name in ASKING:
            item.add_marker(pytest.mark.spark)
        if item.get_closest_marker("seconds"):
            long.add(item.path)

    def place(item):
        file = item.path
        return file.name != "test_golden.py", triages_recordings(file), file not in long, -many[file], file

    items.sort(key=place)


@pytest.fixture(scope="session", autouse=True)
def own_machine(tmp_path_factory):
    """No test sees the settings, zone, language or permissions of whoever runs it: a cache of its own, a zone nobody lives in."""
    with pytest.MonkeyPatch.context() as patch:
        for name in filter(OWN.match, list(os.environ)):
            patch.delenv(name)
        # The workers of one run share it: what one has unpacked and read, the other finds.
        run = tmp_path_factory.getbasetemp()
        patch.setenv("XDG_CACHE_HOME", str((run.parent if "PYTEST_XDIST_WORKER" in os.environ else run) / "cache"))
        for name in ("XDG_CONFIG_HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR"):
            patch.setenv(name, str(run / "settings"))
        patch.setenv("TZ", "Pacific/Chatham")
        time.tzset()
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("COLUMNS", "160")
        before = os.umask(0o022)
        yield
        os.umask(before)
    time.tzset()


@pytest.fixture(scope="session")
def spark():
    """One local session for the whole run."""
    import kit.spark

    session = kit.spark.session()
    yield session
    session.stop()
