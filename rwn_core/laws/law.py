"""The laws of all methods, as measures and attacks read them."""

from __future__ import annotations

from typing import TypeAlias

from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.cell_law import MixtureComponent as MixtureComponent
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.neighbors.rule import EnlargedNeighborhoods

# The exact law of a release, given the original; rows are independent of each other. A row comes
# about in one of a few ways, its `components`. Within each its cells are independent, except those
# of one of its `units`, which are drawn together. Both answer:
#
#     original, precision      the original in the values that a release writes, and their steps
#     units, privacy, moments  what is drawn together, with which promise, and what is expected
#     modification, retained   how likely a value is to be drawn anew, and to stay as it is
#     table, supports          P(each value is released for each record), and how many may be
#     unit_chances             the likelihood of released values for each record, or other people
#     rounded, restricted_to   the law of rounded values, and for an intruder with some variables
#
# What not every method has is None or refused by NotApplicable: `neighborhoods` and `donors` of a
# method that copies no values, and what follows from them.
Law: TypeAlias = CellLaw | SeparateLaw


def independent_cells(law: Law) -> CellLaw:
    """The law's only component: a record's cells are independent of each other."""
    components = law.components()
    cells = components[0].cells
    if len(components) > 1:
        raise NotApplicable("This is for a method that draws each cell independently.")
    if not isinstance(cells, CellLaw):
        raise NotApplicable("This is for a method that copies values from donors.")
    return cells


def donors_outside(law: Law, people: Microdata) -> tuple[sparse.csr_array, EnlargedNeighborhoods]:
    """Return `CellLaw.outside`; NotApplicable for a law without donors."""
    if not isinstance(law, CellLaw):
        raise NotApplicable("This is for a method that copies values from donors.")
    return law.outside(people)
