"""The concepts and the case study show what their programs draw and print."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from docs import case_study, concept_pictures


@pytest.mark.parametrize("name", concept_pictures.PICTURES)
def test_a_picture_of_the_concepts_is_drawn_the_same_again(name: str) -> None:
    drawn = concept_pictures.PICTURES[name]()
    kept = (concept_pictures.HERE / name).read_text(encoding="utf-8")
    assert drawn == kept, "run python -m docs.concept_pictures"
    page = (concept_pictures.HERE / "concepts.md").read_text(encoding="utf-8")
    assert f"]({name})" in page


def test_the_case_study_is_its_template_with_what_was_printed() -> None:
    page = case_study.PAGE.read_text(encoding="utf-8")
    template = case_study.TEMPLATE.read_text(encoding="utf-8")
    assert re.sub(r"\n```text\n.*?```\n", "", page, flags=re.DOTALL) == template
    for name in case_study.PICTURES:
        assert f"]({name})" in page
        ElementTree.fromstring((case_study.HERE / name).read_text(encoding="utf-8"))


@pytest.mark.nightly
def test_the_case_study_comes_out_again() -> None:
    for name, text in case_study.made().items():
        kept = (case_study.HERE / name).read_text(encoding="utf-8")
        assert text == kept, f"{name}: run python -m docs.case_study"
