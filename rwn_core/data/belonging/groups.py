"""Find columns with equal values that name a person, a household or a cluster.

Rows of a person, a household or a school are similar in other columns. So are rows of one age or of
one region, and that is no harm: such a column is a quantity, with which others rise and fall
smoothly, or a category that explains little of most of them.

The likeness is the intraclass correlation r of ranks, of which m rows of a value inflate a variance
by the design effect 1 + (m - 1) r (Kish 1965). Of a category it is that of an analysis of variance.
Of an ordered column the variance between values is that of second differences of their means: half
of its neighbors' sum leaves of a value's mean no trend, and all of a person.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.belonging.columns import Column, Columns
from rwn_core.data.belonging.finding import Finding, some_names
from rwn_core.data.identity.of_numbers import DENSE
from rwn_core.data.identity.profile import (
    BLOCKS,
    PROFILE_ROWS,
    Subject,
    name_words,
    word_list,
)
from rwn_core.data.rows import Belong

FEWEST_GROUPS = 5
MANY_GROUPS = 20  # fewer are taken for an ordinary category unless most variables are similar
FEWEST_PEOPLE = 10  # with rows that are equal in other variables
FEW_ROWS = 8.0  # of a person, on average
QUANTITY = 8  # levels of a quantity, at least
MOST_ROWS = 100.0  # of a person, on average
FEWEST_PAIRS = 20  # of rows of equal value
UNEVEN = 1.05  # standard deviation of the sizes of groups in their mean; categories are less even
DESIGN_EFFECT = 1.2
SIMILAR = 0.06  # intraclass correlation of a variable that counts
MILD = 0.03  # of one that counts where most are similar
PERSONAL = 0.3  # of rows of one person rather than of one cluster
SURE = 4.0  # standard normal score of the likeness, beyond chance among many variables
SOME = 1 / 3  # of the variables, at least
HALF = 0.5
KNOWN_CATEGORY = 0.75  # of the variables, where the name is that of an ordinary category
CONSTANT = 0.95  # of the pairs of rows that are equal in another column
NEARLY = 0.75
BEYOND_CHANCE = 0.9  # of the pairs that chance would not make equal
OFTEN = 0.6  # chance of equal rows, from which a constant column says nothing
SMOOTH = 0.25  # roughness of means in their order: 1 without any, 0 on a line
MOST_FINER = 3  # columns that may tell people apart, besides
MOST_COMPARED = 60  # columns of a wide table that are compared within groups
FINER = 0.02  # gain of likeness by which one more column names people better


class Likeness(NamedTuple):
    """The likeness of rows of equal value in each of p columns."""

    groups: int
    size: float  # rows of a group, as they count in a design effect
    pairs: int  # rows that follow one of their own group
    unevenness: float
    correlation: Floats  # shape (p,): intraclass correlation of ranks
    score: Floats  # shape (p,): standard normal score of the test that it is 0
    equal: Floats  # shape (p,): share of the pairs that are equal
    rough: Floats  # shape (p,): near 0 where means follow the order of the values; 1 by chance

    @property
    def design_effect(self) -> Floats:
        """Return the factor on the variance of a mean, shape (p,)."""
        return 1 + (self.size - 1) * self.correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A column that may say which rows belong together, by what its groups have in common."""

    column: Column
    likeness: Likeness
    constants: int  # columns that are equal in rows of a group, each of its own
    quantities: int  # of these with an order and many levels
    free: Booleans  # shape (p,): columns in which rows of a group may differ
    similar: Booleans  # shape (p,): of these where they differ less than others
    constant_names: tuple[str, ...]
    similar_names: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name."""
        return self.column.name

    @property
    def of(self) -> Belong | None:
        """What the groups are; None where nothing says that rows belong together."""
        if _is_called_cluster(self):
            return Belong.CLUSTER
        if _names_people(self):
            return Belong.PERSON
        if not _is_similar(self):
            return None
        strength = float(np.median(self.likeness.correlation[self.similar]))
        # no cluster has a quantity for its number
        integers = self.column.whole_numbers() is not None
        quantity = self.column.ordered and (self.constants > 0 or not integers)
        return Belong.PERSON if strength >= PERSONAL or quantity else Belong.CLUSTER

    @property
    def strength(self) -> tuple[bool, int, float]:
        """By what candidates are ordered: the finest and surest last."""
        return self.of is Belong.PERSON, self.constants, float(self.likeness.groups)


def found_groups(columns: Columns, numbering: Collection[str]) -> Finding | None:
    """Find the column, or the few columns, that say best which rows belong together.

    `numbering`: the names of those that may.
    """
    compared = columns.some(MOST_COMPARED)
    ties = compared.ties
    found = []
    for column in columns.columns:
        if column.name in numbering:
            likeness = _of_column(column, compared)
            if likeness is not None:
                candidate = _candidate(column, compared, likeness, ties)
                if candidate.of is not None:
                    found.append(candidate)
    if not found:
        return None
    return _as_finding(compared, max(found, key=lambda each: each.strength), ties)


def _as_finding(compared: Columns, best: _Candidate, ties: Floats) -> Finding:
    of = best.of
    assert of is not None
    if _names_people(best):
        named = some_names(best.constant_names)
        reason = f"rows of equal {best.name} are equal in {named}, which differ elsewhere"
    else:
        largest = float(best.likeness.correlation[best.similar].max())
        named = some_names(best.similar_names)
        found = f"intraclass correlation up to {largest:.2f}"
        reason = f"rows of equal {best.name} are similar in {named} ({found})"
    if of is Belong.CLUSTER:
        return Finding(of=of, by=(best.name,), reason=reason)
    by = _finest(compared, best, ties)
    only = len(by) == 1 and _only_numbers(best.column)
    return Finding(of=of, by=by, reason=reason, only_numbers=only)


def _only_numbers(column: Column) -> bool:
    """True if a column is a category, or has all whole numbers from the first to the last."""
    if not column.ordered:
        return True
    numbers = column.whole_numbers()
    return numbers is not None and len(numbers) >= DENSE * (numbers[-1] - numbers[0] + 1)


def _of_column(column: Column, compared: Columns) -> Likeness | None:
    """Compare rows of equal values of a column; None of one that has too few groups or pairs."""
    pairs = column.known - len(column.values)
    if len(column.values) < FEWEST_GROUPS or pairs < FEWEST_PAIRS:
        return None
    rows = _rows_by_value(column)
    return likeness_of(
        column.codes[rows].astype(np.int64),
        compared.codes_at(rows).astype(np.int64),
        compared.scores_at(rows),
        ordered=column.ordered,
    )


def _rows_by_value(column: Column) -> Integers:
    """Return the rows in the order of their values; of many those of whole ranges of values."""
    n = len(column.codes)
    if n <= PROFILE_ROWS:
        known = np.flatnonzero(column.codes < len(column.values))
        return known[np.argsort(column.codes[known], kind="stable")]
    # blocks of values that hold about so many rows together
    ends = np.cumsum(column.counts)
    starts = np.linspace(0, n - PROFILE_ROWS // BLOCKS, BLOCKS)
    chosen = np.zeros(column.levels, dtype=bool)
    for start in starts.tolist():
        chosen |= (ends > start) & (ends - column.counts < start + PROFILE_ROWS / BLOCKS)
    chosen[len(column.values) :] = False
    rows = np.flatnonzero(chosen[column.codes])
    rows = rows[np.argsort(column.codes[rows], kind="stable")]
    return rows[:: max(len(rows) // PROFILE_ROWS, 1)]


def likeness_of(group: Integers, codes: Integers, scores: Floats, *, ordered: bool) -> Likeness:
    """Compare rows of equal group; group (r,) ascends, codes and scores have shape (r, p)."""
    r = len(group)
    same = group[1:] == group[:-1]
    starts = np.concatenate(([0], np.flatnonzero(~same) + 1))
    sizes = np.diff(np.append(starts, r)).astype(np.float64)
    groups = len(sizes)
    means = np.add.reduceat(scores, starts, axis=0) / sizes[:, None]
    squares = (scores**2).sum(axis=0) - (sizes[:, None] * means**2).sum(axis=0)
    within = np.maximum(squares, 0.0) / max(r - groups, 1)
    if ordered:
        between, of_groups, freedom, rough = _second_differences(means, sizes, within)
    else:
        size = (r - (sizes**2).sum() / r) / (groups - 1)
        middle = (sizes[:, None] * means).sum(axis=0) / r
        between = (sizes[:, None] * (means - middle) ** 2).sum(axis=0) / (groups - 1)
        of_groups = (between - within) / size
        freedom = float(groups - 1)
        rough = np.ones(scores.shape[1])
    varies = of_groups + within > 1e-9
    total = np.where(varies, of_groups + within, 1.0)
    exact = within < 1e-9
    ratio = np.where(exact, 1e6, between / np.where(exact, 1.0, within))
    ratio = np.where(varies, ratio, 0.0)
    neighbors = codes[1:][same] == codes[:-1][same]
    return Likeness(
        groups=groups,
        size=float((r - (sizes**2).sum() / r) / (groups - 1)),
        pairs=int(same.sum()),
        unevenness=float(sizes.std() / sizes.mean()),
        correlation=np.where(varies, of_groups / total, 0.0),
        score=_normal_score(ratio, freedom, float(max(r - groups, 1))),
        equal=neighbors.mean(axis=0),
        rough=rough,
    )


def _second_differences(
    means: Floats, sizes: Floats, within: Floats
) -> tuple[Floats, Floats, float, Floats]:
    """Return the mean square between groups without a trend, and what it says.

    Also the variance of groups, the degrees of freedom of the mean square, and the roughness.
    """
    # means: shape (groups, p); sizes: (groups,); within: (p,)
    bends = means[1:-1] - (means[:-2] + means[2:]) / 2
    chance = 1 / sizes[1:-1] + (1 / sizes[:-2] + 1 / sizes[2:]) / 4
    between = (bends**2 / chance[:, None]).mean(axis=0)
    # a group's own deviation has one and a half times its variance in a bend
    of_groups = (between - within) / (1.5 / chance).mean()
    spread = means.var(axis=0)
    level = np.where(spread > 1e-12, spread, 1.0)
    rough = np.where(spread > 1e-12, (bends**2).mean(axis=0) / 1.5 / level, 0.0)
    # bends overlap: squared correlations 4/9 and 1/36 with the next two on both sides
    freedom = len(bends) / (1 + 2 * (4 / 9 + 1 / 36))
    return between, of_groups, freedom, rough


def _normal_score(ratio: Floats, above: float, below: float) -> Floats:
    """Return the standard normal score of ratios of variances (Paulson 1942)."""
    root = np.cbrt(np.maximum(ratio, 1e-9))
    one = 2 / (9 * above)
    two = 2 / (9 * below)
    return np.asarray((root * (1 - two) - (1 - one)) / np.sqrt(one + root**2 * two))


def _candidate(column: Column, compared: Columns, likeness: Likeness, ties: Floats) -> _Candidate:
    """Sort the compared columns by what rows of a group have in common in them."""
    names = np.array(compared.names)
    itself = names == column.name
    # a code and its label say the same
    same = itself | (
        (likeness.equal >= CONSTANT) & (compared.levels >= CONSTANT * len(column.values))
    )
    fixed = _fixed(likeness, ties) & ~same
    # what is a smooth function of a quantity, such as a class of ages, says nothing of people
    rough = likeness.rough > SMOOTH
    telling = np.flatnonzero(fixed & rough & (ties < OFTEN))
    distinct = _distinct(compared, telling)
    free = ~same & ~fixed
    similar = free & (likeness.score >= SURE) & (likeness.design_effect > DESIGN_EFFECT)
    similar &= (likeness.correlation >= MILD) & rough
    return _Candidate(
        column=column,
        likeness=likeness,
        constants=len(distinct),
        quantities=int((compared.ordered & (compared.levels >= QUANTITY))[distinct].sum()),
        free=free,
        similar=similar,
        constant_names=tuple(names[distinct].tolist()),
        similar_names=tuple(names[similar].tolist()),
    )


def _distinct(compared: Columns, places: Integers) -> Integers:
    """Return some columns without those that say the same as an earlier one of them."""
    kept: list[int] = []
    for place in places.tolist():
        column = compared.columns[place]
        if not any(_says_the_same(column, compared.columns[other]) for other in kept):
            kept.append(place)
    return np.array(kept, dtype=np.int64)


def _says_the_same(one: Column, two: Column) -> bool:
    """True if each value of one column comes with one value of the other, nearly always."""
    joint = len(np.unique(one.codes.astype(np.int64) * two.levels + two.codes))
    return CONSTANT * joint <= min(one.levels, two.levels)


def _fixed(likeness: Likeness, ties: Floats, least: float = CONSTANT) -> Booleans:
    """Return the columns that are equal in rows of a group far beyond chance, shape (p,)."""
    chance = np.minimum(ties, 1 - 1e-9)
    beyond = (likeness.equal - chance) / (1 - chance)
    return np.asarray((likeness.equal >= least) & (beyond >= BEYOND_CHANCE - (CONSTANT - least)))


def _is_called_cluster(candidate: _Candidate) -> bool:
    """True if a column is called like a class or a school, and its rows or its name say the same.

    Some variable is similar within groups, or the name is that of a number.
    """
    words = name_words(candidate.name)
    if words.is_measure or word_list("clusters").isdisjoint(words.words):
        return False
    numbered = Subject.NUMBER in words.subjects and candidate.column.whole_numbers() is not None
    uneven = candidate.likeness.unevenness > UNEVEN
    return bool(numbered or candidate.similar.any()) and not uneven


def _names_people(candidate: _Candidate) -> bool:
    """True if two other columns or more are the same in all rows of a group."""
    likeness = candidate.likeness
    rows = 1 + likeness.pairs / likeness.groups
    # two classes of a code, such as the state and the language of a town, are no person
    enough = 2 if candidate.quantities or rows <= FEW_ROWS else 3
    return (
        candidate.constants >= enough
        and likeness.groups >= FEWEST_PEOPLE
        and likeness.pairs >= FEWEST_PAIRS
        and likeness.unevenness <= UNEVEN
        and rows <= MOST_ROWS
    )


def _is_similar(candidate: _Candidate) -> bool:
    """True if so many columns are similar within groups that a mean of rows is less sure."""
    likeness = candidate.likeness
    free = int(candidate.free.sum())
    if not free or likeness.unevenness > UNEVEN:
        return False
    strong = int((candidate.similar & (likeness.correlation >= SIMILAR)).sum())
    mild = int(candidate.similar.sum())
    if strong and candidate.column.ordered:
        # of a code another one may be a class; of a quantity nothing rough is
        strong += candidate.constants
        free += candidate.constants
    if free == 1:
        strong = int((candidate.similar & (likeness.correlation >= PERSONAL)).sum())
        return strong == 1 and likeness.groups >= MANY_GROUPS
    words = name_words(candidate.name)
    if not candidate.column.ordered and {*words.words} & word_list("roles", "key"):
        return strong >= 2 and strong >= KNOWN_CATEGORY * free
    if likeness.groups < MANY_GROUPS:
        return strong >= 2 and strong >= HALF * free
    return (strong >= 2 and strong >= SOME * free) or (mild >= 2 and mild >= HALF * free)


def _finest(compared: Columns, best: _Candidate, ties: Floats) -> tuple[str, ...]:
    """Return the column, with those that tell its people apart where two have the same value."""
    nearly = _fixed(best.likeness, ties, NEARLY) & (best.likeness.equal < 1)
    names = [best.name]
    group = best.column.codes.astype(np.int64)
    likeness = best.likeness
    for place in np.flatnonzero(nearly)[:MOST_FINER].tolist():
        column = compared.columns[place]
        joint = np.unique(group * column.levels + column.codes, return_inverse=True)[1]
        rows = np.argsort(joint, kind="stable")[:PROFILE_ROWS]
        finer = likeness_of(
            joint[rows],
            compared.codes_at(rows).astype(np.int64),
            compared.scores_at(rows),
            ordered=False,
        )
        others = best.free.copy()
        others[place] = False
        if not others.any() or finer.pairs < FEWEST_PAIRS:
            continue
        gain = (finer.correlation - likeness.correlation)[others].mean()
        if gain > FINER and column.name != best.name:
            names.append(column.name)
            group = joint.astype(np.int64)
            likeness = finer
    return tuple(names)
