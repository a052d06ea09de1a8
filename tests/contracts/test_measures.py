"""What every measure of the catalogue owes, on tables of every sort."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

import rwn_core as rwn
import rwn_core.measures
from rwn_core.errors import NotApplicable
from rwn_core.laws.donors import copy_from_donors
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES, read
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading, plain
from rwn_ui.risk import sentences as risk_sentences
from tests.contracts.measure_tables import (
    TABLES,
    against_itself,
    another,
    data,
    first_reading,
    reading,
    released,
    shuffled,
)
from tests.holding import hold

NAN_MEANS_CONSTANT = {"correlation", "rank_correlation", "association"}
OF_ALL_RELEASES = {
    # what a law expects of every release says nothing of the one at hand
    *("neighborhood_size", "repeated_releases", "membership", "differential_privacy"),
    *("misclassification", "extremes", "queries", "homogeneity", "posterior_odds"),
}
WORST_OF_ITSELF = {
    # the original gives away at least as much as a release of it
    *("singling_out", "linkability", "inference", "probabilistic_linkage"),
    *("true_matches", "red_team"),
}
ZERO_OF_ITSELF = {"cells_changed", "closest_record"}
DOUBTED_OF_ITSELF = {
    # who knows the law takes the original for a release like any other
    *("bayes_linkage", "intruder_levels", "whole_file_linkage", "attribute_inference"),
    *("attribute_gain", "abstaining_linkage", "linked_over_half", "certified_linkage"),
    "largest_linkage",
}
NEEDS_A_LAW = {
    *("neighborhood_size", "bayes_linkage", "intruder_levels", "whole_file_linkage"),
    *("abstaining_linkage", "repeated_releases", "membership", "attribute_inference"),
    *("attribute_gain", "linked_over_half", "certified_linkage", "largest_linkage"),
    *("differential_privacy", "misclassification", "queries", "homogeneity"),
    "posterior_odds",
}
NOTHING_LEFT = {
    # what a release without any value discloses: nothing, and that is an answer
    "extremes",
    "uniqueness",
    "k_anonymity",
    "l_diversity",
    "t_closeness",
    "suda",
    "loglinear_risk",
    "interval_disclosure",
    "true_matches",
}
NEEDS_A_SCHEMA = {"survey_estimates", "edit_rules_broken"}
NEEDS_A_POPULATION = {"population_uniqueness"}
FORBIDDEN_TO_MEASURES = ("rwn_core.measures.utility", "rwn_core.measures.risk", "rwn_core.masking")
OF_EVERY_KIND = ("mixed", "holes", "categories", "soft kernel")
"""Tables on which a measure is read twice: every kind of variable, empty cells, both laws."""
NEEDS_A_SECRET = {"l_diversity", "t_closeness", "inference"}


def leaves(value: Any) -> list[Any]:
    if is_dataclass(value):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    return [value]


def test_the_catalogue_holds_every_record_of_every_file_under_its_side():
    written, folder = {}, Path(rwn_core.measures.__file__).parent
    for side in ("utility", "risk"):
        for path in (folder / side).glob("[a-z]*.py"):
            module = import_module(f"rwn_core.measures.{side}.{path.stem}")
            keys = [each.key for each in vars(module).values() if isinstance(each, Measure)]
            assert keys, path
            assert not written.keys() & set(keys), path
            written |= dict.fromkeys(keys, side)
    assert {key: measure.side for key, measure in MEASURES.items()} == written


def test_utility_comes_first():
    sides = [measure.side for measure in MEASURES.values()]
    assert sides == sorted(sides, key=["utility", "risk"].index)


def test_a_measure_says_what_it_is():
    def rule(key: str) -> None:
        measure = MEASURES[key]
        assert measure.key == key
        assert measure.question.endswith("?")
        assert measure.question[0].isupper()
        assert measure.title
        assert measure.unit
        assert measure.source
        assert measure.better in {"lower", "higher", "neutral"}
        assert measure.bounds[0] < measure.bounds[1]

    hold(rule, MEASURES)


def test_every_measure_reads_some_table():
    """Else a rule on readings would hold for nothing."""

    def rule(key: str) -> None:
        assert any(isinstance(reading(key, table), Reading) for table in TABLES)

    hold(rule, MEASURES)


def test_a_reading_or_a_reason():
    def rule(key: str, table: str) -> None:
        found = reading(key, table)
        if isinstance(found, NotApplicable):
            assert found.reason.endswith(".")
            assert found.reason[0].isupper()
        else:
            low, high = MEASURES[key].bounds
            assert isinstance(found, Reading)
            assert type(found.value) is float
            assert low <= found.value <= high
            assert math.isfinite(found.value)
            assert found.baseline is None or math.isfinite(found.baseline)

    hold(rule, MEASURES, TABLES)


def test_the_detail_is_plain_and_finite():
    def rule(key: str, table: str) -> None:
        found = reading(key, table)
        if isinstance(found, Reading):
            orjson.dumps(plain(found.detail), option=orjson.OPT_SERIALIZE_NUMPY)
            values = [leaf for leaf in leaves(plain(found.detail)) if isinstance(leaf, float)]
            assert key in NAN_MEANS_CONSTANT or all(math.isfinite(value) for value in values)

    hold(rule, MEASURES, TABLES)


def test_data_against_itself_has_the_best_value():
    def rule(key: str, table: str) -> None:
        comparison = against_itself(table)
        found, first = read(key, comparison), reading(key, table)
        if isinstance(found, NotApplicable):
            # that one is made of the differences, and there are none
            assert isinstance(first, NotApplicable) or key == "mahalanobis_linkage"
        elif key == "distance_linkage":
            distinct = len(comparison.original.frame.drop_duplicates())
            assert found.value == pytest.approx(distinct / comparison.original.n)
        elif key in OF_ALL_RELEASES:
            assert (found.value, found.baseline) == (first.value, first.baseline)
        elif key in WORST_OF_ITSELF:
            assert found.value >= max(first.value, found.baseline)
        elif key in ZERO_OF_ITSELF:
            assert found.value == 0
        else:
            assert found.value == found.baseline

    hold(rule, [key for key in MEASURES if key not in DOUBTED_OF_ITSELF], TABLES)


def test_the_row_order_does_not_matter():
    def rule(key: str, table: str) -> None:
        one, two = reading(key, table), MEASURES[key].read(shuffled(table), bare=True)
        if isinstance(one, NotApplicable):
            assert isinstance(two, NotApplicable)
            assert one.reason == two.reason
        else:
            assert two.value == pytest.approx(one.value, rel=1e-6, abs=1e-9)
            assert (one.baseline is None) == (two.baseline is None)
            if one.baseline is not None:
                assert two.baseline == pytest.approx(one.baseline, rel=1e-6, abs=1e-9)

    hold(rule, MEASURES, OF_EVERY_KIND)


def test_the_tables_are_not_changed():
    def rule(key: str, table: str) -> None:
        assert first_reading(key, table)[1]

    hold(rule, MEASURES, TABLES)


def test_another_release_of_the_same_original_reads_as_if_alone():
    def rule(key: str, table: str) -> None:
        reading(key, table)  # what the original keeps of it is shared
        beside, alone = (read(key, comparison) for comparison in another(table))
        assert type(beside) is type(alone)
        if isinstance(beside, Reading):
            assert (beside.value, beside.baseline) == (alone.value, alone.baseline)
        else:
            assert beside.reason == alone.reason

    hold(rule, MEASURES, OF_EVERY_KIND)


def test_a_release_with_empty_records():
    """The 2015 method empties the records that have no neighbors."""
    original, holdout, question = data("numbers")
    donors = mask(original, RWN(k=3), seed=2).donors.copy()
    donors[[0, 7, 31]] = -1
    masked = copy_from_donors(original, donors)
    comparison = Comparison(original=original, masked=masked, holdout=holdout, question=question)
    needs_another_response = {"generalized_regression"}
    refused = {key for key in MEASURES if isinstance(read(key, comparison), NotApplicable)}
    assert refused == (NEEDS_A_LAW | NEEDS_A_POPULATION | needs_another_response | NEEDS_A_SCHEMA)


def test_a_release_that_lost_everything():
    original, holdout, question = data("mixed")
    masked = copy_from_donors(original, np.full((original.n, original.p), -1))
    comparison = Comparison(original=original, masked=masked, holdout=holdout, question=question)

    def rule(key: str) -> None:
        found = read(key, comparison)
        if key in {"probabilistic_linkage", "individual_risk"}:
            # nothing tells the rows apart: one guess in n is right
            assert found.value == pytest.approx(1 / original.n)
        elif isinstance(found, Reading):
            assert key in {"cells_changed", "distance_linkage", *NOTHING_LEFT}
            assert found.value == (key == "cells_changed")
        else:
            assert found.reason.endswith(".")

    hold(rule, MEASURES)


def test_nothing_but_the_two_tables():
    comparison = Comparison(original=data("numbers")[0], masked=released("numbers").masked)
    needs_a_question = {
        "regression",
        "r_squared",
        "prediction",
        "cooks_distance",
        "ci_overlap",
        "standard_errors",
        "generalized_regression",
    }
    refused = {key for key in MEASURES if isinstance(read(key, comparison), NotApplicable)}
    more = NEEDS_A_LAW | NEEDS_A_SECRET | NEEDS_A_POPULATION | NEEDS_A_SCHEMA
    assert refused == needs_a_question | more


def test_measures_import_no_sibling_and_no_masking():
    folder = Path(rwn_core.measures.__file__).parent
    for path in folder.glob("*/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                module = node.module or ""
                assert module != "rwn_core.measures", path
                assert not module.startswith(FORBIDDEN_TO_MEASURES), path


def test_a_risk_says_a_sentence_and_nothing_else_does():
    assert all((one.sentence is not None) == (one.side == "risk") for one in MEASURES.values())


def test_a_risk_without_a_sentence_is_refused():
    with pytest.raises(ValueError, match="bayes_linkage needs a sentence"):
        replace(MEASURES["bayes_linkage"], sentence=None)


def test_its_sentence_says_the_number_of_any_table():
    def rule(key: str, table: str) -> None:
        found = reading(key, table)
        if isinstance(found, Reading):
            said = MEASURES[key].sentence(found, released(table).original.n)
            assert said.endswith(".")
            assert said[0].isupper() or said[0].isdigit()
            assert "nan" not in said
            assert "{" not in said

    hold(rule, [key for key, one in MEASURES.items() if one.side == "risk"], TABLES)


def test_a_new_risk_has_its_row_on_the_page_without_the_page_being_edited(monkeypatch):
    new = replace(MEASURES["suda"], key="new", title="New risk", sentence=lambda reading, n: "So.")
    monkeypatch.setattr(rwn, "MEASURES", {**MEASURES, "new": new})
    found = {key: reading(key, "numbers") for key in ("suda", "bayes_linkage")}
    rows = risk_sentences.rows({**found, "new": found["suda"]}, 50)
    assert [(row[0], row[-1]) for row in rows][-1] == ("New risk", "So.")
