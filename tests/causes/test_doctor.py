"""Hazards and known faults: limits are those of the reference (§5.3 names, §6.2 sizes, §7.4 defaults), releases those of the pull requests (§9)."""

import json

import pytest
from click.testing import CliRunner
from folders import opened, put, written
from table import rows_of

from kit.analysis.setup import Deployment, Group
from kit.causes import doctor, release_advice
from kit.cli.main import cli
from kit.inventory.model import Ref
from kit.rocketmq.versions import Version

CONF = "brokerClusterName=DefaultCluster\nbrokerName=broker-a\nbrokerId=0\n"
HERE = Ref("broker.log", line=7)


def conf(folder, *lines):
    put(folder / "broker.conf", CONF + "".join(f"{line}\n" for line in lines))
    return folder


def examined(folder, version=None):
    return doctor.of_files(folder, Version.parse(version) if version else None)


def run(*arguments):
    return CliRunner().invoke(cli, ["doctor", *map(str, arguments)])


@pytest.mark.parametrize("row", rows_of(__file__, "groups"), ids=str)
def test_group_names_by_length_and_release(row):
    named = "组" * row["length"] if row.get("chinese") else "g" * row["length"]
    releases = tuple(map(Version.parse, row.get("brokers", ())))
    client = Version.parse(row["client"]) if "client" in row else None
    seen = Deployment((), (Group(named, HERE, client),), (), releases)
    found = doctor.checkup(seen).hazards
    assert [(each.slug, each.cause) for each in found] == [tuple(each) for each in row["found"]]
    said = " ".join(f"{each.what.render()} {each.instead.render()}" for each in found)
    assert [number for number in row.get("says", ()) if str(number) not in said] == []


@pytest.mark.parametrize("row", rows_of(__file__, "hazards"), ids=lambda row: row["name"])
def test_hazards_of_files(row, tmp_path):
    files = {name: "".join(f"{line}\n" for line in lines) for name, lines in row.get("files", {}).items()}
    if "conf" in row:
        files["broker.conf"] = CONF + "".join(f"{line}\n" for line in row["conf"])
    of_case = lambda: doctor.of_case(opened(tmp_path, files))  # noqa: E731
    seen = of_case() if row.get("case") else examined(written(tmp_path, files), row.get("release"))
    found = {each.slug: each for each in seen.hazards}
    assert found.keys() == row["found"].keys()
    for slug, wanted in row["found"].items():
        said = {name: getattr(found[slug], name).render() for name in ("what", "becomes", "instead")}
        assert all(words in said[name] for name, words in wanted.get("says", {}).items()), said
        is_ = {"cause": found[slug].cause, "grade": found[slug].grade, "where": found[slug].where("en")}
        assert is_.items() >= {name: wanted[name] for name in is_.keys() & wanted.keys()}.items()
    places = {name: str(place) for broker in seen.seen.brokers for name, place in broker.places.items()}
    assert places.items() >= row.get("places", {}).items()


def test_a_configuration_alone_is_explained_and_what_cannot_be_read_ends_with_3(tmp_path):
    file = conf(tmp_path / "e", "maxMessageSize=65536", "inHouse=1") / "broker.conf"
    done = run(file, "--json", tmp_path / "hazards.json")
    # 4194304 is the default, the same in all versions.
    said = ("limit of a record", "4194304", "not described here")
    assert done.exit_code == 0 and [words for words in said if words not in done.stdout] == []
    assert "deleteWhen" in run(conf(tmp_path / "slip", "deleteWhere=04") / "broker.conf").stdout.replace("\n", " ")
    told = json.loads((tmp_path / "hazards.json").read_text())["hazards"]
    hazards = [(h["hazard"], h["where"]["line"], h["cause"], h["grade"]) for h in told]
    assert hazards == [("limit-below-client", 4, "message-size-mismatch", "hazard")]
    # What cannot be read ends with 3, and text of the evidence cannot act on a terminal.
    put(conf(tmp_path / "e") / "subscriptionGroup.json", '{"subscriptionGroupTable": {"a": {"groupName": "a"')
    done = run(tmp_path / "e", "--workspace", tmp_path / "ws")
    assert (done.exit_code, "subscriptionGroup.json" in done.stderr) == (3, True)
    assert sorted(p.name for p in (tmp_path / "e").iterdir()) == ["broker.conf", "subscriptionGroup.json"]
    done = run(conf(tmp_path / "h", "maxMessageSize=\x1b[31m65536", "transactionCheckMax=\u202e0", "x\x07y=\x9b1"))
    assert done.exit_code == 0 and not set(done.stdout) & {"\x1b", "\u202e", "\x07", "\x9b"}


def slugs(side, release, *found):
    return [(each.slug, each.fits) for each in release_advice.advise({side: [Version.parse(release)]}, found)]


@pytest.mark.parametrize(("side", "release", "fault", "has"), rows_of(__file__, "a_release_has_the_faults_of_its_time"))
def test_a_release_has_the_faults_of_its_time(side, release, fault, has):
    assert (fault in dict(slugs(side, release))) is has


def test_what_fits_comes_first_and_the_release_is_told_by_a_library(tmp_path):
    found = slugs("broker", "4.6.0", "message-size-mismatch", "delay-offset-outside")
    fitting = [slug for slug, fits in found if fits]
    assert fitting == [slug for slug, _ in found][: len(fitting)]
    assert set(fitting) == {"total-size-check", "put-back-loop", "delay-offset-outside"}
    assert not any(fits for _, fits in slugs("broker", "4.6.0"))
    put(tmp_path / "conf" / "broker.conf", "brokerName=b1\nmaxMessageSize=65536\n")
    for jar in ("rocketmq-store-4.6.0.jar", "rocketmq-client-4.9.4.jar"):
        put(tmp_path / "lib" / jar, "PK\3\4")
    found = doctor.of_files(tmp_path)
    assert found is not None and [str(v) for v in found.seen.broker_versions] == ["4.6.0"]
    assert found.faults[0].fits and "total-size-check" in {each.slug for each in found.faults}
    assert found.as_dict("en")["faults"][0]["release"] == "4.6.0"
