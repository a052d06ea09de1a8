"""Edit rules: read by a grammar, held against records one by one, never run."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rwn_core as rwn
from rwn_core.data.edit_rules import EditRule
from rwn_core.errors import SchemaError
from rwn_core.tuning.slice_presets import preset_slices

FRAME = pd.DataFrame(
    {
        "age": [14.0, 14.0, 30.0, np.nan, 15.0],
        "employed": ["no", "yes", "yes", "yes", None],
        "net pay": [0, 5, 7, 1, 2],
        "gross": [0, 4, 9, 1, 3],
        "born": pd.to_datetime(["2006-01-01", "2006-05-01", "1990-01-01", None, "2005-01-01"]),
        "member": [True, False, True, False, True],
    }
)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ('age >= 15 or employed == "no"', [1]),
        ('not (age < 15 and employed != "no")', [1]),
        ('column("net pay") <= gross', [1]),
        ('gross - column("net pay") >= -1 + 1 and gross * 2 < 18', [1, 2]),
        ("0 <= gross < 4", [1, 2]),
        ('employed in ["no", "never"]', [1, 2, 3]),
        ('employed not in ("yes",)', [1, 2, 3]),
        ('born >= "2000-01-01"', [2]),
        ("member == True", [1, 3]),
        ("gross / age < 0.21", [1, 2]),
        ("-1 / (gross - gross) >= 0", []),  # a number divided by 0 is missing
    ],
)
def test_a_rule_is_broken_by_those_for_whom_it_is_false(text, broken):
    """A missing value breaks nothing."""
    assert np.flatnonzero(EditRule(text).broken(FRAME)).tolist() == broken


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("age >=", "place"),
        ("age", "place 1"),
        ('__import__("os").system("x") == 1', "place 1"),
        ("age.real > 1", "place 1"),
        ("[age for age in age] == 1", "place 1"),
        ("(lambda: 1)() == 1", "place 1"),
        ("age is None", "place 8"),
        ("age > gross if age else gross", "place 1"),
        ("age ** 9 > 1", "place 1"),
        ("employed in gross", "place 13"),
        ('f"{age}" == "1"', "place 1"),
        ("", "1 to 500 letters"),
        ("not " * 200 + "age > 1", "1 to 500 letters"),
    ],
)
def test_what_is_no_rule_is_refused_with_its_place(text, where):
    with pytest.raises(SchemaError, match=where):
        EditRule(text)


@settings(max_examples=50)
@given(st.text("age gross<>=!()[]'\"+-*/.,0123notrd_\\:", max_size=30))
def test_any_text_is_a_rule_or_a_sentence(text):
    with suppress(SchemaError):
        assert len(EditRule(text).broken(FRAME)) == len(FRAME)


def test_numbers_and_texts_are_not_compared():
    with pytest.raises(SchemaError, match=r"numbers with texts at place 1 \(employed\)"):
        EditRule("employed > 1").broken(FRAME)
    with pytest.raises(SchemaError, match="calculates with texts at place 1"):
        EditRule("employed + 1 > 1").broken(FRAME)


def described(*rules):
    data = rwn.Microdata.from_frame(FRAME)
    return data.with_schema(replace(data.schema, edit_rules=rules))


def test_a_schema_holds_rules_and_says_who_breaks_them():
    data = described('age >= 15 or employed == "no"')
    assert '1 record breaks the edit rule age >= 15 or employed == "no".' in data.notices
    assert rwn.Schema.from_toml(data.schema.to_toml()) == data.schema
    for rule, reason in (("height > 1", "the table does not have"), ("age > 'a'", "with texts")):
        with pytest.raises(SchemaError, match=reason):
            described(rule)
    schema = data.schema
    with pytest.raises(SchemaError, match="age, which a release does not have"):
        schema.replace_variable("age", role="identifier")


def test_rules_that_share_a_variable_make_one_slice():
    data = described("age > gross", 'gross > 0 or employed == "no"', 'column("net pay") > -1')
    assert preset_slices(data, "edit_rules") == (("age", "employed", "gross"),)
    assert preset_slices(described(), "edit_rules") == ()


def test_variables_that_travel_together_keep_their_rules_and_a_policy_asks_for_it():
    rng = np.random.default_rng(5)
    gross = rng.integers(0, 50, 80)
    frame = pd.DataFrame(
        {"gross": gross, "net": gross - rng.integers(0, 9, 80), "x": rng.random(80)}
    )
    schema = rwn.Schema(
        variables=tuple(rwn.Variable(name=name, kind="count") for name in frame),
        edit_rules=("net <= gross",),
    )
    data = rwn.Microdata.from_frame(frame, schema)
    policy = rwn.Policy(limits=(rwn.Limit(measure="edit_rules_broken", at_most=0.0),))
    for slices, kept in (((), False), (preset_slices(data, "edit_rules"), True)):
        table = data.with_slices(slices)
        release = rwn.mask(table, rwn.RWN(k=20), seed=1)
        reading = rwn.audit(table, release, measures=["edit_rules_broken"]).readings
        counted = int((release.masked.frame["net"] > release.masked.frame["gross"]).sum())
        assert reading["edit_rules_broken"].detail.released.tolist() == [counted]
        assert reading["edit_rules_broken"].baseline == 0
        assert (counted == 0) is kept
        assert policy.judge(reading).kept is kept
