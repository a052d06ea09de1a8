"""The tables behind the pictures."""

from __future__ import annotations

import numpy as np

from rwn_core.charts.parts import tables


def test_a_long_table_keeps_the_largest_and_says_so() -> None:
    values = np.arange(1000.0)
    table = tables.table(["record", "value"], [np.arange(1000), values], rank=1)
    assert len(table["rows"]) == tables.TABLE_ROWS
    assert table["rows"][0] == [999, 999.0]
    assert table["caption"] == "400 of 1,000 rows: the largest by value."


def test_paired_rows_join_both_files_by_record() -> None:
    table = tables.paired(
        {
            "original": [1.0, 2.0],
            "records_original": [0, 2],
            "released": [3.0, 4.0],
            "records_released": [2, 3],
        },
        "distance",
    )
    assert table["columns"] == ["record", "original", "released"]
    assert table["rows"] == [[1, 1.0, None], [3, 2.0, 3.0], [4, None, 4.0]]


def test_records_in_any_order_keep_their_own_values() -> None:
    detail = {
        "original": [1.0, 2.0],
        "records_original": [7, 0],
        "released": [3.0, 4.0],
        "records_released": [7, 0],
    }
    assert tables.paired(detail, "distance")["rows"] == [[8, 1.0, 3.0], [1, 2.0, 4.0]]
    detail["records_released"] = [0, 7]
    assert tables.paired(detail, "distance")["rows"] == [[1, 2.0, 3.0], [8, 1.0, 4.0]]


def test_what_speaks_of_single_records_is_internal() -> None:
    assert tables.table(["record", "value"], [[1, 2], [0.5, 0.7]])["internal"] is True
    assert tables.table(["question", "no match"], [["x ≥ 2"], [0.5]])["internal"] is True
    assert "internal" not in tables.table(["variable", "value"], [["x"], [0.5]])
