"""Findings of the simple attacks, and which of them are beyond luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.measures.attacks.red_team.files import FEW_VALUES, Files
from rwn_core.measures.statistics.intervals import beyond_luck, naming_score

TENTH, TWENTIETH = 0.1, 0.05  # of a spread, and of the value itself: a number so near is read
ROUNDED_OFF = 1e-9
FEW_PEOPLE = 10  # values that fewer people share are named together, too: one of each is luck
RARE = "rare values"
WRITTEN = 3  # variables of a set that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Result of one attack."""

    attack: str  # key of the attack
    words: str  # stands after "by": "a merge on age + sex"
    kind: Literal["identity", "attribute"]  # links of rows, or names of confidential values
    # right, named, people: right answers, answers, and possible answers: released rows, or people
    # with the value
    right: float
    named: float
    people: float
    base: float  # share that is right by naming it of random people, or by a random link
    # Identity: share of the released rows. Attribute: `naming_score`, or 0 within luck.
    score: float
    # secret, level: the confidential variable, and the named level; None for all of its values
    secret: str | None = None
    level: str | None = None

    @property
    def recall(self) -> float:
        """Share of the people that are named correctly."""
        return self.right / self.people if self.people else 0.0

    @property
    def precision(self) -> float:
        """Share of the names that are right."""
        return self.right / self.named if self.named else 0.0


class Tried(NamedTuple):
    """Counts of names: for each level of a secret, or for all its values."""

    attack: str
    words: str
    secret: str
    levels: Sequence[str | None]
    right: Floats  # shape (levels,)
    named: Floats  # shape (levels,)
    people: Floats  # shape (levels,)
    base: Floats  # shape (levels,)
    independent: Floats  # shape (levels,): the names that do not come from one row or class


def reach(truth: Floats, values: Floats) -> Floats:
    """Return the distance within which each value is right; no single person can move it."""
    known = truth[~np.isnan(truth)]
    if not known.size:
        return np.zeros(values.shape)
    low, high = np.quantile(known, [0.25, 0.75])
    spread = TENTH * min(float(known.std(ddof=1)) if known.size > 1 else 0.0, float(high - low))
    if low < 0 < high:  # a share of a value near 0 means nothing
        return np.full(values.shape, spread)
    return np.minimum(spread, TWENTIETH * np.abs(values))


def count_names(
    files: Files,
    secret: str,
    guess: Floats,
    how: tuple[str, str],
    *,
    targets: Integers | slice = slice(None),
    weights: Floats | None = None,
) -> list[Tried]:
    """Count the names (NaN: none) of a confidential variable, by level and all together."""
    # how is (attack, words); targets are the people asked for; weights: how many independent names
    # a name is, less than 1 where one row names several people
    truth = files.column(files.truth, secret)[targets]
    asked = ~np.isnan(truth)
    weights = (np.ones(len(truth)) if weights is None else weights)[asked]
    truth, guess = truth[asked], guess[asked]
    if not truth.size:
        return []
    named = ~np.isnan(guess)
    values = files.cached(("levels", secret), lambda: _levels(files, secret))
    near = np.zeros(truth.size) if secret in files.levels else reach(truth, truth)
    near = np.maximum(near, ROUNDED_OFF * np.abs(truth))
    found = [_pooled(files, secret, (truth, guess, near), how, weights)]
    if values is not None:
        equal = np.abs(guess - truth) <= ROUNDED_OFF * np.abs(truth)
        place = np.searchsorted(values, truth)
        shown = np.searchsorted(values, guess[named]).clip(max=len(values) - 1)
        fits = values[shown] == guess[named]
        sizes = np.bincount(place, minlength=len(values)).astype(np.float64)
        found.append(Tried(
            *how, secret, _named_levels(files, secret, values),
            right=np.bincount(place[equal], minlength=len(values)).astype(np.float64),
            named=np.bincount(shown[fits], minlength=len(values)).astype(np.float64),
            people=sizes, base=sizes / truth.size,
            independent=np.asarray(
                np.bincount(shown[fits], weights[named][fits], len(values)), np.float64
            ),
        ))  # fmt: skip
    elif secret not in files.levels:
        exact = ROUNDED_OFF * np.abs(truth)
        found.append(_pooled(files, secret, (truth, guess, exact), how, weights))
    common = files.cached(("common", secret), lambda: _common(files, secret))
    if common is not None:
        found.append(_pooled(files, secret, (truth, guess, near), how, weights, common))
    return found


def _common(files: Files, secret: str) -> Floats | None:
    """Return the values that many people share, original and released; None if all do."""
    shared, some_rare = [], False
    for table in (files.truth, files.people):
        values = files.column(table, secret)
        values, count = np.unique(values[~np.isnan(values)], return_counts=True)
        shared.append(values[count >= FEW_PEOPLE])
        some_rare |= bool((count < FEW_PEOPLE).any())
    common = np.concatenate(shared)
    return common if some_rare and len(common) else None


def _pooled(
    files: Files,
    secret: str,
    values: tuple[Floats, Floats, Floats],
    how: tuple[str, str],
    weights: Floats,
    common: Floats | None = None,
) -> Tried:
    """Return the names of all values together, or of those that few people share."""
    truth, guess, near = values
    having, named, level = np.ones(truth.size, dtype=bool), ~np.isnan(guess), None
    if common is not None:
        having, named, level = ~np.isin(truth, common), named & ~np.isin(guess, common), RARE
    right = having & named & (np.abs(guess - truth) <= near)  # a number within its reach
    base = having.mean() * files.cached(
        ("base", secret, level, truth.size, bool(near.any())),
        lambda: best_single_guess(truth[having], near[having]),
    )
    counts = (right.sum(), named.sum(), having.sum(), base, weights[named].sum())
    return Tried(*how, secret, [level], *(np.array([float(each)]) for each in counts))


def _levels(files: Files, secret: str) -> Floats | None:
    """Return the values of a secret that are named one by one; None for a finer number."""
    truth = files.column(files.truth, secret)
    values = np.unique(truth[~np.isnan(truth)])
    return values if secret in files.levels or len(values) <= FEW_VALUES else None


def _named_levels(files: Files, secret: str, values: Floats) -> list[str | None]:
    known = files.levels.get(secret)
    return [f"{each:g}" if known is None else str(known[int(each)]) for each in values]


def best_single_guess(truth: Floats, near: Floats) -> float:
    """Return the largest share of the people that one single number names correctly."""
    begins, ends = np.sort(truth - near), np.sort(truth + near)
    inside = np.arange(1, len(truth) + 1) - np.searchsorted(ends, begins, side="left")
    return float(inside.max() / len(truth)) if len(truth) else 0.0


def scored(tried: Sequence[Tried]) -> list[Finding]:
    """Return the findings beyond luck of all names that were tried."""
    if not tried:
        return []
    right, named, people, base, independent = (
        np.concatenate([getattr(each, part) for each in tried])
        for part in ("right", "named", "people", "base", "independent")
    )
    share = np.minimum(independent / np.maximum(named, 1.0), 1.0)
    score = naming_score(right, named, people, base, share)
    score = np.where(beyond_luck(right * share, named * share, base), score, 0.0)
    owners = [(each, level) for each in tried for level in each.levels]
    return [
        Finding(
            attack=owners[i][0].attack, words=owners[i][0].words, kind="attribute",
            right=float(right[i]), named=float(named[i]), people=float(people[i]),
            base=float(base[i]), score=float(score[i]), secret=owners[i][0].secret,
            level=owners[i][1],
        )
        for i in np.flatnonzero(score > 0)
    ]  # fmt: skip


def link_finding(attack: str, words: str, right: Any, rows: int, base: float) -> Finding:
    """Return the finding of links of some rows to people."""
    share = float(np.sum(right)) / max(rows, 1)
    return Finding(
        attack=attack, words=words, kind="identity", right=float(np.sum(right)), named=float(rows),
        people=float(rows), base=base, score=share,
    )  # fmt: skip


def named_set(names: Sequence[str]) -> str:
    """Write some variables, to stand after "a merge on".

    >>> named_set(["age", "sex"]), named_set(list("abcdef"))
    ('age + sex', 'a + b + c + 3 more')
    """
    if len(names) <= WRITTEN + 1:
        return " + ".join(names)
    return f"{' + '.join(names[:WRITTEN])} + {len(names) - WRITTEN} more"
