"""Attribute disclosure: beliefs and strategies of an intruder with the keys and the method."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata, codes_together
from rwn_core.data.sizes import ATTACKED_PAIRS
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.law import Law
from rwn_core.laws.left_out import DonorsOfRows, weighted_rows
from rwn_core.measures.attacks.assignment import sum_to_one
from rwn_core.measures.attacks.likeliest_value import (
    CERTAINTIES,
    EVEN,
    EXACT,
    Named,
    Names,
    People,
    ReleasedValues,
    Tolerance,
    best_score,
    beyond_outside,
    count_names,
    joined,
    score_outside,
    secret_weights,
)
from rwn_core.measures.attacks.posterior import (
    LARGEST_DENSE,
    Way,
    leveled,
    shares_of,
    times,
    tops,
    ways,
)
from rwn_core.measures.statistics.intervals import newcombe, wilson_interval

if TYPE_CHECKING:
    from rwn_core.laws.value_counts_kernel import WeightedRows
    from rwn_core.measures.attacks.belief_columns_kernel import Shown

DENSE = 0.02  # share of all products that are not 0, from which on zeros are multiplied too


class Beliefs(NamedTuple):
    """The posteriors of some released rows and some people."""

    source: sparse.csc_array  # shape (people, m): P(row r comes from person t | its keys)
    # shape (people, m): for each confidential variable P(row r shows person t's own value | its
    # keys)
    donor: list[sparse.sparray]


class AttackedRows(NamedTuple):
    """The rows of a release that are attacked, and the people looked for."""

    masked: Microdata
    rows: Integers  # shape (m,)
    people: Integers  # shape (people,): records of the original; or (m,), the one of each row


class _Coded(NamedTuple):
    """The values that records have and that rows show, as numbers."""

    own: Integers  # shape (n,)
    released: Integers  # shape (m,)


def _keys_of_same_donor(law: Law, secret: str, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the keys that take their values from the secret's donor."""
    unit = next(unit for unit in law.units() if secret in unit)
    return tuple(name for name in unit if name in set(keys))


def _what_tells(law: Law, parts: Sequence[Way], secret: str, shared: tuple[str, ...]) -> Hashable:
    """Return what decides a posterior: secrets with equal keys share one, or each has its own."""
    if law.later or any(way.cells.donors is None for way in parts):
        return secret
    return (shared, *(way.cells.modification(secret) for way in parts))


def beliefs(
    law: Law,
    masked: Microdata,
    rows: Integers,
    keys: Sequence[str],
    secrets: Sequence[str],
    people: Integers,
) -> Beliefs:
    """Return the posteriors of some rows for an intruder who knows all keys."""
    # a_r: row r's keys that share the donor with the secret (maybe none); w_il: P(record l gives
    # that unit's values to a row of record i); pi_i: posterior of the source by all keys. Row r
    # shows t's value with probability sum_i pi_i w_it [t has a_r] / sum_l w_il [l has a_r]. With
    # several ways (the 2015 method), way and source are inferred together.
    attacked = AttackedRows(masked, rows, people)
    source, ways_of_secret = _posterior(law, attacked, keys, secrets)
    donors: dict[Hashable, sparse.sparray] = {}
    for same, shown in ways_of_secret:
        if same not in donors:
            each = [way.of_people(people) for way in shown()]
            donors[same] = sum(each[1:], each[0])
    all_people = np.array_equal(people, np.arange(source.shape[0]))
    return Beliefs(
        (source if all_people else source.tocsr()[people]).tocsc(),
        [donors[same] for same, _ in ways_of_secret],
    )


def own_beliefs(
    law: Law, attacked: AttackedRows, keys: Sequence[str], secrets: Sequence[str]
) -> list[Floats]:
    """Return the posteriors of `beliefs` of each row in one person only, that of the row.

    First as its source, then for each confidential variable; shape (m,) each.
    """
    source, ways_of_secret = _posterior(law, attacked, keys, secrets)
    donors: dict[Hashable, Floats] = {}
    for same, shown in ways_of_secret:
        if same not in donors:
            donors[same] = np.sum([way.of_own(attacked.people) for way in shown()], axis=0)
    return [shares_of(source, attacked.people), *(donors[same] for same, _ in ways_of_secret)]


def _posterior(
    law: Law, attacked: AttackedRows, keys: Sequence[str], secrets: Sequence[str]
) -> tuple[sparse.csc_array, list[tuple[Hashable, Callable[[], list[_Shown]]]]]:
    """Return the posterior of the sources, (n, m), and of each secret what shows it, by ways.

    What shows a secret comes with a key: secrets with equal keys have the same.
    """
    parts = ways(law, attacked.masked, attacked.rows, keys)
    matrices, _ = leveled([way.part for way in parts])
    total = np.sum([np.asarray(matrix.sum(axis=0)).ravel() for matrix in matrices], axis=0)
    factor = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    joint = [times(matrix, factor) for matrix in matrices]

    def shown(secret: str, shared: tuple[str, ...]) -> list[_Shown]:
        pairs = zip(parts, joint, strict=True)
        return [_shown(way, each, shared, secret, attacked) for way, each in pairs]

    of_secret: list[tuple[Hashable, Callable[[], list[_Shown]]]] = []
    for secret in secrets:
        shared = _keys_of_same_donor(law, secret, keys)
        told = _what_tells(law, parts, secret, shared)
        of_secret.append((told, partial(shown, secret, shared)))
    return sum(joint[1:], joint[0]), of_secret


class _Shown(Protocol):
    """The chance that a row comes about in one way and shows the value of a person."""

    def of_people(self, people: Integers) -> sparse.sparray:
        """Return it of all pairs of these people and the rows, shape (people, m)."""

    def of_own(self, people: Integers) -> Floats:
        """Return it of each row and the person at the same place, shape (m,)."""


class _BySource(NamedTuple):
    """The chance in rows that show their source's value, or no record's."""

    source: sparse.csc_array  # shape (n, m): the belief in each source
    kept: Floats  # shape (n,): P(a row of each source shows its value)

    def of_people(self, people: Integers) -> sparse.sparray:
        return sparse.diags_array(self.kept[people]) @ self.source.tocsr()[people]

    def of_own(self, people: Integers) -> Floats:
        return self.kept[people] * shares_of(self.source, people)


class _ByDonor(NamedTuple):
    """The chance in rows whose sources have donors."""

    cells: Law
    # shape (n, m): the belief in each source, per its chance to release what the row shows of
    # the secret's unit
    source: sparse.csc_array
    q: float
    coded: _Coded | None  # of that unit's keys

    def of_people(self, people: Integers) -> sparse.sparray:
        shown = _given(self.cells, self.source, self.q, people)
        if self.coded is None:
            return shown
        entries = sparse.coo_array(shown)
        person, row = entries.coords
        has = self.coded.own[people[person]] == self.coded.released[row]
        return sparse.csc_array((entries.data[has], (person[has], row[has])), shape=shown.shape)

    def of_own(self, people: Integers) -> Floats:
        from rwn_core.laws.value_counts_kernel import Columns
        from rwn_core.measures.attacks.belief_columns_kernel import sums_of_products

        assert self.cells.donors is not None  # as its maker has seen
        asked, place = np.unique(people, return_inverse=True)
        received = self.cells.donors.received(asked)
        source = self.source
        source.sort_indices()
        believed = Columns(source.indptr, source.indices, source.data)
        given = Columns(received.indptr, received.indices, received.data)
        shown = self.q * sums_of_products(believed, given, place)
        if self.q != 1:
            shown += (1 - self.q) * shares_of(source, people)
        if self.coded is None:
            return shown
        return np.where(self.coded.own[people] == self.coded.released, shown, 0.0)


class _ByRow(NamedTuple):
    """The chance in rows whose donors depend on what they show before, not on their source."""

    given: DonorTables | DonorsOfRows  # of the secret's later slice
    rows: Integers
    coded: _Coded | None  # of the keys in that slice

    def of_people(self, people: Integers) -> sparse.sparray:
        from rwn_core.measures.attacks.belief_columns_kernel import chances_by_donor

        place = np.full(self.given.matrix.shape[1], -1, np.int32)
        place[people] = np.arange(len(people))
        found = chances_by_donor(*self._lists(), place)
        entries = found.values, found.rows, found.starts
        return sparse.csc_array(entries, shape=(len(people), len(self.rows)))

    def of_own(self, people: Integers) -> Floats:
        from rwn_core.measures.attacks.belief_columns_kernel import chances_of_own

        return chances_of_own(*self._lists(), people)

    def _lists(self) -> tuple[WeightedRows, Integers, Shown]:
        """Return all donors, the list of each row, and what it shows of the unit's keys."""
        from rwn_core.measures.attacks.belief_columns_kernel import Shown

        given = self.given
        coded = self.coded
        if coded is None:  # every donor fits
            every = np.zeros(given.matrix.shape[1], np.int64)
            coded = _Coded(every, np.zeros(len(self.rows), np.int64))
        return (
            weighted_rows(given.matrix),
            given.rows[self.rows] if isinstance(given, DonorsOfRows) else self.rows,
            Shown(coded.own.astype(np.int64), coded.released.astype(np.int64)),
        )


def _shown(
    way: Way,
    source: sparse.csc_array,
    shared: tuple[str, ...],
    secret: str,
    attacked: AttackedRows,
) -> _Shown:
    """Return what shows a secret where rows come about in one way, by the belief in sources."""
    # shared: the keys with the secret's donor. Of tied slices it is by the weights of the slice
    # alone: the place of a person in the order of a slice is known with its values only.
    cells = way.cells
    q = way.cells.modification(secret)
    if cells.donors is None:
        return _BySource(source, cells.retained(secret))
    if way.lost:  # missing values have no donor, and what is not masked is the source's own
        return _BySource(source, np.full(source.shape[0], float(q == 0)))
    coded = None
    if shared:
        about = cells.original, attacked.masked, shared, attacked.rows
        coded = _Coded(*codes_together(*about))
    if secret in cells.later:
        return _ByRow(cells.later[secret], attacked.rows, coded)
    if coded is not None and source.nnz:  # else in this way none of the rows came about
        # the belief in each source per its chance to release a row's values of the shared keys
        column = np.repeat(coded.released, np.diff(source.indptr))
        given = cells.donors.table(coded.own, cells.modification(shared[0]))
        if np.prod(given.shape, dtype=float) <= LARGEST_DENSE:
            given = given.toarray()  # read many times faster than a sparse one
        chance = np.asarray(given[source.indices, np.maximum(column, 0)]).ravel()
        share = np.divide(source.data, chance, out=np.zeros_like(chance), where=chance > 0)
        source = sparse.csc_array((share, source.indices, source.indptr), shape=source.shape)
    return _ByDonor(cells, source, q, coded)


def _given(cells: Law, source: sparse.csc_array, q: float, people: Integers) -> sparse.sparray:
    """Return the sum over i of w_it times the belief in source i, shape (people, m)."""
    assert cells.donors is not None  # as its caller has seen
    received = cells.donors.received(people)
    # dense products are faster than sparse ones of many entries, where they fit
    n, taken = received.shape
    m = source.shape[1]
    fits = max(n * taken, n * m, taken * m) <= LARGEST_DENSE
    if fits and received.nnz * source.nnz > DENSE * taken * m * n**2:
        plain = source.toarray()
        share = q * (received.toarray().T @ plain)
        if q != 1:
            share += (1 - q) * plain[people]
        # dense array of few zeros as a sparse one
        height, width = share.shape
        columns = np.tile(np.arange(width, dtype=np.int32), height)  # else scipy looks through them
        starts = width * np.arange(height + 1, dtype=np.int32)
        listed = sparse.csr_array((share.ravel(), columns, starts), shape=share.shape)
        listed.eliminate_zeros()
        return listed
    copied = received.T @ source
    return copied if q == 1 else (1 - q) * source.tocsr()[people] + q * copied


STRATEGIES: dict[str, str] = {
    "majority": "naming what most released rows say",
    "source": "reading the rows that probably come from the person",
    "donor": "weighing the rows by how likely they show the person's own value",
    "surest": "reading the row that most likely shows the person's own value",
    "nearest": "reading the row with the person's keys, or the nearest keys",
    "file": "reading the person's row by the joint posterior of all rows",
    "line": "predicting it from the keys by least squares on the release",
    "corrected": "predicting it from the keys by least squares freed of the noise on them",
    "less_noise": "predicting it from the keys by least squares less the covariances of the noise",
    "tree": "predicting it from the keys by a tree grown on the release",
}
"""Strategies in the order of what they need."""

PREDICTIONS = ("line", "corrected", "less_noise", "tree")
"""Strategies that say something about people outside the file, too."""

TOGETHER = " of all rows"
"""Ends the key of a strategy that names a person or household by all of its rows together."""
STRATEGIES |= {
    f"{key}{TOGETHER}": f"{words}, from all of the rows of one"
    for key, words in STRATEGIES.items()
    if key != "majority"
}

SURELY = 3.0  # standard errors by which a gain is more than luck
AMONG_UNITS = 2.0  # of units, which are fewer; the weights of their rows pass the other test, too

CERTAIN = 1.959963984540054  # standard errors of a 95 % interval
LEAST = 0.01  # gain that the law expects, below which a posterior depends on near ties

POSTERIORS = ("source", "donor", "file")
"""Strategies that name a value with the chance that the law gives it."""

OWN_VALUE = ("donor", "surest")
"""Strategies that weigh rows by the target's own value: a person left out discloses it, unless
values are copied whatever they are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Success:
    """The success of each strategy on one confidential variable."""

    targets: People
    # mean success of each strategy among people with a value; 0 if there are none
    rates: dict[str, float]
    exact: dict[str, float]  # the same for the exact value
    named: dict[str, Named]  # counts at each level and certainty, without the majority's
    # of strategies that may be right by luck alone: the success that counts, at most
    at_most: dict[str, float]
    # what each unit adds to the success of each strategy, shape (units,): a record where units are
    # not counted
    each: dict[str, Floats]
    paired: bool = False  # whether the people are those in the file, as if each were outside

    @property
    def best(self) -> str:
        """The strategy with the highest success; the simplest of several."""
        return max(self.rates, key=self.rates.__getitem__)


class Counted(NamedTuple):
    """The counts that strategies on all people of a file, or on units, need."""

    rows: Integers | None = None  # of each class, for the joint posterior of all people
    # of each person: every strategy is tried on the sum over a unit's rows, too
    units: Integers | None = None


def attack(
    beliefs: Iterable[tuple[Beliefs, Integers]],
    nearest: sparse.csr_array,
    truths: list[Floats],
    released: list[ReleasedValues],
    predicted: Sequence[Mapping[str, Names]] | None = None,
    counted: Counted | None = None,
) -> list[Success]:
    """Return the success of every strategy on some people, for each confidential variable."""
    # a posterior depends on the row's keys alone, so all rows of a class weigh the same
    counted = counted or Counted()
    units = counted.units
    parts = list(beliefs)  # none: only the nearest rows and the predictions are tried
    order = np.empty(0, np.int64)
    together = None
    source = nearest
    if parts:
        order = np.argsort(np.concatenate([classes for _, classes in parts]), kind="stable")
        columns = _joined([part.source for part, _ in parts], order)
        source = columns.tocsr()
        together = None if counted.rows is None else jointly(source, columns.tocsc(), counted.rows)
    found = []
    for number, (truth, values) in enumerate(zip(truths, released, strict=True)):
        weights = {"nearest": nearest}
        if parts:
            donor = _joined([part.donor[number] for part, _ in parts], order).tocsr()
            # 1 where a person's belief is largest among readable classes
            share = donor.data * (values.rows > 0)[donor.indices]
            least = tops(share, donor.indptr) * (1 - EVEN)
            own = np.repeat(least, np.diff(donor.indptr))
            leads = np.flatnonzero((share >= own) & (share > 0))
            starts = np.searchsorted(leads, donor.indptr)
            ones = np.ones(len(leads))
            surest = sparse.csr_array((ones, donor.indices[leads], starts), shape=donor.shape)
            weights = {"source": source, "donor": donor, "surest": surest, **weights}
        if together is not None:
            weights["file"] = together
        names = {key: values.named(weight) for key, weight in weights.items()}
        if units is not None:
            own = indicator(units)
            for key, weight in tuple(weights.items()):
                weights[key + TOGETHER] = summed = sparse.csr_array(own @ weight)
                names[key + TOGETHER] = values.named(summed).given_to(units)
        names |= {} if predicted is None else predicted[number]
        found.append(_success(names, values, truth, weights, units))
    return found


def indicator(place: Integers) -> sparse.csr_array:
    """Return 1 where a record belongs to a group of these numbers, shape (groups, records)."""
    return sparse.csr_array((np.ones(len(place)), (place, np.arange(len(place)))))


def jointly(
    source: sparse.csr_array, columns: sparse.csc_array, rows: Integers
) -> sparse.csr_array | None:
    """Scale posteriors (n, classes) so that each person has one row; None if too many."""
    # rows with equal keys have equal posteriors, so one row of each class, of `rows` rows in all,
    # stands for all of them (Sinkhorn and Knopp 1967); `columns` is `source` by classes
    if source.nnz > ATTACKED_PAIRS or not source.nnz:
        return None
    factors = sum_to_one(columns, rows.astype(np.float64))
    if factors is None:
        return None
    of_person, of_row = factors
    owner = np.repeat(of_person, np.diff(source.indptr))
    data = source.data * owner * of_row[source.indices]
    return sparse.csr_array((data, source.indices, source.indptr), shape=source.shape)


def _are_of_few_rows(beyond: Floats, weights: sparse.csr_array, rows: Floats) -> bool:
    """True if what is named right beyond the majority may be luck of a few rows."""
    # Shapes: beyond (people,); weights (people, classes); rows (classes,). What a row says is right
    # of many people or of none: rows, not people, are independent; the people that a strategy names
    # beyond the majority may be those of a few rows.
    total = np.asarray(weights.sum(axis=1)).ravel()
    each = np.divide(beyond, total, out=np.zeros_like(beyond), where=total > 0)
    shown = weights.data * np.repeat(each, np.diff(weights.indptr))
    of_class = np.bincount(weights.indices, shown, weights.shape[1])
    error = np.sqrt((of_class**2 / np.maximum(rows, 1)).sum())
    return bool(of_class.sum() <= SURELY * error)


def _success(
    names: Mapping[str, Names],
    values: ReleasedValues,
    truth: Floats,
    weights: Mapping[str, sparse.csr_array],
    units: Integers | None,
) -> Success:
    counts = None if units is None else secret_weights(truth, units)
    targets = People(truth=truth, near=values.near, levels=values.levels, weights=counts)
    known = ~np.isnan(truth)  # where there is no value, there is nothing to learn
    counts = known if counts is None else counts
    people = max(targets.known, 1)
    majority = values.majority(truth)
    rates = {"majority": float((np.where(known, majority, 0.0) * counts).sum()) / people}
    rights = _rights(names, truth, values.near)
    # without a name the intruder names the majority
    known_rights = counts * np.where(known, np.where(np.isnan(rights), majority, rights), 0.0)
    rates |= zip(names, (known_rights.sum(axis=1) / people).tolist(), strict=True)
    every = np.vstack((np.where(known, majority, 0.0) * counts, known_rights))
    if units is not None:
        every = every @ indicator(units).T
    each_right = dict(zip(rates, every, strict=True))
    # what a few rows say of all people counts as nothing, or of a posterior as the law expects
    at_most: dict[str, float] = {}
    for key, right in zip(weights, known_rights, strict=False):  # predictions come last
        counted_rate = rates["majority"]
        hardly = False
        if key in POSTERIORS:
            expected = np.where(known, names[key].expected(majority), 0.0)
            counted_rate = float((expected * counts).sum()) / people
            hardly = counted_rate < rates["majority"] + LEAST
        beyond = np.where(known, right - counts * majority, 0.0)
        if units is not None and key.endswith(TOGETHER):  # units, not rows, are independent
            beyond = np.bincount(units, beyond)
            hardly = beyond.sum() <= AMONG_UNITS * np.sqrt((beyond**2).sum())
        if hardly or _are_of_few_rows(beyond, weights[key], values.rows):
            at_most[key] = counted_rate
    exact = {key: rates[key] for key in names}
    if values.levels is None:
        exactly = counts * np.where(known, np.nan_to_num(_rights(names, truth, EXACT)), 0.0)
        exact = dict(zip(names, (exactly.sum(axis=1) / people).tolist(), strict=True))
    by_own = () if values.copied else OWN_VALUE
    answers = [
        values.with_majority(each, len(truth)) if key.removesuffix(TOGETHER) in by_own else each
        for key, each in names.items()
    ]
    counted = dict(zip(names, count_names(answers, targets), strict=True))
    if units is not None:
        shared = _shared_levels(truth, units, values.levels)
        counted = {key: _evidence(key, each, shared) for key, each in counted.items()}
    return Success(
        targets=targets, rates=rates, exact=exact, named=counted, at_most=at_most, each=each_right
    )


def _shared_levels(truth: Floats, units: Integers, levels: int | None) -> Booleans:
    """Tell which levels several units have; of a number, whether several have one."""
    # shape (levels,)
    pairs = np.unique(np.column_stack((units, truth))[~np.isnan(truth)], axis=0)
    own = pairs[:, 1] if levels is not None else np.zeros(len(pairs))
    return np.asarray(np.bincount(own.astype(np.int64), minlength=levels or 1) > 1)


def _evidence(key: str, found: Named, shared: Booleans) -> Named:
    """Count rows of a unit as evidence, too, but for a level that one unit alone has."""
    if found.records is None or key.endswith(TOGETHER):
        return found._replace(records=found.named)
    return found._replace(records=np.where(shared, found.records, found.named))


def _rights(names: Mapping[str, Names], truth: Floats, near: Tolerance) -> Floats:
    """Return P(the named value is right) of several strategies, shape (strategies, people)."""
    together = joined(list(names.values()), len(truth))
    return together.right(np.tile(truth, len(names)), near).reshape(len(names), len(truth))


def _joined(parts: list[sparse.sparray], order: Integers) -> sparse.sparray:
    """Return the beliefs of all classes in their order, shape (people, classes)."""
    if len(parts) == 1 and (np.diff(order) > 0).all():
        return parts[0]
    return sparse.hstack(parts).tocsc()[:, order]


def gain(found: Success, outside: Sequence[Success] = ()) -> dict[str, Any]:
    """Return the largest gain over all strategies, beyond people outside or the majority."""
    # value: the larger of overall (success for all people less its baseline) and the score of
    # naming one level or at one certainty; of_all: whether it is the first; attack, reference: the
    # strategy's success and its baseline; interval: of the value, 95 %; naming: strategy,
    # certainty, level (its number, None of a number), people, named, right, base, score
    overall, strategy, reference = _overall(found, outside)
    # best score of naming a level, or a value at a certainty
    targets = found.targets
    naming: dict[str, Any] = {"score": 0.0, "strategy": None, "certainty": 0.0, "level": None}
    naming |= {"people": 0.0, "named": 0.0, "right": 0.0, "base": 0.0}
    of_level = targets.of_level
    base = targets.base
    scores: dict[str, Floats] = {}  # outside, by way: several strategies are compared with one
    for key, named in found.named.items():
        if found.rates[key] > found.at_most.get(key, 1.0) + LEAST:
            continue
        if not outside:
            place, score = best_score(*named[:2], of_level, base, named.each)
        else:
            tried = attacks_outside(outside, key)
            for way, each in tried.items():
                if way not in scores:
                    scores[way] = score_outside(each.named[way], each.targets, base)
            place, score = beyond_outside(named, targets, (scores[way] for way in tried))
        if score > naming["score"]:
            level = place[1]
            naming = {
                "score": score,
                "strategy": key,
                "certainty": CERTAINTIES[place[0]],
                "level": None if targets.levels is None else level,
                "people": float(of_level[level]),
                "named": float(named.named[place]),
                "right": float(named.right[place]),
                "base": float(base[level]),
            }
    value = max(overall, naming["score"]) if naming["score"] else overall
    attack = min(found.rates[strategy], found.at_most.get(strategy, 1.0))
    people = max(1, targets.known)
    low, high = difference_interval(found, outside, strategy, attack)
    if value > overall:  # from the ends of recall and of precision
        right, named, base = naming["right"], naming["named"], naming["base"]
        shares = ((right / naming["people"], naming["people"]), (min(right / named, 1.0), named))
        ends = [wilson_interval(share * count, max(1, round(count))) for share, count in shares]
        low, high = (
            recall * max(sure - base, 0.0) / (1 - base) for recall, sure in zip(*ends, strict=True)
        )
    return {
        "value": value,
        "overall": overall,
        "of_all": value <= overall,
        "strategy": strategy,
        "attack": attack,
        "reference": reference,
        "interval": (min(low, value), max(high, value)),
        "naming": naming,
        "people": people,
    }


def difference_interval(
    found: Success, outside: Sequence[Success], strategy: str, attack: float
) -> tuple[float, float]:
    """Return the 95 % interval of a strategy's success less its baseline.

    For people attacked inside and outside of one release their differences count, and
    otherwise two shares (Newcombe 1998, method 10).
    """
    people = max(1, found.targets.known)
    if outside and outside[0].paired:
        way = best_outside(outside, strategy)
        apart = found.each[strategy] - outside[0].each[way]
        middle = attack - outside[0].rates[way]
        half = CERTAIN * float(np.sqrt(((apart - apart.mean()) ** 2).sum())) / people
        # where all differences are 0, one of them may differ
        half = max(half, CERTAIN / people)
        return middle - half, middle + half
    reference = found.rates["majority"]
    others = people
    if outside:
        reference, others = outside_rate(outside, strategy)
    low, high = newcombe((attack * people, people), (reference * others, others))
    return low, high


def best_outside(outside: Sequence[Success], strategy: str) -> str:
    """Return the attack on people outside that a strategy is compared with, or the majority."""
    tried = attacks_outside(outside, strategy)
    rates = {way: each.rates[way] for way, each in tried.items()}
    rates["majority"] = outside[0].rates["majority"]
    return max(rates, key=rates.__getitem__)


def outside_rate(outside: Sequence[Success], strategy: str) -> tuple[float, int]:
    """Return the best success on people outside, at least the majority's, and their number.

    The attacks are those that a strategy on people inside is compared with.
    """
    tried = [(each.rates[way], each) for way, each in attacks_outside(outside, strategy).items()]
    majority = outside[0].rates["majority"], outside[0]
    rate, best = max((*tried, majority), key=lambda each: each[0])
    return rate, max(1, best.targets.known)


def attacks_outside(outside: Sequence[Success], strategy: str) -> dict[str, Success]:
    """Return the attacks on people outside that a strategy is compared with, each on the most.

    The same strategy, of all rows or of one; and every prediction, because a relation that people
    outside follow, too, tells nothing of the file.
    """
    # outside, the rows have no joint posterior: each row is attacked by itself
    alone = strategy.removesuffix(TOGETHER)
    known: dict[str, Success] = {}
    for each in reversed(outside):
        known |= dict.fromkeys(each.named, each)
    tried = [key for key in (strategy, alone) if key in known]
    tried = tried or [key for key in ("source" + strategy[len(alone) :], "source") if key in known]
    tried += [key for key in known if key.removesuffix(TOGETHER) in PREDICTIONS]
    return {key: known[key] for key in tried}


def _overall(found: Success, outside: Sequence[Success]) -> tuple[float, str, float]:
    """Return gain, strategy and baseline: of the best strategy, or a more certain one."""
    # luck counts no more than the majority, which is the same for people outside
    rates = {key: min(rate, found.at_most.get(key, 1.0)) for key, rate in found.rates.items()}
    best = max(rates, key=rates.__getitem__)
    if not outside:
        reference = rates["majority"]
        return rates[best] - reference, best, reference
    reference, _ = outside_rate(outside, best)
    most = rates[best] - reference, best, reference
    if rates[best] <= rates["majority"]:
        return min(most[0], 0.0), best, reference
    for key, rate in rates.items():
        reference, _ = outside_rate(outside, key)
        if difference_interval(found, outside, key, rate)[0] > most[0]:
            most = rate - reference, key, reference
    return most
