"""Schemas and other plain data from outside: held, refused, kept by TOML."""

import datetime
import itertools
import tomllib
import tracemalloc
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rwn_core as rwn
from rwn_core.data import plain as plain_budget
from rwn_core.data.edit_rules import EditRule, as_edit_rules
from rwn_core.data.plain import WIDTH, read_plain, toml_document, toml_text
from rwn_core.data.regression import Formula
from rwn_core.data.schema import as_slices, slice_words, slices_words, verbatim_words
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.registered_analysis import verdict
from rwn_core.measures.statistics.formula import formula_design
from rwn_core.reporting.context import Context
from rwn_core.reporting.project import Project
from rwn_core.reporting.scenario import Decision
from rwn_core.tuning import parse_values
from rwn_core.tuning.slice_presets import preset_slices

NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)


def variable(name: str = "x", **fields: object) -> rwn.Variable:
    return rwn.Variable(**{"name": name, "kind": rwn.Kind.COUNT, **fields})  # type: ignore[arg-type]


def test_names_are_required_in_order():
    schema = rwn.Schema(variables=(variable("a"), variable("b")))
    schema.require_names(("a", "b"))
    for names, message in (
        (("a", "c", "b"), "lacks column c"),
        (("a",), "a variable b that the table lacks"),
        (("b", "a"), "another order"),
    ):
        with pytest.raises(rwn.SchemaError, match=message):
            schema.require_names(names)


def test_changes_leave_the_rest():
    schema = rwn.Schema(variables=(variable("a"), variable("b", role=rwn.Role.IDENTIFIER)))
    changed = schema.with_weights({"a": 0}).replace_variable("b", kind=rwn.Kind.DATE)
    assert changed.variable("a").weight == 0
    assert schema.with_weights({1: 0}).variable("a").weight == 0
    assert schema.with_weights({"1": 0}).variable("a").weight == 0
    with pytest.raises(rwn.SchemaError, match="from 1 to 1"):
        schema.with_weights({"2": 0})  # b stays inside
    named = rwn.Schema(variables=(variable("a"), variable("1")))
    assert named.with_weights({"1": 0}).variable("1").weight == 0
    with pytest.raises(rwn.SchemaError, match="no variable 2"):
        named.with_weights({2: 0})
    assert changed.variable("b").kind is rwn.Kind.DATE
    assert schema.variable("a").weight == 1
    assert [v.name for v in changed.released] == ["a"]
    with pytest.raises(rwn.SchemaError, match="no variable c; the table has: a, b"):
        schema.variable("c")


@st.composite
def schemas(draw: st.DrawFn) -> rwn.Schema:
    """Random schemas."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    levels = st.none() | st.lists(NAMES, min_size=1, unique=True).map(tuple)
    once = {rwn.Role.SAMPLING_WEIGHT, rwn.Role.HOUSEHOLD}  # of at most one variable
    roles = draw(
        st.lists(st.sampled_from(rwn.Role), min_size=len(names), max_size=len(names)).filter(
            lambda chosen: all(chosen.count(role) < 2 for role in once)
        )
    )
    variables = tuple(
        rwn.Variable(
            name=name,
            kind=draw(st.sampled_from(rwn.Kind)),
            role=role,
            weight=draw(st.floats(0, 1e9)),
            group=draw(st.none() | st.just("g")),
            levels=draw(levels),
        )
        for name, role in zip(names, roles, strict=True)
    )
    question = None
    if len(names) > 1 and draw(st.booleans()):
        question = rwn.Question(response=names[0], predictors=tuple(names[1:]))
    free = [each.name for each in variables if each.is_released]
    rules = tuple(f"column({name!r}) > 1 or 2 < 1" for name in free[:1])
    return rwn.Schema(variables=variables, question=question, edit_rules=rules)


@given(schemas())
def test_toml_keeps_everything(schema):
    assert rwn.Schema.from_toml(schema.to_toml()) == schema


def test_a_schema_that_releases_some_leaves_out_the_others_and_what_names_them():
    kinds = {"a": "continuous", "b": "continuous", "hh": "categorical", "id": "categorical"}
    schema = rwn.Schema(
        variables=tuple(rwn.Variable(name=name, kind=kind) for name, kind in kinds.items()),
        question=rwn.Question(response="a", predictors=("b",)),
        edit_rules=("a >= 1", "b >= 1"),
    ).replace_variable("hh", role="household")
    few = schema.releasing(["a", "id"])
    assert [v.name for v in few.released] == ["a", "id"]
    assert few.variable("hh").role == "household"
    assert few.question is None
    assert [rule.text for rule in few.edit_rules] == ["a >= 1"]
    back = few.releasing(["a", "b"])
    assert [(v.name, str(v.role)) for v in back.released] == [("a", "other"), ("b", "other")]
    with pytest.raises(rwn.SchemaError, match="no variable c"):
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


@pytest.mark.parametrize("change", [{"role": rwn.Role.IDENTIFIER}, {"masked": False}])
def test_only_masked_variables_of_the_release_can_travel(bodyfat, change):
    schema = bodyfat.schema.replace_variable("age", **change)
    with pytest.raises(rwn.ParameterError, match="age, which is no masked variable"):
        schema.with_slices([["age", "weight"]])
    with pytest.raises(rwn.ParameterError, match="nowhere, which is no masked variable"):
        bodyfat.schema.with_slices([["nowhere", "weight"]])


def test_unmasked_variables_that_share_a_group_are_no_slice(bodyfat):
    unmasked = {"group": "g", "masked": False}
    variables = tuple(
        replace(v, **unmasked) if v.name in ("age", "neck") else v for v in bodyfat.schema.variables
    )
    assert rwn.Schema(variables=variables).slices == ()


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
    with suppress(rwn.SchemaError):
        assert len(EditRule(text).broken(FRAME)) == len(FRAME)


def described(*rules):
    data = rwn.Microdata.from_frame(FRAME)
    return data.with_schema(replace(data.schema, edit_rules=rules))


def test_a_schema_holds_rules_and_says_who_breaks_them():
    data = described('age >= 15 or employed == "no"')
    assert '1 record breaks the edit rule age >= 15 or employed == "no".' in data.notices
    assert rwn.Schema.from_toml(data.schema.to_toml()) == data.schema
    for rule, reason in (("height > 1", "the table does not have"), ("age > 'a'", "with texts")):
        with pytest.raises(rwn.SchemaError, match=reason):
            described(rule)
    schema = data.schema
    with pytest.raises(rwn.SchemaError, match="age, which a release does not have"):
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


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """Hold a part."""

    size: int
    share: float = 0.5
    role: rwn.Role = rwn.Role.OTHER


@dataclass(frozen=True, kw_only=True)
class Leaves:
    """Hold a list."""

    leaves: tuple[Leaf, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Hold a whole."""

    file_format: ClassVar[str] = "tree 1"
    name: str
    tall: bool = False
    branches: Leaves = field(default_factory=Leaves, metadata={"in_file": "branch"})
    weights: Mapping[str, float] = field(default_factory=dict)
    method: str | tuple[str, ...] = "rwn"
    top: Leaf | None = None
    rest: Any = None


def test_a_record_is_read_by_its_hints_and_names_in_the_file():
    plain = {
        "format": "tree 1",
        "name": "oak",
        "branch": [{"size": 1}, {"size": 2, "share": 1, "role": "key"}],
        "weights": {"a": 1, "b": 0.5},
        "method": ["rwn", "pram"],
        "top": None,
    }
    branches = Leaves(leaves=(Leaf(size=1), Leaf(size=2, share=1, role=rwn.Role.KEY)))
    assert read_plain(Tree, plain, "tree") == Tree(
        name="oak", branches=branches, weights={"a": 1, "b": 0.5}, method=("rwn", "pram")
    )


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ([], "The tree must be a table with: name, tall, branch, weights, method, top, rest."),
        ({}, "The tree has no name; state it."),
        ({"name": 3}, "The name of the tree must be a text; correct it."),
        ({"name": "x", "leaf": 1}, "The tree has the unknown field leaf; known are: name, tall, "),
        ({"name": "x", "branches": []}, "The tree has the unknown field branches; known are: name"),
        ({"name": "x", "tall": 1}, "The tall of the tree must be true or false; correct it."),
        ({"name": "x", "branch": {}}, "The branch of the tree must be a list; correct it."),
        ({"name": "x", "branch": "ab"}, "The branch of the tree must be a list; correct it."),
        ({"name": "x", "branch": [{}]}, "The branch[1] of the tree has no size; state it."),
        ({"name": "x", "branch": [{"size": True}]}, "The branch[1].size of the tree must be a wh"),
        ({"name": "x", "branch": [{"size": 1.0}]}, "The branch[1].size of the tree must be a wh"),
        ({"name": "x", "weights": {"a": "1"}}, "The weights.a of the tree must be a number; corr"),
        ({"name": "x", "weights": [1]}, "The weights of the tree must be a table; correct it."),
        ({"name": "x", "method": 3}, "The method of the tree must be a list; correct it."),
        ({"name": "x", "top": {"size": 1, "role": "x"}}, "The top.role of the tree must be one of"),
        ({"name": "x", "top": {"size": 1, "format": 1}}, "The top of the tree has the unknown fi"),
    ],
)
def test_a_fault_is_one_sentence(wrong, why):
    with pytest.raises(rwn.SchemaError) as refused:
        read_plain(Tree, wrong, "tree", refusal=rwn.SchemaError)
    assert str(refused.value).startswith(why)
    assert str(refused.value).endswith(".")


PLAIN_NAMES = st.sampled_from([
    "name", "note", "seed", "setting", "method", "parameters", "weights", "precision", "slices",
    "sweep", "axes", "measures", "limit", "measure", "at_most", "analysis_plan", "kind",
    "tolerance", "variables", "readings", "scenario", "chosen", "participants", "context",
    "intruder_test", "by", "day", "hours", "claims", "purpose",
])  # fmt: skip
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN_NAMES, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("kind", [rwn.Scenario, Decision, Context, rwn.Policy])
@given(plain=PLAIN)
def test_whatever_a_file_holds_it_is_read_or_refused_in_a_sentence(kind, plain):
    faults = []
    try:
        read_plain(kind, plain, "file")
    except rwn.RWNError as refusal:  # of the reader, or a value that its record refuses
        faults.append(str(refusal))
    assert all(each.endswith(".") for each in faults)


WEIRD = (None, True, -1, 2.5, "", "x", [], [1], [["a"]], [[["a"]]], {}, {"a": 1}, [{}])


@pytest.mark.parametrize("method", rwn.METHODS)
def test_no_value_of_a_parameter_is_a_fault_of_the_program(method):
    for each in fields(rwn.METHODS[method]):
        for value in WEIRD:
            setting = {"method": method, "parameters": {each.name: value}}
            axes = {each.name: [value]}
            sweep = {"method": method, "measures": ["correlation"], "axes": axes}
            for document in ({"setting": setting}, {"sweep": sweep}):
                with suppress(rwn.RWNError):
                    rwn.Scenario.from_dict(document)


minutes = st.integers(-23 * 60, 23 * 60).map(
    lambda shift: datetime.timezone(datetime.timedelta(minutes=shift))
)
values = (
    st.text()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.dates()
    | st.times()
    | st.datetimes(timezones=st.none() | minutes)
)
plain = st.recursive(
    values,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=25,
)
documents = st.dictionaries(st.text(), plain, max_size=5)


@given(documents)
def test_any_plain_data_is_read_back_and_equal_data_has_one_text(document):
    def turned(node: Any) -> Any:
        """The same data with the names of every mapping in another order."""
        if isinstance(node, dict):
            return {name: turned(node[name]) for name in sorted(node, reverse=True)}
        return [turned(each) for each in node] if isinstance(node, list) else node

    for ordered in (False, True):
        text = toml_text(document, ordered=ordered)
        assert tomllib.loads(text) == document
        assert "\x7f" not in text
        assert toml_text(tomllib.loads(text), ordered=ordered) == text
    assert toml_text(turned(document), ordered=True) == text


@given(st.lists(values, min_size=20, max_size=60))
def test_long_lists_go_over_several_lines(items):
    text = toml_text({"items": items})
    assert tomllib.loads(text) == {"items": items}
    longest = max(len(toml_text({"items": [item]})) for item in items)
    assert max(map(len, text.split("\n"))) <= max(WIDTH, longest)


def test_a_file_reads_well():
    document = {
        "name": "Careful",
        "missing": None,
        "below": {"deeper": {"k": 5}, "each": [{"a": 1}, {"b": [0.5, True]}]},
        "day": datetime.date(2026, 3, 31),
        "empty": {},
        "two words": [],
        "mixed": [1, {"a": None, "b": 2}],
    }
    assert toml_text(document) == (
        'name = "Careful"\nday = 2026-03-31\n"two words" = []\nmixed = [1, { b = 2 }]\n\n'
        "[below.deeper]\nk = 5\n\n[[below.each]]\na = 1\n\n[[below.each]]\nb = [0.5, true]\n\n"
        "[empty]\n"
    )
    assert toml_text({}) == ""
    with pytest.raises(TypeError, match="no value of the type bytes"):
        toml_text({"x": [b"x"]})


NAMES_BUDGET = [f"{a}{b}" for a, b in itertools.product("abcdefghijklmnopqrstuvwxyz", "xyz")]
SMALL = 40_000_000  # bytes that a refusal may take; what is refused would take gigabytes


def scenario(formula: str) -> str:
    return (
        'format = "rwn scenario 1"\n[[analysis_plan]]\nname = "a"\nkind = "linear"\n'
        f"tolerance = 1.0\nformula = {formula!r}\n"
    )


def refused(act: Callable[[], object]) -> str:
    """The one sentence of a refusal, which takes little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(rwn.RWNError) as caught:
            act()
        assert tracemalloc.get_traced_memory()[1] < SMALL
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("factors", [10, 60, 2_000])
def test_a_formula_of_many_factors_is_counted_before_it_grows(factors):
    letters = [f"v{number}" for number in range(factors)]
    message = refused(lambda: Formula.parse(f"y ~ {'*'.join(letters)}"))
    assert "terms" in message or "letters" in message
    if factors < 700:
        refused(lambda: rwn.Scenario.from_toml(scenario(f"y ~ {'*'.join(letters)}")))
    parts = [f"a{i}*b{i}*c{i}*d{i}*e{i}" for i in range(17)]  # small crossings count together
    assert len(Formula.parse(f"y ~ {' + '.join(parts[:16])}").terms) == 16 * 31
    assert "cannot be read" in refused(lambda: Formula.parse("y ~ (a+b)^9"))
    assert "500 terms" in refused(lambda: Formula.parse(f"y ~ {' + '.join(parts)}"))


def test_what_occurs_twice_counts_once_as_in_r():
    for text in ("y ~ a*a*a", "y ~ a + a", "y ~ a:a", "y ~ " + "*".join(["a"] * 900)):
        assert [[str(f) for f in term] for term in Formula.parse(text).terms] == [["a"]]
    assert len(Formula.parse("y ~ a*b + b*a").terms) == 3
    assert len(Formula.parse("y ~ a:b * b:c").terms) == 3


pieces = st.sampled_from([*"ab:*+~() `.", "*", ":", "log(", "x1", "wage", "sqrt(z)", "`a b`"])


@given(st.lists(pieces, max_size=400).map("".join), st.text(max_size=300))
@settings(max_examples=300)
def test_no_text_of_2000_letters_grows_beyond_the_budget(text, other):
    for formula in (f"y ~ {text}"[:2_000], other, f"y~{other}"):
        try:
            terms = Formula.parse(formula).terms
        except rwn.ParameterError:
            continue
        assert 0 < len(terms) <= plain_budget.MOST_TERMS
        assert max(map(len, terms)) <= plain_budget.MOST_FACTORS
        assert len({frozenset(term) for term in terms}) == len(terms)


@given(
    st.lists(
        st.lists(st.sampled_from(NAMES_BUDGET), min_size=1, max_size=5), min_size=1, max_size=4
    )
)
def test_the_terms_are_all_products_of_what_is_crossed(parts):
    wanted = {
        frozenset(chosen)
        for part in parts
        for size in range(1, len(part) + 1)
        for chosen in itertools.combinations(part, size)
    }
    formula = Formula.parse("y ~ " + " + ".join("*".join(part) for part in parts))
    assert {frozenset(f.name for f in term) for term in formula.terms} == wanted


def table(levels: int = 40, records: int = 400) -> rwn.Microdata:
    rng = np.random.default_rng(1)
    columns = {f"g{i}": rng.integers(0, levels, records).astype(str) for i in range(10)}
    return rwn.Microdata.from_frame(pd.DataFrame({"y": rng.normal(size=records), **columns}))


def test_products_of_categories_are_counted_before_their_columns_are_made():
    data = table()
    for text in ("y ~ g0:g1", "y ~ g0:g1:g2:g3:g4:g5:g6:g7", "y ~ g0*g1*g2*g3"):
        formula = Formula.parse(text)
        tracemalloc.start()
        with pytest.raises(rwn.NotApplicable, match="coefficients"):
            formula_design(data, data, formula)
        assert tracemalloc.get_traced_memory()[1] < SMALL
        tracemalloc.stop()


def test_a_table_of_many_variables_is_counted_before_it_is_made():
    data = table()
    comparison = compare(data, data)
    wide = rwn.Analysis(name="t", kind="table", tolerance=0.1, variables=tuple(data.names[1:]))
    tracemalloc.start()
    found = verdict(wide, comparison)
    assert tracemalloc.get_traced_memory()[1] < SMALL
    tracemalloc.stop()
    assert "cells" in found.reason
    with pytest.raises(rwn.ParameterError, match="more than 10"):
        rwn.Analysis(name="t", kind="table", tolerance=0.1, variables=("g1",) * 11)


HUGE = {
    "letters": "# " + "x" * 5_000_001,
    "names": "\n".join(f"k{i} = 1" for i in range(60_000)),
    "values": "a = [" + "1," * 60_000 + "]",
    "lists": "a = " + "[" * 900 + "]" * 900,
    "open lists": "a = " + "[" * 400_000,
    "inline tables": "a = " + "{a=" * 400 + "1" + "}" * 400,
    "dotted names": ".".join("a" * 20_000) + " = 1",
    "dotted header": f"[{'.'.join('a' * 20_000)}]\nx = 1",
    "nested both ways": "a.b.c.d.e.f.g.h.i = {a.b.c.d.e.f.g.h.i = {a.b.c.d.e.f = 1}}",
    "digits": "a = " + "1" * 5_000,
    "hexadecimal": "a = 0x" + "f" * 5_000,
    "unclosed quotes": 'a = """' + '\\"""' * 100_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_deep_and_long_toml_is_refused(name):
    text = HUGE[name]
    assert len(refused(lambda: rwn.Schema.from_toml(text))) < 200


def test_every_file_of_the_program_is_under_the_budget():
    for read in (rwn.Scenario.from_toml, Project.from_toml, rwn.AnalysisPlan.from_toml):
        assert "deep" in refused(lambda read=read: read(HUGE["lists"]))
    # signs within texts and comments count for nothing
    text = 'a = "' + "[" * 600 + "." * 600 + "\"\nb = '''" + "{" * 600 + "'''\n# " + "[" * 900
    assert set(toml_document(text, "schema file")) == {"a", "b"}


def test_lists_have_an_end():
    assert "Edit rules" in refused(lambda: as_edit_rules(["a > 1"] * 201))
    rules = [f"a > {number} or {'b < 1 or ' * 40}c == 1" for number in range(60)]
    assert len(as_edit_rules(rules[:40])) == 40
    assert "list of edit rules" in refused(lambda: as_edit_rules(rules))
    one = '[[analysis]]\nname = "n{}"\nkind = "linear"\ntolerance = 1\nformula = "y ~ x"\n'
    many = "".join(one.format(i) for i in range(101))
    assert "analyses" in refused(lambda: rwn.AnalysisPlan.from_toml(many))
    for text, words in ((",".join(["0:9999:1"] * 500), "20,000 values"), ("1," * 5_001, "letters")):
        assert words in refused(lambda text=text: parse_values(text, "The list of k"))


def test_a_large_schema_of_a_real_survey_is_read():
    labels = ", ".join(f'[{code}, "{code} an answer of forty letters or so"]' for code in range(25))
    block = '[[variable]]\nname = "v{}"\nkind = "categorical"\nvalue_labels = [{}]\n'
    schema = rwn.Schema.from_toml("".join(block.format(i, labels) for i in range(1_500)))
    assert len(schema.variables) == 1_500
