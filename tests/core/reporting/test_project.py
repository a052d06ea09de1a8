"""Projects, scenarios and meetings as files: all choices come back, and no value is in them."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ParameterError, RWNError
from rwn_core.evaluation.registered_analysis import Analysis, AnalysisPlan
from rwn_core.reporting.project import Project
from rwn_core.reporting.scenario import Decision, SavedSearch, Scenario, frozen_text
from rwn_core.tuning import Grid, Limit, Plan, Policy, Setting

FRAME = pd.DataFrame(
    {
        "pay": [1234.5, 2345.5, 3456.5, 4567.5],
        "rank": ["Zuse", "Lovelace", "Zuse", "Hopper"],
        "age": [41, 42, 43, 44],
    }
)


def table(**changes: object) -> Microdata:
    """The table as it is opened, or with its rank described in another way."""
    data = Microdata.from_frame(FRAME)
    if not changes:
        return data
    return data.with_schema(data.schema.replace_variable("rank", **changes))


def project(data: Microdata) -> Project:
    setting = Setting(
        params=rwn.RWN(epsilon=1.0, k=2), weights=(("age", 3.0),), precision=(("pay", 100.0),)
    )
    present = Scenario(name="present", table=data.fingerprint, setting=setting, seed=7,
                       policy=rwn.Policy())  # fmt: skip
    made = Decision(scenarios=(present,), chosen="present", reason="fine", date="2026-01-02")
    project = Project.from_table(data, present, "2026-01-02")
    return replace(project, scenarios=(replace(present, name="mild"),), decisions=(made,))


def test_all_choices_come_back() -> None:
    made = project(table(role="key", group="who"))
    again = Project.from_toml(made.to_toml())
    assert again == made
    assert again.describe(table()) == table(role="key", group="who").schema
    assert again.decisions[0].hash == made.decisions[0].hash


def test_it_holds_no_value_of_the_table_not_even_a_level() -> None:
    text = project(table(kind="ordered", levels=("Hopper", "Lovelace", "Zuse"))).to_toml()
    for column in FRAME:
        for value in FRAME[column]:
            assert str(value) not in text.replace(table().fingerprint, "")


def test_an_order_that_the_table_does_not_know_is_not_guessed() -> None:
    made = project(table(kind="ordered", levels=("Zuse", "Hopper", "Lovelace")))
    assert made.describe(table()).variable("rank").kind == rwn.Kind.CATEGORICAL
    known = table(kind="ordered", levels=("Zuse", "Hopper", "Lovelace"))
    assert made.describe(known) == known.schema


def test_what_is_no_project_of_this_table_is_refused() -> None:
    made = project(table())
    other = Microdata.from_frame(FRAME.assign(age=[1, 2, 3, 4]))
    with pytest.raises(InputError, match="another table"):
        made.describe(other)
    text = made.to_toml()
    for old, new in (
        ("rwn project 1", "rwn project 0"),
        ('role = "', 'part = "'),
        ('role = "', 'role = "un'),
        ("k = 2", "k = -2"),
        ('saved = "2026-01-02"', ""),
    ):
        assert old in text
        with pytest.raises(InputError):
            Project.from_toml(text.replace(old, new)).describe(table())


FULL = Scenario(
    name="Careful",
    note='for the "March" file\nsecond line',
    table="ab" * 32,
    setting=Setting.of("rwn", {"epsilon": 2.0, "k": 5, "q": 0.5}, {"age": 2.0}, {"weight": 10}),
    seed=7,
    search=SavedSearch(
        grid=Grid(
            axes={"epsilon": (0.5, 1.5), "k": (3, 5)},
            method=("rwn", "nbrs2015"),
            weights=({}, {"age": 2.0}),
            precision=({}, {"age": 5}),
        ),
        plan=Plan(measures=("correlation", "distance_linkage"), releases=4, seed=7),
    ),
    policy=Policy(
        limits=(
            Limit(measure="bayes_linkage", at_most=0.05, source="handbook", set_by="A. Steward"),
            Limit(measure="distance_linkage", at_most=0.02),
        )
    ),
    readings={"correlation": {"median": 0.05, "low": 0.04, "high": 0.06}},
    analysis_plan=AnalysisPlan(
        analyses=(
            Analysis(name="Fat", kind="linear", tolerance=2.0, formula="siri ~ bmi + log(neck)"),
            Analysis(name="Ages", kind="table", tolerance=0.125, variables=("age", "bmi")),
            Analysis(name="Pairs", kind="measure", tolerance=0.125, measure="correlation"),
        )
    ),
)


def test_a_scenario_survives_its_file() -> None:
    text = FULL.to_toml()
    again = Scenario.from_toml(text)
    assert again.to_toml() == text
    assert again.setting == FULL.setting
    assert again.search is not None
    assert [s.key for s in again.search.grid.settings()] == [
        s.key for s in FULL.search.grid.settings()
    ]
    assert again.search.plan == FULL.search.plan
    assert (again.name, again.note, again.policy) == (FULL.name, FULL.note, FULL.policy)
    assert text.count("[[limit]]") == 2
    assert again.analysis_plan == FULL.analysis_plan
    assert "[[analysis_plan]]" in text
    turned = {"correlation": dict(reversed(FULL.readings["correlation"].items()))}
    assert replace(FULL, readings=turned).to_toml() == text  # the same for the same scenario


def test_a_short_one_written_by_hand_is_enough() -> None:
    text = 'format = "rwn scenario 1"\n[setting.parameters]\nk = 5\n'
    assert Scenario.from_toml(text).setting == Setting(params=rwn.RWN(k=5))


def test_a_scenario_holds_no_value_of_its_table() -> None:
    data = rwn.load_demo("bodyfat")
    text = FULL.to_toml()
    values = {f"{v:g}" for v in data.matrix(data.numeric_names).ravel() if v % 1}
    numbers = {f"{x:g}" for x in (0.5, 1.5, 0.05, 0.04, 0.06, 0.02)}
    words = set(text.replace(",", " ").replace("[", " ").replace("]", " ").split())
    assert not (values - numbers) & words


SHORT = 'format = "rwn scenario 1"\n[setting]\nparameters.k = 5\n'


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("= 3", "not valid TOML"),
        ("name = 'x'", "no scenario"),
        ('format = "rwn scenario 1"\nkey = 3', "unknown field key"),
        (
            'format = "rwn scenario 1"\nseed = "soon"',
            "seed of the scenario must be a whole number; correct",
        ),
        (
            'format = "rwn scenario 1"\nsetting = 3',
            "setting of the scenario must be a table with: method",
        ),
        (
            'format = "rwn scenario 1"\n[sweep]\nreleases = 3',
            "sweep of the scenario has no measures; state it",
        ),
        ('format = "rwn scenario 1"\n[setting.parameters]\nradius = 3', "no parameter radius"),
        ('format = "rwn scenario 1"\n[setting.parameters]\nk = "x"', "k must be"),
        ('format = "rwn scenario 1"\n[setting]\nprecison = 3', "unknown field precison"),
        (SHORT + "precision = 3", "precision of the scenario must be a table; correct"),
        (SHORT + "precision.age = 0", "precision of age must be a number"),
        (SHORT + "precision.age = nan", "precision of age must be a number"),
        (
            SHORT + 'precision.age = "5"',
            "setting.precision.age of the scenario must be a number; correct",
        ),
        ('format = "rwn scenario 1"\n[sweep]\nsteps = 3', "unknown field steps"),
        (
            'format = "rwn scenario 1"\nanalysis_plan = 3',
            "analysis_plan of the scenario must be a list; correct",
        ),
        ('format = "rwn scenario 1"\nanalysis_plan = ["x"]', "must be a table with: name, kind"),
        ('format = "rwn scenario 1"\n[[analysis_plan]]\nname = "x"', "has no kind; state it"),
        ('format = "rwn scenario 1"\n[limits]\nbayes_linkage = 0.1', "unknown field limits"),
        ('format = "rwn scenario 1"\nlimit = 3', "limit of the scenario must be a list; correct"),
        ('format = "rwn scenario 1"\n[[limit]]\nmeasure = "x"\nat_most = 1', "no measure x"),
    ],
)
def test_a_file_that_is_none_is_refused_in_a_sentence(text: str, word: str) -> None:
    with pytest.raises(RWNError, match=word):
        Scenario.from_toml(text)


DECISION = Decision(
    scenarios=(FULL, Scenario(name="Light", setting=Setting(params=rwn.RWN(k=3)))),
    chosen="Careful",
    reason="Keeps the limit.",
    participants=("A. Steward", "B. Analyst"),
    date="2026-03-31",
    watched=("the oldest record",),
)


def test_a_frozen_meeting_is_read_back_and_its_hash_holds() -> None:
    text = DECISION.frozen()
    again = Decision.thaw(text)
    assert again.frozen() == text
    assert again.hash == DECISION.hash
    assert DECISION.hash in text


@pytest.mark.parametrize(("old", "new"), [("Keeps", "Breaks"), ("2026-03-31", "2026-04-01")])
def test_a_changed_record_is_refused(old: str, new: str) -> None:
    with pytest.raises(InputError, match="changed after it was frozen"):
        Decision.thaw(DECISION.frozen().replace(old, new))


def test_a_decision_names_a_scenario_that_was_there() -> None:
    with pytest.raises(ParameterError, match="one of the meeting"):
        Decision(scenarios=(FULL,), chosen="Bold")


def test_a_decision_with_questions_that_were_watched_keeps_its_hash() -> None:
    """An earlier version followed questions; they are read by nothing and frozen for good."""
    question = {"conditions": [{"name": "age", "sign": "at least", "value": 62.5}]}
    text = frozen_text(DECISION.to_dict() | {"scenario": [FULL.to_dict() | {"watch": [question]}]})
    again = Decision.thaw(text)
    assert again.frozen() == text
    assert again.hash in text
    with pytest.raises(InputError, match=r"watch\[1\] of the scenario must be a table"):
        Scenario.from_toml('format = "rwn scenario 1"\nwatch = [3]')
