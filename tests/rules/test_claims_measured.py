"""The page on claims has the numbers of its file, and the file the analyses of the benchmark."""

from __future__ import annotations

import pytest

from benchmarks import claims, pages

ROWS = pages.read_lines(claims.FILE)
PAGE = claims.PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_tables_of_the_file() -> None:
    made = "\n\n".join(claims.page_lines(ROWS))
    assert PAGE.partition(claims.BEGINS)[2] == f"\n\n{made}\n"
    assert [row["table"] for row in ROWS] == list(claims.TABLES)


def test_what_the_page_says_of_all_tables_is_in_the_file() -> None:
    for row in ROWS:
        assert row["setting"]
        assert (row["draws"], row["fresh"]) == ("200", "200")
        assert float(row["least"]) >= 90
        assert float(row["pair least"]) >= 90
        assert row["registered through"] == "0"
        assert int(row["usable"]) >= 10
        assert float(row["readers differ"]) <= 1e-8


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["table"])
def test_the_analyses_are_those_of_the_benchmark(row: dict[str, str]) -> None:
    data = claims.TABLES[row["table"]]()
    analyses = claims.plan_of(data).analyses
    tied = [each for each in analyses if claims.tall(data, each)]
    assert len(analyses) == len(claims.KINDS) == 20
    assert int(row["records"]) == data.n
    assert int(row["tied"]) == len(tied)
    assert int(row["logistic"]) == sum(each.kind == "logistic" for each in analyses)
    assert (row["logistic"] == "0") == (not claims.binary(data))
