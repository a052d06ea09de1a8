"""The use of a table that states none: each confidential variable on what is most related to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.regression import Question
from rwn_core.data.use import StatedRegression, Use
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.association import associations, original_chance
from rwn_core.measures.statistics.formula import model_design
from rwn_core.measures.statistics.ols import LeastSquares, dummy_levels, least_squares

MOST_PREDICTORS = 8
MOST_REGRESSIONS = 6  # of a table with more confidential variables, the first ones
SAME = 0.98  # association of two variables that are one quantity in two forms
RECORDS_A_TERM = 10  # at least, for each coefficient of a usual regression
KNOWN = 0.8  # of the records, at least, have a value of a predictor
STRONG = 10.0  # F of a usual regression; one that explains little says little of a release
_MEASURED = (Kind.CONTINUOUS, Kind.COUNT)


def use_of(microdata: Microdata, question: Question | None = None) -> Use:
    """Read the use of a table: as its schema states it, completed by what is usual.

    Parameters
    ----------
    microdata : Microdata
    question : Question, optional
        The regression to keep; that of the schema by default.

    Returns
    -------
    Use
        Its confidential variables are those with this role where none is named, its regressions
        the usual ones where none is stated.

    Raises
    ------
    SchemaError
        The question names a variable that the table does not have.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> use_of(rwn.load_demo("bodyfat")).regressions[0].formula
    'siri ~ bmi + neck + chest + abdomen + hip'
    """
    stated = microdata.schema.use
    if stated is not None and stated.confidential and stated.regressions:
        return stated
    usual = usual_use(microdata, question)
    if stated is None:
        return usual
    if not stated.confidential:
        return replace(stated, confidential=usual.confidential)
    return replace(stated, regressions=_regressions(microdata, stated.confidential, question))


def usual_use(microdata: Microdata, question: Question | None = None) -> Use:
    """Find the use of a table of which nothing else is known.

    Each confidential number, or variable of two values, is explained by the keys and by the
    variables that are most related to it, at most eight. The regression of the schema takes the
    place of the one with the same response.

    Parameters
    ----------
    microdata : Microdata
    question : Question, optional
        The regression to keep; that of the schema by default.

    Returns
    -------
    Use
        Without confidential variables where no variable has this role.

    Raises
    ------
    SchemaError
        The question names a variable that the table does not have.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> usual_use(rwn.load_demo("bodyfat")).confidential
    ('siri',)
    """
    released = microdata.schema.released
    confidential = tuple(v.name for v in released if v.role is Role.CONFIDENTIAL)
    regressions = _regressions(microdata, confidential, question)
    return Use(confidential=confidential, regressions=regressions)


def _regressions(
    microdata: Microdata, confidential: tuple[str, ...], question: Question | None
) -> tuple[StatedRegression, ...]:
    asked = microdata.schema.question if question is None else question
    key = ("usual regressions", microdata.schema, confidential, asked)

    def found() -> tuple[StatedRegression, ...]:
        made: dict[str, StatedRegression] = {}
        released = {v.name for v in microdata.schema.released}
        if asked is not None and released.issuperset((asked.response, *asked.predictors)):
            kind = "logistic" if _kind(microdata, asked.response) == "logistic" else "linear"
            made[asked.response] = StatedRegression.of_question(asked, kind)
        for name in confidential[:MOST_REGRESSIONS]:
            usual = None if name in made else usual_regression(microdata, name)
            if usual is not None:
                made[name] = usual
        return tuple(made.values())

    return microdata.cached(key, found)


def _kind(microdata: Microdata, name: str) -> str:
    """Return the kind of regression that suits a response; empty where none does."""
    if name not in {v.name for v in microdata.schema.released}:
        return ""
    different = microdata.frame[name].dropna().nunique()
    if different == 2:
        return "logistic"
    measured = microdata.schema.variable(name).kind in _MEASURED
    return "linear" if measured and different > 2 else ""


def usual_regression(microdata: Microdata, response: str) -> StatedRegression | None:
    """Return the regression of a variable on the keys and on what is most related to it.

    None where it is no number and has not two values, or where nothing can explain it.
    """
    kind = _kind(microdata, response)
    if not kind:
        return None
    comparison = Comparison(original=microdata, masked=microdata)
    related = np.nan_to_num(np.abs(associations(comparison, microdata)))
    chance = original_chance(comparison)
    chosen: list[str] = []
    coefficients = 1
    for variable in _candidates(microdata, response, related, chance):
        terms = len(dummy_levels(microdata, variable.name))
        few = microdata.n < RECORDS_A_TERM * (coefficients + terms)
        repeats = _repeats(microdata, variable.name, [response, *chosen], related)
        if few or repeats or _fitted(microdata, response, [*chosen, variable.name], kind) is None:
            continue
        chosen.append(variable.name)
        coefficients += terms
        if len(chosen) == MOST_PREDICTORS:
            break
    if not chosen or not _explains(microdata, response, chosen, kind):
        return None
    question = Question(response=response, predictors=tuple(chosen))
    return StatedRegression.of_question(question, kind)


def _candidates(
    microdata: Microdata, response: str, related: Floats, chance: Floats
) -> list[Variable]:
    """Return possible predictors: keys first, then related variables, the nearest ones first."""
    # Shapes: related, chance (p, p), of the released variables.
    released = microdata.schema.released
    own = [v.name for v in released].index(response)
    keys, others = [], []
    for place in np.argsort(-related[own], kind="stable"):
        variable = released[int(place)]
        known = float(microdata.frame[variable.name].notna().mean())
        if place == own or known < KNOWN:
            continue
        if variable.role is Role.KEY:
            keys.append(variable)
        elif related[own, place] > chance[own, place]:
            others.append(variable)
    # a table of many keys still shows what the response follows most
    return [*keys[: MOST_PREDICTORS // 2], *others, *keys[MOST_PREDICTORS // 2 :]]


def _repeats(microdata: Microdata, name: str, others: list[str], related: Floats) -> bool:
    """True if a variable is another form of a variable that is there already."""
    # Shapes: related (p, p), of the released variables.
    place = {v.name: at for at, v in enumerate(microdata.schema.released)}
    return any(related[place[name], place[other]] > SAME for other in others)


def _fitted(
    microdata: Microdata, response: str, predictors: list[str], kind: str
) -> LeastSquares | None:
    """Fit the response as a number; None where predictors do not determine coefficients."""
    question = Question(response=response, predictors=tuple(predictors))
    model = StatedRegression.of_question(question, kind)
    try:
        return least_squares(model_design(model, microdata, microdata))
    except NotApplicable:
        return None


def _explains(microdata: Microdata, response: str, predictors: list[str], kind: str) -> bool:
    """True if the predictors tell clearly more than unrelated ones would."""
    fit = _fitted(microdata, response, predictors, kind)
    if fit is None or fit.residual_variance == 0:
        return False
    left = len(fit.design.records) - len(fit.design.terms) - 1
    return left * fit.r2 > STRONG * len(fit.design.terms) * (1.0 - fit.r2)
