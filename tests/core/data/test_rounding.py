"""Release precision and variables that follow from others."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rwn_core
import rwn_core as rwn
from rwn_core import RWN, Kind, Microdata, coordinates, find_neighborhoods
from rwn_core.data.derived import broken_relations, derived_variables
from rwn_core.data.rounding import (
    given_steps,
    precision_words,
    readable_step,
    rounded,
    rounded_values,
)
from rwn_core.masking.release import notes_on_file
from rwn_core.measures.attacks.posterior import link
from rwn_core.measures.risk.repeated_releases import simulate
from rwn_core.reporting import read_record
from rwn_core.reporting.facts import Material
from rwn_core.reporting.leak_check import file_texts
from rwn_core.reporting.public_notice import public_file


@pytest.mark.parametrize("step", [0.1, 0.3, 0.05, 0.002, 1e-7, 2.5, 12.25, 5.0, 1e5, 1e22])
def test_multiples_are_the_numbers_that_a_person_would_write(step):
    places = np.concatenate((np.arange(-300, 301), [10**6 + 1, 123_456_789]))
    written = [float(Decimal(str(step)) * int(place)) for place in places]
    near = np.array(written) + 0.2 * step * np.sin(places)
    np.testing.assert_array_equal(rounded_values(near, step), written)
    np.testing.assert_array_equal(rounded_values(np.array(written), step), written)


@given(
    st.floats(1e-12, 1e12), st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=20).map(np.array)
)
def test_any_step_gives_a_multiple_that_is_near_and_stays(step, values):
    once = rounded_values(values, step)
    np.testing.assert_array_equal(rounded_values(once, step), once)
    ulp = np.spacing(np.abs(values) + step)
    assert (np.abs(once - values) <= 0.5 * step + 4 * ulp).all()


@pytest.fixture(scope="module")
def bodyfat():
    return rwn_core.load_demo("bodyfat")


def steps(data: Microdata, share: float) -> dict[str, float]:
    return {
        name: share * float(data.values(name).std(ddof=1))
        for name in data.numeric_names
        if data.schema.variable(name).kind in (Kind.CONTINUOUS, Kind.COUNT)
    }


def test_the_law_after_rounding_is_the_law_of_rounded_values(bodyfat):
    neighborhoods = find_neighborhoods(coordinates(bodyfat), k=5, epsilon=2.0)
    law = RWN(epsilon=2.0, k=5, q=0.6).law(bodyfat, neighborhoods)
    coarse = law.rounded({"weight": 10.0})
    fine_table, fine_values = law.table("weight")
    table, values = coarse.table("weight")
    assert len(values) < len(fine_values)
    to = np.searchsorted(values, rounded_values(np.array(fine_values), 10.0))
    merged = np.zeros(table.shape)
    np.add.at(merged.T, to, fine_table.toarray().T)
    np.testing.assert_allclose(table.toarray(), merged, atol=1e-14)
    np.testing.assert_allclose(coarse.table("age")[0].toarray(), law.table("age")[0].toarray())
    assert law.rounded({}) is law


PUBLISHED = {
    5: {0.0: 0.998, 0.25: 0.981, 0.5: 0.871, 1.0: 0.606},
    25: {0.0: 0.956, 0.25: 0.464, 0.5: 0.289, 1.0: 0.189},
}
"""R_MAP of bodyfat at q = 1, all columns, by k and rounding in standard deviations."""


@pytest.mark.parametrize("k", PUBLISHED)
def test_BF_5_rounding_lowers_the_worst_case(bodyfat, k):
    neighborhoods = find_neighborhoods(coordinates(bodyfat), k=k, epsilon=0.0)
    law = RWN(k=k, q=1.0).law(bodyfat, neighborhoods)
    masked = simulate(law, np.random.default_rng(6))
    result = {}
    for share in PUBLISHED[k]:
        precision = steps(bodyfat, share) if share else {}
        links = link(law.rounded(precision), rounded(masked, precision))
        result[share] = links.success
        # the law knows what it is: its own expectation agrees with the luck of the draw
        error = (links.top1 - links.best).std() / np.sqrt(bodyfat.n)
        assert abs((links.top1 - links.best).mean()) <= max(3 * error, 1e-9)
    # another rounding grid and another table of 14 or 15 variables: the second digit may differ
    for share, expected in PUBLISHED[k].items():
        assert result[share] == pytest.approx(expected, abs=0.06)
    assert list(result.values()) == sorted(result.values(), reverse=True)


@pytest.mark.parametrize(
    ("size", "step"),
    [(3.4, 5.0), (0.08, 0.1), (1.3, 1.0), (17.0, 20.0), (0.0021, 0.002), (9, 10.0)],
)
def test_steps_that_a_person_can_read(size, step):
    assert readable_step(size) == step


def test_whole_numbers_get_no_step_that_rounds_nothing():
    frame = pd.DataFrame({"n": np.arange(10), "x": np.arange(10) / 3})
    data = Microdata.from_frame(frame)
    assert given_steps(data, 0.25) == {"x": 0.2}
    assert given_steps(data, 1.0) == {"n": 2.0, "x": 1.0}
    assert given_steps(data, 0.0) == {}
    assert (
        precision_words((("age", 5.0), ("pay", 1e6)))
        == "age in steps of 5, pay in steps of 1000000"
    )
    assert precision_words(()) == ""
    assert set(given_steps(Microdata.from_frame(frame.assign(c=3.5)), 1.0)) == {"n", "x"}


POLICY = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.5),))


def people(n: int = 400, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "weight": rng.normal(70, 10, n).round(1),
            "height": rng.normal(170, 8, n).round(),
            "wage": rng.gamma(2, 500, n).round(),
            "rent": rng.gamma(2, 300, n).round(2),
            "aid": np.where(rng.random(n) < 0.6, 0, rng.gamma(2, 300, n).round()),
            "adults": rng.integers(1, 5, n),
            "children": rng.integers(0, 4, n),
        }
    )
    # asked on some day of the year: a birthday may still come
    frame["born"] = 2024 - frame["age"] - (rng.random(n) < 0.5)
    frame["bmi"] = (frame["weight"] / (frame["height"] / 100) ** 2).round(1)
    frame["income"] = frame["wage"] + frame["rent"] + frame["aid"]
    frame["share"] = (100 * frame["rent"] / frame["wage"]).round(3)
    frame["persons"] = frame["adults"] + frame["children"]
    return frame


def words(frame: pd.DataFrame) -> set[str]:
    return {each.words for each in derived_variables(rwn.Microdata.from_frame(frame))}


FOUND = {
    "born follows from age",
    "bmi follows from weight and height",
    "income follows from wage, rent and aid",
    "share follows from rent and wage",
    "persons follows from adults and children",
}


@pytest.mark.parametrize("seed", range(2))
def test_what_follows_from_others_is_found(seed):
    """Finding V13: age and year of birth, a body mass index and totals contradicted each other."""
    assert words(people(seed=seed)) == FOUND


def test_one_record_that_differs_is_no_relation():
    frame = people()
    for name in ("born", "income", "persons", "bmi"):
        frame.loc[7, name] += 9
    assert words(frame) == {"share follows from rent and wage"}


def test_independent_and_nearly_related_numbers_show_none():
    rng = np.random.default_rng(3)
    drawn = {f"x{i}": rng.normal(50, 10, 300).round(i % 3) for i in range(60)}
    drawn |= {f"n{i}": rng.integers(0, 2 + i, 300) for i in range(40)}
    assert words(pd.DataFrame(drawn)) == set()
    sparse = {
        f"z{i}": np.where(rng.random(300) < 0.04, rng.integers(1, 5, 300), 0) for i in range(30)
    }
    assert words(pd.DataFrame(sparse)) == set()
    for demo in ("bodyfat_raw", "pima", "randhie", "cps1988"):
        assert derived_variables(rwn.load_demo(demo)) == ()
    (one,) = derived_variables(rwn.load_demo("bodyfat"))
    assert one.words == "bmi follows from weight and height"


def test_the_share_is_that_of_a_release():
    data = rwn.Microdata.from_frame(people())
    assert broken_relations(data, data, {}) == []
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=8), seed=1)
    masked = release.masked.frame
    found = {each["name"]: each for each in broken_relations(data, release.masked, {})}
    off = ~(masked["born"] + masked["age"]).isin([2023, 2024])
    assert found["born"] == {"name": "born", "parts": ["age"], "share": pytest.approx(off.mean())}
    assert off.mean() > 0.5
    total = masked["wage"] + masked["rent"] + masked["aid"]
    assert found["income"]["share"] == pytest.approx(
        (total - masked["income"]).abs().gt(0.01).mean()
    )
    # what travels together from one donor stays true, also within a coarser rounding
    together = data.with_slices([["wage", "rent", "aid", "income"], ["age", "born"]])
    steps = {"income": 100.0, "wage": 50.0, "born": 5.0}
    release = rwn.mask(together, rwn.RWN(epsilon=1.0, k=8), seed=1, precision=steps)
    left = {each["name"] for each in broken_relations(data, release.masked, steps)}
    assert left == {"bmi", "share", "persons"}


def test_a_notice_and_a_shell_say_the_share_and_no_value():
    """In the notice the share is in order of magnitude, as all of its numbers."""
    data = rwn.Microdata.from_frame(people())
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=8), precision={"rent": 1})
    file = rwn.ReleasedFile.of(release.to_bytes("csv"), "csv")
    record = read_record(rwn.internal_record(data, release, file, measures=(), policy=POLICY))
    (share,) = [each["share"] for each in record["table"]["derived"] if each["name"] == "income"]
    notice = file_texts(public_file(Material(record=record), data, "notice.html"), ".html")
    begins = "income follows from wage, rent and aid in every record of the original; in this file "
    (line,) = [each for each in notice if each.startswith(begins)]
    assert share > 0.9
    assert line.startswith(f"{begins}it does not in nearly all of the records.")
    (note,) = [each for each in notes_on_file(release, data, "csv") if begins in each]
    assert note.startswith(f"note: {begins}it does not in {share:.0%} of the records.")


def test_whole_numbers_too_large_for_their_type_become_real_ones():
    frame = pd.DataFrame({"n": [2**62, 2**62 + 2**40, 3], "x": [1.0, 2.0, 4.0]})
    result = rounded(Microdata.from_frame(frame), {"n": 1e19}).frame["n"]
    assert result.tolist() == [0, 0, 0]
    result = rounded(Microdata.from_frame(frame), {"n": 9e18}).frame["n"]
    assert result.tolist() == [9e18, 9e18, 0]
