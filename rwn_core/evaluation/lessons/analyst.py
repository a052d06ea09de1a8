"""Shows the analyst's side: intervals of a masked file, as printed and with the factor of a claim.

Source: the claim table, `rwn_core.evaluation.claims`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.data.variable import Kind, Variable
from rwn_core.evaluation.claims import AnalysisClaims, claim_table
from rwn_core.evaluation.validity import Regression
from rwn_core.masking import Method, mask

SEED = 1  # a lesson is the same for all users
DRAWS = 100  # releases that judge the claims
TWIN = "x1_again"  # x1, measured a second time with little error
_ERROR = 0.02  # standard deviation of that error


def table(sample: Microdata, *, tied: bool = False) -> Microdata:
    """Add a second measurement of the first predictor to a sample."""
    asked = sample.schema.question
    assert asked is not None  # a sample has one
    error = _ERROR * np.random.default_rng(SEED).standard_normal(sample.n)
    frame = sample.frame.assign(**{TWIN: sample.values(asked.predictors[0]) + error})
    predictors = (*asked.predictors, TWIN) if tied else asked.predictors
    schema = replace(
        sample.schema,
        variables=(*sample.schema.variables, Variable(name=TWIN, kind=Kind.CONTINUOUS)),
        question=Question(response=asked.response, predictors=predictors),
    )
    return Microdata.from_frame(frame, schema)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Analyst:
    """Hold one regression of the original and of one masked file, with its claims."""

    terms: tuple[str, ...]  # the m predictors
    # original, released: shape (2, m): slopes and reported standard errors
    original: Floats
    released: Floats
    reach: float  # standard errors from a slope to an end of its 95 % interval
    claims: AnalysisClaims

    @property
    def factors(self) -> tuple[float | None, ...]:
        """Factor for each standard error; None where none may be used."""
        if self.claims.refusal:
            return (None,) * len(self.terms)
        return tuple(claim.factor for claim in self.claims.claims)


def analyst(data: Microdata, setting: Method) -> Analyst:
    """Fit the table's model to the original and to the release of `SEED`, and judge its claims."""
    model = Regression(data, data.schema.question)
    fitted = model.fit(mask(data, setting, seed=SEED).masked)
    return Analyst(
        terms=model.terms[1:],
        original=np.array(model.own)[:, 1:],
        released=np.array(fitted)[:, 1:],
        reach=model.reach,
        claims=claim_table(data, setting, draws=DRAWS, seed=SEED).analyses[0],
    )
