"""People who are not in the file: how the worst-case intruder would fare against them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.measures.attacks.donor_belief import Beliefs, beside_secret, per_chance
from rwn_core.measures.attacks.likelihood import Way, attacked_units, leveled, ways
from rwn_core.measures.comparison import Comparison
from rwn_core.mechanism.law import Law


class NonMembers:
    """Somebody who is not in the file, in the eyes of an intruder who does not know that.

    He finds the person's neighborhood among the originals by the method's own rule, adds the
    person to everybody whom a row may come from, and applies Bayes' rule. Distances keep the
    file's scale. How likely the others release a row's keys is taken as without the person; whom
    such a row then shows is not: the person has joined the neighborhoods within whose radius he
    lies, is as likely a donor as each member, and the members give as much less often.

    Parameters
    ----------
    comparison : Comparison
    law : Law
        Of the release, at one radius for all records.
    non_members : Microdata
        Records of the same variables, not rounded: a release would round them.
    names : sequence of str
        What the intruder knows of everybody.

    Raises
    ------
    NotApplicable
        Each record has a radius of its own, or random candidates.
    """

    def __init__(
        self, comparison: Comparison, law: Law, non_members: Microdata, names: Sequence[str]
    ) -> None:
        self.law, self.masked = law, comparison.masked
        self.non_members = rounded(non_members, law.precision)
        self.names = tuple(names)
        self.near = law.shares_outside(non_members)
        self.receivers = law.receivers_outside(non_members)
        self.joined = self.receivers.max(axis=0).toarray().ravel()  # each record asks all alike

    def beliefs(self, rows: NDArray[np.int64], secrets: Sequence[str]) -> Beliefs:
        """What he believes of some released rows and of each person.

        Parameters
        ----------
        rows : ndarray of int64, shape (m,)
        secrets : sequence of str
            Confidential variables, none of them among the names.

        Returns
        -------
        Beliefs
            Of all people outside.
        """
        parts = ways(self.law, self.masked, rows, self.names)
        matrices, top = leveled([way.part for way in parts])
        logs = [self._log_likelihoods(way, rows) for way in parts]
        whole = np.sum([np.asarray(matrix.sum(axis=0)).ravel() for matrix in matrices], axis=0)
        everybody = np.maximum(_log(whole) + top, -1e300)
        total = np.logaddexp(everybody, np.logaddexp.reduce(logs))
        rest, some = np.zeros(total.shape), whole > 0
        rest[:, some] = np.exp(everybody - total)[:, some] / whole[some]
        known = [
            _Belief(way, np.exp(log - total), sparse.csc_array(matrix))
            for way, log, matrix in zip(parts, logs, matrices, strict=True)
        ]
        donor = [sparse.csc_array(self._donor(known, rest, rows, secret)) for secret in secrets]
        own = np.sum([each.own for each in known], axis=0)
        return Beliefs(sparse.csc_array(own), donor)

    def _donor(
        self,
        known: Sequence[_Belief],
        rest: NDArray[np.float64],
        rows: NDArray[np.int64],
        secret: str,
    ) -> NDArray[np.float64]:
        """How likely each row is believed to show each person's value, (non_members.n, m)."""
        beside, shown = beside_secret(self.law, self.names, secret), np.zeros(rest.shape)
        same, copied = self._unit(beside, rows) if beside else (np.ones(rest.shape, bool), 1.0)
        for way, own, source in known:
            q = way.cells.modification(secret)
            if way.lost:
                shown += own * (q == 0)
                continue
            kept = (1 - q) * same
            given = kept + q * copied
            shown += own * np.divide(kept, given, out=np.zeros(rest.shape), where=given > 0)
            shares = per_chance(way.cells, source, beside, self.masked, rows, self.joined)
            shown += rest * same * q * (self.receivers @ shares).toarray()
        return shown

    def _log_likelihoods(self, way: Way, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log P(each of them, were he in the file, releases each row so), (non_members.n, m)."""
        lonely = np.diff(self.near.indptr) == 0
        log = np.full((self.non_members.n, len(rows)), _log(way.weight))
        if way.lost:
            log[~lonely] = -np.inf
        for unit in attacked_units(self.law, self.names):
            q = way.cells.modification(unit[0])
            if way.lost and q:
                missing = self.masked.frame[list(unit)].isna().all(axis=1).to_numpy()[rows]
                log[:, ~missing] = -np.inf
            else:
                same, copied = self._unit(unit, rows)
                log += _log((1 - q) * same + q * copied)
        return log

    def _unit(
        self, unit: tuple[str, ...], rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Whether a row has the person's own value, and the share of his neighbors with it."""
        released, own, known = (
            self.law.likelihood_columns(unit, table, which)[1]
            for table, which in (
                (self.masked, rows),
                (self.non_members, np.arange(self.non_members.n)),
                (self.law.original, np.arange(self.law.original.n)),
            )
        )
        one_hot = sparse.csr_array((np.ones(len(known)), known, np.arange(len(known) + 1)))
        shares = sparse.csc_array(self.near @ one_hot)  # of thousands of values, few are released
        columns = np.clip(released, 0, shares.shape[1] - 1)
        copied = np.where(released >= 0, shares[:, columns].toarray(), 0.0)
        return (own[:, None] == released) & (released >= 0), copied


class _Belief(NamedTuple):
    """What is believed of rows that come about in one way.

    Attributes
    ----------
    way : Way
    own : ndarray of float64, shape (people, m)
        P(in this way, from each person outside | the row's keys).
    source : sparse array of float64, shape (n, m)
        The same of each record of the file, up to a factor of each row.
    """

    way: Way
    own: NDArray[np.float64]
    source: sparse.csc_array


def _log(chances: Any) -> Any:
    """Natural logarithms, -inf of 0."""
    with np.errstate(divide="ignore"):
        return np.log(chances)
