"""Which sets of variables somebody may know of a person, the most telling first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice
from math import comb
from typing import NamedTuple

VARIABLES = 3  # that anybody may know of somebody
WORK = 2_000_000  # records of all sets together

Names = tuple[str, ...]


class KnownSets(NamedTuple):
    """Sets of variables to look for a person by.

    Attributes
    ----------
    sets : tuple of tuple of str
        Different ones.
    stated : int
        So many of them are stated; the others come from the search.
    larger : int
        So many of the others are whole slices or of more than three variables.
    possible : int
        How many sets of three there are.
    searched : int
        How many of them were looked at.
    """

    sets: tuple[Names, ...]
    stated: int
    larger: int
    possible: int
    searched: int


def travel_mates(names: Sequence[str], units: Sequence[Names], secrets: Names) -> tuple[Names, ...]:
    """Return the known variables of each slice with a confidential one, and all known variables.

    Parameters
    ----------
    names : sequence of str
        The variables that somebody may know.
    units : sequence of tuple of str
        Variables that share a donor.
    secrets : tuple of str
    """
    mates = [
        tuple(name for name in names if name in unit) for unit in units if set(unit) & {*secrets}
    ]
    return tuple(dict.fromkeys(each for each in (*mates, tuple(names)) if each))


def known_sets(
    stated: Sequence[Names],
    names: Sequence[str],
    units: Sequence[Names],
    secrets: Names,
    n: int,
    larger: Sequence[Names] = (),
) -> KnownSets:
    """The stated sets, larger ones, and any three variables as far as the work allows.

    Parameters
    ----------
    stated : sequence of tuple of str
        The key variables, and what the user states.
    names : sequence of str
        The variables to search among, those with most different values first.
    units : sequence of tuple of str
        Variables that share a donor.
    secrets : tuple of str
        Confidential variables: what shares their donor comes first.
    n : int
        Number of records.
    larger : sequence of tuple of str
        Whole slices, and sets of more than three variables.

    Returns
    -------
    KnownSets
        Of a limit on the work, not on time: the same sets every time.
    """
    size = min(VARIABLES, len(names))
    known = {frozenset(each): tuple(dict.fromkeys(each)) for each in reversed(stated)}
    first = [known[each] for each in dict.fromkeys(map(frozenset, stated))]
    wide = {frozenset(each): each for each in reversed(larger) if frozenset(each) not in known}
    known |= wide
    shared = sorted(units, key=lambda unit: not set(unit) & set(secrets))
    inside = (tuple(name for name in names if name in unit) for unit in shared)
    most = max(1, WORK // max(n, 1))
    searched = list(_combinations([*inside, tuple(names)], size, most)) if size else []
    others = [each for each in searched if frozenset(each) not in known]
    possible = comb(len(names), size) if size else 0
    sets = (*first, *reversed(wide.values()), *others)
    return KnownSets(sets, len(first), len(wide), possible, len(searched))


def _combinations(groups: Sequence[Names], size: int, most: int) -> Iterator[Names]:
    """The first sets of all groups, each in the order of the names, none of them twice."""
    every = chain.from_iterable(combinations(group, size) for group in groups)
    # within its unit and among all, no set comes more than twice
    return islice(dict.fromkeys(islice(every, 2 * most)), most)
