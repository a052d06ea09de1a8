"""Where the leak check begins to refuse: counts, runs of words, shapes of numbers and paths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ReleaseError
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
