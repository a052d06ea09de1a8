"""What every measure of the catalogue owes, on tables of every sort."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
import rwn_core.measures
from rwn_core import RWN, Comparison, Microdata, NotApplicable, Reading, SoftRWN, mask
from rwn_core.data.edit_rules import EditRule
from rwn_core.laws.cell_law import CellLaw
from rwn_core.measures import MEASURES, read
from rwn_core.measures.attacks.red_team import prediction
from rwn_core.measures.measure import Measure, plain
from rwn_core.measures.utility import prediction as predictions
from rwn_ui.risk import sentences as risk_sentences
from tests.holding import hold


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
    frame = frame.assign(g=rng.choice(["north", "south", "west"], 60))
    return frame.assign(yes=rng.choice(["yes", "no"], 60), n=rng.poisson(3, 60), size=size, day=day)


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
    "soft kernel": (numbers, ("a", "b", "c", "e")),
    "half unknown question": (numbers, ("a", "nowhere")),
}


def _described(microdata: Microdata, table: str) -> Microdata:
    """The table, one of them as that of a survey with an edit rule that every record keeps."""
    if table != "mixed":
        return microdata
    schema = microdata.schema.replace_variable("n", role="sampling weight")
    schema = schema.replace_variable("yes", role="time")
    rule = EditRule('n >= 0 and (yes != "no" or g in ["north", "south", "west"])')
    return microdata.with_schema(replace(schema, edit_rules=(rule,)))


@pytest.fixture(scope="module", autouse=True)
def small_forests() -> Iterator[None]:
    """What a measure owes, a forest of three trees owes, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prediction, "TREES", 3)
        patch.setattr(predictions, "TREES", 3)
        yield


@cache
def data(table: str) -> tuple[Microdata, Microdata, rwn.Question]:
    make, predictors = TABLES[table]
    microdata = _described(Microdata.from_frame(make()), table)
    n = microdata.n
    holdout = microdata.take(np.arange(max(n // 3, 2)))
    return microdata, holdout, rwn.Question(response="y", predictors=predictors)


def params(table: str, n: int) -> RWN:
    if table == "soft kernel":
        return SoftRWN(kernel="exponential", width=2.0, own=True)
    return RWN(epsilon=0.5, k=3, q=0.8) if n > 3 else RWN(k=1)


def compared(table: str, original: Microdata, masked: Microdata, law: CellLaw) -> Comparison:
    _, holdout, question = data(table)
    more = {"holdout": holdout, "question": question}
    if table in {"categories", "holes"}:
        more["sampling"] = rwn.Sampling(population=3.0 * original.n)
    return Comparison(original=original, masked=masked, law=law, **more)


@cache
def released(table: str) -> Comparison:
    original = data(table)[0]
    release = mask(original, params(table, original.n), seed=5)
    return compared(table, original, release.masked, release.law)


@cache
def against_itself(table: str) -> Comparison:
    first = released(table)
    return compared(table, first.original, first.original, first.law)


@cache
def shuffled(table: str) -> Comparison:
    first = released(table)
    order = np.random.default_rng(1).permutation(first.original.n)
    original = first.original.take(order)
    law = mask(original, params(table, original.n), seed=9).law
    return compared(table, original, first.masked.take(order), law)


@cache
def another(table: str) -> tuple[Comparison, Comparison]:
    """Another release of the same original, beside the first one and alone."""
    first = released(table)
    release = mask(first.original, params(table, first.original.n), seed=77)
    beside = first.with_masked(release.masked, release.law)
    return beside, compared(table, first.original, release.masked, release.law)


@cache
def first_reading(key: str, table: str) -> tuple[Reading | NotApplicable, bool]:
    """What a measure finds on a release, and whether the tables are as they were."""
    comparison = released(table)
    tables = (comparison.original, comparison.masked, comparison.holdout)
    before = [(one.frame, one.frame.copy(deep=True)) for one in tables]
    found = read(key, comparison)
    return found, all(frame.equals(copy) for frame, copy in before)


def reading(key: str, table: str) -> Reading | NotApplicable:
    """What a measure finds on a release, read once for all rules."""
    return first_reading(key, table)[0]


NAN_MEANS_CONSTANT = {"correlation", "rank_correlation", "association"}
OF_ALL_RELEASES = {
    # what a law expects of every release says nothing of the one at hand
    "neighborhood_size",
    "repeated_releases",
    "membership",
    "differential_privacy",
    "misclassification",
    "extremes",
    "queries",
    "homogeneity",
    "posterior_odds",
}
WORST_OF_ITSELF = {
    # the original gives away at least as much as a release of it
    "singling_out",
    "linkability",
    "inference",
    "probabilistic_linkage",
    "true_matches",
    "red_team",
}
ZERO_OF_ITSELF = {"cells_changed"}
DOUBTED_OF_ITSELF = {
    # who knows the law takes the original for a release like any other
    "bayes_linkage",
    "intruder_levels",
    "whole_file_linkage",
    "attribute_inference",
    "attribute_gain",
    "abstaining_linkage",
    "linked_over_half",
    "certified_linkage",
    "largest_linkage",
}
NEEDS_A_LAW = {
    "neighborhood_size",
    "bayes_linkage",
    "intruder_levels",
    "whole_file_linkage",
    "abstaining_linkage",
    "repeated_releases",
    "membership",
    "attribute_inference",
    "attribute_gain",
    "linked_over_half",
    "certified_linkage",
    "largest_linkage",
    "differential_privacy",
    "misclassification",
    "queries",
    "homogeneity",
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
    "use_left",
}
NEEDS_A_SCHEMA = {"survey_estimates", "edit_rules_broken"}
NEEDS_A_POPULATION = {"population_uniqueness"}
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
    written = {}
    folder = Path(rwn_core.measures.__file__).parent
    for side in ("utility", "risk"):
        for path in (folder / side).glob("[a-z]*.py"):
            module = import_module(f"rwn_core.measures.{side}.{path.stem}")
            keys = [each.key for each in vars(module).values() if isinstance(each, Measure)]
            assert keys, path
            assert not written.keys() & set(keys), path
            written |= dict.fromkeys(keys, side)
    sides = {key: measure.side for key, measure in MEASURES.items()}
    assert sides == written
    assert [*sides.values()] == sorted(sides.values(), key=["utility", "risk"].index)


def test_a_measure_says_what_it_is():
    def rule(key: str) -> None:
        measure = MEASURES[key]
        assert measure.key == key
        assert measure.question.endswith("?")
        assert measure.question[0].isupper()
        assert all((measure.title, measure.unit, measure.source))
        assert (measure.sentence is not None) == (measure.side == "risk")
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
        found = read(key, comparison)
        first = reading(key, table)
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
        one = reading(key, table)
        two = MEASURES[key].read(shuffled(table), bare=True)
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
    masked = rwn.copy_from_donors(original, donors)
    comparison = Comparison(original=original, masked=masked, holdout=holdout, question=question)
    refused = {key for key in MEASURES if isinstance(read(key, comparison), NotApplicable)}
    another = {"generalized_regression"}  # needs another response
    assert refused == NEEDS_A_LAW | NEEDS_A_POPULATION | NEEDS_A_SCHEMA | another


def test_a_release_that_lost_everything():
    original, holdout, question = data("mixed")
    masked = rwn.copy_from_donors(original, np.full((original.n, original.p), -1))
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
        "prediction",
        "cooks_distance",
        "ci_overlap",
        "standard_errors",
        "generalized_regression",
    }
    refused = {key for key in MEASURES if isinstance(read(key, comparison), NotApplicable)}
    more = NEEDS_A_LAW | NEEDS_A_SECRET | NEEDS_A_POPULATION | NEEDS_A_SCHEMA
    assert refused == needs_a_question | more


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
