"""Rules for dates: of birth or death to the day, and times to the minute or second."""

from __future__ import annotations

import numpy as np

from rwn_core.data.identity.doubt import Confidence, Found
from rwn_core.data.identity.profile import Profile
from rwn_core.data.identity.words import Subject

FEW = 20  # different values up to which days are taken for periods
GENERATION = 20.0  # years over which nine in ten dates of birth are spread at least
DAYS = 8  # different days of the month, below which dates are those of months


def find(profile: Profile) -> Found | None:
    """Say what dates look like that identify people; None where they do not."""
    moments = profile.dates
    if moments is None or len(moments) < min(FEW, profile.known) or profile.distinct < FEW // 2:
        return None
    seconds = moments.hour * 3600 + moments.minute * 60 + moments.second
    of_day = np.asarray(seconds, dtype=np.float64)
    if (of_day > 0).mean() > 0.5 and profile.distinct > FEW:
        if (np.mod(of_day, 60) > 0).mean() > 0.5 and profile.share > 0.3:
            return Found("times to the second", "nearly every record has a time of its own")
        if (np.mod(of_day, 3600) > 0).mean() > 0.5 and profile.share > 0.7:
            return Found(
                "times to the minute",
                "nearly every record has a time of its own",
                Confidence.MODERATE,
            )
    if len(np.unique(moments.day)) < DAYS:
        return None
    if profile.about(Subject.BIRTH):
        return Found("dates of birth or death", "the variable is called so, and has single days")
    years = np.asarray(moments.year, dtype=np.float64)
    early, late = np.quantile(years, [0.05, 0.95])
    if late - early >= GENERATION and early < 2005 and profile.share > 0.5:
        return Found(
            "dates of birth",
            "single days are spread over the years of a lifetime",
            Confidence.MODERATE,
        )
    return None
