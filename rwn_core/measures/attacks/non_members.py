"""Attack on people outside the file, as a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata, codes_together
from rwn_core.data.rounding import rounded
from rwn_core.laws.donor_lists import spans
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.attribute_attack import Beliefs, beliefs
from rwn_core.measures.attacks.posterior import Way, attacked_units, leveled, tops, ways
from rwn_core.measures.comparison import Comparison

UNITS_AT_ONCE = 5  # small probabilities multiplied before their size is set apart


class UnitValues(NamedTuple):
    """The values of one unit as numbers: of people, of the file, and of rows."""

    names: tuple[str, ...]
    own: Integers  # shape (people,)
    file: Integers  # shape (n,)
    released: Integers  # shape (m,): -1 if no record of the file has the row's values
    one_hot: sparse.csr_array  # shape (n, V): 1 for each record's own value
    given: sparse.csr_array  # shape (n, V): P(each record's donor has a value)
    # shape (n, V): number of members with a value that a nearer person displaces
    leaving: sparse.csr_array
    lost: Booleans  # shape (m,): True if all values are missing

    def shown(self, table: sparse.csr_array) -> Floats:
        """Return the table's probabilities of each row's values, shape (records, m)."""
        used, place = np.unique(np.maximum(self.released, 0), return_inverse=True)
        dense = sparse.csc_array(table)[:, used].toarray()  # of thousands of values, few are shown
        return np.asarray(dense[:, place] * (self.released >= 0), dtype=np.float64)


# Of a row's values of one unit: True if a person has them, and their probabilities for people and
# for the records that they joined, shape (people, m) each.
_Chances = tuple[Booleans, Floats, Floats]


class FileWithAddedPerson:
    """The files with one of some people added, for the same rows.

    Parameters
    ----------
    law : Law
        Of the n records without the people.
    near : sparse array, shape (people, n)
        P(each record is a person's donor).
    shares : sparse array, shape (people, n)
        Of `EnlargedNeighborhoods`.
    units : sequence of UnitValues
    """

    def __init__(
        self,
        law: Law,
        near: sparse.csr_array,
        shares: sparse.csr_array,
        units: Sequence[UnitValues],
    ) -> None:
        self.law, self.near, self.units = law, near, units
        self.joins = sparse.csr_array(shares)
        self.person = np.repeat(np.arange(near.shape[0]), np.diff(self.joins.indptr))
        self.share = self.joins.data[:, None]
        assert law.neighborhoods is not None
        self.size = law.neighborhoods.sizes[self.joins.indices][:, None]
        # a neighborhood without a displaced member is larger by one
        self.nearer = self.share * (self.size + 1) > 1.0 + 1e-9

    def beliefs(
        self, parts: Sequence[Way], file: sparse.csr_array, top: Floats, secrets: Sequence[str]
    ) -> tuple[Floats, list[Floats]]:
        """Return P(a row is from each person) and, for each secret, P(it shows the value)."""
        # file times exp(top) is the likelihood without the people; all results are (people, m)
        chances = [
            {
                unit.names: self._unit(unit, way.cells.modification(unit.names[0]))
                for unit in self.units
            }
            for way in parts
        ]
        logs = [self._logs(way, each) for way, each in zip(parts, chances, strict=True)]
        # of records with an unchanged neighborhood
        ones = np.ones(self.joins.nnz)
        joined = sparse.csr_array((ones, self.joins.indices, self.joins.indptr), self.joins.shape)
        unjoined = np.asarray(file.sum(axis=0)).ravel() - (joined @ file).toarray()
        strangers = np.asarray(_log(np.maximum(unjoined, 0.0)) + top)
        others = [strangers, *(self._summed(joined) for _, joined in logs)]
        total = np.logaddexp.reduce([*others, *(own for own, _ in logs)])
        total = np.where(np.isfinite(total), total, 0.0)
        ways = [
            (way, each, np.exp(own - total), np.exp(joined - total[self.person]))
            for way, each, (own, joined) in zip(parts, chances, logs, strict=True)
        ]
        donors = [
            np.sum([self._donor(secret, *each) for each in ways], axis=0) for secret in secrets
        ]
        return np.sum([own for _, _, own, _ in ways], axis=0), donors

    def _unit(self, unit: UnitValues, q: float) -> _Chances:
        fits = (unit.own[:, None] == unit.released) & (unit.released >= 0)
        copied = unit.shown(sparse.csr_array(self.near @ unit.one_hot))
        records = self.joins.indices
        stays = (1 - q) * (unit.file[records][:, None] == unit.released)
        members = self.size * unit.shown(sparse.csr_array(unit.given[records]))
        members -= self.nearer * unit.shown(sparse.csr_array(unit.leaving[records]))
        given = self.share * (np.maximum(np.rint(members), 0) + fits[self.person])
        return fits, (1 - q) * fits + q * copied, stays + q * given

    def _logs(self, way: Way, chances: dict[tuple[str, ...], _Chances]) -> tuple[Floats, Floats]:
        """Return the log-likelihood of rows from people and from the records that they joined."""
        # Shapes: the answers (people, m) and (joins, m).
        if way.lost:
            # of people without neighbors, if all of their modified values are missing
            touched = [unit for unit in self.units if way.cells.modification(unit.names[0])]
            gone = np.logical_and.reduce([unit.lost for unit in touched]) if touched else False
            lonely = np.diff(self.near.indptr) == 0
            possible = lonely[:, None] & np.broadcast_to(gone, self.units[0].lost.shape)
            for unit in self.units:
                if not way.cells.modification(unit.names[0]):
                    possible = possible & (unit.own[:, None] == unit.released)
            nowhere = np.full((len(self.person), len(self.units[0].lost)), -np.inf)
            return np.where(possible, _log(way.weight), -np.inf), nowhere
        own = _log_product([person for _, person, _ in chances.values()])
        joined = _log_product([record for _, _, record in chances.values()])
        return own + _log(way.weight), joined + _log(way.weight)

    def _summed(self, logs: Floats) -> Floats:
        """Return the log of the sum over the records that each person joined, (people, m)."""
        top = tops(logs, self.joins.indptr, -np.inf)
        finite = np.where(np.isfinite(top), top, 0.0)
        return np.asarray(_log(self._over_joins(np.exp(logs - finite[self.person]))) + finite)

    def _over_joins(self, values: Floats) -> Floats:
        """Return sums over the records that each person joined, (people, m)."""
        ends = np.arange(len(self.person))
        shape = (self.near.shape[0], len(self.person))
        each = sparse.csr_array((np.ones(len(ends)), ends, self.joins.indptr), shape=shape)
        return np.asarray(each @ values)

    def _donor(
        self,
        secret: str,
        way: Way,
        chances: dict[tuple[str, ...], _Chances],
        own: Floats,
        joined: Floats,
    ) -> Floats:
        """Return P(a row comes about in one way and shows each person's value), (people, m)."""
        q = way.cells.modification(secret)
        if way.lost:
            return own * float(q == 0)
        unit = next(unit for unit in self.law.units() if secret in unit)
        shared = next((each for names, each in chances.items() if names[0] in unit), None)
        if shared is None:
            return own * (1 - q) + self._over_joins(joined * (q * self.share))
        fits, person, record = shared
        stays = _ratio((1 - q) * fits, person)
        taken = _ratio(q * self.share * fits[self.person], record)
        return own * stays + self._over_joins(joined * taken)


def _log_product(factors: Sequence[Floats]) -> Floats:
    """Return the log of a product, a few factors at a time so that none vanishes."""
    # Shapes: each factor, the answer (r, m), r people or records that they joined.
    starts = range(0, len(factors), UNITS_AT_ONCE)
    logs = [_log(np.prod(factors[start : start + UNITS_AT_ONCE], axis=0)) for start in starts]
    return np.asarray(np.sum(logs, axis=0))


def _ratio(part: ArrayLike, total: Floats) -> Floats:
    """Return quotients, 0 where the divisor is 0."""
    # Shapes: part, total, the answer (r, m), r people or records that they joined.
    return np.asarray(np.divide(part, total, out=np.zeros(total.shape), where=total > 0))


def _log(chances: ArrayLike) -> Any:
    """Return natural logarithms, -inf of 0."""
    with np.errstate(divide="ignore"):
        return np.log(chances)


AT_ONCE = 1_000_000  # rows times records that one of some people has joined


class Outsiders:
    """The people outside the file, attacked by an intruder who takes them for members.

    Parameters
    ----------
    comparison : Comparison
    law : Law
    people : Microdata
        Records of the same variables, not rounded.
    names : sequence of str
        Variables that the intruder knows.

    Attributes
    ----------
    joined : int
        Number of neighborhoods that the people join, in all.
    """

    joined = 0

    def __init__(
        self, comparison: Comparison, law: Any, people: Microdata, names: Sequence[str]
    ) -> None:
        self.original, self.masked = comparison.original, comparison.masked
        self.law = law
        self.people = people
        self.names = tuple(names)


class NonMembers(Outsiders):
    """The people outside the file of a law at one radius for all records.

    The intruder adds one person at a time to the file and applies Bayes' rule. The person's
    neighborhood follows the method's own rule among the originals; the person also joins the
    neighborhoods with a radius that reaches it. Distances keep the scale of the file without it.

    Raises
    ------
    NotApplicable
        Each record has a radius of its own, or random candidates.
    """

    def __init__(
        self, comparison: Comparison, law: Law, people: Microdata, names: Sequence[str]
    ) -> None:
        super().__init__(comparison, law, rounded(people, law.precision), names)
        self.near, self.joins = law.outside(people)
        self.joined = int(self.joins.shares.nnz)

    def beliefs(self, rows: Integers, secrets: Sequence[str]) -> Beliefs:
        """Return the posteriors of some released rows for all people outside."""
        parts = ways(self.law, self.masked, rows, self.names)
        matrices, top = leveled([way.part for way in parts])
        file = sparse.csr_array(sum(matrices[1:], matrices[0]))
        units = [self._unit(unit, rows) for unit in attacked_units(self.law, self.names)]
        made = []
        indptr = self.joins.shares.indptr
        # the people in parts that fit the limit of pairs
        ends = (indptr.astype(np.int64) + np.arange(len(indptr))) * len(rows)
        for some in (slice(*span) for span in spans(ends, AT_ONCE)):
            values = [unit._replace(own=unit.own[some]) for unit in units]
            few = FileWithAddedPerson(self.law, self.near[some], self.joins.shares[some], values)
            made.append(few.beliefs(parts, file, top, secrets))
        source, donors = zip(*made, strict=True)
        return Beliefs(_stacked(source), [_stacked(each) for each in zip(*donors, strict=True)])

    def _unit(self, unit: tuple[str, ...], rows: Integers) -> UnitValues:
        cells = self.law.components()[0].cells
        people = np.arange(self.people.n)
        file, released = codes_together(cells.original, self.masked, unit, rows)
        one_hot = sparse.csr_array((np.ones(len(file)), file, np.arange(len(file) + 1)))
        assert cells.donors is not None  # NonMembersWithoutDonors otherwise
        return UnitValues(
            names=unit,
            own=codes_together(cells.original, self.people, unit, people)[1],
            file=file,
            released=released,
            one_hot=one_hot,
            given=cells.donors.table(file, 1.0),
            leaving=sparse.csr_array(self.joins.leaving @ one_hot),
            lost=self.masked.frame[list(unit)].isna().all(axis=1).to_numpy()[rows],
        )


def _stacked(parts: Sequence[Floats]) -> sparse.csc_array:
    # Shapes: each part (r, m), of some people; the answer has the rows of all.
    return sparse.csc_array(np.vstack(parts))


def non_members(
    comparison: Comparison, law: Law, people: Microdata, names: Sequence[str]
) -> NonMembers | NonMembersOneByOne | NonMembersWithoutDonors:
    """Return people outside the file as the law of its release needs them."""
    if all(way.cells.donors is None for way in law.components()):
        return NonMembersWithoutDonors(comparison, law, people, names)
    if law.neighborhoods is not None and not law.neighborhoods.equally_likely:
        found = NonMembersOneByOne(comparison, law if law.later else law.independent, people, names)
        found.joined = people.n * law.original.n  # each person joins all neighborhoods
        return found
    return NonMembers(comparison, law, people, names)


class NonMembersOneByOne(Outsiders):
    """The people outside the file of any law of independent cells, added to it one at a time.

    What `NonMembers` finds for equally likely donors, slowly; under a soft kernel an added person
    changes all weights.
    """

    def beliefs(self, rows: Integers, secrets: Sequence[str]) -> Beliefs:
        """Return the posteriors of some released rows for all people outside."""
        added = np.array([self.law.original.n])
        made = []
        for person in range(self.people.n):
            law = self.law.with_people(self.people.take(np.array([person])))
            made.append(beliefs(law, self.masked, rows, self.names, secrets, added))
        source, donors = zip(*made, strict=True)
        stacked = [sparse.csc_array(sparse.vstack(each)) for each in zip(*donors, strict=True)]
        return Beliefs(sparse.csc_array(sparse.vstack(source)), stacked)


class NonMembersWithoutDonors(Outsiders):
    """The people outside a file that was masked by a law of one component without donors."""

    @cached_property
    def _everybody(self) -> Microdata:
        released = [variable.name for variable in self.original.schema.released]
        tables = (self.original.frame[released], self.people.frame[released])
        return Microdata(pd.concat(tables, ignore_index=True), self.masked.schema)

    def beliefs(self, rows: Integers, secrets: Sequence[str]) -> Beliefs:
        """Return the posteriors of some rows for all people outside."""
        # a row shows its source's value or no record's
        (only,) = self.law.components()
        n = self.original.n
        units = attacked_units(self.law, self.names)
        logs = only.cells.logs(units, self.masked, rows, self._everybody)
        with np.errstate(divide="ignore", invalid="ignore"):
            file = np.logaddexp.reduce(logs[:, :n], axis=1, keepdims=True)
            own = logs[:, n:]
            total = np.logaddexp(file, own)
            source = np.where(np.isfinite(total), np.exp(own - total), 0.0)
        believed = sparse.csc_array(source.T)
        return Beliefs(believed, [believed for _ in secrets])
