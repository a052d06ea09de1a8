"""What a format says that it keeps is kept, and nothing else; and the docs say the same."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from rwn_core import io
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.io.format import Feature, Format
from rwn_core.io.format_limits import losses
from rwn_core.io.parse import parse
from rwn_core.io.write import table_bytes

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "open-a-file.md"

FRAME = pd.DataFrame(
    {
        "truth": [True, False, True, True],
        "day": pd.to_datetime(["2020-01-02", "1999-12-31", None, "2001-02-03"]).astype(
            "datetime64[s]"
        ),
        "zone": pd.to_datetime(["2020-01-02 00:00", "2020-06-02 03:04"] * 2).tz_localize(
            "UTC+09:00"
        ),
        "rank": pd.Categorical(["lo", "hi", "lo", "mid"], ["lo", "mid", "hi"], ordered=True),
        "sex": pd.Categorical(["m", "f", None, "f"], ["m", "f"]),
        "work": pd.Categorical(["a", "b", None, "a"], ["a", "b"]),
    }
)
SCHEMA = Schema(
    variables=(
        Variable(name="truth", kind=Kind.CATEGORICAL),
        Variable(name="day", kind=Kind.DATE),
        Variable(name="zone", kind=Kind.DATE),
        Variable(name="rank", kind=Kind.ORDERED),
        Variable(
            name="sex",
            kind=Kind.CATEGORICAL,
            label="Sex",
            value_labels=((1, "m"), (2, "f"), (9, "refused")),
            missing_codes=(9,),
        ),
        Variable(
            name="work",
            kind=Kind.CATEGORICAL,
            value_labels=((10, "a"), (20, "b"), ("r", "refused")),
            missing_codes=("r",),
        ),
    )
)
ORIGINAL = Microdata.from_frame(FRAME, SCHEMA)


def kept(form: Format) -> set[Feature]:
    """The features of the table that come back from a file."""
    content = table_bytes(ORIGINAL.frame, form.key, ORIGINAL.schema)
    again = parse(f"t{form.suffixes[0]}", content)
    frame, schema = again.frame, again.schema
    sex, work = schema.variable("sex"), schema.variable("work")
    checks = {
        Feature.TRUTHS: frame["truth"].dtype == bool,
        Feature.DATES: frame["day"].dropna().tolist() == FRAME["day"].dropna().tolist(),
        Feature.TIME_ZONES: getattr(frame["zone"].dtype, "tz", None) is not None
        and frame["zone"].tolist() == FRAME["zone"].tolist()
        and frame["zone"].dt.hour.tolist() == [0, 3, 0, 3],
        Feature.LEVEL_ORDER: schema.variable("rank").levels == ("lo", "mid", "hi"),
        Feature.LABELS: sex.label == "Sex",
        Feature.VALUE_LABELS: dict(sex.value_labels) == {1: "m", 2: "f", 9: "refused"}
        and dict(work.value_labels).items() >= {10: "a", 20: "b"}.items(),
        Feature.MISSING_CODES: sex.missing_codes == (9,),
        Feature.MISSING_LETTERS: work.missing_codes == ("r",),
    }
    assert frame["sex"].tolist()[:2] == ["m", "f"]
    assert frame["sex"].isna().tolist() == [False, False, True, False]
    return {feature for feature, fine in checks.items() if fine}


@pytest.mark.parametrize("form", io.writable(), ids=lambda form: form.key)
def test_a_format_keeps_what_it_says_and_the_rest_is_named(form: Format) -> None:
    assert kept(form) == set(form.keeps)
    lost = set(Feature) - set(form.keeps) - {Feature.DATES}
    said = losses(ORIGINAL, form)
    assert len(said) == len(lost)
    for feature in lost:
        assert any(f"{form.title} does not keep {feature} (" in sentence for sentence in said)


def test_nothing_is_said_of_a_table_without_labels() -> None:
    plain = Microdata.from_frame(pd.DataFrame({"x": [1.5, 2.5], "t": ["a", "b"]}))
    assert all(losses(plain, form) == [] for form in io.FORMATS)


def table_of_formats() -> str:
    """The table of the page, made of FORMATS."""
    lines = [
        "| | " + " | ".join(form.title for form in io.FORMATS) + " |",
        "|---|" + ":-:|" * len(io.FORMATS),
        "| endings | " + " | ".join(" ".join(form.suffixes) for form in io.FORMATS) + " |",
        "| written | " + " | ".join("yes" if form.write else "no" for form in io.FORMATS) + " |",
    ]
    for feature in Feature:
        marks = ("yes" if feature in form.keeps else "no" for form in io.FORMATS)
        lines.append(f"| {feature} | " + " | ".join(marks) + " |")
    return "\n".join(lines)


def test_the_page_has_the_table_of_formats() -> None:
    assert table_of_formats() in PAGE.read_text("utf-8")
