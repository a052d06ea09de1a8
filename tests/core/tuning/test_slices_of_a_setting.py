"""Slices are part of a setting, and a lever: nothing is searched anew when they change."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import InputError, ParameterError, Rounded
from rwn_core.neighbors import Finder
from rwn_core.reporting.scenario import SavedSearch, Scenario
from rwn_core.tuning import Grid, Plan, Setting, prepared, sweep
from rwn_core.tuning.evaluate import PreparedTables, evaluate
from rwn_core.tuning.slice_presets import PRESETS, masked_names, preset_key, preset_slices

SLICES = (("abdomen", "hip", "knee"), ("age", "weight"))
METHODS = (
    rwn.RWN(epsilon=3.0, k=5),
    rwn.RWN(k=10, q=0.5),
    rwn.NBRS2015(epsilon=4.0),
    rwn.RWN(k=4, neighbors="sample", m=60),
    Rounded(params=rwn.RWN(k=5), precision={"age": 5.0}),
)


def random_partition(names: list[str], seed: int) -> list[list[str]]:
    """Slices of some of the names, in any order."""
    generator = np.random.default_rng(seed)
    number = generator.integers(0, generator.integers(1, len(names) + 1), len(names))
    parts = [[n for n, own in zip(names, number, strict=True) if own == each] for each in range(20)]
    kept = [part for part in parts if len(part) > 1]
    return [kept[i] for i in generator.permutation(len(kept))]


def test_slices_survive_as_plain_data_and_have_words() -> None:
    plain = Setting.of("rwn", {"k": 5})
    setting = Setting.of("rwn", {"k": 5}, slices=[["weight", "age"], ["hip", "knee", "abdomen"]])
    assert setting.slices == SLICES
    assert Setting.from_dict(setting.to_dict()) == setting
    assert setting.words == (
        "k = 5 · q = 1 · abdomen + hip + knee travel together, age + weight travel together"
    )
    assert "slices" not in plain.to_dict()
    apart = Setting.of("rwn", {"k": 5}, slices=[])
    assert Setting.from_dict(apart.to_dict()) == apart
    assert len({each.key for each in (plain, setting, apart)}) == 3
    assert setting.key == Setting.of("rwn", {"k": 5}, slices=SLICES[::-1]).key


def test_a_resolved_setting_says_what_travels_on_its_table(bodyfat) -> None:
    grouped = rwn.load_demo("randhie")
    (health,) = grouped.schema.slices
    assert Setting.of("rwn", {"k": 5}).resolved(grouped).slices == (health,)
    assert Setting.of("rwn", {"k": 5}, slices=[]).resolved(grouped).slices == ()
    assert Setting.of("rwn", {"k": 5}).resolved(bodyfat).slices == ()
    resolved = Setting.of("rwn", {"k": 5}, slices=SLICES).resolved(bodyfat)
    assert resolved.applied_to(bodyfat).schema.slices == SLICES
    with pytest.raises(ParameterError, match="nowhere, which is no masked variable"):
        Setting.of("rwn", {"k": 5}, slices=[["age", "nowhere"]]).resolved(bodyfat)


def test_slices_are_an_axis_of_a_grid(bodyfat) -> None:
    grid = Grid(axes={"k": (3, 5)}, slices=((), SLICES, None))
    assert len(grid) == 6
    settings = prepared(bodyfat, grid)
    assert [each.slices for each in settings] == [(), (), SLICES, SLICES]  # no groups: () again


def test_a_scenario_keeps_slices(bodyfat) -> None:
    setting = Setting.of("rwn", {"k": 5}, slices=SLICES).resolved(bodyfat)
    search = SavedSearch(
        grid=Grid(axes={"k": (3,)}, slices=(None, (), SLICES)), plan=Plan(measures=("correlation",))
    )
    scenario = Scenario(setting=setting, search=search)
    again = Scenario.from_toml(scenario.to_toml())
    assert again.setting == setting
    assert again.search.grid.slices == (None, (), SLICES)
    plain = Scenario(search=SavedSearch(grid=Grid(axes={"k": (3,)}), plan=search.plan))
    assert "slices" not in plain.to_toml()
    with pytest.raises(InputError, match=r"setting\.slices\[1\] of the scenario must be a list"):
        Scenario.from_dict(
            {**scenario.to_dict(), "setting": {"parameters": {"k": 3}, "slices": ["age"]}}
        )


@pytest.mark.parametrize("params", METHODS, ids=lambda each: each.method)
def test_one_move_equals_a_table_with_these_groups(bodyfat, params) -> None:
    seed = METHODS.index(params)
    slices = random_partition([v.name for v in bodyfat.schema.released], seed)
    grouped = bodyfat.schema
    for number, names in enumerate(slices):  # by hand, in the schema
        for name in names:
            grouped = grouped.replace_variable(name, group=f"g{number}")
    key = rwn.SecretKey.from_seed(seed)
    wanted = params.prepare(bodyfat.with_schema(grouped)).release(key)
    made = params.prepare(bodyfat).with_slices(slices).release(key)
    pd.testing.assert_frame_equal(made.masked.frame, wanted.masked.frame)
    np.testing.assert_array_equal(made.donors, wanted.donors)
    if made.law is not None:
        assert sorted(map(sorted, made.law.units())) == sorted(map(sorted, wanted.law.units()))
        np.testing.assert_array_equal(made.law.rows_unchanged(), wanted.law.rows_unchanged())


def test_no_neighbor_is_searched_anew_when_only_slices_change(bodyfat, monkeypatch) -> None:
    ready = rwn.RWN(k=5).prepare(bodyfat, settings=[rwn.RWN(k=9)])
    ready.release(rwn.SecretKey.from_seed(1))
    moved = ready.with_slices(SLICES)
    assert moved.finder is ready.finder
    assert moved.law.neighborhoods is ready.law.neighborhoods
    assert moved.about is not None

    settings = [
        Setting.of("rwn", {"k": 5}, slices=each) for each in ((), SLICES, (("hip", "neck"),))
    ]
    settings = prepared(bodyfat, settings)
    plan = Plan(measures=("correlation",), releases=2)
    tables = PreparedTables(bodyfat, settings, metrics=1, held=1)
    asked = plan.keys, plan.measures
    ranked = []
    stored = Finder.__init__
    monkeypatch.setattr(
        Finder,
        "__init__",
        lambda self, *args, **more: (ranked.append(1), stored(self, *args, **more))[1],
    )
    points = [evaluate(tables, setting, *asked) for setting in settings]
    assert len(ranked) == 1
    fresh = [evaluate(bodyfat, s, *asked) for s in settings]
    assert [p.spreads for p in points] == [p.spreads for p in fresh]
    swept = sweep(bodyfat, settings, plan=plan, workers=1)
    assert [p.spreads for p in swept] == [p.spreads for p in points]
    assert set(swept.frame()["slices"]) == {"", "abdomen+hip+knee age+weight", "hip+neck"}


def test_presets_cover_the_roles_and_the_relations(bodyfat) -> None:
    known = {key: preset_slices(bodyfat, key) for key in PRESETS}
    assert known["alone"] == ()
    assert known["keys_together"][1] == ("age", "height", "weight")
    assert known["keys_apart"] == known["keys_together"][:1]
    assert "siri" not in {name for names in known["confidential_apart"] for name in names}
    assert known["whole"] == (tuple(sorted(v.name for v in bodyfat.schema.released)),)
    for key, slices in known.items():
        assert bodyfat.schema.with_slices(slices).slices == slices
        assert known[preset_key(bodyfat, slices)] == slices, key
    assert preset_key(bodyfat, (("age", "neck"),)) is None
    with pytest.raises(ParameterError, match="no slices half"):
        preset_slices(bodyfat, "half")


@pytest.mark.parametrize("count", [2, 5])
def test_related_variables_are_in_one_slice(bodyfat, count) -> None:
    slices = preset_slices(bodyfat, f"related_{count}")
    names = masked_names(bodyfat)
    alone = len(names) - sum(map(len, slices))
    assert len(slices) + alone == count
    own = {name: number for number, each in enumerate(slices) for name in each}
    inside = [[bool(own.get(a) == own.get(b) and a in own) for b in names] for a in names]
    square = np.abs(np.corrcoef(bodyfat.matrix(names), rowvar=False))
    inside = np.array(inside)
    off = ~np.eye(len(names), dtype=bool)
    assert square[inside & off].mean() > square[~inside & off].mean()
