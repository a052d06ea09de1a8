"""Every page says what it shows."""

from __future__ import annotations

from pathlib import Path

from rwn_ui.panel.guide import TOUR, WORDS

PAGES = Path(__file__).parents[2] / "pages"


def test_every_page_says_in_a_few_sentences_what_it_shows() -> None:
    assert set(WORDS) == {page.stem for page in PAGES.glob("*.py")}
    assert len(TOUR) == 5
    for words in WORDS.values():
        assert 2 <= len(words) <= 3
        assert all(each.endswith(".") for each in words)
