"""Where the rules for numbers and times begin to doubt a column, and where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.identity import identity_doubts
from rwn_core.data.identity.of_texts import _is_iban
from rwn_core.data.identity.profile import PROFILE_ROWS, Profile, block_rows

N = 300
DRAWS = np.random.default_rng(5)


def whole(low: float, high: float, count: int = N) -> np.ndarray:
    """Whole numbers at equal steps, in no order."""
    return DRAWS.permutation(np.linspace(low, high, count).astype(int))


def times(step: int, different: int, each: int = 1) -> Any:
    """Times of three days, at steps of so many seconds, in no order."""
    at = [
        pd.Timestamp("2024-03-01") + pd.Timedelta(days=i % 3, seconds=step * (i // 3 + 1))
        for i in range(different)
    ]
    return pd.Series(at * each).sample(frac=1, random_state=1, ignore_index=True)


GIVEN = ("Anna", "Peter", "Maria", "Thomas", "Julia", "Michael")
NUMBERS, SECONDS = "numbers of people or objects", "times to the second"
HALVES = np.concatenate((whole(10_007, 20_003, N // 2), whole(80_001, 99_991, N // 2)))
CASES: dict[str, tuple[Any, str]] = {
    "even": (whole(10_007, 99_991), NUMBERS),
    "two heaps": (DRAWS.permutation(HALVES), ""),
    "a bell": (DRAWS.permutation(np.unique(DRAWS.normal(50_000, 9_000, N).astype(int))), ""),
    "tens": (10 * whole(1_000, 9_999), ""),
    "two lengths": (whole(9_007, 99_991), ""),
    "seconds": (times(7, N), SECONDS),
    "seconds of three": (times(7, N // 3, 3), SECONDS),
    "seconds of four": (times(7, N // 4, 4), ""),
    "minutes": (times(420, N), "times to the minute"),
    "minutes of two": (times(420, N // 2, 2), ""),
    "hours": (times(3600, 60), ""),
    "twenty seconds": (times(7, 20), ""),
    "codes of six": ([f"QX{1000 + 7 * i}" for i in range(21)], NUMBERS),
    "codes of five": ([f"Q{1000 + 7 * i}" for i in range(21)], "names or numbers of people"),
    "twenty codes": ([f"QX{1000 + 7 * i}" for i in range(20)], ""),
    "eleven streets": ([f"{i + 3} Hill Street" for i in range(11)], "addresses"),
    "ten streets": ([f"{i + 3} Hill Street" for i in range(10)], ""),
    "six names": ([*GIVEN[:6]] * 10, "names of people"),
    "five names": ([*GIVEN[:5]] * 10, ""),
}


@pytest.mark.parametrize("case", CASES)
def test_a_column_is_doubted_from_a_bound_on(case: str) -> None:
    values, looks_like = CASES[case]
    found = [each.looks_like for each in identity_doubts(pd.DataFrame({"v": values}), ["v"])]
    assert [each[: len(looks_like)] for each in found] == [looks_like] * bool(looks_like)


def test_of_a_long_column_blocks_from_its_head_to_its_end_are_read() -> None:
    column = pd.Series(np.arange(2 * PROFILE_ROWS + 5))
    rows = block_rows(column)
    assert (len(rows), rows.iloc[0], rows.iloc[-1]) == (PROFILE_ROWS, 0, len(column) - 1)
    assert len(block_rows(column.head(PROFILE_ROWS - 1))) == PROFILE_ROWS - 1


def test_an_account_number_holds_its_checksum() -> None:
    assert _is_iban("DE89 3704 0044 0532 0130 00")
    assert not _is_iban("DE98 3704 0044 0532 0130 00")


def test_texts_are_numbers_only_if_all_of_them_are_numerals() -> None:
    def numbers(*texts: str) -> Any:
        return Profile.from_column(pd.Series(texts)).numbers

    assert numbers("12", "13").tolist() == [12, 13]
    assert numbers("12", "1e3", "77") is None
    assert numbers(" ", "") is None


@pytest.mark.parametrize(("north", "doubted"), [(48.2, True), (3.2, False)])
def test_a_pair_of_numbers_is_a_place_only_where_people_live(north: float, doubted: bool) -> None:
    at = DRAWS.uniform(size=(2, N)) / 5 + [[north], [16.3]]
    table = pd.DataFrame({"v": at[0].round(5), "w": at[1].round(5)})
    assert bool(identity_doubts(table, ["v", "w"])) is doubted


def test_eight_digits_before_1850_are_no_dates() -> None:
    days = pd.date_range("1700-01-01", periods=N).strftime("%Y%m%d").astype(int)
    assert Profile.from_column(pd.Series(days)).dates is None
