"""Measures of a weak attack say which knowledge they assume, and that others know more."""

from __future__ import annotations

import pytest

from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES, read
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading

ASSUMED = {
    "nearest_distance": "has nothing but the release",
    "closest_record": "holds whole original records and compares distances",
    "extremes": "knows who holds an extreme",
    "singling_out": "has nothing but the release",
}


@pytest.mark.parametrize("key", ASSUMED)
def test_the_sentence_says_what_is_known(key, numeric_frames, compare):
    original = compare(*numeric_frames).original
    release = mask(original, RWN(k=3), seed=1)
    found = read(key, Comparison(original=original, masked=release.masked, law=release.law))
    assert isinstance(found, Reading)
    said = MEASURES[key].sentence(found, original.n)
    assert f"It assumes somebody who {ASSUMED[key]}" in said
