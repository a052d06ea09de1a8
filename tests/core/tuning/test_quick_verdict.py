"""What a quick verdict says where it finds nothing, and the places that a trial has."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.tuning import Setting, slice_presets, strength
from rwn_core.tuning.evaluate import PreparedTables
from rwn_core.tuning.strength import MOST_LOST, StrengthTrial

WEAK = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.9),))


def trial(data: rwn.Microdata, setting: Setting, policy: rwn.Policy, places: int) -> StrengthTrial:
    table = strength.TableSearch(microdata=data, policy=policy, places=places)
    return StrengthTrial(table, setting)


def test_a_trial_has_the_steps_of_its_range(few) -> None:
    setting = Setting.of("rwn", {"k": 5})
    ends = PreparedTables(few).start(setting.resolved(few)).ranges["epsilon"]
    tried = trial(few, setting, WEAK, 4)
    assert tried.last == 4
    at = [tried.at(place).params.epsilon for place in range(tried.last + 1)]
    assert at == pytest.approx(np.linspace(ends.low, ends.high, 5), abs=ends.step)
    table = strength.TableSearch(microdata=few, policy=WEAK, values={"epsilon": (2.0, 7.5)})
    given = StrengthTrial(table, setting)
    assert [given.at(place).params.epsilon for place in (0, 1)] == [2.0, 7.5]


@pytest.mark.parametrize("near", [None, 0, 5, 9])
def test_the_first_place_that_passes_is_found_from_anywhere(near: int | None) -> None:
    for first in range(10):
        assert strength.first_that(lambda place, f=first: place >= f, 9, near) == first
    assert strength.first_that(lambda place: False, 9, near) is None


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
    assert found.kept
    assert found.loss < MOST_LOST
    assert weak.look(setting) is None  # seen
    broken = strict.look(setting, MOST_LOST)
    assert broken is None or not broken.kept


def test_variables_that_go_together_share_a_slice(few) -> None:
    pairs = slice_presets.related(2)(few.take(range(200)))
    together = next(group for group in pairs if "weight" in group)
    assert {"hip", "abdomen"} <= set(together)
    assert "age" not in together
