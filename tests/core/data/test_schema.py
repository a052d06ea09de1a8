"""Schemas: what they refuse, and that TOML keeps all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwn_core.data.schema import Question, Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import SchemaError

NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)


def variable(name: str = "x", **fields: object) -> Variable:
    return Variable(**{"name": name, "kind": Kind.COUNT, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "number"}, "kind of variable x must be one of: continuous, count"),
        ({"role": "secret"}, "role of variable x must be one of: key"),
        *[({"weight": w}, "weight of variable x") for w in (-1, float("nan"), "2", True, None)],
        ({"weight": float("inf")}, "at least 0"),
        ({"weight": 1e160}, "at most 1e[+]50"),
        ({"masked": "no"}, "masked of variable x must be true or false"),
        ({"levels": ()}, "levels of variable x must be a list of texts"),
        ({"levels": "abc"}, "levels of variable x must be a list of texts"),
        ({"levels": ("a", 1)}, "levels of variable x must be a list of texts"),
        ({"levels": ("a", "b", "a")}, "Level a occurs 2 times among the levels of x"),
        ({"group": 3}, "must be texts"),
        ({"name": 3}, "must be texts"),
    ],
)
def test_a_variable_refuses(fields: dict[str, object], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        variable(**fields)


def test_words_become_kinds_and_roles() -> None:
    made = variable(kind="ordered", role="key", weight=2, levels=["b", "a"])
    assert made.kind is Kind.ORDERED
    assert made.role is Role.KEY
    assert made.levels == ("b", "a")


@pytest.mark.parametrize(
    ("response", "predictors", "message"),
    [
        ("y", (), "at least one predictor"),
        ("y", ("x", "y"), "both response and predictor"),
        ("y", ("x", "x"), "x occurs 2 times as a predictor"),
    ],
)
def test_a_question_refuses(response: str, predictors: tuple[str, ...], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Question(response=response, predictors=predictors)


def test_a_schema_refuses() -> None:
    with pytest.raises(SchemaError, match="x occurs 2 times in the schema"):
        Schema(variables=(variable(), variable()))
    with pytest.raises(SchemaError, match="names the variable z"):
        Schema(variables=(variable(),), question=Question(response="x", predictors=("z",)))
    with pytest.raises(SchemaError, match="Group g has masked and unmasked"):
        Schema(variables=(variable(group="g"), variable("y", group="g", masked=False)))


def test_names_are_required_in_order() -> None:
    schema = Schema(variables=(variable("a"), variable("b")))
    schema.require_names(("a", "b"))
    for names, message in (
        (("a", "c", "b"), "lacks column c"),
        (("a",), "a variable b that the table lacks"),
        (("b", "a"), "another order"),
    ):
        with pytest.raises(SchemaError, match=message):
            schema.require_names(names)


def test_changes_leave_the_rest() -> None:
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"no \[\[variable\]\] table"),
        ("variable = []\n[file]\nabove = 1", r"no \[\[variable\]\] table"),
        ("edit_rules = []\n[file]\nabove = 1", r"no \[\[variable\]\] table"),
        ("variable = 3", r"no \[\[variable\]\] table"),
        ("variable = [3]", "needs a name and a kind"),
        ("[[variable]]\nname = 'x'", "needs a name and a kind"),
        ("[[variable]]\nname = 3\nkind = 'count'", "needs a name and a kind"),
        ("[[variable]]\nname = 'x'\nkind = 'count'\nsize = 3", "unknown field size; known are"),
        ("[[variable]]\nname = 'x'\nkind = 'count'\nlevels = 'abc'", "levels of variable x"),
        ("[[variable]]\nname = 'x'\nkind = ['count']", "kind of variable x"),
        ("[[variables]]\nname = 'x'", "unknown table variables"),
        ("[[variable]\n", r"not valid TOML \(at line 1"),
        (
            "[[variable]]\nname = 'x'\nkind = 'count'\n[question]\nresponse = 'x'",
            "question of the schema file has no predictors; state",
        ),
        (
            "question = 3\n[[variable]]\nname = 'x'\nkind = 'count'",
            "question of the schema file must be a table with: response, predictors",
        ),
        (
            "[[variable]]\nname = 'x'\nkind = 'count'\n"
            "[question]\nresponse = 3\npredictors = ['a']",
            r"question\.response of the schema file must be a text; correct",
        ),
    ],
)
def test_toml_is_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Random schemas."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    levels = st.none() | st.lists(NAMES, min_size=1, unique=True).map(tuple)
    once = {Role.SAMPLING_WEIGHT, Role.HOUSEHOLD}  # of at most one variable
    roles = draw(
        st.lists(
            st.sampled_from(Role),
            min_size=len(names),
            max_size=len(names),
        ).filter(lambda chosen: all(chosen.count(role) < 2 for role in once))
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
def test_toml_keeps_everything(schema: Schema) -> None:
    assert Schema.from_toml(schema.to_toml()) == schema


def test_a_schema_that_releases_some_leaves_out_the_others_and_what_names_them() -> None:
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
