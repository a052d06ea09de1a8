"""The budget of text from outside: counted before anything grows (finding T1)."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rwn_core as rwn
from rwn_core.data import plain
from rwn_core.data.edit_rules import as_edit_rules
from rwn_core.data.plain import toml_document
from rwn_core.data.schema import Schema
from rwn_core.errors import NotApplicable, ParameterError, RWNError
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.registered_analysis import Analysis, AnalysisPlan, verdict
from rwn_core.measures.statistics.formula import Formula, formula_design
from rwn_core.reporting.project import Project
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import parse_values

NAMES = [f"{a}{b}" for a, b in itertools.product("abcdefghijklmnopqrstuvwxyz", "xyz")]
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
        with pytest.raises(RWNError) as caught:
            act()
        assert tracemalloc.get_traced_memory()[1] < SMALL
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("factors", [10, 60, 500, 2_000])
def test_a_formula_of_many_factors_is_counted_before_it_grows(factors: int) -> None:
    letters = [f"v{number}" for number in range(factors)]
    message = refused(lambda: Formula.parse(f"y ~ {'*'.join(letters)}"))
    assert "terms" in message or "letters" in message
    if factors < 700:
        refused(lambda: Scenario.from_toml(scenario(f"y ~ {'*'.join(letters)}")))


def test_many_small_crossings_count_together() -> None:
    parts = [f"a{i}*b{i}*c{i}*d{i}*e{i}" for i in range(17)]
    assert len(Formula.parse(f"y ~ {' + '.join(parts[:16])}").terms) == 16 * 31
    assert "500 terms" in refused(lambda: Formula.parse(f"y ~ {' + '.join(parts)}"))


def test_what_occurs_twice_counts_once_as_in_r() -> None:
    for text in ("y ~ a*a*a", "y ~ a + a", "y ~ a:a", "y ~ " + "*".join(["a"] * 900)):
        assert [[str(f) for f in term] for term in Formula.parse(text).terms] == [["a"]]
    assert len(Formula.parse("y ~ a*b + b*a").terms) == 3
    assert len(Formula.parse("y ~ a:b * b:c").terms) == 3


@pytest.mark.parametrize("text", ["y ~ (a+b)^9", "y ~ ((((a))))", "y ~ (a*b)^26", "y ~ a**9"])
def test_powers_and_parentheses_are_no_part_of_a_formula(text: str) -> None:
    assert "cannot be read" in refused(lambda: Formula.parse(text))


pieces = st.sampled_from([*"ab:*+~() `.", "*", ":", "log(", "x1", "wage", "sqrt(z)", "`a b`"])


@given(st.lists(pieces, max_size=400).map("".join), st.text(max_size=300))
@settings(max_examples=300)
def test_no_text_of_2000_letters_grows_beyond_the_budget(text: str, other: str) -> None:
    for formula in (f"y ~ {text}"[:2_000], other, f"y~{other}"):
        try:
            terms = Formula.parse(formula).terms
        except ParameterError:
            continue
        assert 0 < len(terms) <= plain.MOST_TERMS
        assert max(map(len, terms)) <= plain.MOST_FACTORS
        assert len({frozenset(term) for term in terms}) == len(terms)


@given(st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5), min_size=1, max_size=4))
def test_the_terms_are_all_products_of_what_is_crossed(parts: list[list[str]]) -> None:
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


def test_products_of_categories_are_counted_before_their_columns_are_made() -> None:
    data = table()
    for text in ("y ~ g0:g1", "y ~ g0:g1:g2:g3:g4:g5:g6:g7", "y ~ g0*g1*g2*g3"):
        formula = Formula.parse(text)
        tracemalloc.start()
        with pytest.raises(NotApplicable, match="coefficients"):
            formula_design(data, data, formula)
        assert tracemalloc.get_traced_memory()[1] < SMALL
        tracemalloc.stop()


def test_a_table_of_many_variables_is_counted_before_it_is_made() -> None:
    data = table()
    comparison = compare(data, data)
    wide = Analysis(name="t", kind="table", tolerance=0.1, variables=tuple(data.names[1:]))
    tracemalloc.start()
    found = verdict(wide, comparison)
    assert tracemalloc.get_traced_memory()[1] < SMALL
    tracemalloc.stop()
    assert "cells" in found.reason
    with pytest.raises(ParameterError, match="more than 10"):
        Analysis(name="t", kind="table", tolerance=0.1, variables=("g1",) * 11)


HUGE = {
    "letters": "# " + "x" * 5_000_001,
    "names": "\n".join(f"k{i} = 1" for i in range(510_000)),
    "values": "a = [" + "1," * 510_000 + "]",
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
def test_huge_deep_and_long_toml_is_refused(name: str) -> None:
    text = HUGE[name]
    assert len(refused(lambda: Schema.from_toml(text))) < 200


def test_every_file_of_the_program_is_under_the_budget() -> None:
    for read in (Scenario.from_toml, Project.from_toml, AnalysisPlan.from_toml):
        assert "deep" in refused(lambda read=read: read(HUGE["lists"]))


def test_signs_within_texts_and_comments_count_for_nothing() -> None:
    text = 'a = "' + "[" * 600 + "." * 600 + "\"\nb = '''" + "{" * 600 + "'''\n# " + "[" * 900
    assert set(toml_document(text, "schema file")) == {"a", "b"}
    broken = "a = [1, 2\n"
    assert "not valid TOML" in refused(lambda: toml_document(broken, "schema file"))


def test_lists_of_rules_and_analyses_have_an_end() -> None:
    assert "Edit rules" in refused(lambda: as_edit_rules(["a > 1"] * 201))
    one = '[[analysis]]\nname = "n{}"\nkind = "linear"\ntolerance = 1\nformula = "y ~ x"\n'
    many = "".join(one.format(i) for i in range(101))
    assert "analyses" in refused(lambda: AnalysisPlan.from_toml(many))


def test_a_large_schema_of_a_real_survey_is_read() -> None:
    labels = ", ".join(f'[{code}, "{code} an answer of forty letters or so"]' for code in range(25))
    block = '[[variable]]\nname = "v{}"\nkind = "categorical"\nvalue_labels = [{}]\n'
    schema = Schema.from_toml("".join(block.format(i, labels) for i in range(1_500)))
    assert len(schema.variables) == 1_500


def test_a_list_of_ranges_ends_before_it_grows() -> None:
    assert "values" in refused(lambda: parse_values(",".join(["0:9999:1"] * 500), "The list of k"))
    assert "letters" in refused(lambda: parse_values("1," * 5_000 + "1", "The list of k"))


def test_all_edit_rules_together_have_an_end() -> None:
    rules = [f"a > {number} or {'b < 1 or ' * 40}c == 1" for number in range(60)]
    assert len(as_edit_rules(rules[:40])) == 40
    assert "list of edit rules" in refused(lambda: as_edit_rules(rules))
