"""People who are not in the file: how the worst-case intruder would fare against them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.measures.attacks.donor_belief import Beliefs, beside_secret, per_chance
from rwn_core.measures.attacks.likelihood import attacked_units, leveled, ways
from rwn_core.measures.comparison import Comparison
from rwn_core.mechanism.cells import Cells
from rwn_core.mechanism.law import Law


class NonMembers:
    """Somebody who is not in the file, in the eyes of an intruder who does not know that.

    He finds the person's neighborhood among the originals by the method's own rule, adds the
    person to everybody whom a row may come from, and applies Bayes' rule.

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
        matrices, top = leveled([part for _, part in parts])
        log_own = self._log_likelihoods(rows)
        whole = np.sum([np.asarray(matrix.sum(axis=0)).ravel() for matrix in matrices], axis=0)
        everybody = np.maximum(_log(whole) + top, -1e300)
        own = np.exp(log_own - np.logaddexp(everybody, log_own))
        factor = np.divide(1.0, whole, out=np.zeros_like(whole), where=whole > 0)
        known = [
            (cells, sparse.csc_array(matrix @ sparse.diags_array(factor)))
            for (cells, _), matrix in zip(parts, matrices, strict=True)
            if cells is not None
        ]
        donor = [self._donor(known, own, rows, secret) for secret in secrets]
        return Beliefs(sparse.csc_array(own), [sparse.csc_array(each) for each in donor])

    def _donor(
        self,
        known: Sequence[tuple[Cells, sparse.csc_array]],
        own: NDArray[np.float64],
        rows: NDArray[np.int64],
        secret: str,
    ) -> NDArray[np.float64]:
        """How likely each row is believed to show each person's value, (non_members.n, m)."""
        beside, q = beside_secret(self.law, self.names, secret), self.law.modification(secret)
        fits, kept = np.ones(own.shape, dtype=bool), np.full(own.shape, 1 - q)
        if beside:
            fits, copied = self._unit(beside, rows)
            kept = np.divide(1 - q, 1 - q + q * copied, out=np.zeros(own.shape), where=fits)
        shown = own * kept
        for cells, source in known:
            shares = per_chance(cells, source, beside, self.masked, rows)
            taken = cells.modification(secret) * (self.receivers @ shares)
            shown += (1 - own) * taken.toarray()
        return np.where(fits, np.minimum(shown, 1.0), 0.0)

    def _log_likelihoods(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log P(each of them, were he in the file, releases each row), (non_members.n, m)."""
        components = self.law.components()
        logs = [np.full((self.non_members.n, len(rows)), _log(way.weight)) for way in components]
        for unit in attacked_units(self.law, self.names):
            same, copied = self._unit(unit, rows)
            for log, (_, cells) in zip(logs, components, strict=True):
                q = cells.modification(unit[0])
                log += _log((1 - q) * same + q * copied)
        return np.asarray(np.logaddexp.reduce(logs))

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


def _log(chances: Any) -> Any:
    """Natural logarithms, -inf of 0."""
    with np.errstate(divide="ignore"):
        return np.log(chances)
