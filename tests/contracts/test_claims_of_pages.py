"""Facts that lessons, README, docs and notices state are on their page, and are so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.contracts.claims_of_pages import CLAIMS, Claim

ROOT = Path(__file__).resolve().parents[2]
LEAST = 40


def words_of(page: str) -> str:
    """The text of a page: one blank for white space, without HTML and ends of strings."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if page.endswith(".html"):
        text = re.sub(r"<[^>]*>", " ", text)
    if page.endswith(".py"):
        text = re.sub(r'"\s+f?"', "", text)
    if page.endswith(".toml"):
        text = text.replace("\\\n", "")
    return " ".join(text.split())


def test_the_sentences_are_on_their_pages() -> None:
    assert len(CLAIMS) >= LEAST
    lost = [
        f"{each.page}: {each.sentence}"
        for each in CLAIMS
        if each.sentence not in words_of(each.page)
    ]
    assert lost == []


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.sentence[:60])
def test_a_stated_fact_is_so_and_another_one_is_not(claim: Claim) -> None:
    assert claim.check(*claim.true), claim.sentence
    assert not claim.check(*claim.false), f"a false variant passes: {claim.sentence}"
