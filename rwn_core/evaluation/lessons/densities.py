"""Draws points of a known density, so that a lesson can say what is true of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy.special import ndtr

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import ParameterError

Points = tuple[Floats, Floats]
_Normals = tuple[Floats, Floats, Floats]


def _normal(normals: _Normals) -> Points:
    a, b, _ = normals
    return a, 0.8 * a + 0.6 * b


def _disc(normals: _Normals) -> Points:
    angle, radius = _angle(normals), np.sqrt(ndtr(normals[2]))
    return radius * np.cos(angle), radius * np.sin(angle)


def _ring(normals: _Normals) -> Points:
    angle, radius = _angle(normals), 1 + 0.1 * normals[2]
    return radius * np.cos(angle), radius * np.sin(angle)


def _clusters(normals: _Normals) -> Points:
    a, b, c = normals
    side = np.where(c > 0, 1.5, -1.5)
    return side + 0.5 * a, side + 0.5 * b


def _banana(normals: _Normals) -> Points:
    a, b, _ = normals
    return a, a**2 + 0.4 * b


def _discrete(normals: _Normals) -> Points:
    x, y = _normal(normals)
    return np.round(x), np.round(y)


def _angle(normals: _Normals) -> Floats:
    # Shapes: each of normals, the answer (n,).
    return np.arctan2(normals[1], normals[0])


DENSITIES: Mapping[str, Callable[[_Normals], Points]] = MappingProxyType(
    {
        "normal": _normal,
        "ring": _ring,
        "two clusters": _clusters,
        "banana": _banana,
        "uniform disc": _disc,
        "discrete": _discrete,
    }
)
"""The densities by name: what each makes of three independent standard normals."""


def points_of(density: str, n: int, seed: int = 1) -> Microdata:  # words: shown in lessons
    """Draw a table of two variables, x and y."""
    if density not in DENSITIES:
        raise ParameterError(f"The density must be one of: {', '.join(DENSITIES)}.")
    normals = np.random.default_rng(seed).standard_normal((n, 3)).T
    x, y = DENSITIES[density]((normals[0], normals[1], normals[2]))
    variables = tuple(Variable(name=name, kind=Kind.CONTINUOUS) for name in ("x", "y"))
    return Microdata.from_frame(pd.DataFrame({"x": x, "y": y}), Schema(variables=variables))
