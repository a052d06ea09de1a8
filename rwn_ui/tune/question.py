"""The form on the regression's card: what is explained, by what, with which terms and model."""

from __future__ import annotations

from typing import Any

import orjson

import rwn_core as rwn
from rwn_core.charts import Chart
from rwn_core.data.regression import MODELS, Question
from rwn_core.data.use import StatedRegression, Use
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.main_regression import main_regression
from rwn_core.measures.statistics.usual_use import use_of
from rwn_ui.state.session import Session

_ASKED = "regression:"
"""Begins what the panel sends of it."""


def with_form(data: rwn.Microdata, card: Chart) -> Chart:
    """The card of the regression with a form: in its full view, or on it where none is chosen."""
    responses = offered_responses(data)
    if not responses or data.p < 2:
        return card
    stated = shown_regression(data)
    form: dict[str, Any] = {
        "send": _ASKED,
        "text": "Which regression should the release keep?",
        "responses": responses,
        "predictors": [variable.name for variable in data.schema.released],
        "response": stated and stated.response,
        "chosen": list(stated.predictors) if stated else [],
        "terms": stated.terms if stated else "",
        "kinds": list(MODELS),
        "kind": stated.kind if stated else MODELS[0],
    }
    return {**card, "form": form} if stated else {**card, "note": "", "form": form}


def shown_regression(data: rwn.Microdata) -> StatedRegression | None:
    """The regression that the card shows; None where there is none."""
    try:
        asked = main_regression(Comparison(original=data, masked=data))
    except NotApplicable:
        return None
    return StatedRegression.of_question(asked) if isinstance(asked, Question) else asked


def offered_responses(data: rwn.Microdata) -> list[str]:
    """Numbers and variables of two values, the confidential ones first."""
    first = use_of(data).responses
    names = [v.name for v in data.schema.released if _can_be_explained(data, v)]
    return sorted(names, key=lambda name: name not in first)


def _can_be_explained(data: rwn.Microdata, variable: rwn.Variable) -> bool:
    """True if a variable is a number, or has two values, which a logistic regression explains."""
    if variable.name in data.numeric_names:
        return True
    if variable.kind is not Kind.CATEGORICAL:
        return False
    return len(data.codes(variable.name)[1]) == 2


def take(session: Session, sent: str) -> None:
    """State the regression that was chosen on the card; anything else that was sent is no answer.

    Raises
    ------
    RWNError
        A term cannot be read, or names what the release does not have.
    """
    if not sent.startswith(_ASKED):
        return
    try:
        asked = orjson.loads(sent.removeprefix(_ASKED))
        parts = asked["response"], tuple(asked["predictors"])
        terms, kind = asked.get("terms", ""), asked.get("kind", MODELS[0])
    except (ValueError, KeyError, TypeError, AttributeError):
        return
    if not all(isinstance(each, str) for each in (parts[0], *parts[1], terms, kind)):
        return
    regression = StatedRegression.of_parts(*parts, terms=terms, kind=kind)
    names = {variable.name for variable in session.data.schema.released}
    if unknown := [name for name in regression.names if name not in names]:
        raise rwn.ParameterError(
            f"The regression names {unknown[0]}, which the release does not have; choose another "
            "variable."
        )
    with session.user.endpoint.paused():  # at once: distances do not depend on it
        session.state_use(with_regression(session.data, regression))


def with_regression(data: rwn.Microdata, regression: StatedRegression) -> Use:
    """The use of a table with a regression first; confidential variables follow their roles."""
    every = use_of(data).with_regression(regression).regressions
    stated = data.schema.use or Use()
    return Use(confidential=stated.confidential, regressions=every)
