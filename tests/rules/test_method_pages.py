"""Every masking method has a page of its own and a picture, made from what the method says."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from docs import build, method_pictures
from docs.reference_of import method_pages
from rwn_core.masking import METHODS

LARGEST = 60_000
SHAPES = {f"{{http://www.w3.org/2000/svg}}{name}" for name in ("path", "rect")}


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Every page as it should be."""
    return build.about_methods()


def test_the_pages_are_up_to_date(pages: dict[str, str]) -> None:
    assert set(pages) == {"index.md", *(f"{key}.md" for key in METHODS)}
    for name, page in pages.items():
        kept = (build.METHODS_HERE / name).read_text(encoding="utf-8")
        assert kept == page, f"{name}: run python -m docs.build"


def test_no_page_or_picture_is_left_of_a_method_that_is_gone() -> None:
    known = {"index.md", *(f"{key}{end}" for key in METHODS for end in (".md", ".svg"))}
    assert {path.name for path in build.METHODS_HERE.iterdir()} == known
    assert set(method_pictures.EXAMPLES) == set(METHODS)


def test_the_index_leads_to_every_page_and_each_page_shows_its_picture(
    pages: dict[str, str],
) -> None:
    assert re.findall(r"\]\((\w+)\.md\)", pages["index.md"]) == list(METHODS)
    for key, method in METHODS.items():
        assert f"# {method.title}\n" in pages[f"{key}.md"]
        assert f"]({key}.svg)" in pages[f"{key}.md"]


@pytest.mark.parametrize("key", METHODS)
def test_the_picture_is_small_and_shows_something(key: str) -> None:
    path = build.METHODS_HERE / f"{key}.svg"
    assert path.stat().st_size < LARGEST
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert sum(shape.tag in SHAPES for shape in root) > 5
    words = " ".join(each.text or "" for each in root)
    assert "original" in words and "released" in words  # noqa: PT018 -- both or none
    assert "nan" not in words


def test_a_picture_is_drawn_the_same_again() -> None:
    """One of numbers and one of categories: all of them take seconds."""
    for key in ("rwn", "record_swapping"):
        kept = (build.METHODS_HERE / f"{key}.svg").read_text(encoding="utf-8")
        assert method_pictures.picture(key) == kept, f"{key}: run python -m docs.build"


def test_a_method_that_does_not_say_what_it_destroys_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent(METHODS["rwn"]):  # type: ignore[misc,name-defined]
        """Hold nothing.

        When to use
        -----------
        Never.
        """

    monkeypatch.setattr(method_pages.rwn, "METHODS", {"rwn": Silent}, raising=False)
    with pytest.raises(KeyError, match="What it destroys"):
        method_pages.page("rwn")
