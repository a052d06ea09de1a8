"""Rules for integers (numbers of people, counters, households) and for dates and times."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.identity.of_texts import passes_luhn
from rwn_core.data.identity.profile import Confidence, IdentityDoubt, Profile, Subject

YEARS = (1800, 2100)  # between which a number may be a year
FEW = 20  # different values up to which a column is taken for categories
NEARLY_UNIQUE = 0.9  # different values for each record
REPEATED = 0.1  # the same, for numbers of people that may repeat
DENSE = 0.9  # of the numbers between the least and the largest that occur: a counter
LONG = 8  # digits of a number too long for a quantity
LARGEST_HOUSEHOLD = 15  # people
MORE_THAN_CHANCE = 5.0  # equal neighbors, in those of rows in random order
BY_CHANCE = 8.0  # equal pairs, below which none at all may be luck
RARER = 20.0  # times fewer pairs that are equal, among numbers that are given out
GENERATION = 20.0  # years over which nine in ten dates of birth are spread at least
DAYS = 8  # different days of the month, below which dates are those of months
_ENTITIES = (
    Subject.HOUSEHOLD,
    Subject.PLACE,
    Subject.CONTACT,
    Subject.PERSON,
    Subject.ADDRESS,
    Subject.NUMBER,
)
_people_or_objects = partial(IdentityDoubt, "numbers of people or objects")
_births = partial(IdentityDoubt, "dates of birth or death")


def find_integers(profile: Profile) -> IdentityDoubt | None:
    """Say what integers look like that identify people; None where they do not."""
    values = profile.integers
    if values is None or profile.dates is not None or profile.distinct <= FEW:
        return None
    if profile.words.is_row_name and YEARS[0] <= values.min() and values.max() <= YEARS[1]:
        return None  # a moment, which is an index of a series
    rules = (_card, _named, _counter, _household, _long, _given_out, _even)
    return next(filter(None, (rule(profile, values) for rule in rules)), None)


def _card(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    # values: shape (m,), the different values
    if values.min() < 1e12 or values.max() >= 1e19:
        return None
    passing = sum(passes_luhn(str(int(value))) for value in values[:1_000])
    if passing > NEARLY_UNIQUE * min(len(values), 1_000):
        return IdentityDoubt("numbers of payment cards", "their check digits are right")
    return None


def _named(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Numbers of many different people or things, by the name of the variable."""
    # values: shape (m,), the different values
    if profile.words.is_measure:
        return None
    spread = values.max() - values.min()
    if profile.about(Subject.POSTCODE):
        often = profile.share > 0.3 and profile.distinct > 2 * FEW
        sure = Confidence.MODERATE if often else Confidence.LOW
        return IdentityDoubt("postal codes", "the variable is called so", sure)
    named = (subject for subject in _ENTITIES if profile.about(subject))
    subject = next((e for e in named if e is not Subject.PLACE or spread >= 1_000), None)
    if subject is None or profile.share < REPEATED:
        return None
    return IdentityDoubt(str(subject), "the variable is called so, and its values often differ")


def _counter(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Every number from the first to the last, each once: the order of the records."""
    # values: shape (m,), the different values
    if profile.words.is_series or profile.share < 0.98:
        return None
    gaps = np.abs(np.diff(values))
    in_order, regular = _order(values)
    if len(values) > DENSE * (values.max() - values.min() + 1) or regular > DENSE:
        return IdentityDoubt("a counter of the records", "its values number them one by one")
    rise = in_order and (gaps <= 10 * np.median(gaps)).mean() > DENSE and values.min() >= 1_000
    found = rise and not profile.words.is_measure
    return _people_or_objects("they rise from record to record") if found else None


def _stand_in_runs(profile: Profile) -> bool:
    """True if equal values follow each other, more than by chance."""
    sizes = profile.sizes
    equal = profile.known - profile.runs
    expected = float((sizes * (sizes - 1.0)).sum()) / profile.known
    return profile.runs <= 1.1 * profile.distinct and equal > MORE_THAN_CHANCE * expected


def _are_counted(values: NDArray[np.float64], even: bool) -> bool:
    """True if values in the order of the table are numbers that were given one after another."""
    # a table sorted by a quantity has runs, too, but gaps where the quantity is rare
    in_order, regular = _order(values)
    return not in_order or regular > 0.98 or (values.min() >= 10_000 and even)


def _are_codes_of_one_length(values: NDArray[np.float64]) -> bool:
    """True if values have as many digits each, four or more, and are no years."""
    digits = np.floor(np.log10(np.maximum(np.abs(values), 1))) + 1
    years = values.min() >= 1850 and values.max() <= 2100
    return float(digits.min()) == float(digits.max()) >= 4 and not years


def _household(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Values shared by few records each, which stand in one run or are called households."""
    # values: shape (m,), the different values
    mean = profile.known / profile.distinct
    largest = profile.sizes.max()
    if profile.words.is_measure or largest > LARGEST_HOUSEHOLD or not 1.15 <= mean <= 10:
        return None
    even = _is_even(values) and not _is_round(values)
    if _stand_in_runs(profile) and _are_counted(values, even) and not profile.words.is_series:
        reason = "its values stand in runs of a few records, as members of a household do"
        return IdentityDoubt("numbers of households", reason)
    if mean > 1.3 and even and _are_codes_of_one_length(values):
        what = "numbers of households or of people who come again"
        reason = "a few records share each of its many codes"
        return IdentityDoubt(what, reason, Confidence.MODERATE)
    return None


def _long(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Numbers of eight digits or more, a new one for nearly every record."""
    # values: shape (m,), the different values
    if profile.words.is_measure or profile.share < NEARLY_UNIQUE:
        return None
    if np.quantile(values, 0.05) < 10.0 ** (LONG - 1) or _is_round(values):
        return None
    return _people_or_objects("its numbers are long, and nearly every record has its own")


def _given_out(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Find numbers given out one by one: none comes twice where chance would repeat many.

    Of n numbers drawn from a range of R about n (n - 1) / (2 R) pairs are equal, and more where
    they are not spread evenly: without one, all were given to one record each.
    """
    # values: shape (m,), the different values
    n = profile.known
    span = float(values.max() - values.min()) + 1
    ties = int((profile.sizes * (profile.sizes - 1)).sum()) // 2
    expected = n * (n - 1) / (2 * span)
    if profile.words.is_series or expected < BY_CHANCE or ties > expected / RARER:
        return None
    return _people_or_objects(
        f"by chance about {expected:,.0f} pairs of numbers would be equal, and "
        f"{'none is' if ties == 0 else f'{ties:,} are'}: somebody gave them out"
    )


def _even(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Numbers of equal length spread evenly, a new one for nearly every record."""
    # values: shape (m,), the different values
    if profile.words.is_measure or profile.share < NEARLY_UNIQUE:
        return None
    low = values.min()
    high = values.max()
    constant = low >= 10_000 and len(str(int(low))) == len(str(int(high)))
    if not constant or not _is_even(values) or _is_round(values):
        return None
    reason = "its numbers have one length, lie evenly, and nearly every record has its own"
    return _people_or_objects(reason, Confidence.MODERATE)


def _order(values: NDArray[np.float64]) -> tuple[bool, float]:
    """Return whether values rise or fall, and the share of their steps that are the first one."""
    # values: shape (m,), the different values
    gaps = np.diff(values)
    in_order = bool((gaps > 0).all() or (gaps < 0).all())
    return in_order, float((gaps == gaps[0]).mean()) if in_order else 0.0


def _is_even(values: NDArray[np.float64]) -> bool:
    """True if values lie evenly between their ends, as given numbers do and quantities do not."""
    # values: shape (m,), the different values
    low = values.min()
    high = values.max()
    if high <= low:
        return False
    places = np.sort((values - low) / (high - low))
    distance = np.abs(places - np.linspace(0, 1, len(places))).max() * np.sqrt(len(places))
    centered = places - places.mean()
    third, fourth = ((centered**power).mean() / places.std() ** power for power in (3, 4))
    return bool(distance < 1.6 and fourth < 2.2 and abs(third) < 0.4)


def _is_round(values: NDArray[np.float64]) -> bool:
    """True if nearly all values are multiples of ten, as rounded quantities are."""
    return bool((np.mod(values, 10) == 0).mean() > 0.9)


def _times_of_day(profile: Profile, moments: pd.DatetimeIndex) -> IdentityDoubt | None:
    """Say what times of the day look like that are new for nearly every record."""
    of_day = np.asarray(moments.hour * 3600 + moments.minute * 60 + moments.second)
    if (of_day > 0).mean() <= 0.5 or profile.distinct <= FEW:
        return None
    reason = "nearly every record has a time of its own"
    if (np.mod(of_day, 60) > 0).mean() > 0.5 and profile.share > 0.3:
        return IdentityDoubt("times to the second", reason)
    if (np.mod(of_day, 3600) > 0).mean() > 0.5 and profile.share > 0.7:
        return IdentityDoubt("times to the minute", reason, Confidence.MODERATE)
    return None


def find_dates(profile: Profile) -> IdentityDoubt | None:
    """Say what dates look like that identify people; None where they do not."""
    moments = profile.dates
    if moments is None or len(moments) < min(FEW, profile.known) or profile.distinct < FEW // 2:
        return None
    times = _times_of_day(profile, moments)
    if times is not None:
        return times
    # months or years alone, and single days
    if len(np.unique(moments.day)) < DAYS:
        named = profile.about(Subject.BIRTH) and profile.distinct > FEW
        reason = "the variable is called so, and has single months"
        return _births(reason, Confidence.MODERATE) if named else None
    if profile.about(Subject.BIRTH):
        return _births("the variable is called so, and has single days")
    # days over a lifetime, whatever the variable is called
    early, late = np.quantile(np.asarray(moments.year, dtype=np.float64), [0.05, 0.95])
    if late - early >= GENERATION and early < 2005 and profile.share > 0.5:
        reason = "single days are spread over the years of a lifetime"
        return IdentityDoubt("dates of birth", reason, Confidence.MODERATE)
    return None
