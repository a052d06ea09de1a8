"""Rules for integers (numbers of people, counters, households) and for dates and times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.identity.of_texts import passes_luhn
from rwn_core.data.identity.profile import Confidence, IdentityDoubt, Profile, Subject

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
    *(Subject.HOUSEHOLD, Subject.PLACE, Subject.CONTACT, Subject.PERSON, Subject.ADDRESS),
    Subject.NUMBER,
)


def find_integers(profile: Profile) -> IdentityDoubt | None:
    """Say what integers look like that identify people; None where they do not."""
    values = profile.integers
    if values is None or profile.dates is not None or profile.distinct <= FEW // 2:
        return None
    rules = (_card, _named, _counter, _household, _long, _given_out, _even)
    return next(filter(None, (rule(profile, values) for rule in rules)), None)


def _card(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    # values: shape (m,), the different values
    if profile.distinct <= FEW or values.min() < 1e12 or values.max() >= 1e19:
        return None
    passing = sum(passes_luhn(str(int(value))) for value in values[:1_000])
    if passing > NEARLY_UNIQUE * min(len(values), 1_000):
        return IdentityDoubt("numbers of payment cards", "their check digits are right")
    return None


def _named(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Numbers of many different people or things, by the name of the variable."""
    # values: shape (m,), the different values
    if profile.words.is_measure or profile.distinct <= FEW:
        return None
    spread = values.max() - values.min()
    if profile.about(Subject.POSTCODE):
        often = profile.share > 0.3 and profile.distinct > 2 * FEW
        sure = Confidence.MODERATE if often else Confidence.LOW
        return IdentityDoubt("postal codes", "the variable is called so", sure)
    for subject in _ENTITIES:
        if not profile.about(subject):
            continue
        place = subject is Subject.PLACE
        if profile.share < REPEATED or (place and spread < 1_000):
            continue
        reason = "the variable is called so, and its values often differ"
        return IdentityDoubt(str(subject), reason)
    return None


def _counter(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Every number from the first to the last, each once: the order of the records."""
    # values: shape (m,), the different values
    if profile.words.is_series or profile.distinct <= FEW or profile.share < 0.98:
        return None
    span = values.max() - values.min() + 1
    gaps = np.diff(values)
    increasing = bool((gaps > 0).all() or (gaps < 0).all())
    regular = increasing and float((gaps == gaps[0]).mean()) > DENSE
    near = np.abs(gaps) <= 10 * np.median(np.abs(gaps))
    sorted_numbers = increasing and not profile.words.is_measure and float(near.mean()) > DENSE
    if len(values) > DENSE * span or regular:
        return IdentityDoubt("a counter of the records", "its values number them one by one")
    if sorted_numbers and values.min() >= 1_000:
        return IdentityDoubt("numbers of people or objects", "they rise from record to record")
    return None


def _household(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Values shared by few records each, which stand in one run or are called households."""
    # values: shape (m,), the different values
    sizes = profile.sizes
    if profile.words.is_measure or profile.distinct <= FEW or sizes.max() > LARGEST_HOUSEHOLD:
        return None
    mean = profile.known / profile.distinct
    if not 1.15 <= mean <= 10:
        return None
    equal = profile.known - profile.runs
    expected = float((sizes * (sizes - 1.0)).sum()) / profile.known
    together = profile.runs <= 1.1 * profile.distinct and equal > MORE_THAN_CHANCE * expected
    gaps = np.diff(values)
    sorted_ = bool((gaps > 0).all() or (gaps < 0).all())
    regular = sorted_ and float((gaps == gaps[0]).mean()) > 0.98
    coded = values.min() >= 10_000 and _is_even(values) and not _is_round(values)
    # a table sorted by a quantity has runs, too, but gaps where the quantity is rare
    counted = not sorted_ or regular or coded
    if together and counted and not profile.words.is_series:
        return IdentityDoubt(
            "numbers of households",
            "its values stand in runs of a few records, as members of a household do",
        )
    digits = np.floor(np.log10(np.maximum(np.abs(values), 1))) + 1
    years = values.min() >= 1850 and values.max() <= 2100
    constant = float(digits.min()) == float(digits.max()) >= 4 and not years
    if constant and mean > 1.3 and _is_even(values) and not _is_round(values):
        return IdentityDoubt(
            "numbers of households or of people who come again",
            "a few records share each of its many codes",
            Confidence.MODERATE,
        )
    return None


def _long(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Numbers of eight digits or more, a new one for nearly every record."""
    # values: shape (m,), the different values
    if profile.words.is_measure or profile.share < NEARLY_UNIQUE or profile.distinct <= FEW:
        return None
    least = np.quantile(values, 0.05)
    if least >= 10.0 ** (LONG - 1) and not _is_round(values):
        return IdentityDoubt(
            "numbers of people or objects",
            "its numbers are long, and nearly every record has its own",
        )
    return None


def _given_out(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Find numbers given out one by one: none comes twice where chance would repeat many.

    Of n numbers drawn from a range of R about n (n - 1) / (2 R) pairs are equal, and more where
    they are not spread evenly: without one, all were given to one record each.
    """
    # values: shape (m,), the different values
    n, span = profile.known, float(values.max() - values.min()) + 1
    ties = int((profile.sizes * (profile.sizes - 1)).sum()) // 2
    expected = n * (n - 1) / (2 * span)
    few = profile.distinct <= FEW or expected < BY_CHANCE
    if profile.words.is_series or few or ties > expected / RARER:
        return None
    return IdentityDoubt(
        "numbers of people or objects",
        f"by chance about {expected:,.0f} pairs of numbers would be equal, and "
        f"{'none is' if ties == 0 else f'{ties:,} are'}: somebody gave them out",
    )


def _even(profile: Profile, values: NDArray[np.float64]) -> IdentityDoubt | None:
    """Numbers of equal length spread evenly, a new one for nearly every record."""
    # values: shape (m,), the different values
    if profile.words.is_measure or profile.share < NEARLY_UNIQUE or profile.distinct <= FEW:
        return None
    low, high = values.min(), values.max()
    constant = low >= 10_000 and len(str(int(low))) == len(str(int(high)))
    if constant and _is_even(values) and not _is_round(values):
        return IdentityDoubt(
            "numbers of people or objects",
            "its numbers have one length, lie evenly, and nearly every record has its own",
            Confidence.MODERATE,
        )
    return None


def _is_even(values: NDArray[np.float64]) -> bool:
    """True if values lie evenly between their ends, as given numbers do and quantities do not."""
    # values: shape (m,), the different values
    low, high = values.min(), values.max()
    if high <= low:
        return False
    places = np.sort((values - low) / (high - low))
    steps = np.linspace(0, 1, len(places))
    distance = float(np.abs(places - steps).max()) * np.sqrt(len(places))
    centered = places - places.mean()
    spread = float((centered**2).mean())
    kurtosis = float((centered**4).mean()) / spread**2
    skewness = float((centered**3).mean()) / spread**1.5
    return distance < 1.6 and kurtosis < 2.2 and abs(skewness) < 0.4


def _is_round(values: NDArray[np.float64]) -> bool:
    """True if nearly all values are multiples of ten, as rounded quantities are."""
    return bool((np.mod(values, 10) == 0).mean() > 0.9)


def find_dates(profile: Profile) -> IdentityDoubt | None:
    """Say what dates look like that identify people; None where they do not."""
    moments = profile.dates
    if moments is None or len(moments) < min(FEW, profile.known) or profile.distinct < FEW // 2:
        return None
    # times of the day that are new for nearly every record
    seconds = moments.hour * 3600 + moments.minute * 60 + moments.second
    of_day = np.asarray(seconds, dtype=np.float64)
    if (of_day > 0).mean() > 0.5 and profile.distinct > FEW:
        if (np.mod(of_day, 60) > 0).mean() > 0.5 and profile.share > 0.3:
            return IdentityDoubt("times to the second", "nearly every record has a time of its own")
        if (np.mod(of_day, 3600) > 0).mean() > 0.5 and profile.share > 0.7:
            return IdentityDoubt(
                "times to the minute",
                "nearly every record has a time of its own",
                Confidence.MODERATE,
            )
    # months or years alone, and single days
    if len(np.unique(moments.day)) < DAYS:
        if profile.about(Subject.BIRTH) and profile.distinct > FEW:
            reason = "the variable is called so, and has single months"
            return IdentityDoubt("dates of birth or death", reason, Confidence.MODERATE)
        return None
    if profile.about(Subject.BIRTH):
        return IdentityDoubt(
            "dates of birth or death", "the variable is called so, and has single days"
        )
    # days over a lifetime, whatever the variable is called
    years = np.asarray(moments.year, dtype=np.float64)
    early, late = np.quantile(years, [0.05, 0.95])
    if late - early >= GENERATION and early < 2005 and profile.share > 0.5:
        return IdentityDoubt(
            "dates of birth",
            "single days are spread over the years of a lifetime",
            Confidence.MODERATE,
        )
    return None
