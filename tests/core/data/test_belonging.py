"""Rows of persons, households, clusters and series are found, and separate people are not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.belonging import Belonging, belonging
from rwn_core.data.belonging.columns import columns_of
from rwn_core.data.belonging.gate import dependence, open_findings, refuse_together
from rwn_core.data.belonging.groups import likeness_of
from rwn_core.data.belonging.order import next_rows, sort_keys
from rwn_core.data.microdata import Microdata
from rwn_core.data.rows import Belong, Rows
from rwn_core.data.units import people_in, unit_of
from tests import rows_together as made
from tests import tables

BLOCKS = made.blocks()
HARMLESS = made.harmless()
DEMOS = ("bodyfat", "bodyfat_raw", "pima", "cps1988")
KIND = {
    "panel": Belong.PERSON,
    "visits": Belong.PERSON,
    "households": Belong.PERSON,
    "classes": Belong.CLUSTER,
    "trial": Belong.PERSON,
    "pairs": Belong.PERSON,
    "days": Belong.SERIES,
    "years": Belong.SERIES,
}
BY = {
    "panel": "height",
    "visits": "code",
    "households": "hinc",
    "classes": "class",
    "trial": "subject",
    "pairs": "nr",
    "days": "date",
    "years": "year",
}


@cache
def of(name: str) -> Belonging:
    frames = BLOCKS if name in BLOCKS else HARMLESS
    return belonging(Microdata.from_frame(frames[name]))


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_undeclared_rows_together_are_found(name: str) -> None:
    assert of(name).findings


@pytest.mark.parametrize("name", sorted(KIND))
@pytest.mark.parametrize("order", ["", ", shuffled"])
def test_they_are_called_what_they_are_and_the_column_is_proposed(name: str, order: str) -> None:
    finding = of(name + order).findings[0]
    assert (finding.of, finding.by[0]) == (KIND[name], BY[name])
    assert finding.proposal == Rows(of=finding.of, by=finding.by)


@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_separate_people_are_left_in_peace(name: str) -> None:
    assert of(name).findings == ()


@pytest.mark.parametrize("name", DEMOS)
def test_demo_tables_of_separate_people_are_left_in_peace(name: str) -> None:
    assert belonging(rwn.load_demo(name)).findings == ()


def test_person_years_without_a_number_are_found() -> None:
    """The origin of randhie says that several rows can be of one person."""
    finding = belonging(rwn.load_demo("randhie")).findings[0]
    assert finding.of is Belong.PERSON


def test_few_of_many_random_tables_are_suspected() -> None:
    """None of 100 tables of independent rows; at most one may be by chance."""
    suspected = 0
    for seed in range(25):
        rng = np.random.default_rng(1000 + seed)
        n = 200 + 8 * seed
        shared = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 7))
        frames = [
            pd.DataFrame(rng.normal(size=(n, 7)).round(1)),
            pd.DataFrame((shared + rng.normal(size=(n, 7))).round(1)),
            pd.DataFrame(rng.integers(0, 12, (n, 7))),
            pd.DataFrame(rng.choice(list("abcdefghij"), (n, 7))),
        ]
        for frame in frames:
            data = Microdata.from_frame(frame.set_axis(list("abcdefg"), axis=1))
            suspected += bool(belonging(data).findings)
    assert suspected <= 1


def test_heights_that_were_mixed_up_are_no_sign() -> None:
    """The planted fault: the same column in another order names no person."""
    rng = np.random.default_rng(4)
    frame = BLOCKS["panel"]
    mixed = frame.assign(height=rng.permutation(frame["height"]))
    assert not any("height" in each.by for each in belonging(Microdata.from_frame(mixed)).findings)


def test_two_people_of_one_height_are_told_apart_by_another_column() -> None:
    rng = np.random.default_rng(2)
    person = np.repeat(np.arange(80), 6)
    rough = np.tile(np.arange(40), 2)  # two people have each value
    frame = pd.DataFrame(
        {
            "value": (rng.permutation(1000)[:40] / 10)[rough][person],
            "group": np.repeat(["a", "b"], 40)[person],
            "x": made.person_effect(rng, person, 0.7),
            "y": made.person_effect(rng, person, 0.7),
        }
    )
    by = belonging(Microdata.from_frame(made.shuffled(frame, rng))).findings[0].by
    assert by[0] == "value"


def test_likeness_by_hand() -> None:
    """Means 2 and 6: between 16, within 2, so (16 - 2) / (16 + 2)."""
    scores = np.array([[1.0], [3.0], [5.0], [7.0]])
    group = np.array([0, 0, 1, 1])
    found = likeness_of(group, group[:, None], scores, ordered=False)
    assert found.correlation[0] == pytest.approx(7 / 9)
    assert found.design_effect[0] == pytest.approx(16 / 9)
    assert (found.groups, found.size, found.pairs, found.unevenness) == (2, 2.0, 2, 0.0)
    assert found.equal[0] == 1.0


def test_means_on_a_line_are_no_likeness() -> None:
    """Second differences of means 0, 1, 2, ... are 0, where an analysis of variance sees all."""
    group = np.repeat(np.arange(10), 2)
    scores = (group + np.tile([-0.1, 0.1], 10))[:, None].astype(float)
    codes = group[:, None]
    assert likeness_of(group, codes, scores, ordered=True).correlation[0] <= 0
    assert likeness_of(group, codes, scores, ordered=False).correlation[0] > 0.99


def test_a_file_is_sorted_by_region_and_then_by_age() -> None:
    data = Microdata.from_frame(HARMLESS["survey by region and age"])
    columns = columns_of(data)
    keys, ends = sort_keys(columns, columns.codes_at(np.arange(data.n)))
    assert [columns.names[key] for key in keys] == ["region", "age"]
    shown = data.frame[["region", "age"]]
    assert ends.sum() == (shown != shown.shift()).any(axis=1).sum() - 1


def test_next_rows_of_a_series_by_hand() -> None:
    """An alternating column has correlation -1 with the next row, and is no sign."""
    n = 100
    data = Microdata.from_frame(
        pd.DataFrame({"a": np.tile([0.0, 1.0], n // 2), "b": np.arange(n) % 3 + 0.5})
    )
    similar = next_rows(columns_of(data), np.arange(n))
    assert similar.following[0] == pytest.approx(-1, abs=0.1)
    assert not similar.is_many


@pytest.mark.parametrize("name", ["panel", "visits, shuffled", "classes", "years"])
def test_units_of_measurement_an_outlier_and_the_order_of_columns_change_nothing(name: str) -> None:
    frame = BLOCKS[name]
    numbers = [each for each in frame.columns if frame[each].dtype == np.float64]
    other = frame.assign(**{each: 1000 * frame[each] + 5 for each in numbers})
    other.loc[0, numbers[-1]] = 1e12
    other = other[list(reversed(other.columns))]
    found = belonging(Microdata.from_frame(other)).findings[0]
    assert (found.of, found.by) == (of(name).findings[0].of, of(name).findings[0].by)


def test_values_that_are_missing_change_nothing() -> None:
    rng = np.random.default_rng(0)
    for name in ("visits, shuffled", "pairs, shuffled", "classes"):
        frame = BLOCKS[name]
        holes = frame.astype(object).mask(rng.random(frame.shape) < 0.05).infer_objects()
        found = belonging(Microdata.from_frame(holes)).findings[0]
        assert found.by[0] == of(name).findings[0].by[0]


def test_a_rare_level_and_a_constant_column_change_nothing() -> None:
    frame = HARMLESS["survey"].assign(one=1, rare=["odd", *["even"] * 299])
    assert belonging(Microdata.from_frame(frame)).findings == ()
    frame = BLOCKS["visits"].assign(one=1, rare=["odd", *["even"] * 299])
    assert belonging(Microdata.from_frame(frame)).findings[0].by == ("code",)


def test_a_column_that_stays_inside_is_looked_at_too() -> None:
    data = tables.described(BLOCKS["classes"], **{"class": "identifier"})
    assert belonging(data).findings[0].by == ("class",)


def test_findings_are_found_once() -> None:
    data = Microdata.from_frame(BLOCKS["visits"])
    again = data.with_schema(data.schema.with_rows("separate"))
    assert belonging(again) is belonging(data)


def test_reasons_hold_no_value() -> None:
    for name, frame in BLOCKS.items():
        nominal = frame.select_dtypes(exclude=["number", "datetime"]).astype(str)
        texts = set(nominal.to_numpy().ravel())
        for finding in of(name).findings:
            assert not {*finding.sentence.split()} & {text for text in texts if len(text) > 1}


@pytest.mark.parametrize("text", ["separate", "person=height", "cluster=pulse", "series"])
def test_a_schema_states_what_its_rows_are(text: str) -> None:
    data = Microdata.from_frame(BLOCKS["panel"])
    assert open_findings(data)
    stated = data.with_schema(data.schema.with_rows(text))
    assert not open_findings(stated)
    assert stated.schema.rows is not None
    assert stated.schema.rows.text == text
    assert rwn.Schema.from_toml(stated.schema.to_toml()) == stated.schema


def test_a_role_says_so_too() -> None:
    frame = BLOCKS["panel"].assign(who=np.repeat(np.arange(40), 10))
    assert not open_findings(tables.described(frame, who="person"))
    assert not open_findings(tables.described(BLOCKS["years"], year="time"))
    # the time of a panel says nothing of its people
    assert open_findings(tables.described(BLOCKS["trial"], week="time"))


def test_a_table_is_refused_by_the_options_that_answer() -> None:
    with pytest.raises(rwn.ReleaseError, match=r"--rows-are person=height, .*--rows-are separate"):
        refuse_together(Microdata.from_frame(BLOCKS["panel"]))
    with pytest.raises(rwn.ReleaseError, match="--rows-are cluster=class"):
        refuse_together(Microdata.from_frame(BLOCKS["classes"]))
    refuse_together(Microdata.from_frame(HARMLESS["survey"]))


def test_rows_of_equal_height_are_one_person() -> None:
    data = Microdata.from_frame(BLOCKS["panel"])
    assert people_in(data) == 400
    stated = data.with_schema(data.schema.with_rows("person=height"))
    unit = unit_of(stated)
    assert unit is not None
    assert (unit.size, unit.words) == (data.frame["height"].nunique(), "people")
    home = data.with_schema(data.schema.with_rows("household=height,pulse"))
    unit = unit_of(home)
    assert unit is not None
    assert (unit.name, unit.words) == ("height and pulse", "households")
    assert unit.size == len(data.frame[["height", "pulse"]].drop_duplicates())


def test_a_row_without_the_value_is_a_person_alone() -> None:
    frame = pd.DataFrame({"a": [1.5, 1.5, np.nan, np.nan, 2.5], "b": range(5)})
    data = Microdata.from_frame(frame)
    unit = unit_of(data.with_schema(data.schema.with_rows("person=a")))
    assert unit is not None
    assert unit.numbers.tolist() == [0, 0, 2, 3, 1]


def test_the_rows_of_a_cluster_stay_people() -> None:
    data = Microdata.from_frame(BLOCKS["classes"])
    assert unit_of(data.with_schema(data.schema.with_rows("cluster=class"))) is None


@pytest.mark.parametrize(
    ("name", "rows", "expected"),
    [
        ("panel", None, Belong.PERSON),
        ("panel", "separate", None),
        ("panel", "household=height", Belong.HOUSEHOLD),
        ("classes", None, Belong.CLUSTER),
        ("classes", "cluster=class", Belong.CLUSTER),
        ("years", None, Belong.SERIES),
        ("years", "separate", None),
        ("survey", None, None),
        ("survey", "series", Belong.SERIES),
    ],
)
def test_rows_together_are_no_independent_sample(
    name: str, rows: str | None, expected: Belong | None
) -> None:
    data = Microdata.from_frame((BLOCKS | HARMLESS)[name])
    assert dependence(data.with_schema(data.schema.with_rows(rows))) is expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("people", "Rows must be one of: separate, person, household, cluster, series"),
        ("person", "need the variables that are equal in them"),
        ("separate=height", "Separate rows have no variables in common"),
        ("person=height,height", "occurs 2 times"),
        ("person=size", "statement of rows names the variable size"),
    ],
)
def test_a_wrong_statement_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(rwn.SchemaError, match=sentence):
        Microdata.from_frame(BLOCKS["panel"]).schema.with_rows(text)


def test_the_proposal_gives_the_linkage_of_the_declared_person() -> None:
    """Rows of one height are one person: worst-case linkage is that by the person's number."""
    roles = {"height": "key", "weight": "key", "systolic": "confidential"}
    plain = tables.described(BLOCKS["panel"], **roles)
    finding = belonging(plain).findings[0]
    proposed = plain.with_schema(plain.schema.with_rows(finding.proposal))
    numbered = BLOCKS["panel"].assign(who=np.repeat(np.arange(40), 10))
    declared = tables.described(numbered, who="person", **roles)
    params = rwn.SoftRWN(kernel="gaussian", width=0.6)
    linked = []
    for data in (plain, proposed, declared):
        release = rwn.mask(data, params, seed=1)
        reading = rwn.audit(data, release, measures=["bayes_linkage"]).readings["bayes_linkage"]
        assert isinstance(reading, rwn.Reading)
        linked.append(reading.value)
    assert linked[1] == pytest.approx(linked[2], abs=0.03)
    assert linked[0] < linked[2] - 0.05


def test_a_tenth_of_the_people_with_two_rows_are_found() -> None:
    """A number that nearly every row has for itself, and others equal where it comes again."""
    rng = np.random.default_rng(6)
    person = np.concatenate((np.arange(270), rng.choice(270, 30, replace=False)))
    frame = pd.DataFrame(
        {
            "nr": rng.permutation(5000)[:270][person],
            "sex": rng.integers(0, 2, 270)[person],
            "age": rng.integers(18, 90, 270)[person],
            "cost": rng.exponential(size=300).round(2),
        }
    )
    finding = belonging(Microdata.from_frame(frame)).findings[0]
    assert (finding.of, finding.by) == (Belong.PERSON, ("nr",))
    # the planted fault: the second rows are of others
    frame.loc[270:, "nr"] = rng.permutation(frame.loc[270:, "nr"])
    assert not belonging(Microdata.from_frame(frame)).findings


def test_a_name_alone_is_left_to_the_gate_of_identity() -> None:
    """A household's number in rows that have nothing in common: asked once, as an identifier."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    data = Microdata.from_frame(frame.assign(household_id=np.repeat(np.arange(1000, 1100), 3)))
    assert belonging(data).findings[0].of_identity
    assert open_findings(data) == ()
    assert dependence(data) is Belong.PERSON


CLASSES = ["class_id", "klasse", "school", "school_nr", "classroom", "idschool", "schulnr"]


@pytest.mark.parametrize("name", [*CLASSES, "town_nr"])
def test_the_number_of_a_class_or_school_is_proposed_as_a_cluster(name: str) -> None:
    """Its pupils are very similar, as rows of one person are; so are those of a planted name."""
    rng = np.random.default_rng(1)
    classes = np.repeat(np.arange(101, 121), 20)
    mean = rng.normal(0, 12, 20)[classes - 101]
    frame = pd.DataFrame(
        {
            name: classes,
            "age": rng.integers(10, 14, 400),
            "math": (50 + mean + rng.normal(0, 4, 400)).round(1),
            "reading": (50 + mean + rng.normal(0, 4, 400)).round(1),
        }
    )
    (finding,) = belonging(Microdata.from_frame(frame)).findings
    assert finding.by[:1] == (name,)
    assert (finding.of is Belong.CLUSTER) is (name in CLASSES)
