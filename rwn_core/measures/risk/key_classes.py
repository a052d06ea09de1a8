"""Classes of equal key values: their sizes, and what their members have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.sizes import LISTED_PAIRS
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.likeliest_value import WORDS, Tolerance, named_values, tolerance
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Detail, Measure, Reading, Sides, class_measure
from rwn_core.measures.sentence import filled, people, percent
from rwn_core.measures.statistics.key_variables import (
    SHARES_OF_UNITS,
    class_sizes,
    classes,
    confidential_classes,
    counts_of_classes,
    key_cells,
    key_names,
    mean_of_units,
    mean_reading,
    owners,
    required_confidential,
)

_NONE: Sides[Floats] = Sides(np.zeros(0), np.zeros(0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeyClasses(Detail):
    """The records by the number of others with their key values.

    Attributes
    ----------
    names : sequence of str
        The keys.
    limits : sequence of int
        Numbers k, such as 2 for records that are alone.
    violations : Sides of sequence of int
        Records in classes of fewer than k, for each k.
    smallest : Sides of int
        Records of the smallest class.
    """

    limits: Sequence[int]
    violations: Sides[list[int]]
    smallest: Sides[int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SecretClasses(Detail):
    """The confidential values of classes or neighborhoods, for each confidential variable.

    Attributes
    ----------
    names, secrets : sequence of str
        The keys, and the confidential variables.
    mean : Sides of ndarray of float64, shape (secrets,)
        Mean over records: 1 where all values are the same (of neighborhoods: nearly all the
        record's own; before: in the whole file), or the class's distance from the file.
    worst : Sides of ndarray of float64, shape (secrets,)
        Fewest different values, or largest distance, of a class.
    entropy : Sides of ndarray of float64, shape (secrets,)
        Fewest effective values of a class, exp of the entropy.
    secret : str
        The variable with the largest mean.
    unit_words : str
        The units that are counted, where a row is none; else empty.
    """

    secrets: Sequence[str]
    mean: Sides[Floats]
    worst: Sides[Floats] = _NONE
    entropy: Sides[Floats] = _NONE
    secret: str = ""
    unit_words: str = ""


# Homogeneity: neighborhoods with a single confidential value

SHARE = 0.9  # of a neighborhood with one value


def same_share(members: sparse.csr_array, values: Floats, near: Tolerance) -> Floats:
    """Return the share of S_i and i with record i's value, shape (n,); 0 if S_i is empty."""
    # Row i of `members` holds the donor probabilities of S_i, which counts as many members as
    # equally likely ones would hide as much; two missing values are equal.
    n = len(values)
    owner = np.repeat(np.arange(n), np.diff(members.indptr))
    one, two = values[owner], values[members.indices]
    fits = near.right(two, one) | (np.isnan(one) & np.isnan(two))
    largest = np.zeros(n)
    np.maximum.at(largest, owner, members.data)
    weights = members.data / largest[owner]  # equally likely ones have weight 1
    total = np.bincount(owner, weights, n)
    some = total > 0  # a record without neighbors loses its values: nothing tells them
    safe = np.where(some, total, 1.0)
    sizes = safe * safe / np.where(some, np.bincount(owner, weights**2, n), 1.0)
    share = (1 + sizes * np.bincount(owner, weights * fits, n) / safe) / (1 + sizes)
    return np.asarray(np.where(some, share, 0.0), dtype=np.float64)


def compute_homogeneity(comparison: Comparison) -> Reading[SecretClasses]:
    """Return the share of records with a neighborhood that discloses a confidential value."""
    secrets = required_confidential(comparison)
    law = comparison.required_law("Homogeneity")
    original = comparison.original
    share, common = np.empty((2, len(secrets)))
    for number, name in enumerate(secrets):
        values = named_values(original, original, name)
        near = tolerance(original, name)
        same = same_share(law.probabilities, values, near) >= SHARE
        if comparison.units is not None:  # one record of a unit is enough
            same = (np.bincount(comparison.units, same) > 0)[comparison.units]
        share[number] = same.mean()
        ordered = np.sort(values[~np.isnan(values)])
        reach = near.around(ordered)
        first = np.searchsorted(ordered, ordered - reach, "left")
        equal = np.searchsorted(ordered, ordered + reach, "right") - first
        common[number] = (equal / original.n >= SHARE).sum() / original.n
    worst = int(share.argmax())
    detail = SecretClasses(
        secrets=secrets,
        mean=Sides(common, share),
        secret=secrets[worst],
        unit_words="" if comparison.unit is None else comparison.unit.words,
    )
    return Reading(value=float(share[worst]), baseline=float(common[worst]), detail=detail)


def homogeneity_sentence(reading: Reading[SecretClasses], n: int) -> str:
    """Say how many records are disclosed without any linkage."""
    some, none = ": no linkage is needed to learn it.", "; other attacks do without that."
    who = "household" if reading.detail.unit_words == "households" else "person"
    also = (
        f", or so it is for another record of the same {who}" if reading.detail.unit_words else ""
    )
    return (
        f"For {people(reading.value, n)} nearly all possible donors have the record's own value of "
        f"{reading.detail.secret}{also}{some if reading.value else none}"
    )


def warn_of_homogeneity(reading: Reading[SecretClasses], *, drawn: bool, **_: object) -> list[str]:
    """Say in how many neighborhoods one confidential value is disclosed."""
    if not reading.value:
        return []
    of = "neighborhoods nearly all records" if drawn else "records nearly all possible donors"
    words = f"For {percent(reading.value)} of the {of} have one confidential value: it is"
    return [f"{words} disclosed without any linkage."]


HOMOGENEITY = Measure(
    key="homogeneity",
    title="Homogeneous neighborhoods",
    question="For how many records do nine of ten in the neighborhood have the record's own "
    "value of the worst confidential variable, so that no linkage is needed to learn it?",
    sentence=homogeneity_sentence,
    source="Machanavajjhala et al. 2007 (homogeneity attack) on the neighborhoods of Perry, "
    f"Matloff, Tendick 2022; the same is {WORDS}",
    compute=compute_homogeneity,
    about="value",
    warn=warn_of_homogeneity,
    places={"report": 99, "warnings": 7},
)


# Uniqueness and k-anonymity: sizes of the equivalence classes of the keys, before and after

LIMITS = (2, 3, 5)


def compute_class_sizes(
    comparison: Comparison, limits: Sequence[int], shown: int
) -> Reading[KeyClasses]:
    """Return the share of released records in equivalence classes of fewer than `shown`."""
    keys = key_names(comparison)
    leaving = released_rows(comparison.original, comparison.masked)
    before, after = key_cells(comparison, keys)
    sizes = Sides(*map(class_sizes, (before, after[leaving]), owners(comparison)))
    detail = KeyClasses(
        names=list(keys),
        limits=list(limits),
        violations=Sides(*([int((side < k).sum()) for k in limits] for side in sizes)),
        smallest=Sides(*(int(side.min()) for side in sizes)),
    )
    return mean_reading(Sides(*(side < shown for side in sizes)), comparison, detail)


UNIQUENESS = class_measure(
    key="uniqueness",
    title="Unique on the keys",
    question="How many records are alone with their combination of key values?",
    sentence=filled(
        "{People} are alone with their key values (original: {base}); with masked keys that is no "
        "proof of identity."
    ),
    source="Hundepool et al. 2012, chapter 3; for masked keys compare with worst-case linkage",
    compute=partial(compute_class_sizes, limits=(2,), shown=2),
    of_units=SHARES_OF_UNITS,
    label="unique on the keys",
    places={"risk": 5, "report": 20},
)


K_ANONYMITY = class_measure(
    key="k_anonymity",
    title="Below 3-anonymity",
    question="How many records have fewer than two others with the same key values?",
    sentence=filled(
        "{People} share their key values with fewer than two others (original: {base})."
    ),
    source="Sweeney 2002; a missing value matches any. A masked key is neither proof of identity "
    "where it is rare nor protection where it is common",
    compute=partial(compute_class_sizes, limits=LIMITS, shown=3),
    of_units=SHARES_OF_UNITS,
    label="below 3-anonymity",
    recorded=("names", "limits", "violations_original", "violations_released"),
    places={"record of a dataset": 11, "report": 20},
)


# l-diversity: distinct confidential values of each equivalence class


def distinct_values(groups: Integers, secret: Integers) -> Integers:
    """Count the distinct known values of each class; missing is -1."""
    pairs = np.unique(np.column_stack((groups, secret))[secret >= 0], axis=0)
    return np.bincount(pairs[:, 0], minlength=groups.max() + 1)


def entropies(groups: Integers, secret: Integers) -> Floats:
    """Return the entropy of known values of each class, in nats (Machanavajjhala et al. 2007)."""
    known = np.column_stack((groups, secret))[secret >= 0]
    pairs, counts = np.unique(known, axis=0, return_counts=True)
    share = counts / np.bincount(known[:, 0])[pairs[:, 0]]
    result = np.bincount(pairs[:, 0], -share * np.log(share), groups.max() + 1)
    return np.asarray(result + 0.0, dtype=np.float64)


def compute_l_diversity(comparison: Comparison) -> Reading[SecretClasses]:
    """Return the share of released records in classes with one value of the worst secret."""
    keys, secrets, tables = confidential_classes(comparison)
    share, smallest, entropy = np.empty((3, 2, len(secrets)))
    single: Sides[list[Booleans]] = Sides([], [])
    for side, (groups, values) in enumerate(tables):
        units = owners(comparison)[side]
        # a class of one person discloses all of that person's values, however different
        people_of_class = counts_of_classes(groups[:, np.newaxis], units)
        for number, secret in enumerate(values.T):
            result = np.minimum(distinct_values(groups, secret), people_of_class)
            # a class with only missing values discloses nothing; with one known value it
            # discloses that, however many are missing
            single[side].append(result[groups] == 1)
            share[side, number] = mean_of_units(single[side][-1], units)
            effective = np.minimum(np.exp(entropies(groups, secret)), people_of_class)
            for least, each in ((smallest, result), (entropy, effective)):
                least[side, number] = each.min(where=result > 0, initial=each.max())
    worst = int(share[1].argmax())
    detail = SecretClasses(
        names=list(keys),
        secrets=secrets,
        mean=Sides(*share),
        worst=Sides(*smallest),
        entropy=Sides(*entropy),
        secret=secrets[worst],
    )
    return mean_reading(Sides(*(each[worst] for each in single)), comparison, detail)


L_DIVERSITY = class_measure(
    key="l_diversity",
    title="Below 2-diversity",
    question="How many records lie in a class of equal key values that shows a single value of the "
    "worst confidential variable?",
    sentence=filled(
        "For {people} everybody with the same keys has one known value of {secret}, the worst "
        "confidential variable."
    ),
    source="Machanavajjhala et al. 2007 (distinct l-diversity); missing values are not counted",
    compute=compute_l_diversity,
    of_units="Rows with the keys of one {0} alone count, whatever values they have, and each {0} "
    "counts by the share of the own rows",
    label="below 2-diversity",
    places={"report": 20},
)


# t-closeness: distance of an equivalence class's confidential values from the file's


def distances(groups: Integers, secret: Integers, *, ordered: bool) -> Floats:
    """Return the earth mover's distance of each class (Li, Li, Venkatasubramanian 2007)."""
    # `ordered`: steps of 1/(m - 1) between neighboring values; otherwise all are 1 apart.
    width, count = int(secret.max()) + 1, int(groups.max()) + 1
    if width == 1:
        return np.zeros(count)
    cells = np.bincount(groups * width + secret, minlength=count * width).reshape(count, width)
    share = cells / cells.sum(axis=1, keepdims=True)
    difference = share - np.bincount(secret, minlength=width) / len(secret)
    if not ordered:
        return np.asarray(np.abs(difference).sum(axis=1) / 2)
    return np.asarray(np.abs(np.cumsum(difference, axis=1)).sum(axis=1) / (width - 1))


def compute_t_closeness(comparison: Comparison) -> Reading[SecretClasses]:
    """Return the largest distance of a class from the full release; means are in the detail."""
    keys, secrets, tables = confidential_classes(comparison)
    mean, largest = np.zeros((2, 2, len(secrets)))
    for side, (every, values) in enumerate(tables):
        for number, name in enumerate(secrets):
            # only values that occur have a place, and a missing one hides none of the others
            known = np.flatnonzero(values[:, number] >= 0)
            if not known.size:
                continue
            groups = classes(every[known, np.newaxis])
            secret = np.unique(values[known, number], return_inverse=True)[1].astype(np.int64)
            if (int(secret.max()) + 1) * (int(groups.max()) + 1) > LISTED_PAIRS:
                raise NotApplicable(
                    "There are too many different key combinations and values of "
                    f"{name} to compare; choose fewer key variables."
                )
            ordered = comparison.original.schema.variable(name).kind is not Kind.CATEGORICAL
            result = np.clip(distances(groups, secret, ordered=ordered), 0.0, 1.0)
            mean[side, number] = result[groups].mean()
            largest[side, number] = result.max()
    detail = SecretClasses(
        names=list(keys), secrets=secrets, mean=Sides(*mean), worst=Sides(*largest)
    )
    return Reading(value=float(largest[1].max()), baseline=float(largest[0].max()), detail=detail)


def t_closeness_sentence(reading: Reading[SecretClasses], n: int) -> str:
    """Say by how much classes of equal keys deviate from the file."""
    mean = float(np.mean(reading.detail.mean.released))
    return (
        f"Confidential values of people with equal keys depart from everybody's by up to "
        f"{reading.value:.2f}, and by {mean:.2f} on average (0 is none, 1 is as far as possible)."
    )


T_CLOSENESS = class_measure(
    key="t_closeness",
    title="t-closeness",
    unit="largest earth mover's distance",
    question="How far do the known confidential values of people with the same key values depart "
    "from those of everybody?",
    sentence=t_closeness_sentence,
    source="Li, Li, Venkatasubramanian 2007: t of the worst class and confidential variable",
    compute=compute_t_closeness,
    of_units="Every row of a {} counts, not all of them as one",
    label="t-closeness, largest",
    places={"report": 20},
)
