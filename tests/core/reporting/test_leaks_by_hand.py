"""Where the leak check begins to refuse: counts, runs of words, shapes of numbers and paths."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ReleaseError
from rwn_core.reporting import dataset_record
from rwn_core.reporting.dataset_record import check_copied, check_released
from rwn_core.reporting.facts import Material
from rwn_core.reporting.leak_check import check_file, counted, rare_values, said_values
from tests.core.reporting.records_by_hand import RECORD, by_hand

SOURCE = {"file": "C:\\data\\my-survey.csv"}
KNOWN = by_hand(source=SOURCE, context={"review": "2029-02-28"})
RARE_WORDS = "The public file would hold a value that fewer than 10 records of the original have"
PARTS = [{"name": "part-000000.parquet", "sha256": "ef" * 32}, {"name": "b.parquet", "sha256": "e"}]


def refusal(text: str, rare: set[Any] | None = None, material: Material = KNOWN) -> str:
    """Why a file with this text is refused; empty where it is not."""
    try:
        check_file(orjson.dumps([text]), ".json", material, rare or set())
    except ReleaseError as refused:
        return str(refused).removeprefix("The public file would hold ").partition(";")[0]
    return ""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("rwn notice 1", ""),
        (f"2028-02-29 and 2029-02-28, {'0f' * 16}, {'cd' * 32}, SHA-256, 1,100 or 1100", ""),
        ("2030-02-28", "a number that no notice may say"),  # a day that nobody stated
        ("about 1,101", "a number that no notice may say"),
        ("0.25", "the value of a risk measure"),
        ("25", "the value of a risk measure"),
        ("25.0", "the value of a risk measure"),
        ("12.5", "the value of a risk measure"),
        ("0.125", "the value of a risk measure"),
        ("0.02", "a number that no notice may say"),
        ("person no. 7", "the number of a record"),
        ("Look at record 37.", "the number of a record"),
        ("Look at row #37", "the number of a record"),
        ("The heaviest man weighs 363,15.", "a number that no notice may say"),
        ("It lies in C:\\Users\\Zaphod.", "a path of a file or folder"),
        ("Key: " + "0f" * 32, "something that looks like a key"),
        ("see ./here", "a path of a file or folder"),
        ("see ~/here", "a path of a file or folder"),
        ("from MY-SURVEY.CSV", "the name of the original's file"),
        ("0f" * 15, "a number that no notice may say"),
        ("ab" * 16, "something that looks like a key"),
        ("age and income of sex", ""),
    ],
)
def test_each_text_is_refused_for_its_own_reason(text: str, kind: str) -> None:
    assert refusal(text) == kind


def test_runs_of_twelve_words_are_compared_and_what_all_notices_say_is_none() -> None:
    twelve = " ".join("abcdefghijkl")
    rare = {twelve, "zaphod", 7.5, "most"}
    kind = RARE_WORDS.removeprefix("The public file would hold ")
    assert refusal(f"so {twelve.upper()} it is", rare) == kind
    assert refusal("Zaphod", rare) == kind
    assert refusal("7.5", rare) == kind
    assert refusal("−7.5", {-7.5}) == kind
    assert refusal("1,234.5", {1234.5}) == kind
    assert refusal("most", rare) == ""
    titled = replace(KNOWN, title="Homes of 1978 and 7.5")
    assert refusal("1978", {7.5}, titled) == ""
    assert refusal("7.5", {7.5}, titled) == kind
    for text in ("7.5", "−7.5", "-7.5"):  # a minus may stand before it
        cold = replace(KNOWN, title=f"A winter of {text} degrees")
        assert refusal(f"{text} degrees", {-7.5}, cold) == kind
    said = said_values(orjson.dumps([f"{twelve} m 1,5 x"]), ".json", replace(KNOWN, title="Homes"))
    assert {twelve, "b c d e f g h i j k l m", "homes", 15.0, -15.0} <= said
    assert f"{twelve} m" not in said
    assert None not in said


def test_the_files_of_a_dataset_may_be_named_and_counted() -> None:
    known = by_hand(file={**RECORD["file"], "parts": PARTS})
    assert refusal(f"part-000000.parquet {'ef' * 32} 2", material=known) == ""
    assert refusal("3", material=known) == "a number that no notice may say"
    assert refusal("0", material=KNOWN) == "the value of a risk measure"


def test_a_value_is_rare_below_ten_records_in_the_form_in_which_it_is_said() -> None:
    frame = pd.DataFrame(
        {
            "n": [1.5] * 9 + [2.5] * 10 + [np.nan],
            "t": ["New York!"] * 9 + ["Ulm"] * 10 + [None],
            "b": [True] * 9 + [False] * 11,
            "d": pd.to_datetime(["1978-03-08"] * 9 + ["1979-03-08"] * 11),
            "c": pd.Categorical(["x"] * 20, categories=["x", "y"]),
            "s": ["?"] * 9 + ["of"] * 11,
        }
    )
    assert rare_values(Microdata.from_frame(frame)) == {1.5, "new york", "true", "1978 03 08"}
    assert sorted(counted(frame["n"])) == [(1.5, 1.5, 9), (2.5, 2.5, 10)]
    assert counted(frame["c"]) == [("x", "x", 20)]


# ---------------------------------------------------------------- files of a dataset


def released(folder: Path, table: pa.Table, **options: Any) -> dict[str, Any]:
    """Write a release of one file; its record."""
    folder.mkdir()
    path = folder / "part-000000.parquet"
    options = {"write_statistics": False, "store_schema": False, **options}
    pq.write_table(table, path, **options)
    return {"file": {"parts": [{"name": path.name}]}, "table": {"variables": table.column_names}}


def test_texts_of_a_release_are_gathered_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_record, "TEXTS", 6)
    monkeypatch.setattr(dataset_record, "BATCH", 4)
    texts = pa.array([f"w{i}" for i in range(20)])
    few = pa.array(["a", None] * 10)
    table = pa.table({"t": texts, "x": pa.array(range(20)), "f": few})
    found = check_released(released(tmp_path / "out", table), tmp_path / "out")
    assert found.keys() == {"t", "f"}
    assert found["t"] == {f"w{i}" for i in range(6)}
    assert found["f"] == {"a"}
    numbers = pa.table({"x": pa.array(range(20))})
    assert check_released(released(tmp_path / "n", numbers), tmp_path / "n") == {}


def test_a_footer_with_more_than_columns_is_refused(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array(range(20))})
    noted = pa.schema([pa.field("x", pa.int64(), metadata={"by": "Zaphod"})])
    wrong = [
        (table, {"sorting_columns": [pq.SortingColumn(0)]}, "by what its rows are sorted"),
        (table, {"write_statistics": True}, "extremes of its columns"),
        (table.cast(noted), {"store_schema": True}, "notes of the program that wrote it"),
    ]
    for number, (each, options, why) in enumerate(wrong):
        folder = tmp_path / str(number)
        record = released(folder, each, **options)
        with pytest.raises(ReleaseError, match=f"{why}; nothing public was written"):
            check_released(record, folder)
    (tmp_path / "0" / "part-000000.parquet").write_bytes(b"PAR1")
    with pytest.raises(ReleaseError, match=r"part-000000\.parquet is damaged or not Parquet"):
        check_released(record, tmp_path / "0")


def test_a_release_may_reach_the_ends_of_the_original_and_not_beyond() -> None:
    def side(low: float, high: float, n: int, levels: list[str]) -> Any:
        column = SimpleNamespace(least=low, greatest=high, count=n)
        return SimpleNamespace(numbers={"x": column}, levels={"t": dict.fromkeys(levels, 1)})

    def found(least: float, greatest: float, *, count: int = 5, level: str = "a") -> Any:
        return side(1.0, 2.0, 9, ["a", "b"]), side(least, greatest, count, [level])

    for held in (found(1.0, 2.0), found(1.5, 1.75), found(5.0, 0.0, count=0)):
        check_copied(*held)
    for strange, name in (
        (found(0.5, 2.0), "x"), (found(1.0, 2.5), "x"), (found(1.0, 2.0, level="z"), "t")
    ):  # fmt: skip
        with pytest.raises(ReleaseError, match=f"The released variable {name} has a value"):
            check_copied(*strange)


def test_a_contact_is_the_stewards_word_and_no_way_out_for_a_value() -> None:
    for contact, kind in (
        ("Data desk, +43 1 43, https://x.org/ask", ""),
        ("ask Betelgeuse", RARE_WORDS.removeprefix("The public file would hold ")),
        ("see /home/me/keys", "a path of a file or folder"),
        ("ab" * 16, "something that looks like a key"),
    ):
        material = by_hand(context={"contact": contact}, source=SOURCE)
        assert refusal(f"Ask {contact}.", {"betelgeuse", 43.0}, material) == kind
    assert refusal("43", {43.0}, by_hand(context={"contact": "desk 43"}, source=SOURCE)) != ""
