"""The limit of .09 for clinical data bounds the most exposed record, not the mean of all."""

from __future__ import annotations

import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.masking import RWN
from rwn_core.measures import MEASURES
from rwn_core.tuning.policy import CLINICAL, Policy
from tests.core.measures.test_linked_over_half import compared, with_outliers

MEAN, LARGEST = MEASURES["bayes_linkage"], MEASURES["largest_linkage"]
POLICY = Policy(limits=CLINICAL[:1])


def test_people_apart_hide_in_a_mean_of_nine_percent_and_not_in_the_maximum() -> None:
    data = with_outliers(n=400, apart=4)
    comparison = compared(data, RWN(epsilon=1.2, k=30))
    assert MEAN.read(comparison).value < 0.09
    largest = LARGEST.read(comparison)
    assert largest.value > 0.3
    assert POLICY.judge_readings({LARGEST.key: largest}).broken == (LARGEST.key,)
    units = Microdata(data.frame.assign(a=data.frame["a"] * 1000 + 7), data.schema)
    assert LARGEST.read(compared(units, RWN(epsilon=1.2, k=30))).value > 0.3


def test_a_crowd_keeps_it_and_a_file_of_twins_is_not_judged() -> None:
    crowd = compared(with_outliers(n=300, apart=0), RWN(epsilon=0.0, k=280))
    assert POLICY.judge_readings({LARGEST.key: LARGEST.read(crowd)}).kept
    bare = LARGEST.read(compared(with_outliers(n=300, apart=0), RWN(k=5, q=0.0)))
    assert bare.value == 1.0
    frame = with_outliers(n=60, apart=0).frame
    twins = Microdata.from_frame(pd.concat([frame] * 12, ignore_index=True))
    verdict = POLICY.judge_readings({LARGEST.key: LARGEST.read(compared(twins, RWN(k=5)))})
    assert not verdict.kept
    assert "cannot be broken on this table" in verdict.unread[LARGEST.key]
