"""What every measure of the catalogue owes, on tables of every sort."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
import rwn_core.measures
from rwn_core.data.microdata import Microdata
from rwn_core.data.question import Question
from rwn_core.errors import NotApplicable
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES, read
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.mechanism.donors import copy_from_donors
from rwn_ui.risk import sentences as risk_sentences

PARAMS = RWN(epsilon=0.5, k=3, q=0.8)
NAN_MEANS_CONSTANT = {"correlation", "rank_correlation"}
UNLIKE_A_DISTANCE = {
    # a measure of data against itself, where it is not 0 or the original's own value
    "cells_changed": lambda reading: reading.value == 0,
    "neighborhood_size": lambda reading: reading.value >= 1,
    # what a law expects of all releases says nothing of the table at hand; links need not be right
    **dict.fromkeys(
        (
            "bayes_linkage",
            "intruder_levels",
            "whole_file_linkage",
            "repeated_releases",
            "membership",
            "attribute_inference",
            "differential_privacy",
            "misclassification",
            "extremes",
            "queries",
            "homogeneity",
            "singling_out",
            "linkability",
            "inference",
        ),
        lambda reading: 0 <= reading.value <= 1,
    ),
    "global_linkage": lambda reading: reading.value >= reading.baseline,
    "probabilistic_linkage": lambda reading: reading.value >= reading.baseline,
    "closest_record": lambda reading: reading.value == 0,
}
NEEDS_A_LAW = {
    "neighborhood_size",
    "bayes_linkage",
    "intruder_levels",
    "whole_file_linkage",
    "repeated_releases",
    "membership",
    "attribute_inference",
    "differential_privacy",
    "misclassification",
    "queries",
    "homogeneity",
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
}
FORBIDDEN_TO_MEASURES = ("rwn_core.measures.utility", "rwn_core.measures.risk", "rwn_core.masking")
NEEDS_A_SECRET = {"l_diversity", "t_closeness", "inference"}


def numbers(n: int = 50) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    shared = rng.normal(size=(n, 1))
    values = shared + rng.normal(size=(n, 5))
    return pd.DataFrame(values, columns=["y", "a", "b", "c", "e"])


def mixed() -> pd.DataFrame:
    rng = np.random.default_rng(12)
    frame = numbers(60)[["y", "a"]]
    size = pd.Categorical(rng.choice(["s", "m", "l"], 60), ["s", "m", "l"], ordered=True)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 60), unit="D")
    return frame.assign(
        g=rng.choice(["north", "south", "west"], 60),
        yes=rng.choice(["yes", "no"], 60),
        n=rng.poisson(3, 60),
        size=size,
        day=day,
    )


def holes() -> pd.DataFrame:
    rng = np.random.default_rng(13)
    frame = mixed()
    return frame.mask(rng.random(frame.shape) < 0.05)


def constants() -> pd.DataFrame:
    return numbers(20).assign(c=0.1, g="same")


TABLES: Mapping[str, tuple[Any, tuple[str, ...]]] = {
    "numbers": (numbers, ("a", "b", "c", "e")),
    "mixed": (mixed, ("a", "g", "yes", "n", "size", "day")),
    "holes": (holes, ("a", "g", "n")),
    "constants": (constants, ("a", "c")),
    "huge": (lambda: numbers() * 1e149, ("a", "b")),
    "tiny": (lambda: numbers() * 1e-120, ("a", "b")),
    "two records": (lambda: numbers(4).head(2), ("a",)),
    "categories": (lambda: mixed()[["g", "yes"]].rename(columns={"yes": "y"}), ("g",)),
    "one variable": (lambda: numbers()[["y"]], ("a",)),
    "half unknown question": (numbers, ("a", "nowhere")),
}


@cache
def data(table: str) -> tuple[Microdata, Microdata, Question]:
    make, predictors = TABLES[table]
    microdata = Microdata.from_frame(make())
    n = microdata.n
    holdout = microdata.take(np.arange(max(n // 3, 2)))
    return microdata, holdout, Question(response="y", predictors=predictors)


def params(n: int) -> RWN:
    return PARAMS if n > 3 else RWN(k=1)


@cache
def released(table: str) -> Comparison:
    original, holdout, question = data(table)
    release = mask(original, params(original.n), seed=5)
    return Comparison(
        original=original,
        masked=release.masked,
        law=release.law,
        holdout=holdout,
        question=question,
    )


@cache
def against_itself(table: str) -> Comparison:
    original, holdout, question = data(table)
    law = mask(original, params(original.n), seed=5).law
    return Comparison(
        original=original, masked=original, law=law, holdout=holdout, question=question
    )


def leaves(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    return [value]


each_measure = pytest.mark.parametrize("key", MEASURES)
each_table = pytest.mark.parametrize("table", TABLES)


def test_the_catalogue_holds_every_file_under_its_own_name():
    folder = Path(rwn_core.measures.__file__).parent
    files = {
        path.stem: path.parent.name
        for side in ("utility", "risk")
        for path in (folder / side).glob("*.py")
        if path.stem != "__init__"
    }
    assert {key: measure.side for key, measure in MEASURES.items()} == files


def test_utility_comes_first():
    sides = [measure.side for measure in MEASURES.values()]
    assert sides == sorted(sides, key=["utility", "risk"].index)


@each_measure
def test_a_measure_says_what_it_is(key):
    measure = MEASURES[key]
    assert measure.key == key
    assert measure.question.endswith("?")
    assert measure.title
    assert measure.unit
    assert measure.source
    assert measure.better in {"lower", "higher", "neutral"}
    assert measure.bounds[0] < measure.bounds[1]


@each_measure
@each_table
def test_a_reading_or_a_reason(key, table):
    found = read(key, released(table))
    if isinstance(found, NotApplicable):
        assert found.reason.endswith(".")
        assert found.reason[0].isupper()
        return
    low, high = MEASURES[key].bounds
    assert isinstance(found, Reading)
    assert type(found.value) is float
    assert low <= found.value <= high
    assert math.isfinite(found.value)
    assert found.baseline is None or math.isfinite(found.baseline)


@each_measure
@each_table
def test_the_detail_is_plain_and_finite(key, table):
    found = read(key, released(table))
    if isinstance(found, NotApplicable):
        return
    orjson.dumps(dict(found.detail), option=orjson.OPT_SERIALIZE_NUMPY)
    values = [leaf for leaf in leaves(found.detail) if isinstance(leaf, float)]
    if key not in NAN_MEANS_CONSTANT:
        assert all(math.isfinite(value) for value in values)


@each_measure
@each_table
def test_data_against_itself_has_the_best_value(key, table):
    comparison = against_itself(table)
    found = read(key, comparison)
    if isinstance(found, NotApplicable):
        return
    if key == "distance_linkage":
        distinct = len(comparison.original.frame.drop_duplicates())
        assert found.value == pytest.approx(distinct / comparison.original.n)
    elif key in UNLIKE_A_DISTANCE:
        assert UNLIKE_A_DISTANCE[key](found)
    else:
        assert found.value == found.baseline


@each_measure
@each_table
def test_the_row_order_does_not_matter(key, table):
    comparison = released(table)
    original = comparison.original
    order = np.random.default_rng(1).permutation(original.n)
    shuffled = original.take(order)
    other = Comparison(
        original=shuffled,
        masked=comparison.masked.take(order),
        law=mask(shuffled, params(original.n), seed=9).law,
        holdout=comparison.holdout,
        question=comparison.question,
    )
    one, two = read(key, comparison), read(key, other)
    if isinstance(one, NotApplicable):
        assert isinstance(two, NotApplicable)
        assert one.reason == two.reason
        return
    assert two.value == pytest.approx(one.value, rel=1e-6, abs=1e-9)
    if one.baseline is not None:
        assert two.baseline == pytest.approx(one.baseline, rel=1e-6, abs=1e-9)


@each_measure
@each_table
def test_the_tables_are_not_changed(key, table):
    comparison = released(table)
    tables = (comparison.original, comparison.masked, comparison.holdout)
    before = [pd.util.hash_pandas_object(table.frame).sum() for table in tables]
    read(key, comparison)
    assert before == [pd.util.hash_pandas_object(table.frame).sum() for table in tables]


@each_measure
@each_table
def test_another_release_of_the_same_original_reads_as_if_alone(key, table):
    first = released(table)
    release = mask(first.original, params(first.original.n), seed=77)
    read(key, first)
    shared = read(key, first.with_masked(release.masked, release.law))
    alone = read(
        key,
        Comparison(
            original=first.original,
            masked=release.masked,
            law=release.law,
            holdout=first.holdout,
            question=first.question,
        ),
    )
    assert type(shared) is type(alone)
    if isinstance(shared, Reading):
        assert (shared.value, shared.baseline) == (alone.value, alone.baseline)


@each_measure
def test_a_release_with_empty_records(key):
    """The 2015 method empties the records that have no neighbors."""
    original, holdout, question = data("numbers")
    donors = mask(original, RWN(k=3), seed=2).donors.copy()
    donors[[0, 7, 31]] = -1
    masked = copy_from_donors(original, donors)
    found = read(
        key, Comparison(original=original, masked=masked, holdout=holdout, question=question)
    )
    needs_another_response = {"generalized_regression"}
    needs = NEEDS_A_LAW | needs_another_response
    assert isinstance(found, Reading) == (key not in needs)


@each_measure
def test_a_release_that_lost_everything(key):
    original, holdout, question = data("mixed")
    masked = copy_from_donors(original, np.full((original.n, original.p), -1))
    found = read(
        key, Comparison(original=original, masked=masked, holdout=holdout, question=question)
    )
    if key in {"global_linkage", "probabilistic_linkage", "individual_risk"}:
        # nothing tells the rows apart: one guess in n is right
        assert found.value == pytest.approx(1 / original.n)
    elif isinstance(found, Reading):
        assert key in {"cells_changed", "distance_linkage", *NOTHING_LEFT}
        assert found.value == (key == "cells_changed")
    else:
        assert found.reason.endswith(".")


@each_measure
def test_nothing_but_the_two_tables(key):
    comparison = Comparison(original=data("numbers")[0], masked=released("numbers").masked)
    found = read(key, comparison)
    needs_a_question = {
        "regression",
        "prediction",
        "cooks_distance",
        "ci_overlap",
        "standard_errors",
        "generalized_regression",
    }
    needs = needs_a_question | NEEDS_A_LAW | NEEDS_A_SECRET
    assert isinstance(found, NotApplicable) == (key in needs)


def test_measures_import_no_sibling_and_no_masking():
    folder = Path(rwn_core.measures.__file__).parent
    for path in folder.glob("*/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                module = node.module or ""
                assert module != "rwn_core.measures"
                assert not module.startswith(FORBIDDEN_TO_MEASURES)


@each_measure
def test_it_asks_a_question_and_a_risk_says_a_sentence(key):
    measure = MEASURES[key]
    assert measure.question.endswith("?")
    assert measure.question[0].isupper()
    assert (measure.sentence is not None) == (measure.side == "risk")


def test_a_risk_without_a_sentence_is_refused():
    with pytest.raises(ValueError, match="bayes_linkage needs a sentence"):
        replace(MEASURES["bayes_linkage"], sentence=None)


@pytest.mark.parametrize("key", [key for key, one in MEASURES.items() if one.side == "risk"])
@each_table
def test_its_sentence_says_the_number_of_any_table(key, table):
    found = read(key, released(table))
    if isinstance(found, NotApplicable):
        return
    said = MEASURES[key].sentence(found, released(table).original.n)
    assert said.endswith(".")
    assert said[0].isupper() or said[0].isdigit()
    assert "nan" not in said
    assert "{" not in said


def test_a_new_risk_has_its_row_on_the_page_without_the_page_being_edited(monkeypatch):
    new = replace(MEASURES["suda"], key="new", title="New risk", sentence=lambda reading, n: "So.")
    monkeypatch.setattr(rwn, "MEASURES", {**MEASURES, "new": new})
    found = {key: read(key, released("numbers")) for key in ("suda", "bayes_linkage")}
    rows = risk_sentences.rows({**found, "new": found["suda"]}, 50)
    assert [(row[0], row[-1]) for row in rows][-1] == ("New risk", "So.")
