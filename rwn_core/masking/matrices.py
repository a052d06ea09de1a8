"""Transition matrices as a parameter: they are checked, and can be a key and be written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rwn_core.errors import ParameterError
from rwn_core.laws.transition_matrix import check_transition

Rows = tuple[tuple[float, ...], ...]


def stated_matrices(matrices: Any) -> tuple[tuple[str, Rows], ...]:
    """Return matrices by variable as tuples, however they were stated."""
    try:
        given = json.loads(matrices) if isinstance(matrices, str) and matrices else matrices or ()
        pairs = given.items() if isinstance(given, Mapping) else given
        stated = tuple((str(name), _rows(rows)) for name, rows in pairs)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            'matrices must be rows of numbers by variable, such as {"sex": [[0.9, 0.1], [0.2, '
            "0.8]]}."
        ) from error
    for _, rows in stated:
        check_transition(np.array(rows))
    return stated


def _rows(rows: Sequence[Sequence[float]]) -> Rows:
    made = tuple(tuple(float(x) for x in row) for row in rows)
    if len({len(row) for row in made}) > 1:
        raise ValueError("rows of different lengths")
    return made
