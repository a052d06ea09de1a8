"""The laws of all methods, as measures and attacks read them."""

from __future__ import annotations

from typing import TypeAlias

from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.cell_law import MixtureComponent as MixtureComponent
from rwn_core.laws.separate_law import SeparateLaw

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
# What not every method has is asked of the law, too, and None or refused by NotApplicable:
#
#     neighborhoods, donors    of a method that copies values, and what follows from them
#     independent              the law itself where all cells of a record are independent
#     tied                     the law itself where slices are drawn together
#     outside, probabilities   the donors of people outside the file, and of its records
Law: TypeAlias = CellLaw | SeparateLaw
