"""True matches: released rows that have all of a person's values, and what they show of him."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import Steps, rounded
from rwn_core.measures.attacks.confidential_value import secret_values, tolerance
from rwn_core.measures.attacks.value_match import Columns, Matches
from rwn_core.measures.comparison import Comparison

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


class KnownTable:
    """The original as an intruder knows it: rounded like the release, its values numbered.

    Parameters
    ----------
    original : Microdata
    precision : tuple of (str, float)
        Steps to which released values are rounded.
    """

    def __init__(self, original: Microdata, precision: Steps) -> None:
        original = rounded(original, dict(precision))
        names = tuple(variable.name for variable in original.schema.released)
        self.names, self.precision = names, precision
        self.known = [_distinct(secret_values(original, original, name)) for name in names]
        self.codes = self.numbered(original, original)
        self.n = original.n

    def numbered(self, original: Microdata, table: Microdata) -> Codes:
        """The values of a table as numbers of the original's, -1 for any other, shape (n, v)."""
        columns = []
        for name, known in zip(self.names, self.known, strict=True):
            values = secret_values(original, table, name)
            place = np.minimum(np.searchsorted(known, values), max(len(known) - 1, 0))
            same = known[place] == values if len(known) else np.zeros(len(values), dtype=bool)
            columns.append(np.where(same, place, -1))
        return np.column_stack(columns).astype(np.int64)


def _distinct(values: Floats) -> Floats:
    return np.unique(values[~np.isnan(values)])


class Secret:
    """What the release says of one confidential variable.

    Parameters
    ----------
    comparison : Comparison
    name : str
    """

    def __init__(self, comparison: Comparison, name: str) -> None:
        original = comparison.original
        self.own = secret_values(original, original, name)
        self.released = secret_values(original, comparison.masked, name)
        self.reach = tolerance(original, name) * (1 + 1e-12)
        known = np.sort(self.released[~np.isnan(self.released)])
        ends = (self.own - self.reach, self.own + self.reach)
        low, high = np.searchsorted(known, ends[0]), np.searchsorted(known, ends[1], "right")
        share = (high - low) / max(len(known), 1)
        # how often a row drawn at random shows each person's own value
        self.by_chance = np.where(np.isnan(self.own), 0.0, share)

    def read(self, found: Matches, seen: Codes) -> Floats:
        """For each lone person who is seen the share of the rows that show his own value."""
        count, person = len(found.lone.person), found.lone.person[found.entry]
        shown = self.released[found.row]
        with np.errstate(invalid="ignore"):
            near = np.abs(shown - self.own[person]) <= self.reach
        rows = np.bincount(found.entry, ~np.isnan(shown), count)[seen]
        return np.bincount(found.entry, near, count)[seen] / np.maximum(rows, 1)


class Counted(NamedTuple):
    """Numbers of people whose combination appears, and of whom it shows the truth.

    Attributes
    ----------
    found : ndarray of float64, shape (sets,)
    read : ndarray of float64, shape (sets, confidential variables)
    chance : the same if the confidential values were dealt at random
    """

    found: Floats
    read: Floats
    chance: Floats


def count(columns: Columns, released: Codes, secrets: Sequence[Secret]) -> Counted:
    """Count the people who are alone with a set of values and found in a release by them.

    Parameters
    ----------
    columns : Columns
        Of the original.
    released : ndarray of int64, shape (m, v)
        The release's values, from `KnownTable.numbered`.
    secrets : sequence of Secret
    """
    found, read, chance = np.zeros((3, columns.count, len(secrets) + 1))
    for each in columns.matches(released):
        lone = each.lone
        seen = np.flatnonzero(np.bincount(each.entry, minlength=len(lone.person)))
        which, person = lone.which[seen], lone.person[seen]
        found[:, 0] += np.bincount(which, minlength=columns.count)
        for number, secret in enumerate(secrets):
            right = secret.read(each, seen)
            read[:, number] += np.bincount(which, right, columns.count)
            chance[:, number] += np.bincount(which, secret.by_chance[person], columns.count)
    return Counted(found[:, 0], read[:, :-1], chance[:, :-1])
