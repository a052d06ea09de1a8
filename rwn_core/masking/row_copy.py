"""Row copying: a whole record is replaced by a random one of its neighborhood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.laws.law import Law
from rwn_core.masking.lever import Lever
from rwn_core.masking.neighborhood_method import (
    EVERY_COLUMN,
    CellMethod,
    kept_values,
    nearest_lever,
    probability_lever,
    radius_lever,
)
from rwn_core.neighbors import check_radius_and_k

TOGETHER = "a whole record"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCopy(CellMethod):
    """The parameters of whole-row copying.

    With probability q all masked values of a record come from one uniformly random member of its
    neighborhood: the records within epsilon, or its k nearest, whichever set is larger. Relations
    between variables are kept, and so are true records: an intruder with some values of a person
    finds the others in the row.

    Parameters
    ----------
    epsilon : float
        Radius, in standard deviations of the scaled and weighted variables, at least 0; not
        the epsilon of differential privacy.
    k : int
        Every neighborhood has at least its k nearest records.
    q : float
        Probability that a record is replaced, from 0 to 1.

    Raises
    ------
    ParameterError

    When to use
    -----------
    As a yardstick: it shows what a policy does not see. Relations are kept better than by any
    method that masks cell by cell, linkage is low, and yet every released row is the true record of
    a person.

    What it destroys
    ----------------
    The doubt whether a row is true: all of them are. From some values of a person an intruder
    may find the others in the row, all of them right. Records that are near no other vanish, others
    appear several times, so that groups at the rim shrink and standard errors are too small.

    References
    ----------
    Perry, Matloff, Tendick 2022, section 6: the method that it advises against.

    Examples
    --------
    >>> RowCopy(k=5).q
    1.0
    """

    epsilon: float = 0.0
    k: int = 5
    q: float = 1.0

    method: ClassVar[str] = "row_copy"
    title: ClassVar[str] = "Copying whole rows"
    fixed_neighborhoods: ClassVar[bool] = True
    levers: ClassVar[tuple[Lever, ...]] = (
        radius_lever(
            help="Every record within ε may be copied; not the epsilon of differential privacy."
        ),
        nearest_lever(help="At least the k nearest records may be copied, also for an outlier."),
        probability_lever(
            title="Replaced records q",
            help="The chance that a record is replaced by a random neighbor's.",
        ),
    )
    uses_slices: ClassVar[bool] = False  # all variables travel together
    moves_together: ClassVar[bool] = True
    releases_true_rows: ClassVar[bool] = True

    def check_setting(self) -> None:
        """Refuse a radius or k that is left out."""
        if self.epsilon is None or self.k is None or isinstance(self.epsilon, np.ndarray):
            raise ParameterError("epsilon and k must be numbers; give both.")
        check_radius_and_k(self.k, self.epsilon)

    def masked_table(self, microdata: Microdata) -> Microdata:
        """The table with all masked variables in one slice, whatever slices it has."""
        return together(microdata)

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return a remark that released rows are true records."""
        return ["every replaced row is one person's true record"] if self.q else []

    def cautions(self) -> list[str]:
        """Return cautions about this setting."""
        return [
            "Each row is a true record of a person: an intruder with a few exact values reads "
            "all the others in that row, however hard the row's own source is to find.",
            kept_values(self.q, "record is kept"),
            EVERY_COLUMN,
        ]


def together(microdata: Microdata) -> Microdata:
    """The same table with all masked variables in one group, so that they share a donor."""
    schema = microdata.schema
    groups = {v.name: {"group": TOGETHER if v.masked else None} for v in schema.released}
    return microdata.with_schema(schema.replace_variables(groups))
