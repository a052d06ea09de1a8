"""Neighborhood sizes of the law that a release was drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.audit import compare as compare_release
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES

MEASURE = MEASURES["neighborhood_size"]


@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 4), (None, 4), (1.0, 1), (4.0, None)])
def test_against_brute_force(numeric_frames, epsilon, k):
    frame = numeric_frames[0]
    points = ((frame - frame.mean()) / frame.std()).to_numpy()
    data = Microdata.from_frame(frame)
    detail = MEASURE.compute(
        compare_release(data, mask(data, RWN(epsilon=epsilon, k=k), seed=1))
    ).detail
    for i in range(60):
        others = sorted(float(np.linalg.norm(points[i] - points[j])) for j in range(60) if j != i)
        within = 0 if epsilon is None else sum(d <= epsilon for d in others)
        assert detail.sizes[i] == max(within, k or 0)
        assert detail.governed_by_k[i] == (k is not None and within < k)
        assert detail.nearest[i] == pytest.approx(others[0])
    assert detail.median == np.median(detail.sizes)
    assert detail.share_governed_by_k == np.mean(detail.governed_by_k)
    assert (detail.epsilon, detail.k) == (epsilon, k)


def test_tables_alone_do_not_tell(compare, numeric_frames):
    with pytest.raises(NotApplicable, match="draws from neighborhoods"):
        MEASURE.compute(compare(*numeric_frames))
