"""Which variables of a table may identify people: one detector for every way out.

A variable is judged by its name and by its values. What it finds names no value.
"""

from __future__ import annotations

from collections.abc import Iterable
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


def identity_doubts(frame: pd.DataFrame, names: Iterable[str]) -> list[IdentityDoubt]:
    """Judge which variables may identify people."""
    profiles = [Profile(frame[name]) for name in names]
    # Names of variables that follow each other and have the values of latitude and longitude.
    pairs: set[str] = set()
    for north, east in (each for pair in pairwise(profiles) for each in permutations(pair)):
        if _is_degrees(north, 90, WIDEST_PLACE[0]) and _is_degrees(east, 180, WIDEST_PLACE[1]):
            inhabited = 20 <= abs(float(np.median(np.asarray(north.numbers)))) <= 72
            if inhabited and abs(north.decimals - east.decimals) <= 1:
                pairs |= {north.name, east.name}
    # Numbers of people that begin with the number of their group, which another variable is.
    prefixed: dict[str, IdentityDoubt] = {}
    integers = [p for p in profiles if p.integers is not None and p.distinct > of_numbers.FEW]
    for person, group in permutations(integers, 2):
        if not 1.15 * group.distinct <= person.distinct or person.integers is None:
            continue
        rows = block_rows(frame[[person.name, group.name]]).dropna()
        own, shared = (pd.to_numeric(rows[name]).to_numpy(np.int64) for name in rows)
        for unit in (10, 100, 1_000, 10_000):
            if len(rows) and own.min() >= unit and (own // unit == shared).all():
                reason = f"its first digits are those of {group.name}"
                prefixed[person.name] = IdentityDoubt("numbers of people", reason)
                reason = f"{person.name} begins with its values"
                prefixed[group.name] = IdentityDoubt(str(Subject.HOUSEHOLD), reason)
    people = repeated_people(frame, [profile.name for profile in profiles])
    found = []
    for profile in profiles:
        name = profile.name
        of_people = people.get(profile.name)
        alone = prefixed.get(name)
        if alone is None and profile.known and profile.distinct > 1:
            alone = of_numbers.find_dates(profile) or of_texts.find(profile)
            alone = alone or of_numbers.find_integers(profile)
            alone = alone or _place(profile, name in pairs) or _weight(profile)
        # the finding by a time variable comes first, else that of the variable alone
        sure = of_people is not None and of_people.confidence is Confidence.HIGH
        doubt = of_people if sure or alone is None else alone
        if doubt is not None:
            found.append(replace(doubt, variable=name))
    return found


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
