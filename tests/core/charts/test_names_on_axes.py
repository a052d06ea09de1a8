"""Long names on the axes of charts: never two alike, and whole in the full view."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.measures.drawing import style
from rwn_core.measures.measure import Reading

LONG = {
    "ends": ["hours_worked_per_week_main_job", "hours_worked_per_week_second_job", "age"],
    "beginnings": ["net_income_of_the_household", "gross_income_of_the_household"],
    "middles": [f"answer_to_question_{n}_of_the_interview" for n in range(12)],
    "one letter": [f"{'x' * 30}{letter}{'y' * 30}" for letter in "abcdefghij"],
    "lists": [
        *(f"{'answer, ' * 9}{n}, {'answer, ' * 9}more" for n in "ab"),
        f"one {'of ' * 30}more",
    ],
    "wide letters": [
        "家庭年收入不含政府补贴和其他转移支付, household_income_before_taxes",
        "家庭年收入不含政府补贴和其他转移支付",
        "家庭年收入不含政府补贴",
        "Alter",
        "年龄",
    ],
    "numbers": [f"municipality_of_residence_{year}" for year in range(2010, 2024)],
}


@pytest.mark.parametrize("length", [9, 18, 60])
@pytest.mark.parametrize("names", LONG.values(), ids=LONG)
def test_no_two_names_become_equal_and_what_fits_is_whole(names: list[str], length: int) -> None:
    short = style.short_names(names, length)
    assert len(set(short)) == len(names)
    assert max(map(style.letters, short)) <= length
    whole = zip(short, names, strict=True)
    assert all(cut == name for cut, name in whole if style.letters(name) <= length)
    assert style.short_names(["a", "a", "b"], 9) == ["a", "a", "b"]  # they occur twice
    assert style.shorten("household income 2019", 12) == "househo…2019"
    assert style.shorten("age", 10) == "age"


def test_every_chart_names_all_variables_apart_and_whole_in_its_full_view() -> None:
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(draw.normal(size=(90, len(LONG["middles"]))), columns=LONG["middles"])
    frame["place_where_the_interview_took_place"] = draw.choice(LONG["ends"], 90)
    data = rwn.Microdata.from_frame(frame)
    question = rwn.Question(response=LONG["middles"][0], predictors=tuple(LONG["middles"][1:]))
    data = data.with_schema(replace(data.schema, question=question))
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=5), seed=1)
    for key, reading in rwn.audit(data, release).readings.items():
        for chart, draw_it in rwn.MEASURES[key].charts.items():
            if not isinstance(reading, Reading) or chart not in CHARTS:
                continue
            made = draw_it(reading)
            for side in ("xaxis", "yaxis"):
                axis = made["layout"][side]
                shown = [text for text in axis["ticktext"] if text]
                assert len(set(shown)) == len(shown), (chart, shown)
                cut = [text for text in shown if "…" in text]
                full = made.get("large", {}).get(side, {}).get("ticktext", [])
                assert not cut or not any("…" in text for text in full), chart
                assert not cut or full, chart
