"""What a quick verdict says where it finds nothing, and the places that a trial has."""

from __future__ import annotations

import math
from importlib import import_module
from types import SimpleNamespace

import pytest

import rwn_core as rwn
from rwn_core.masking.lever import LeverRange
from rwn_core.tuning import Setting, slice_presets, whole_table
from rwn_core.tuning.forecast import _prepared_together
from rwn_core.tuning.seek_slices import SliceSearch
from rwn_core.tuning.strength_trial import MOST_LOST, StrengthTrial
from rwn_core.tuning.sweep_processes import SweepRun

WEAK = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.9),))


def test_a_trial_has_the_steps_of_its_range(few) -> None:
    within = LeverRange(low=2.0, high=4.0, step=0.5)
    trial = StrengthTrial(few, Setting.of("rwn", {"k": 5}), WEAK, within=within)
    assert trial.last == 4
    at = [trial.at(place).params.epsilon for place in range(trial.last + 1)]
    assert at == pytest.approx([2.0, 2.5, 3.0, 3.5, 4.0])


@pytest.mark.parametrize(
    ("within", "words"), [(math.inf, "nearly all relations"), (-1.0, "in time")]
)
def test_no_place_is_said_to_be_late_or_of_no_use(few, monkeypatch, within, words) -> None:
    monkeypatch.setattr(StrengthTrial, "strongest", lambda *_: None)
    found = rwn.quick_verdict(few, "rwn", WEAK, within=within)
    assert found.answer == "unknown"
    assert words in found.sentence


def test_limits_that_are_kept_at_the_end_alone_are_unknown(few, monkeypatch) -> None:
    sure = rwn.quick_verdict(few, "rwn", WEAK, within=math.inf)
    assert sure.answer == "can"
    module = import_module("rwn_core.tuning.quick_verdict")  # its room has a function so called
    monkeypatch.setattr(module, "_inside", lambda *_: None)
    found = rwn.quick_verdict(few, "rwn", WEAK, within=math.inf)
    assert found.answer == "unknown"
    assert found.sentence.startswith("Every limit is kept only where nearly all relations")


def test_a_trial_of_a_candidate_notes_its_loss_if_the_limits_are_kept(few) -> None:
    module = import_module("rwn_core.tuning.recommend")
    setting, none = Setting.of("rwn", {"k": 5}), (rwn.Limit(measure="bayes_linkage", at_most=0.0),)
    weak, strict = (
        module._Trials(microdata=few, part=few, policy=policy, ranges={})
        for policy in (WEAK, rwn.Policy(limits=none))
    )
    assert weak.look(setting)
    assert weak.tried[0].met
    assert weak.tried[0].loss == weak.best < MOST_LOST
    assert not strict.look(setting)
    assert (strict.tried[0].met, strict.tried[0].loss) == (False, 1.0)


def test_of_candidates_the_last_that_lost_less_is_taken() -> None:
    whole = SimpleNamespace(look={"a": True, "b": True, "c": False}.__getitem__)
    assert whole_table.look_at(whole, "abc") == "b"
    assert whole_table.look_at(whole, "c") is None


def test_what_has_no_forecast_or_is_rounded_is_not_forecast(few) -> None:
    plain, noise = Setting.of("rwn", {"k": 5}), Setting(params=rwn.METHODS["cart_synthesis"]())
    rounded = Setting(params=plain.params, precision=(("age", 5.0),))
    groups = _prepared_together(few, [plain, noise, rounded])
    assert [setting for group in groups for setting in group] == [plain]


def test_a_trial_meets_a_policy_up_to_its_limit_and_no_further() -> None:
    trials = SimpleNamespace(trials={("a", 1): 1.0, ("a", 2): 1.01, ("a", 3): 2.0})
    assert [SliceSearch._meets(trials, "a", place) for place in (1, 2, 3)] == [True, False, False]


def test_a_run_of_no_settings_is_done() -> None:
    share = SweepRun.share.fget
    assert share(SimpleNamespace(settings=[])) == 1.0
    half = SimpleNamespace(settings=[1, 2], plan=SimpleNamespace(releases=4), _before=0, _done=4.0)
    assert share(half) == 0.5


def test_variables_that_go_together_share_a_slice(few) -> None:
    pairs = slice_presets.related(2)(few.take(range(200)))
    together = next(group for group in pairs if "weight" in group)
    assert {"hip", "abdomen"} <= set(together)
    assert "age" not in together
