"""Columns with labels: which identify people and which do not, to measure the identity gate by.

Of each label one half served to write the rules; the other half is held out. The same columns come
out every time.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

Make = Callable[[np.random.Generator, int], Any]


def word_list(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


GIVEN = word_list(
    "Lena Lukas Anna Maria Jonas Sophie Emil Clara Felix Ida Moritz Greta Pierre Camille Luc Manon "
    "Chloé Julien Carlos Lucía Pablo Elena Diego Sofía John Emily Harriet Oliver Grace Henry Aoife "
    "Siobhán Mehmet Ayşe Fatima Yusuf Agnieszka Piotr Zuzanna Björn Astrid Lars Ingrid Matteo "
    "Giulia Kwame Ngozi Priya Arjun Mei Haruto Olena Taras Noor Tariq"
)
FAMILY = word_list(
    "Moser Huber Gruber Steiner Müller Wagner Pichler Hofer Dubois Lefèvre Moreau Girard "
    "Perrin García "
    "Fernández Ruiz Ortega Smith Jones Taylor Brown O'Brien Hughes Carter Walsh Nowak "
    "Kowalski "
    "Lewandowska Yilmaz Demir Öztürk Rossi Esposito Ricci Andersson Nilsson Lindqvist Nguyen Patel "
    "Sharma Chen Okafor Mensah Shevchenko Petrov Horvat Novák Szabó Haddad Rahman Vogl Reisinger "
    "Brandstätter Thalhammer Achleitner"
)
ROADS = word_list("Haupt Bahnhof Linden Schul Kirchen Garten Wiesen Berg")
CITIES = word_list(
    "Vienna Graz Linz Salzburg Innsbruck Klagenfurt Bregenz Eisenstadt Villach Wels Steyr Dornbirn "
    "Krems Leoben Feldkirch Baden Amstetten Kapfenberg Mödling Traun"
)
JOBS = word_list(
    "Nurse Teacher Baker Carpenter Engineer Farmer Clerk Driver Cook Electrician Plumber Painter "
    "Waiter Lawyer Accountant Cleaner Mechanic Welder Guard Miner"
)
ILLS = word_list(
    "Diabetes Asthma Hypertension Migraine Anemia Arthritis Bronchitis Depression Epilepsy Gout "
    "Hepatitis Psoriasis Stroke Angina Eczema"
)
WORDS = word_list(
    "the patient came late moved to house near river son works abroad asked about pension lost job "
    "since spring lives with sister knee hurts after fall wants call back next week drives old bus"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One column with its label.

    Attributes
    ----------
    name : str
    identifies : bool
    held_out : bool
        True if the rules were written without it.
    values : pandas.Series
    """

    name: str
    identifies: bool
    held_out: bool
    values: pd.Series[Any]


def labelled_columns() -> list[Labelled]:
    """Make all columns: 60 that identify people and 100 that do not, a half of each held out."""
    from tools.labelled_columns import (
        HARMLESS,
        HARMLESS_HELD_OUT,
        IDENTIFYING,
        IDENTIFYING_HELD_OUT,
    )

    lists = (
        (IDENTIFYING, True, False),
        (IDENTIFYING_HELD_OUT, True, True),
        (HARMLESS, False, False),
        (HARMLESS_HELD_OUT, False, True),
    )
    made = []
    for number, (columns, identifies, held_out) in enumerate(lists):
        for place, (name, make) in enumerate(columns.items()):
            rng = np.random.default_rng([number, place])
            n = (80, 150, 300, 700, 2_000)[place % 5]
            values = pd.Series(make(rng, n), name=name)
            made.append(
                Labelled(name=name, identifies=identifies, held_out=held_out, values=values)
            )
    return made


def choice(values: Sequence[Any]) -> Make:
    """Draw from values, all as likely."""
    return lambda rng, n: [values[i] for i in rng.integers(0, len(values), n)]


def days(first: str, last: str, step: str = "D") -> Make:
    """Draw days, or first days of months, from the first to the last."""

    def make(rng: np.random.Generator, n: int) -> Any:
        choices = pd.date_range(first, last, freq=step)
        return choices[rng.integers(0, len(choices), n)]

    return make


def moments(first: str, last: str) -> Make:
    """Draw times to the second."""

    def make(rng: np.random.Generator, n: int) -> Any:
        low, high = pd.Timestamp(first), pd.Timestamp(last)
        seconds = rng.integers(0, int((high - low).total_seconds()), n)
        return low + pd.to_timedelta(seconds, unit="s")

    return make


def texts(days_or_moments: Make, form: str) -> Make:
    """Write dates as texts."""
    return lambda rng, n: pd.DatetimeIndex(days_or_moments(rng, n)).strftime(form)


def digits(count: int, form: str = "{}") -> Make:
    """Draw numbers of so many digits, as texts of a form."""

    def make(rng: np.random.Generator, n: int) -> list[str]:
        return [form.format("".join(map(str, rng.integers(0, 10, count)))) for _ in range(n)]

    return make


def filled(pattern: str) -> Make:
    """Draw codes: 9 becomes a digit and A a capital letter."""

    def one(rng: np.random.Generator) -> str:
        return "".join(
            str(rng.integers(0, 10))
            if letter == "9"
            else chr(65 + int(rng.integers(0, 26)))
            if letter == "A"
            else letter
            for letter in pattern
        )

    return lambda rng, n: [one(rng) for _ in range(n)]


def people(form: str = "{given} {family}") -> Make:
    """Draw names of people in a form."""

    def make(rng: np.random.Generator, n: int) -> list[str]:
        return [
            form.format(given=GIVEN[i], family=FAMILY[j], low=GIVEN[i].lower(), number=number)
            for i, j, number in zip(
                rng.integers(0, len(GIVEN), n),
                rng.integers(0, len(FAMILY), n),
                rng.integers(10, 999, n),
                strict=True,
            )
        ]

    return make


def sentences(least: int, most: int, share: float = 1.0) -> Make:
    """Draw sentences of so many words, in a share of the records."""

    def make(rng: np.random.Generator, n: int) -> list[str | None]:
        return [
            " ".join(WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(least, most + 1)))
            if rng.random() < share
            else None
            for _ in range(n)
        ]

    return make


def households(first: int = 1_000, step: int = 1, shuffled: bool = False) -> Make:
    """Number households of one to six people, who stand together unless shuffled."""

    def make(rng: np.random.Generator, n: int) -> Any:
        sizes = rng.choice(6, size=n, p=(0.3, 0.3, 0.15, 0.15, 0.06, 0.04)) + 1
        numbers = np.repeat(first + step * np.arange(n), sizes)[:n]
        return rng.permutation(numbers) if shuffled else numbers

    return make


def integers(low: int, high: int, unit: int = 1) -> Make:
    """Draw integers evenly."""
    return lambda rng, n: unit * rng.integers(low, high, n)


def unique_integers(low: int, high: int) -> Make:
    """Draw different integers."""
    return lambda rng, n: low + rng.choice(high - low, size=n, replace=False)


def normal(mean: float, sd: float, decimals: int = 1) -> Make:
    """Draw bell-shaped quantities."""
    return lambda rng, n: np.round(rng.normal(mean, sd, n), decimals)


def skewed(median: float, sigma: float, decimals: int = 0) -> Make:
    """Draw quantities with a long tail, as integers where no decimals are wanted."""

    def make(rng: np.random.Generator, n: int) -> Any:
        values = np.round(median * np.exp(rng.normal(0, sigma, n)), decimals)
        return values.astype(np.int64) if decimals == 0 else values

    return make


def uniform(low: float, high: float, decimals: int) -> Make:
    """Draw decimals evenly."""
    return lambda rng, n: np.round(rng.uniform(low, high, n), decimals)


def poisson(mean: float) -> Make:
    """Draw counts."""
    return lambda rng, n: rng.poisson(mean, n)


def uuids(rng: np.random.Generator, n: int) -> list[str]:
    """Draw random unique identifiers."""
    return [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in range(n)]
