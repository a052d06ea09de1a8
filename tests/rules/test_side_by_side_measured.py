"""The page that puts other programs beside ours has the numbers that we compute today."""

from __future__ import annotations

from benchmarks import pages, side_by_side


def test_our_numbers_are_those_of_the_file_and_each_difference_has_a_reason() -> None:
    stored, run = pages.read_lines(side_by_side.FILE), side_by_side.stored_run()
    assert [side_by_side.line(row, run, run) for row in side_by_side.ROWS] == stored
    assert all(line["why"] for line in stored if line["verdict"] == "different")
    page = side_by_side.PAGE.read_text(encoding="utf-8").partition(side_by_side.BEGINS)[2]
    assert page == "\n" + "\n\n".join(side_by_side.page_lines(stored)) + "\n"
