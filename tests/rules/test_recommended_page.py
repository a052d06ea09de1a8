"""The page of the recommendation says what its file gives."""

from __future__ import annotations

from benchmarks.pages import read_lines
from benchmarks.recommend import BEGINS, FILE, PAGE, page


def test_the_table_of_the_page_is_that_of_the_file() -> None:
    """A line that was read anew changes the page."""
    text = PAGE.read_text(encoding="utf-8").split(BEGINS)[1]
    assert text.strip() == "\n".join(page(read_lines(FILE)))
