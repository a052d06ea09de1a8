"""Several rows a person: no number is one of rows where it is said to be one of people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Microdata
from rwn_core.data.units import unit_of
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Sampling
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.key_variables import class_sizes, class_totals
from tests import tables
from tests.contracts.test_units import OF_CLASSES, compared


def visits(rows: int) -> Microdata:
    """People with their age and town, as many rows each with the same, and a visit in each."""
    draw = np.random.default_rng(4)
    count = 150
    who = np.repeat(np.arange(count), rows)
    frame = pd.DataFrame(
        {"age": draw.integers(20, 80, count), "town": draw.choice([*"abcd"], count)}
    )
    frame = frame.assign(sex=draw.choice(["f", "m"], count), who=[f"p{n}" for n in range(count)])
    frame = frame.iloc[who].assign(visit=draw.normal(size=len(who)).round(2))
    keys = dict.fromkeys(("age", "town", "sex"), "key")
    return tables.described(frame.reset_index(drop=True), **keys, who="person")


@pytest.mark.parametrize("population", [None, 3_000])
@pytest.mark.parametrize("key", ["population_uniqueness", "loglinear_risk", *OF_CLASSES])
def test_rows_of_one_person_with_equal_keys_count_as_one(key: str, population: int | None) -> None:
    read = []
    for rows in (1, 4):
        data = visits(rows)
        data = data.with_schema(replace(data.schema, population=population))
        release = mask(data, RWN(k=3, q=0.0), seed=1)  # unmasked
        read.append(rwn.audit(data, release, measures=[key])[key])
    assert type(read[0]) is type(read[1])
    if isinstance(read[0], Reading):
        assert read[1].value == pytest.approx(read[0].value, rel=1e-9)
        assert read[1].baseline == pytest.approx(read[0].baseline, rel=1e-9)
        assert (read[0].value > 0.01) or key == "loglinear_risk"


def test_a_person_alone_with_own_keys_is_disclosed_by_rows_that_differ() -> None:
    read = []
    for rows in (1, 4):
        keys = dict.fromkeys(("age", "town", "sex"), "key")
        frame = visits(rows).frame
        data = tables.described(frame, **keys, visit="confidential", who="person")
        release = mask(data, RWN(k=3, q=0.0), seed=1)  # unmasked: no two visits are alike
        read.append(rwn.audit(data, release, measures=["l_diversity"])["l_diversity"])
    assert read[1].value == pytest.approx(read[0].value, rel=1e-9)
    assert read[0].value > 0.3
    assert read[1].detail.entropy.released == pytest.approx([1.0])


@pytest.mark.parametrize("name", ["Personennr", "pid", "line_no", "region_id", "Kreisnummer"])
def test_the_number_of_a_person_within_the_household_is_no_person(name: str) -> None:
    """Each value comes again in nearly every household: four people are not the 400."""
    homes = np.repeat(np.arange(160), np.arange(160) % 4 + 1)
    within = np.arange(len(homes)) - np.searchsorted(homes, homes) + 1
    frame = pd.DataFrame({"hh": homes, name: within, "age": np.arange(len(homes)) % 71})
    data = tables.described(frame, hh="household", **{name: "identifier"})
    assert (unit_of(data).name, unit_of(data).size) == ("hh", 160)
    many = data.frame.assign(**{name: (within - 1) * 5 + homes % 5})  # twenty values, as of areas
    spread = tables.described(many, hh="household", **{name: "identifier"})
    assert unit_of(spread).name == "hh"
    assert unit_of(tables.described(frame.drop(columns="hh"), **{name: "identifier"})) is None
    # the number of a person in a panel of households is one
    waves = frame.assign(**{name: np.arange(len(homes))})
    twice = tables.described(pd.concat([waves, waves]), hh="household", **{name: "identifier"})
    assert unit_of(twice).name == name


def agreeing(cells: np.ndarray) -> np.ndarray:
    """Which rows agree with each; a missing value (-1) agrees with any."""
    return ((cells[:, None] == cells) | (cells[:, None] < 0) | (cells < 0)).all(axis=2)


def slow_sizes(cells: np.ndarray, units: np.ndarray) -> list[int]:
    return [len(set(units[each])) for each in agreeing(cells)]


def test_rows_of_a_person_agree_once_whatever_is_missing() -> None:
    by_hand = np.array([[0, 0], [0, -1], [1, 0], [-1, 0], [2, -1]])
    whose = np.array([0, 0, 1, 1, 2])
    assert class_sizes(by_hand, whose).tolist() == [2, 2, 1, 3, 2] == slow_sizes(by_hand, whose)
    draw = np.random.default_rng(6)
    for _ in range(20):
        cells, units = draw.integers(-1, 3, (60, 3)), draw.integers(0, 25, 60)
        assert class_sizes(cells, units).tolist() == slow_sizes(cells, units)
        weights = draw.integers(1, 5, 25)[units]  # one for each person
        totals = [
            sum({u: w for u, w, each in zip(units, weights, row, strict=True) if each}.values())
            for row in agreeing(cells)
        ]
        np.testing.assert_allclose(class_totals(cells, weights.astype(float), units), totals)


def shares_of_people(frame: pd.DataFrame) -> dict[str, Reading]:
    data = tables.described(frame, a="key", b="key", s="confidential", who="person")
    release = mask(data, RWN(k=3, q=0.0), seed=1)  # unmasked
    return dict(rwn.audit(data, release, measures=[*OF_CLASSES[:4], "l_diversity"]).readings)


def test_a_person_whose_other_row_lacks_a_key_stays_alone() -> None:
    who = np.repeat(np.arange(20), 2)
    frame = pd.DataFrame({"a": who, "b": np.where(np.arange(40) % 2, np.nan, 1.0), "who": who})
    for key, reading in shares_of_people(frame.assign(s=list("xy") * 20)).items():
        assert reading.value == reading.baseline == 1.0, key


def test_a_person_counts_once_however_many_rows() -> None:
    """Ten people with 100 rows each share their keys, and 30 with a row each are alone."""
    who = np.concatenate((np.repeat(np.arange(10), 100), np.arange(10, 40)))
    frame = pd.DataFrame({"a": np.where(who < 10, 0, who), "b": 1, "who": who})
    readings = shares_of_people(frame.assign(s=np.array(list("xyz"))[np.arange(1030) % 3]))
    for key, reading in readings.items():
        # by individual risk the ten are one right match more
        expected = 31 / 40 if key == "individual_risk" else 30 / 40
        assert reading.value == reading.baseline == pytest.approx(expected), key
        said = MEASURES[key].sentence(reading, 1030)
        assert f"{30 + (key == 'individual_risk')} of 40 people" in said
        assert "of 40 people with 1,030 rows (who)" in said
    assert readings["individual_risk"].detail.expected.released == pytest.approx(31)


def test_a_part_of_the_rows_of_a_person_is_a_part_of_the_person() -> None:
    """Of three people with two rows each, one is alone by both, one by one of the two."""
    frame = pd.DataFrame({"a": [1, 2, 3, 9, 9, 9], "b": 1, "s": list("xyxyxy")})
    readings = shares_of_people(frame.assign(who=[0, 0, 1, 1, 2, 2]))
    assert readings["uniqueness"].value == pytest.approx(1.5 / 3)


@pytest.mark.parametrize("q", [0.0, 0.5])
def test_a_value_that_one_person_has_in_several_rows_spoils_every_epsilon(q: float) -> None:
    frame = pd.DataFrame({"birth": np.repeat(np.arange(30), 2), "who": np.repeat(np.arange(30), 2)})
    data = tables.described(frame, birth="key", who="person")
    params = RWN(k=5, q=q)
    reading = MEASURES["differential_privacy"].read(compared(data, params), bare=True)
    shown = np.zeros(30)
    for seed in range(400 if q else 1):
        shown[mask(data, params, seed=seed).masked.frame["birth"].unique()] += 1
    most = shown.max() / (400 if q else 1)
    assert reading.value == pytest.approx(most, abs=0.05)
    assert reading.value > 0.9
    said = MEASURES["differential_privacy"].sentence(reading, 60)
    assert "of 30 people with 60 rows (who)" in said


def test_a_population_is_of_people() -> None:
    data = visits(4)  # 600 rows of 150 people
    known = data.with_schema(replace(data.schema, population=300))
    assert Sampling.of_schema(known).population == 300
    with pytest.raises(rwn.ParameterError, match="at least the file's 150 people"):
        Sampling(population=149).check(data)


def test_questions_of_one_row_say_what_they_leave_out() -> None:
    data = visits(4)
    read = rwn.audit(data, mask(data, RWN(k=3), seed=1), measures=["queries"])["queries"]
    refused = isinstance(read, rwn.NotApplicable)
    said = read.reason if refused else MEASURES["queries"].sentence(read, 600)
    assert "one record" in said or "a person with several equal rows is not asked about" in said


def test_equal_rows_of_one_person_single_that_person_out() -> None:
    read = []
    for rows in (1, 4):
        frame = visits(rows).frame.drop(columns="visit")
        data = tables.described(frame, who="person")
        release = mask(data, RWN(k=3, q=0.0), seed=1)  # unmasked
        read.append(rwn.audit(data, release, measures=["singling_out"])["singling_out"])
    assert read[0].detail.attack == 1.0
    assert read[1].detail.attack > 0.8  # two people with equal rows look like one
    assert read[1].value == pytest.approx(read[0].value, abs=0.2)
