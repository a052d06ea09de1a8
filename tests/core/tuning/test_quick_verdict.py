"""What a quick verdict says where it finds nothing, and the places that a trial has."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

import rwn_core as rwn
from rwn_core.masking.lever import LeverRange
from rwn_core.tuning import Setting, slice_presets, strength
from rwn_core.tuning.seek_slices import SliceSearch
from rwn_core.tuning.strength import MOST_LOST, StrengthTrial

WEAK = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.9),))


def test_a_trial_has_the_steps_of_its_range(few) -> None:
    trial = StrengthTrial(few, Setting.of("rwn", {"k": 5}), WEAK, places=4)
    trial.range = LeverRange(low=2.0, high=4.0, step=0.5)
    assert trial.last == 4
    at = [trial.at(place).params.epsilon for place in range(trial.last + 1)]
    assert at == pytest.approx([2.0, 2.5, 3.0, 3.5, 4.0])


def test_no_place_is_said_to_be_of_no_use(few, monkeypatch) -> None:
    monkeypatch.setattr(StrengthTrial, "strongest", lambda *_: None)
    found = rwn.quick_verdict(few, "rwn", WEAK, within=math.inf, steps=False)
    assert found.answer == "unknown"
    assert "nearly all relations" in found.sentence


def test_a_verdict_without_time_is_late(few) -> None:
    found = rwn.quick_verdict(few, "rwn", WEAK, within=-1.0)
    assert found.answer == "unknown"
    assert "in time" in found.sentence


def test_limits_that_are_kept_at_the_end_alone_are_unknown(few, monkeypatch) -> None:
    sure = rwn.quick_verdict(few, "rwn", WEAK, within=math.inf)
    assert sure.answer == "can"
    monkeypatch.setattr(StrengthTrial, "losses", lambda *_: [0.85, 0.95])
    monkeypatch.setattr(strength.TableSearch, "look", lambda *_: None)
    found = rwn.quick_verdict(few, "rwn", WEAK, within=math.inf, steps=False)
    assert found.answer == "unknown"
    assert found.sentence.startswith("Every limit is kept only where nearly all relations")


def test_a_search_notes_what_keeps_the_limits_and_loses_least(few) -> None:
    setting, none = Setting.of("rwn", {"k": 5}), (rwn.Limit(measure="bayes_linkage", at_most=0.0),)
    weak, strict = (
        strength.TableSearch(microdata=few, policy=policy)
        for policy in (WEAK, rwn.Policy(limits=none))
    )
    found = weak.look(setting)
    assert found is not None
    assert found.kept
    assert found.loss < MOST_LOST
    assert weak.look(setting) is None  # seen
    broken = strict.look(setting, MOST_LOST)
    assert broken is None or not broken.kept


def test_a_trial_meets_a_policy_up_to_its_limit_and_no_further() -> None:
    trials = SimpleNamespace(trials={("a", 1): 1.0, ("a", 2): 1.01, ("a", 3): 2.0})
    assert [SliceSearch._meets(trials, "a", place) for place in (1, 2, 3)] == [True, False, False]


def test_variables_that_go_together_share_a_slice(few) -> None:
    pairs = slice_presets.related(2)(few.take(range(200)))
    together = next(group for group in pairs if "weight" in group)
    assert {"hip", "abdomen"} <= set(together)
    assert "age" not in together
