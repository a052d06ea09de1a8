"""The laws of the 2015 method and of sampling: mixtures over whole rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.microdata import Microdata, value_codes
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import CellLaw, MixtureComponent
from rwn_core.laws.donor_lists import Column
from rwn_core.laws.unit_law import OR_NOT_AT_ALL, Privacy
from rwn_core.neighbors import Neighborhoods, find_neighborhoods
from rwn_core.neighbors.rule import NeighborhoodRule


class RowMixtureLaw(CellLaw):
    """The law of the 2015 method: a record is masked as a whole, or released unmasked.

    With probability s all masked values of record i come from independent members of S_i, and
    become missing where S_i is empty; with probability 1 - s the record is kept. A whole record
    follows this mixture, not a product over its cells; `table` has the law of single cells.
    `row_share` is s; where every release selects a fixed count of records, it is that count divided
    by n (the dependence between records is no part of this law). Without `rule`, which says how the
    neighborhoods were found, none can be found for other people. See Matloff and Tendick
    2015, section "Proposed method".
    """

    def __init__(
        self,
        original: Microdata,
        neighborhoods: Neighborhoods,
        masked: Booleans,
        row_share: float,
        rule: NeighborhoodRule | None = None,
    ) -> None:
        q = np.where(masked, float(row_share), 0.0)
        super().__init__(original, neighborhoods, q, rule=rule)
        self.row_share = float(row_share)

    def components(self) -> tuple[MixtureComponent[CellLaw], ...]:
        """A row that is selected, and one that is kept."""
        drawn, stays = (self.given(selected=each) for each in (True, False))
        return MixtureComponent(self.row_share, drawn), MixtureComponent(1 - self.row_share, stays)

    def given(self, *, selected: bool) -> CellLaw:
        """The law of independent cells of a record that is selected, or of one that is not."""
        q = np.where(self.q > 0, 1.0, 0.0) if selected else np.zeros(len(self.q))
        cells = CellLaw(self.original, self.donors.neighborhoods, q)
        cells.donors = self.donors
        return cells

    def table(self, name: str) -> tuple[sparse.csr_array, list[Any]]:
        """The law of one variable, a lost value as None; see `CellLaw.table`."""
        if name not in self._tables:
            table, values = super().table(name)
            lost = self.empty if self.modification(name) else self.empty[:0]
            if lost.size:
                values = values if values[-1] is None else [*values, None]
                table.resize(shape := (self.original.n, len(values)))
                places = (lost, np.full(len(lost), len(values) - 1))
                cells = (np.full(len(lost), self.modification(name)), places)
                both = sparse.csr_array(table + sparse.csr_array(cells, shape=shape))
                self._tables[name] = (both, values)
        return self._tables[name]

    def supports(self, names: Sequence[str], enough: float = np.inf) -> list[Column]:
        """Return supports as `CellLaw.supports`, the missing value last."""
        columns = super().supports(names, enough)
        lost = self.empty
        for place, name in enumerate(names):
            codes, values = value_codes(self.original, name)
            q = self.modification(name)
            supports, chances = columns[place]
            if not lost.size or not q:
                continue
            missing = len(values) - (values[-1] is None)
            if missing == len(values):
                supports, chances = np.append(supports, 0), np.append(chances, 0)
            already = codes[lost] == missing if q < 1 else np.zeros(len(lost), bool)
            supports[missing] += np.count_nonzero(~already)
            chances[missing] += q * len(lost) / self.original.n
            columns[place] = supports, chances
        return columns

    def rows_unchanged(self) -> Floats:
        """P(no value of a record changes), shape (n,)."""
        selected = self.given(selected=True).rows_unchanged()
        return np.asarray((1 - self.row_share) + self.row_share * selected)


class SampleLaw(RowMixtureLaw):
    """The law of sampling: a record is lost with probability `left_out`; there are no donors."""

    def __init__(self, original: Microdata, left_out: float) -> None:
        n = original.n
        p = len(original.schema.released)
        nobody = find_neighborhoods(np.zeros((n, 1)), epsilon=0.0, strict=True)
        super().__init__(original, nobody, np.ones(p, dtype=bool), left_out)
        self.neighborhoods = None  # type: ignore[assignment]  # it draws from none

    @property
    def probabilities(self) -> sparse.csr_array:
        """There are no donors."""
        raise NotApplicable("This is for a method that copies values from donors.")

    def privacy(self) -> dict[tuple[str, ...], Privacy]:
        """None at all: what is released is true."""
        return dict.fromkeys(self.units(), OR_NOT_AT_ALL)
