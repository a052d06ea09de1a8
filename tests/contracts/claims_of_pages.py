"""Facts that pages state: page, sentence, check, what is true, and a planted falsehood."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import rwn_core as rwn
from tests.contracts import method_checks as methods
from tests.contracts import release_checks as released
from tests.contracts import risk_checks as risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence of a page, and what decides if it is true.

    Attributes
    ----------
    page : str
        A file of the project.
    sentence : str
        Words of the page, white space aside.
    check : callable
        Says if what it is given is so.
    true, false : tuple
        What the sentence states, and something else that the check must reject.
    """

    page: str
    sentence: str
    check: Callable[..., bool]
    true: tuple[Any, ...]
    false: tuple[Any, ...]


README, COSTS = "README.md", "docs/explanation/cost-and-protection.md"
SLICES, ROUND = "docs/how-to/choose-slices.md", "docs/how-to/round-values.md"
RISK, SETTING = "docs/how-to/know-the-risk.md", "docs/how-to/find-a-setting.md"
EVEN = rwn.RWN(k=15)
BALANCED = rwn.RWN(kernel="gaussian", width=1.0, balance=1.0)


def claim(
    page: str, sentence: str, of: Callable[..., bool], *true: Any, false: tuple[Any, ...]
) -> Claim:
    """Return a claim; the arguments of the check follow it."""
    return Claim(page=page, sentence=sentence, check=of, true=true, false=false)


CLAIMS = (
    claim(
        README,
        "the same settings and seed give the same bytes",
        released.same_bytes,
        7,
        7,
        false=(7, 8),
    ),
    claim(
        README,
        "Every released value was really observed",
        released.only_observed_values,
        rwn.RWN(k=5),
        false=(rwn.AdditiveNoise(size=0.1),),
    ),
    claim(
        README,
        "With small neighborhoods and many finely measured variables, nearly all of them",
        risk.worst_case,
        0.0,
        5,
        0.99,
        1.0,
        false=(8.0, 5, 0.99, 1.0),
    ),
    claim(
        README,
        "even the best intruder links only 3 % of the rows; but an intruder who knows age, "
        "weight and height finds the person's own row, with the true body fat, "
        "beyond chance for "
        "61 % of the people",
        risk.slices_row,
        "rows",
        3.2,
        61,
        0.055,
        false=("rows", 3.2, 70, 0.055),
    ),
    claim(
        README,
        "Each further release of the same people, corrected or extended or with other "
        "parameters, gives an intruder more evidence",
        risk.more_releases_link_more,
        False,
        false=(True,),
    ),
    claim(
        README,
        "means drift to where records are dense",
        released.means_drift_to_the_crowd,
        EVEN,
        false=(BALANCED,),
    ),
    claim(README, "Small groups shrink", released.small_groups_shrink, EVEN, false=(BALANCED,)),
    claim(
        README,
        "standard errors computed from the release are too small",
        released.standard_errors_too_small,
        1.0,
        false=(0.0,),
    ),
    claim(
        COSTS,
        "the expected share of cells that really change is at most q",
        released.changed_cells,
        operator.le,
        false=(operator.ge,),
    ),
    claim(
        COSTS,
        "at least the k nearest records are donors",
        released.least_neighborhood,
        5,
        false=(6,),
    ),
    claim(
        COSTS,
        "A category changes only where neighborhoods reach across categories, which small "
        "ones rarely do",
        released.changed_regions,
        0.02,
        false=(-0.01,),
    ),
    claim(
        SLICES,
        "| each variable alone (RWN 2022) | 14 % | 0.6 % | 0.40 |",
        risk.slices_row,
        "alone",
        14.4,
        0.6,
        0.40,
        false=("alone", 12, 0.6, 0.40),
    ),
    claim(
        SLICES,
        "| keys together, body fat alone, the others together | 6.1 % | 1.3 % | 0.18 |",
        risk.slices_row,
        "confidential",
        6.1,
        1.3,
        0.18,
        false=("confidential", 6.1, 4.9, 0.18),
    ),
    claim(
        SLICES,
        "| keys together, the others together | 5.0 % | 61 % | 0.14 |",
        risk.slices_row,
        "two",
        5.0,
        61,
        0.14,
        false=("two", 5.0, 61, 0.18),
    ),
    claim(
        SLICES,
        "| whole rows | 3.2 % | 61 % | 0.05 |",
        risk.slices_row,
        "rows",
        3.2,
        61,
        0.055,
        false=("rows", 5.0, 61, 0.055),
    ),
    claim(
        SLICES,
        "Slices do not change the means of variables; relations between two slices weaken "
        "as between single variables",
        released.covariance_with_slices,
        ("age", "siri"),
        false=(("age", "weight"),),
    ),
    claim(
        SLICES,
        "the values in a slice are one real person's values, side by side",
        released.true_fragments,
        "two",
        false=("alone",),
    ),
    claim(
        ROUND,
        "| about 0.5 SD | 34 % | 0.103 | 90 % | 0.067 |",
        risk.rounding_row,
        0.5,
        25,
        34,
        0.103,
        false=(0.5, 25, 34, 0.092),
    ),
    claim(
        ROUND,
        "in small ones nine in ten rows are linked all the same",
        risk.rounding_row,
        0.5,
        5,
        90,
        0.067,
        false=(0.5, 5, 80, 0.067),
    ),
    claim(
        ROUND, "halves go to the even multiple", risk.rounds, 2.5, 1.0, 2.0, false=(2.5, 1.0, 3.0)
    ),
    claim(
        RISK,
        "| epsilon 0, k = 50 | 73 % | 90 % | 89 % |",
        risk.three_attacks,
        0.0,
        50,
        (73, 90, 89),
        false=(0.0, 50, (73, 87, 89)),
    ),
    claim(
        RISK,
        "| epsilon 4, k = 5 | 46 % | 48 % | 51 % |",
        risk.three_attacks,
        4.0,
        5,
        (46, 48, 51),
        false=(4.0, 5, (46, 48, 55)),
    ),
    claim(
        RISK,
        "the success beyond the control group, (r − c) / (1 − c)",
        risk.excess,
        lambda r, c: (r - c) / (1 - c),
        false=(lambda r, c: r - c,),
    ),
    claim(
        RISK,
        "61 % of the people are named rightly beyond chance by age, weight and height",
        risk.slices_row,
        "rows",
        3.2,
        61,
        0.055,
        false=("rows", 3.2, 64, 0.055),
    ),
    claim(
        SETTING,
        "In 9 of 10 releases of bodyfat at epsilon 2, k 5 it is 10 to 16 %",
        risk.distance_linkage,
        10,
        16,
        false=(12, 16),
    ),
    claim(
        SETTING,
        "an intruder who knows the method and holds the original file links over 99 %",
        risk.worst_case,
        2.0,
        5,
        0.99,
        1.0,
        false=(2.0, 5, 0.0, 0.99),
    ),
    claim(
        SETTING,
        "from 19 releases on by their order, right for any distribution",
        methods.range_of_one_more,
        19,
        false=(8,),
    ),
    claim(
        SETTING,
        "Where everybody gives the same confidential answer, nothing is gained by knowing it",
        risk.unmasked_gain,
        "constant",
        0.0,
        false=("rare", 0.05),
    ),
    claim(
        SETTING,
        "checked on 59 new ones: at 95 % confidence at most 1 in 20 further releases lies "
        "beyond each limit",
        methods.confirmed_by,
        59,
        false=(58,),
    ),
)
