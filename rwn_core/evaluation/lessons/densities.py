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


def _around(normals: _Normals, radius: Floats) -> Points:
    """Return points at the angle of the first two normals, at a radius; each of shape (n,)."""
    angle = np.arctan2(normals[1], normals[0])
    return radius * np.cos(angle), radius * np.sin(angle)


DENSITIES: Mapping[str, Callable[[_Normals], Points]] = MappingProxyType(
    {
        "normal": lambda each: (each[0], 0.8 * each[0] + 0.6 * each[1]),
        "ring": lambda each: _around(each, 1 + 0.1 * each[2]),
        "two clusters": lambda each: (
            1.5 * np.sign(each[2]) + 0.5 * each[0],
            1.5 * np.sign(each[2]) + 0.5 * each[1],
        ),
        "banana": lambda each: (each[0], each[0] ** 2 + 0.4 * each[1]),
        "uniform disc": lambda each: _around(each, np.sqrt(ndtr(each[2]))),
        "discrete": lambda each: (np.round(each[0]), np.round(0.8 * each[0] + 0.6 * each[1])),
    }
)
"""The densities by name: what each makes of three independent standard normals."""


def points_of(density: str, n: int, seed: int = 1) -> Microdata:
    """Draw a table of two variables, x and y."""
    if density not in DENSITIES:
        raise ParameterError(f"The density must be one of: {', '.join(DENSITIES)}.")
    normals = np.random.default_rng(seed).standard_normal((n, 3)).T
    x, y = DENSITIES[density]((normals[0], normals[1], normals[2]))
    variables = tuple(Variable(name=name, kind=Kind.CONTINUOUS) for name in ("x", "y"))
    return Microdata.from_frame(pd.DataFrame({"x": x, "y": y}), Schema(variables=variables))
