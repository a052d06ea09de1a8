"""Which variables of a table may identify people: one detector for every way out.

A variable is judged by its name and by its values. What it finds names no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pandas as pd

from rwn_core.data.identity import of_numbers, of_texts
from rwn_core.data.identity.panel import repeated_people
from rwn_core.data.identity.profile import Confidence, IdentityDoubt, Profile, Subject, block_rows

__all__ = ["Confidence", "IdentityDoubt", "identity_doubts"]

SAMPLING_WEIGHT = "a sampling weight"
PLACE_DECIMALS = 3  # of degrees: a hundred meters
PAIR_DECIMALS = 4  # where no name says that two columns are coordinates
WIDEST_PLACE = (15.0, 60.0)  # degrees of latitude and longitude within which a survey lies
INHABITED = (20, 72)  # degrees of latitude, north or south, of most surveys
MORE_PEOPLE = 1.15  # times the groups: numbers of people are as many at least


def identity_doubts(frame: pd.DataFrame, names: Iterable[str]) -> list[IdentityDoubt]:
    """Judge which variables may identify people."""
    profiles = [Profile(frame[name]) for name in names]
    places = _pairs_of_places(profiles)
    prefixed = _numbers_of_groups(frame, profiles)
    people = repeated_people(frame, [profile.name for profile in profiles])
    found = []
    for profile in profiles:
        of_people = people.get(profile.name)
        alone = prefixed.get(profile.name)
        if alone is None and profile.known and profile.distinct > 1:
            alone = _alone(profile, places)
        # the finding by a time variable comes first, else that of the variable alone
        sure = of_people is not None and of_people.confidence is Confidence.HIGH
        doubt = of_people if sure or alone is None else alone
        if doubt is not None:
            found.append(replace(doubt, variable=profile.name))
    return found


def _alone(profile: Profile, places: set[str]) -> IdentityDoubt | None:
    """Judge a variable by its own name and values."""
    return (
        of_numbers.find_dates(profile)
        or of_texts.find(profile)
        or of_numbers.find_integers(profile)
        or _place(profile, profile.name in places)
        or _weight(profile)
    )


def _pairs_of_places(profiles: Sequence[Profile]) -> set[str]:
    """Return the variables that follow each other and have the values of latitude and longitude."""
    pairs: set[str] = set()
    for one, other in pairwise(profiles):
        for north, east in ((one, other), (other, one)):
            if _is_place(north, east):
                pairs |= {north.name, east.name}
    return pairs


def _is_place(north: Profile, east: Profile) -> bool:
    """True if two variables are degrees of a place where people live, with like decimals."""
    if not _is_degrees(north, 90, WIDEST_PLACE[0]) or not _is_degrees(east, 180, WIDEST_PLACE[1]):
        return False
    usual = abs(float(np.median(np.asarray(north.numbers))))
    low, high = INHABITED
    return low <= usual <= high and abs(north.decimals - east.decimals) <= 1


def _numbers_of_groups(
    frame: pd.DataFrame, profiles: Sequence[Profile]
) -> dict[str, IdentityDoubt]:
    """Return numbers of people that begin with the number of their group, and that of the group."""
    found: dict[str, IdentityDoubt] = {}
    integers = [p for p in profiles if p.integers is not None and p.distinct > of_numbers.FEW]
    for person, group in permutations(integers, 2):
        if person.distinct < MORE_PEOPLE * group.distinct:
            continue
        if _begins_with(frame, person.name, group.name):
            reason = f"its first digits are those of {group.name}"
            found[person.name] = IdentityDoubt("numbers of people", reason)
            reason = f"{person.name} begins with its values"
            found[group.name] = IdentityDoubt(str(Subject.HOUSEHOLD), reason)
    return found


def _begins_with(frame: pd.DataFrame, person: str, group: str) -> bool:
    """True if all numbers of one column are those of another with one to four digits more."""
    rows = block_rows(frame[[person, group]]).dropna()
    if not len(rows):
        return False
    own = pd.to_numeric(rows[person]).to_numpy(np.int64)
    shared = pd.to_numeric(rows[group]).to_numpy(np.int64)
    return any(
        own.min() >= unit and (own // unit == shared).all() for unit in (10, 100, 1_000, 10_000)
    )


def _place(profile: Profile, in_pair: bool) -> IdentityDoubt | None:
    """Degrees with decimals, or positions on a grid of meters."""
    if profile.integers is not None or profile.numbers is None or profile.distinct <= 2:
        return None
    if in_pair:
        reason = "two variables in a row have the range and the decimals of a place"
        return IdentityDoubt("coordinates", reason, Confidence.MODERATE)
    if not profile.about(Subject.PLACE) or profile.words.is_measure or profile.share < 0.1:
        return None
    largest = float(np.nanmax(np.abs(profile.numbers)))
    precise = largest >= 10_000 or (largest <= 180 and profile.decimals >= PLACE_DECIMALS)
    reason = "the variable is called so, and its values are precise"
    return IdentityDoubt("coordinates", reason) if precise else None


def _is_degrees(profile: Profile, most: float, widest: float) -> bool:
    values = profile.numbers
    if values is None or profile.distinct < 20 or profile.share < 0.3 or profile.words.is_measure:
        return False
    low, high = float(values.min()), float(values.max())
    near = -most <= low and high <= most and high - low <= widest
    return near and PAIR_DECIMALS <= profile.decimals <= 8


def _weight(profile: Profile) -> IdentityDoubt | None:
    """A sampling weight, which tells the stratum: a notice, and no refusal."""
    if not profile.about(Subject.WEIGHT) or profile.numbers is None or profile.distinct < 3:
        return None
    if float(np.nanmin(profile.numbers)) <= 0:
        return None
    reason = "the variable is called so; if it is one, give it that role"
    return IdentityDoubt(SAMPLING_WEIGHT, reason, Confidence.LOW)
