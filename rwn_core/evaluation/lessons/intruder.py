"""Posterior over the originals for one released row.

Source: Bayes' rule with equal prior probabilities; Perry, Matloff, Tendick 2022 for the law.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import Masked
from rwn_core.measures.attacks.posterior import link, posteriors
from rwn_core.neighbors.record_draws import random_order
from rwn_core.randomness import SecretKey

SEED = 1  # a lesson is the same for all users
SHOWN = 8  # originals that the picture names
_KNOWN_FIRST = (Role.KEY, Role.OTHER, Role.CONFIDENTIAL)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intruder:
    """The posterior of one released row."""

    row: int  # the row of the release, from 0, in the release's own order
    known: tuple[str, ...]  # the variables that the intruder has of all people
    source: int  # the record that the row comes from, from 0: what only the steward knows
    records: Integers  # shape (m,): the most probable originals, in falling order
    belief: Floats  # shape (m,): their posterior probabilities
    candidates: int  # originals that could have made the row
    of_source: float  # the posterior probability of the true source
    success: float  # expected share of right links over all rows, from 0 to 1
    baseline: float  # that of guessing, 1 / n


def known_order(microdata: Microdata) -> tuple[str, ...]:
    """The released variables, those first that an intruder knows most easily: keys, then others."""
    released = microdata.schema.released
    pairs = product(_KNOWN_FIRST, released)
    return tuple(variable.name for role, variable in pairs if variable.role is role)


def source_of(row: int, n: int) -> int:
    """Return the record behind a row of the lesson's release, which is in random order."""
    return int(random_order(SecretKey.from_seed(SEED), n)[row])


def intruder(made: Masked, *, row: int, known: int) -> Intruder:
    """Weigh every original against one released row."""
    assert made.law is not None  # the lesson's methods have one
    names = known_order(made.masked)[:known]
    n = made.masked.n
    source = source_of(row, n)
    belief = posteriors(made.law, made.masked, np.array([source]), names).toarray()[:, 0]
    ranked = np.argsort(-belief, kind="stable")
    possible = int((belief > 0).sum())
    return Intruder(
        row=row,
        known=names,
        source=source,
        records=ranked[: min(SHOWN, possible)],
        belief=belief[ranked[: min(SHOWN, possible)]],
        candidates=possible,
        of_source=float(belief[source]),
        success=link(made.law, made.masked, names).success,
        baseline=1 / n,
    )
