"""k-anonymity: rare combinations of the key variables lose values until k records share each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rwn_core.data.arrays import Booleans, Integers
from rwn_core.data.microdata import Microdata, value_codes
from rwn_core.data.variable import NUMBERS, Role
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import NO_DONOR, copy_columns
from rwn_core.laws.invariants import LEVELS_AND_DATES, ORDERED, Keeps
from rwn_core.laws.law import Law
from rwn_core.laws.transition_law import with_numbers
from rwn_core.masking.intervals import equal_counts, group_means
from rwn_core.masking.lever import Lever, LeverRange, check_records, count_lever, range_of_groups
from rwn_core.masking.method import FixedMethod, Prepared

CLASSES = 3  # more would leave too few people in most combinations of a few keys


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSuppression(FixedMethod):
    """The parameters of k-anonymity by recoding and local suppression.

    Numeric keys become means of intervals that hold about as many records each; then records with
    a combination of keys shared by fewer than k lose one key after the other, those with the most
    different values first, until every combination that occurs, missing values counting as a
    value, occurs k times. Other variables are released unmasked. Nothing is random.

    Parameters
    ----------
    k : int
        Records that share each combination of keys, at least 1; 1 changes nothing.
    classes : int
        Intervals of each numeric key, at least 1; fewer where one value fills several.

    Raises
    ------
    ParameterError

    When to use
    -----------
    Where a rule demands that k people share every combination of chosen keys, and all other values
    must stay true.

    What it destroys
    ----------------
    Rare combinations: their keys become missing, not by chance, so that analyses by these keys are
    biased, and with many keys little is left. Confidential values stand next to the keys
    unmasked: where k people share the value too, it is given away, and an intruder with some other
    values links the row by them.

    References
    ----------
    Samarati and Sweeney 1998; Hundepool et al. 2012, section 3.2.4.

    Examples
    --------
    >>> LocalSuppression(k=3).classes
    3
    """

    k: int = 3
    classes: int = CLASSES

    method: ClassVar[str] = "local_suppression"
    title: ClassVar[str] = "k-anonymity by suppression"
    levers: ClassVar[tuple[Lever, ...]] = (
        count_lever(
            "Records that share their keys k",
            help="Keys are recoded and suppressed until k records share each combination.",
            range=range_of_groups,
            presets={"Light": 2, "Standard": 3, "Strong": 10},
        ),
        Lever(
            name="classes",
            title="Classes of a numeric key",
            help="Into how many intervals of equal counts numeric keys are recoded before.",
            whole_number=True,
            range=LeverRange(low=1, high=50, step=1),
            presets=dict.fromkeys(("Light", "Standard", "Strong"), CLASSES),
        ),
    )
    spares_variables: ClassVar[bool] = True
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"k": 1}),
        Keeps(what="order", kinds=ORDERED),
        Keeps(what="support", kinds=LEVELS_AND_DATES, including="spared"),
        Keeps(what="fixed"),
    )
    warns: ClassVar[tuple[str, ...]] = (
        "k records share their keys, but all of them may have one confidential value; and who "
        "knows any other variable than the keys is not counted.",
    )

    def _keys(self, microdata: Microdata) -> tuple[str, ...]:
        released = [variable for variable in microdata.schema.released if variable.masked]
        keys = [v.name for v in released if v.role is Role.KEY]
        return tuple(keys or [v.name for v in released if v.role is not Role.CONFIDENTIAL])

    def moved_together(self, microdata: Microdata) -> dict[int, tuple[str, ...]]:
        """Return the keys, of which a record loses some."""
        return {0: self._keys(microdata)}

    def spared(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the columns that are released unmasked."""
        keys = self._keys(microdata)
        return tuple(v.name for v in microdata.schema.released if v.name not in keys)

    def check(self, microdata: Microdata) -> None:
        """Refuse a table without keys, or of fewer than k records."""
        if not self._keys(microdata):
            raise ParameterError(
                "No variable can be a key: all are confidential or not to be masked; give one the "
                "role key."
            )
        check_records(self.k, microdata)

    def result(self, table: Prepared) -> Microdata:
        """The suppressed table."""
        microdata = table.microdata
        lost = dict[str, Integers]()
        if self.k == 1:
            return copy_columns(microdata, lost)
        keys = self._keys(microdata)
        values = {
            n: microdata.values(n) for n in keys if microdata.schema.by_name[n].kind in NUMBERS
        }
        means = {n: group_means(x, equal_counts(x, self.classes)) for n, x in values.items()}
        coarse = with_numbers(microdata, means)
        cells = np.column_stack([value_codes(coarse, name)[0] for name in keys])
        for name, gone in zip(keys, suppressed(cells, self.k).T, strict=True):
            lost[name] = np.where(gone, NO_DONOR, table.records)
        return copy_columns(coarse, lost)

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Which variables are changed."""
        return [f"only the keys are changed: {', '.join(self._keys(microdata))}"]


def suppressed(cells: Integers, k: int) -> Booleans:
    """Which cells are suppressed so that every combination that is left occurs k times."""
    shown = cells.copy()
    for position in np.argsort([-len(np.unique(column)) for column in cells.T], kind="stable"):
        shown[_sizes(shown) < k, position] = -1
    sizes = _sizes(shown)
    if (sizes < k).any():  # too few are without any key: the rarest of the others join them
        others = np.setdiff1d(np.arange(len(shown)), np.flatnonzero((shown < 0).all(axis=1)))
        joining = others[np.lexsort((*shown[others].T, sizes[others]))]
        while (_sizes(shown) < k).sum() > 0:
            group = (shown == shown[joining[0]]).all(axis=1)
            shown[group] = -1
            joining = joining[~group[joining]]
    return np.asarray(shown < 0)


def _sizes(cells: Integers) -> Integers:
    """Return the size of each record's equivalence class."""
    _, number, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[number.ravel()])
