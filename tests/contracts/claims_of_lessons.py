"""Facts that lessons, mathematics, descriptions of methods and notices state."""

from __future__ import annotations

import numpy as np

import rwn_core as rwn
from tests.contracts import method_checks as methods
from tests.contracts import release_checks as released
from tests.contracts import risk_checks as risk
from tests.contracts.claims_of_pages import BALANCED, EVEN, claim

UTILITY, COMPARE = "docs/how-to/know-the-utility.md", "docs/how-to/compare-methods.md"
MATHEMATICS, KERNELS = "docs/explanation/mathematics.md", "docs/explanation/kernels.md"
LESSONS, PAPERS = "docs/learn/page.html", "docs/explanation/reproduced.md"
METHODS, NOTICE = "docs/methods/index.md", "rwn_core/reporting/facts/public_words.py"
CLAIMS = (
    claim(
        UTILITY,
        "a number from 0, as in the original, to 1, no relation left",
        methods.relations_lost,
        "permuted",
        1.0,
        false=("permuted", 0.9),
    ),
    claim(
        UTILITY,
        "Counts, intact cells and means are exact",
        released.forecast_is_exact,
        5,
        false=(40,),
    ),
    claim(
        COMPARE,
        "Microaggregation of `bodyfat` loses 0.034 of the correlations at k 2 and 0.065 at k 3",
        methods.match_steps,
        (0.034, 0.065),
        false=((0.034, 0.034),),
    ),
    claim(
        MATHEMATICS,
        r"1 - \prod_i \big( 1 - P(\text{row } i \text{ shows } t \text{ on } A) \big)",
        released.shown_somewhere,
        lambda p: 1 - np.prod(1 - p, axis=0),
        false=(lambda p: p.sum(axis=0),),
    ),
    claim(
        MATHEMATICS,
        "$E[X^2Y^2] = 1/24$, while $E[X^2]\\,E[Y^2] = 1/16$",
        methods.disc_moment,
        1 / 24,
        false=(1 / 16,),
    ),
    claim(
        MATHEMATICS,
        r"\max_b \big( \ln \max_a T_{ab} - \ln \min_a T_{ab} \big)",
        methods.matrix_epsilon,
        lambda t: float((np.log(t.max(0)) - np.log(t.min(0))).max()),
        false=(lambda t: float(np.log(t.max() / t.min())),),
    ),
    claim(
        KERNELS,
        "Then the expected mean of every variable",
        released.means_are_right,
        BALANCED,
        false=(EVEN,),
    ),
    claim(
        LESSONS,
        "as ε shrinks and n grows, corr(U, V) comes near corr(X, Y)",
        methods.correlation_of_theorem,
        0.1,
        0.95,
        1.05,
        600,
        false=(2.0, 0.95, 1.05, 100),
    ),
    claim(
        LESSONS,
        "Move ε to its end. What becomes of the correlation, and why? Answer It goes to 0",
        methods.correlation_of_theorem,
        4.0,
        -0.1,
        0.1,
        false=(1.0, -0.1, 0.1),
    ),
    claim(
        LESSONS,
        "On the way the correlation may rise a little",
        methods.correlation_of_theorem,
        0.3,
        1.0,
        1.1,
        false=(1.5, 1.0, 1.1),
    ),
    claim(
        LESSONS,
        "One variable leaves a few dozen originals",
        risk.candidates,
        1,
        24,
        96,
        false=(2, 24, 96),
    ),
    claim(LESSONS, "three leave a handful", risk.candidates, 3, 2, 8, false=(1, 2, 8)),
    claim(LESSONS, "all 15 nearly always one", risk.candidates, 15, 1, 1, false=(2, 1, 1)),
    claim(
        LESSONS, "Nobody is within ε of the outlier", methods.outlier_without_k, 0.6, false=(9.0,)
    ),
    claim(
        "rwn_ui/learn/neighborhood.py",
        "20. Another group is more than four standard deviations",
        methods.groups_mix_at,
        20,
        false=(15,),
    ),
    claim(
        "rwn_ui/learn/sampling.py",
        "exp(−λ(1 − π))",
        methods.unique_in_population,
        lambda mean, share: np.exp(-mean * (1 - share)),
        false=(lambda mean, _: np.exp(-mean),),
    ),
    claim(
        "rwn_ui/learn/edges.py",
        "it is missed with a chance of at most 1/e = 37 %",
        methods.missed_outlier,
        1 / np.e,
        false=(0.30,),
    ),
    claim(
        PAPERS,
        "leakage of 11 yes-no keys | 0.016 | 0.0210035",
        methods.leakage,
        0.0210035,
        false=(0.016,),
    ),
    claim(
        "docs/methods/k_noise.md",
        "at least half of the records within 2 delta of a value are expected to be released within "
        "2 delta of it",
        methods.within_reach,
        0.5,
        false=(0.6,),
    ),
    claim(
        METHODS,
        "every single distribution must stay exactly as it is",
        methods.keeps_distributions,
        rwn.RankSwapping(p=0.2),
        false=(rwn.RWN(k=5),),
    ),
    claim(
        METHODS,
        "published counts must not change by one",
        methods.keeps_counts,
        rwn.RandomSwapping(share=0.8),
        false=(rwn.PRAM(change=0.4),),
    ),
    claim(
        METHODS,
        "these are kept in expectation, at any size of the noise",
        methods.keeps_covariances,
        rwn.CorrelatedNoise(size=2.0),
        false=(rwn.AdditiveNoise(size=0.5),),
    ),
    claim(
        METHODS,
        "each released row shall stand for at least k people",
        methods.stands_for,
        rwn.Microaggregation(k=10),
        10,
        false=(rwn.RWN(k=10), 10),
    ),
    claim(
        NOTICE,
        "An interval may miss the original's value however wide it is",
        released.wide_intervals_miss,
        rwn.RWN(epsilon=2.0, k=5),
        false=(rwn.RWN(k=1, q=0.0),),
    ),
)
