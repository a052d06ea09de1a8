"""Schemas, slices and edit rules: what they hold, what they refuse, that TOML keeps them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rwn_core as rwn
from rwn_core import Kind, ParameterError, Question, Role, Schema, SchemaError, Variable
from rwn_core.data.edit_rules import EditRule
from rwn_core.data.schema import as_slices, slice_words, slices_words, verbatim_words
from rwn_core.tuning.slice_presets import preset_slices

NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)


def variable(name: str = "x", **fields: object) -> Variable:
    return Variable(**{"name": name, "kind": Kind.COUNT, **fields})  # type: ignore[arg-type]


def test_names_are_required_in_order():
    schema = Schema(variables=(variable("a"), variable("b")))
    schema.require_names(("a", "b"))
    for names, message in (
        (("a", "c", "b"), "lacks column c"),
        (("a",), "a variable b that the table lacks"),
        (("b", "a"), "another order"),
    ):
        with pytest.raises(SchemaError, match=message):
            schema.require_names(names)


def test_changes_leave_the_rest():
    schema = Schema(variables=(variable("a"), variable("b", role=Role.IDENTIFIER)))
    changed = schema.with_weights({"a": 0}).replace_variable("b", kind=Kind.DATE)
    assert changed.variable("a").weight == 0
    assert schema.with_weights({1: 0}).variable("a").weight == 0
    assert schema.with_weights({"1": 0}).variable("a").weight == 0
    with pytest.raises(SchemaError, match="from 1 to 1"):
        schema.with_weights({"2": 0})  # b stays inside
    named = Schema(variables=(variable("a"), variable("1")))
    assert named.with_weights({"1": 0}).variable("1").weight == 0
    with pytest.raises(SchemaError, match="no variable 2"):
        named.with_weights({2: 0})
    assert changed.variable("b").kind is Kind.DATE
    assert schema.variable("a").weight == 1
    assert [v.name for v in changed.released] == ["a"]
    with pytest.raises(SchemaError, match="no variable c; the table has: a, b"):
        schema.variable("c")


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Random schemas."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    levels = st.none() | st.lists(NAMES, min_size=1, unique=True).map(tuple)
    once = {Role.SAMPLING_WEIGHT, Role.HOUSEHOLD}  # of at most one variable
    roles = draw(
        st.lists(st.sampled_from(Role), min_size=len(names), max_size=len(names)).filter(
            lambda chosen: all(chosen.count(role) < 2 for role in once)
        )
    )
    variables = tuple(
        Variable(
            name=name,
            kind=draw(st.sampled_from(Kind)),
            role=role,
            weight=draw(st.floats(0, 1e9)),
            group=draw(st.none() | st.just("g")),
            levels=draw(levels),
        )
        for name, role in zip(names, roles, strict=True)
    )
    question = None
    if len(names) > 1 and draw(st.booleans()):
        question = Question(response=names[0], predictors=tuple(names[1:]))
    free = [each.name for each in variables if each.is_released]
    rules = tuple(f"column({name!r}) > 1 or 2 < 1" for name in free[:1])
    return Schema(variables=variables, question=question, edit_rules=rules)


@given(schemas())
def test_toml_keeps_everything(schema):
    assert Schema.from_toml(schema.to_toml()) == schema


def test_a_schema_that_releases_some_leaves_out_the_others_and_what_names_them():
    kinds = {"a": "continuous", "b": "continuous", "hh": "categorical", "id": "categorical"}
    schema = Schema(
        variables=tuple(Variable(name=name, kind=kind) for name, kind in kinds.items()),
        question=Question(response="a", predictors=("b",)),
        edit_rules=("a >= 1", "b >= 1"),
    ).replace_variable("hh", role="household")
    few = schema.releasing(["a", "id"])
    assert [v.name for v in few.released] == ["a", "id"]
    assert few.variable("hh").role == "household"
    assert few.question is None
    assert [rule.text for rule in few.edit_rules] == ["a >= 1"]
    back = few.releasing(["a", "b"])
    assert [(v.name, str(v.role)) for v in back.released] == [("a", "other"), ("b", "other")]
    with pytest.raises(SchemaError, match="no variable c"):
        schema.releasing(["c"])


@pytest.fixture(scope="module")
def bodyfat() -> rwn.Microdata:
    return rwn.load_demo("bodyfat")


def test_one_partition_is_written_in_one_way():
    slices = (("age", "weight"), ("hip", "knee"))
    assert as_slices([["knee", "hip"], ["weight", "age"]]) == slices
    assert as_slices(each for each in slices) == slices  # of a generator, too
    assert slices_words(slices) == "age + weight travel together, hip + knee travel together"
    assert slices_words(()) == ""
    assert slice_words("abcd", short=True) == slice_words("abcd") == "a + b + c + d"
    assert slice_words("abcde", short=True) == "a + b + 3 more"
    first, second = verbatim_words((("age", "sex"), ("a", "b", "c")))
    assert first.startswith("A row shows age and sex of one person verbatim")
    assert "who knows two of them may read the other" in second


@pytest.mark.parametrize("change", [{"role": Role.IDENTIFIER}, {"masked": False}])
def test_only_masked_variables_of_the_release_can_travel(bodyfat, change):
    schema = bodyfat.schema.replace_variable("age", **change)
    with pytest.raises(ParameterError, match="age, which is no masked variable"):
        schema.with_slices([["age", "weight"]])
    with pytest.raises(ParameterError, match="nowhere, which is no masked variable"):
        bodyfat.schema.with_slices([["nowhere", "weight"]])


def test_unmasked_variables_that_share_a_group_are_no_slice(bodyfat):
    unmasked = {"group": "g", "masked": False}
    variables = tuple(
        replace(v, **unmasked) if v.name in ("age", "neck") else v for v in bodyfat.schema.variables
    )
    assert Schema(variables=variables).slices == ()


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


@settings(max_examples=50)
@given(st.text("age gross<>=!()[]'\"+-*/.,0123notrd_\\:", max_size=30))
def test_any_text_is_a_rule_or_a_sentence(text):
    with suppress(SchemaError):
        assert len(EditRule(text).broken(FRAME)) == len(FRAME)


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
