"""People who are left out of a release: attacks are tried on them, too, and judged alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core
from rwn_core.data.rounding import rounded
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.attack_list import read_attack
from rwn_core.evaluation.control_group import control_group
from rwn_core.evaluation.disclosure import disclose
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.non_members import NonMembers
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_ui.risk import sentences as risk_sentences


def test_a_control_group_is_left_out_and_guessed_about(bodyfat, monkeypatch):
    params = RWN(epsilon=2.0, k=5)
    base = Comparison(original=bodyfat, masked=bodyfat)
    control = control_group(base, params, seed=1)
    assert control.holdout.n == bodyfat.n // 5
    assert control.original.n == bodyfat.n - control.holdout.n
    together = pd.concat([control.original.frame, control.holdout.frame])
    order = list(bodyfat.names)
    assert together.sort_values(order).to_numpy().tolist() == (
        bodyfat.frame.sort_values(order).to_numpy().tolist()
    )
    other = bodyfat.take(np.random.default_rng(1).permutation(bodyfat.n))  # of any order the same
    again = control_group(Comparison(original=other, masked=other), params, seed=1)
    one, two = (each.holdout.frame.sort_values(order).to_numpy() for each in (control, again))
    assert one.tolist() == two.tolist()
    read: list[tuple[str, Comparison]] = []
    compute = Measure.read

    def watched(measure, comparison):
        read.append((measure.key, comparison))
        return compute(measure, comparison)

    monkeypatch.setattr(Measure, "read", watched)
    release = mask(bodyfat, params, seed=1)
    found = disclose(base, release.masked, release.law, control=control)
    for key, measure in MEASURES.items():  # no attack is computed to be thrown away
        asked = [comparison for name, comparison in read if name == key]
        if measure.side == "risk":
            assert len(asked) == 1, key
            assert (asked[0] is control) == measure.against_control, key
    for key in ("attribute_inference", "singling_out", "linkability", "inference"):
        assert found.readings[key].detail.control is not None
    plain = MEASURES["inference"].read(base.with_masked(release.masked, release.law))
    assert plain.detail.control is None
    # what an informed intruder learns of people in the file is more than of those outside
    worst = found.readings["attribute_inference"]
    assert worst.value > worst.baseline + 0.1
    assert worst.baseline > worst.detail.ignorant.mean()
    assert "people who are not in the file" in str(risk_sentences.rows(found.readings, 241))


def test_where_a_control_group_has_no_answer_the_release_is_asked(bodyfat):
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=1)
    base = Comparison(original=bodyfat, masked=bodyfat)
    lawless = Comparison(original=bodyfat, masked=release.masked)
    full = base.with_masked(release.masked, release.law)
    measure = MEASURES["attribute_inference"]
    assert isinstance(read_attack(measure, full, lawless), Reading)
    assert isinstance(read_attack(measure, lawless, lawless), NotApplicable)
    assert isinstance(read_attack(measure, lawless, full), Reading)


def _unrelated(seed: int) -> rwn_core.Microdata:
    """A confidential number that two keys tell nothing of."""
    values = np.random.default_rng(seed).normal(size=(600, 3))
    roles = {"x": Role.KEY, "y": Role.KEY, "s": Role.CONFIDENTIAL}
    schema = Schema(
        variables=tuple(
            Variable(
                name=name,
                kind=Kind.CONTINUOUS,
                role=role,
                weight=float(role is Role.KEY),
            )
            for name, role in roles.items()
        )
    )
    return rwn_core.Microdata.from_frame(pd.DataFrame(values, columns=list(roles)), schema)


def test_people_outside_are_judged_as_they_are_like_those_inside():
    """A secret that nothing tells is named as rarely outside as inside, however it is rounded."""
    beyond, precision = [], dict.fromkeys(("x", "y", "s"), 1.0)
    for seed in range(6):
        data = _unrelated(seed)
        base = Comparison(original=data, masked=data)
        control = control_group(base, RWN(k=40), seed=1, precision=precision)
        reading = MEASURES["attribute_inference"].read(control)
        beyond.append(reading.value - reading.baseline)
    # 120 people outside, of whom .08 are named rightly by chance: .025 is one standard error
    assert np.mean(beyond) == pytest.approx(0.0, abs=3 * 0.025 / np.sqrt(6))
    held = np.flatnonzero(~data.frame["x"].isin(control.original.frame["x"]))
    pd.testing.assert_frame_equal(control.holdout.frame, data.take(held).frame)
    asked = NonMembers(control, control.law, control.holdout, ["x", "y"])
    pd.testing.assert_frame_equal(  # a release would show them rounded
        asked.non_members.frame, rounded(control.holdout, precision).frame
    )


def test_no_control_group_of_a_few():
    frame = pd.DataFrame({"x": np.arange(60.0), "y": np.arange(60.0) % 7})
    data = rwn_core.Microdata.from_frame(frame)
    base = Comparison(original=data, masked=data)
    assert control_group(base, RWN(k=2), seed=1) is None  # 12 people
    large = rwn_core.Microdata.from_frame(pd.concat([frame, frame + 0.5], ignore_index=True))
    base = Comparison(original=large, masked=large)
    assert control_group(base, RWN(k=2), seed=1) is not None
    assert control_group(base, RWN(k=110), seed=1) is None  # the rest has 96
