"""Look-alikes name causes that are there, and the page is what the causes say."""

from pathlib import Path

from kit.causes import discover, look_alikes, triage

PAGE = Path(__file__).parents[2] / "docs" / "look-alikes.md"


def test_every_cause_names_its_look_alikes() -> None:
    slugs = {cause.slug for cause in discover()}
    for cause in discover():
        others = list(cause.looks_like)
        assert others, cause.slug
        assert set(others) <= slugs - {cause.slug}, cause.slug
        for apart in cause.looks_like.values():
            assert len(apart.en.split()) >= 4
            # One that is not translated yet is English in both languages.
            assert apart.in_("zh") == apart.en or any("\u4e00" <= c <= "\u9fff" for c in apart.in_("zh"))


def test_causes_that_begin_first_are_there() -> None:
    assert set(triage.LONGEST) <= {cause.slug for cause in discover()}


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == look_alikes.page(), (
        "python -m kit.causes.look_alikes > docs/look-alikes.md"
    )
