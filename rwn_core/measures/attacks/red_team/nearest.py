"""Nearest-record attack: links, and names of what the nearest rows show."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.sizes import LISTED_PAIRS
from rwn_core.measures.attacks.red_team.files import Files, knowledge, ranked, standardized
from rwn_core.measures.attacks.red_team.finding import (
    Finding,
    NameCounts,
    count_names,
    link_finding,
    reach_in,
)

KEY = "nearest"
ASKED = 1_000  # rows, and people, that are attacked
FEWEST = 500  # random rows of a table with more than `LISTED_PAIRS` distances, at least
AT_ONCE = 100_000  # distances, few enough for the cache
TIE = 1e-9
SEVERAL = 3  # nearest rows that have to agree
NEAREST = "the nearest row by"

_WAYS = (("standardized values", standardized), ("ranks", ranked))


def attack(files: Files) -> list[Finding | NameCounts]:
    """Link rows to the nearest people, and name what the nearest rows show."""
    return [*links(files), *names(files)]


def links(files: Files) -> list[Finding]:
    """Link some rows to the nearest person, by all variables and by the keys."""
    found = []
    for names, what in knowledge(files):
        for title, lay_out in _WAYS:
            people, rows = lay_out(files, names)
            rows = rows[: _asked(files)]
            shares = np.empty(len(rows))  # of each row's nearest people, that are its own
            for part, squared in _distances(rows, people):
                ties = squared <= squared.min(axis=1, keepdims=True) * (1 + TIE) + TIE**2
                row, person = np.divmod(np.flatnonzero(ties), len(people))
                hits = files.unit[person] == files.unit[files.owner[part]][row]
                shares[part] = np.bincount(row, hits) / np.bincount(row)
            words = f"the nearest person by {title} of {what}"
            right = float(shares.sum())
            found.append(link_finding(KEY, words, right, len(rows), files.random_share))
    return found


def names(files: Files) -> list[NameCounts]:
    """Name for some people the secret of the nearest row by the keys."""
    found: list[NameCounts] = []
    if not files.known or not files.secrets:
        return found
    targets = np.arange(min(_asked(files), len(files.people)))
    for title, lay_out in _WAYS:
        people, rows = lay_out(files, files.known)
        nearest = np.concatenate(
            [
                np.argpartition(squared, SEVERAL - 1, axis=1)[:, :SEVERAL]
                if squared.shape[1] > SEVERAL
                else squared.argsort(axis=1)
                for _, squared in _distances(people[targets], rows)
            ]
        )
        gaps = np.sqrt(((people[targets][:, np.newaxis] - rows[nearest]) ** 2).sum(axis=2))
        first = nearest[np.arange(len(targets)), gaps.argmin(axis=1)]
        weights = 1 / np.bincount(first)[first]  # several people named by one row are one name
        for secret in files.secrets:
            values = files.column(files.rows, secret)
            # the same level, or numbers within reach
            own = values[first]
            within = np.zeros(len(targets))
            if secret not in files.levels:
                within = reach_in(files, secret).of(own)
            apart = np.abs(values[nearest] - own[:, np.newaxis])
            agreed = (apart <= within[:, np.newaxis]).all(axis=1)
            words = f"{NEAREST} {title} of the keys"
            about = {"targets": targets, "weights": weights}
            found += count_names(files, secret, values[first], (KEY, words), **about)
            several = np.where(agreed, values[first], np.nan)
            words += f", {nearest.shape[1]} agreeing"
            found += count_names(files, secret, several, (KEY, words), **about)
    return found


def names_by(files: Files, targets: Integers) -> list[NameCounts]:
    """Name the secrets of some people by the row nearest on the keys, and on all other variables.

    The second says something of people outside the file, too: it counts only beyond these.
    """
    found: list[NameCounts] = []
    for secret in files.secrets:
        values = files.column(files.rows, secret)
        others = tuple(name for name in files.names if name != secret)
        sets = {"the keys": files.known, "all other variables": others}
        for what, known in sets.items() if set(files.known) < set(others) else [*sets.items()][1:]:
            for title, lay_out in _WAYS if known else ():
                people, rows = lay_out(files, known)
                nearest = [part.argmin(axis=1) for _, part in _distances(people[targets], rows)]
                guess = values[np.concatenate(nearest)]
                words = f"{NEAREST} {title} of {what}"
                found += count_names(files, secret, guess, (KEY, words), targets=targets)
    return found


def _asked(files: Files) -> int:
    """Return the number of random rows or people to attack."""
    return min(ASKED, max(FEWEST, LISTED_PAIRS // files.n))


def _distances(some: Floats, others: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield squared distances, some points at a time."""
    # Shapes: some (m, d); others (n, d); each part of the answer (b, n).
    size = max(1, AT_ONCE // max(len(others), 1))
    lengths = (others**2).sum(axis=1)
    for start in range(0, len(some), size):
        part = slice(start, min(start + size, len(some)))
        chunk = some[part]
        squared = (chunk**2).sum(axis=1)[:, np.newaxis] + lengths
        squared -= 2 * chunk @ others.T
        yield part, np.maximum(squared, 0.0, out=squared)
