"""Asks for the regression on its own card, where a table came without one, or in its full view."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import orjson

import rwn_core as rwn
from rwn_core.charts import Chart
from rwn_ui.state.session import Session

_ASKED = "regression:"
"""Begins what the panel sends of it."""


def with_form(data: rwn.Microdata, card: Chart) -> Chart:
    """The card of the regression with a form: in its full view, or on it where none is chosen."""
    asked = data.schema.question
    if not data.numeric_names or data.p < 2:
        return card
    form: dict[str, Any] = {
        "send": _ASKED,
        "text": "Which regression should the release keep?",
        "responses": list(data.numeric_names),
        "predictors": [variable.name for variable in data.schema.released],
        "response": asked and asked.response,
        "chosen": list(asked.predictors) if asked else [],
    }
    return {**card, "form": form} if asked else {**card, "note": "", "form": form}


def take(session: Session, sent: str) -> None:
    """Keep the regression that was chosen on the card; anything else that was sent is no answer."""
    if not sent.startswith(_ASKED):
        return
    names = {variable.name for variable in session.data.schema.released}
    with suppress(rwn.RWNError, ValueError, KeyError, TypeError):
        asked = orjson.loads(sent.removeprefix(_ASKED))
        question = rwn.Question(response=asked["response"], predictors=tuple(asked["predictors"]))
        if {question.response, *question.predictors} <= names:
            with session.user.endpoint.paused():  # at once: distances do not depend on it
                schema = replace(session.data.schema, question=question)
                session.data = session.data.with_schema(schema)
