"""Tables on which a confidential value is disclosed, or is not, and slow references for them."""

from fractions import Fraction
from typing import Any

import pandas as pd

import rwn_core as rwn
from rwn_core import MEASURES, Comparison, Reading
from rwn_core.data.rounding import given_steps, rounded
from rwn_core.masking import Method, mask


def released(
    data: rwn.Microdata, params: Method, seed: int = 1, share: float = 0.0, **given: Any
) -> Comparison:
    """A release beside its original, if asked rounded to a share of the standard deviations."""
    release = mask(data, params, seed=seed)
    steps = given_steps(data, share)
    masked = rounded(release.masked, steps)
    law = release.law.rounded(steps)
    return Comparison(original=data, masked=masked, law=law, **given)


def beside(comparison: Comparison, masked: pd.DataFrame) -> Comparison:
    """The same original and law beside another table."""
    frame = rwn.Microdata(masked, comparison.original.schema)
    return comparison.with_masked(frame, comparison.law)


def reading(key: str, comparison: Comparison) -> Reading:
    """What a measure reads."""
    found = MEASURES[key].read(comparison)
    assert isinstance(found, Reading), found
    return found


def value(key: str, comparison: Comparison) -> float:
    """The number of a measure."""
    return reading(key, comparison).value


def number(text: Any) -> float:
    """A published fraction as a number."""
    return float(Fraction(str(text)))
