"""People and rows as points: every variable in spreads or in ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.measures.attacks.red_team.files import Files, Names

MIDDLE_HALF = 1.349  # standard deviations of a normal number
EVEN = 3.5  # standard deviations from the first to the last rank: that of even numbers is one
MANY_LEVELS = 50  # of a category; of more, the code alone is compared as a number


Two = tuple[Floats, Floats]


def knowledge(files: Files) -> Iterator[tuple[Names, str]]:
    """Yield what an intruder may know: all variables, or the keys."""
    yield files.names, "all variables"
    if files.known and set(files.known) != set(files.names):
        yield files.known, "the keys"


def standardized(files: Files, names: Sequence[str]) -> Two:
    """Return points in robust standard deviations; levels are corners one unit apart."""
    return _points(files, names, _spreads)


def ranked(files: Files, names: Sequence[str]) -> Two:
    """Return points of ranks, of people and rows separately; levels are corners."""
    return _points(files, names, _ranks)


def _points(files: Files, names: Sequence[str], numbers: Callable[[Floats, Floats], Two]) -> Two:
    # Points of people and of rows, shape (people, coordinates) and (rows, coordinates).
    people, rows = [np.zeros((len(files.people), 0))], [np.zeros((len(files.rows), 0))]
    for name in names:
        make = partial(_column, files, name, numbers)
        person, row = files.cached(("points", numbers, name), make)
        people.append(person)
        rows.append(row)
    return np.column_stack(people), np.column_stack(rows)


def _column(files: Files, name: str, numbers: Callable[[Floats, Floats], Two]) -> Two:
    people, rows = files.column(files.people, name), files.column(files.rows, name)
    if name not in files.levels or len(files.levels[name]) > MANY_LEVELS:
        one, two = numbers(people, rows)
        return _filled(one), _filled(two)
    levels = np.unique(np.concatenate((people, rows)))
    levels = levels[~np.isnan(levels)]
    one, two = ((each[:, np.newaxis] == levels) / np.sqrt(2.0) for each in (people, rows))
    return one, two


def _spreads(people: Floats, rows: Floats) -> Two:
    # Shapes: people and its answer (n,); rows and its answer (m,).
    known = people[~np.isnan(people)]
    middle, unit = 0.0, 1.0
    if known.size:
        low, middle, high = np.quantile(known, [0.25, 0.5, 0.75])
        unit = (high - low) / MIDDLE_HALF or float(known.std()) or 1.0
    return (people - middle) / unit, (rows - middle) / unit


def _ranks(people: Floats, rows: Floats) -> Two:
    found = []
    for values in (people, rows):  # ranks from 1, of equal values their mean; NaN where missing
        ranks, known = np.full(len(values), np.nan), ~np.isnan(values)
        _, place, counts = np.unique(values[known], return_inverse=True, return_counts=True)
        ranks[known] = (np.cumsum(counts) - (counts - 1) / 2)[place]
        found.append(EVEN * (ranks / len(values)))
    return found[0], found[1]


def _filled(values: Floats) -> Floats:
    """Put missing values in the middle and mark them in a second column, shape (n, 2)."""
    missing = np.isnan(values)
    centre = 0.0 if missing.all() else float(np.nanmean(values))
    return np.column_stack((np.where(missing, centre, values), missing.astype(np.float64)))
