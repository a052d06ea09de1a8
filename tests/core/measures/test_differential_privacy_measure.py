"""Which epsilon a release has, method by method, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.io.demo import load_demo
from rwn_core.laws.noise_law import Noise
from rwn_core.laws.transition_matrix import privacy_epsilon
from rwn_core.masking import (
    KPRAM,
    NBRS2015,
    PRAM,
    RWN,
    AdditiveNoise,
    CorrelatedNoise,
    KNoise,
    RandomSwapping,
    RecordSwapping,
    mask,
)
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading


def read(data: Microdata, method, **options) -> Reading:
    release = mask(data, method, seed=1, **options)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    return MEASURES["differential_privacy"].compute(comparison)


@pytest.fixture
def numbers() -> Microdata:
    rng = np.random.default_rng(0)
    return Microdata.from_frame(pd.DataFrame({"x": rng.normal(size=50), "y": rng.random(50)}))


@pytest.fixture
def categories() -> Microdata:
    rng = np.random.default_rng(1)
    return Microdata.from_frame(
        pd.DataFrame({"g": list("aabbbccccd") * 9, "h": rng.choice(["u", "v"], 90)})
    )


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (AdditiveNoise(size=0.5), "normal noise"),
        (CorrelatedNoise(), "normal noise"),
        (AdditiveNoise(size=0.8, shape="laplace"), "scale that follows from the file"),
        (KPRAM(k=10), "values of its group"),
        (KPRAM(k=50), "from the file"),
        (KNoise(k=5), "within reach of its noise"),
        (RWN(k=5), "those of its donors"),
        (NBRS2015(epsilon=1.0), "those of its donors"),
        (RandomSwapping(share=0.5), "keeps the count of every value"),
    ],
    ids=lambda value: getattr(value, "method", None),
)
def test_other_methods_have_none_and_say_why(numbers, method, words):
    reading = read(numbers, method)
    assert reading.detail.total_epsilon is None
    assert words in reading.detail.statement
    said = MEASURES["differential_privacy"].sentence(reading, 50)
    assert said.startswith("No epsilon covers it")
    listed = not isinstance(method, AdditiveNoise | CorrelatedNoise | KNoise)
    assert listed == (reading.value > 0.6)  # a unique number is released so often


def test_variables_that_are_released_as_they_are_spoil_every_epsilon():
    data = load_demo("pima")
    reading = read(data, PRAM())
    assert reading.detail.total_epsilon is None
    assert "is released as it is" in reading.detail.statement
    assert set(reading.detail.epsilon) == {None}
    assert reading.value == 1  # a unique number stands in the release for certain
    named = read(data, RecordSwapping(share=1.0))
    assert "donors" in named.detail.statement
    assert named.value == 1


def with_levels(data: Microdata, **levels: str) -> Microdata:
    variables = (
        replace(v, levels=tuple(levels[v.name])) if v.name in levels else v
        for v in data.schema.variables
    )
    return data.with_schema(Schema(variables=tuple(variables)))


def test_epsilons_of_declared_matrices_add_up(categories):
    method = PRAM(change=0.5, invariant=False)
    assert read(categories, method).detail.epsilon == [None, None]
    declared = with_levels(categories, g="abcd", h="uv")
    reading = read(declared, method)
    each = [privacy_epsilon(method.matrix(declared, name))[0] for name in ("g", "h")]
    assert reading.detail.epsilon == pytest.approx(each)
    assert reading.detail.total_epsilon == pytest.approx(sum(each))
    assert "each declared level has two records or more" in reading.detail.statement
    assert "two records or more" in MEASURES["differential_privacy"].sentence(reading, 90)


def releases(data: Microdata, method) -> dict[tuple[str, ...], float]:
    """The exact chance of every release of a small table of one variable, rows as they stand."""
    table, values = method.prepare(data).law.table("g")
    rows = table.toarray()
    return {
        tuple(str(values[at]) for at in chosen): float(np.prod(rows[range(data.n), chosen]))
        for chosen in map(list, product(range(len(values)), repeat=data.n))
    }


def of(text: str, declared: str = "") -> Microdata:
    data = Microdata.from_frame(pd.DataFrame({"g": list(text)}))
    return with_levels(data, g=declared) if declared else data


def neighbors(text: str, alphabet: str) -> list[str]:
    """All tables in which one record has another level, or does not exist."""
    changed = [text[:i] + a + text[i + 1 :] for i in range(len(text)) for a in alphabet]
    return [each for each in changed if each != text]


P = {"g": [[0.7, 0.3], [0.2, 0.8]]}


@pytest.mark.parametrize(
    ("text", "declared", "method"),
    [
        ("aaabb", "ab", PRAM(change=0.5, invariant=False)),
        ("aabbb", "ab", PRAM(change=0.5, invariant=False, alpha=0.6)),
        ("aaabbb", "", PRAM(matrices=P, invariant=False)),
        ("aabb", "", PRAM(matrices=P, invariant=False, alpha=0.5)),
    ],
)
def test_no_neighboring_table_beats_a_stated_epsilon(text, declared, method):
    """By enumeration of all releases of all tables that differ in one record."""
    data = of(text, declared)
    total = read(data, method).detail.total_epsilon
    assert total is not None
    own, worst = releases(data, method), 0.0
    for other in neighbors(text, "ab"):
        theirs = releases(of(other, declared), method)
        assert set(own) == set(theirs)
        worst = max(worst, *(abs(np.log(own[each] / theirs[each])) for each in own))
    assert worst <= total + 1e-9
    assert worst == pytest.approx(total)  # and it is reached, so that a smaller one is beaten


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("aaaab", PRAM()),
        ("aaaab", PRAM(change=0.5, invariant=False)),
        ("aaaab", PRAM(matrices=P, invariant=False)),
        ("aaabb", PRAM(matrices=P)),
        ("aabbb", PRAM(change=0.4, spread="margins", invariant=False)),
    ],
)
def test_what_comes_from_the_file_has_a_delta_and_no_epsilon(text, method):
    """The planted fault of the finding: an epsilon with delta 0, though a level tells a person."""
    data = of(text)
    reading = read(data, method)
    assert reading.detail.total_epsilon is None
    alone = [level for level in "ab" if text.count(level) == 1]
    for level in alone:  # without its person it is in no release
        p = sum(chance for shown, chance in releases(data, method).items() if level in shown)
        assert reading.value == pytest.approx(p)
        without = of(text.replace(level, "a"))
        assert all(level not in shown for shown in releases(without, PRAM()))
    if not alone:  # the chances themselves move: each ratio is beyond that of one row
        part = method.prepare(data).law._parts[("g",)].row_epsilon()
        own = releases(data, method)
        ratios = [
            abs(np.log(own[each] / theirs[each]))
            for other in neighbors(text, "ab")
            for theirs in (releases(of(other), method),)
            for each in own
        ]
        assert max(ratios) > part + 1e-6


def test_missing_values_and_empty_entries_leave_no_epsilon(categories):
    frame = categories.frame
    frame.loc[3, "h"] = None
    reading = read(Microdata.from_frame(frame), PRAM(change=0.5))
    assert reading.detail.epsilon[1] is None
    assert "keeps its missing values" in reading.detail.statement
    matrix = {"h": [[1.0, 0.0], [0.3, 0.7]]}
    reading = read(categories, PRAM(matrices=matrix, invariant=False))
    assert reading.detail.epsilon == [None, None]
    assert "some records cannot release" in reading.detail.statement


def test_noise_scaled_by_the_file_beats_its_range_over_its_scale():
    """One person's number moves the scale of everybody's noise: far rows tell the two tables."""
    tables = [np.array([0.0, 1.0, 2.0, 3.0, last]) for last in (10.0, 3.0)]
    noises = [Noise(shape="laplace", sd=0.8 * each.std(ddof=1)) for each in tables]
    wide, narrow = (
        np.log(noise.density(np.full(5, 40.0) - own)).sum()
        for own, noise in zip(tables, noises, strict=True)
    )
    assert wide - narrow > np.ptp(tables[0]) / (noises[0].sd / np.sqrt(2))
    data = Microdata.from_frame(pd.DataFrame({"x": tables[0]}))
    reading = read(data, AdditiveNoise(size=0.8, shape="laplace"))
    assert reading.detail.total_epsilon is None
