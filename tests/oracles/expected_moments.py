"""Moments to expect of a release, added up from the chances of its law, record by record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.laws.cell_law import CellLaw
from rwn_core.masking import Method


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedMoments:
    """Expected means, covariances (divisor n - 1), counts of levels; and variances of the means."""

    means: pd.Series
    covariances: pd.DataFrame
    mean_variances: pd.Series
    category_counts: dict[str, dict[str, float]]


def expected_moments(law: CellLaw) -> ExpectedMoments:
    """Those of a table without missing values, whose cells or slices are drawn apart."""
    data = law.original
    n = data.n
    names = list(data.numeric_names)
    released = [variable.name for variable in data.schema.released]
    values = data.matrix(names)
    # shape (p, n, n): the chance that a record's cell has each record's value
    chances = {
        name: (1 - q) * np.eye(n) + q * law.probabilities.toarray()
        for name, q in zip(released, law.q, strict=True)
    }
    means = np.column_stack([chances[name] @ data.values(name) for name in names])
    noise = np.zeros((len(names), len(names)))
    for one, name in enumerate(names):
        group = data.schema.variable(name).group
        for two, other in enumerate(names):
            if one == two or (group is not None and data.schema.variable(other).group == group):
                products = chances[name] @ (values[:, one] * values[:, two])
                noise[one, two] = (products - means[:, one] * means[:, two]).sum()
    counts = {}
    for variable in data.schema.released:
        if variable.kind is rwn.Kind.CATEGORICAL:
            shown = pd.get_dummies(data.frame[variable.name])
            expected = chances[variable.name] @ shown.to_numpy(dtype=float)
            counts[variable.name] = dict(zip(shown, expected.sum(axis=0), strict=True))
    between = np.atleast_2d(np.cov(means, rowvar=False))
    return ExpectedMoments(
        means=pd.Series(means.mean(axis=0), index=names),
        covariances=pd.DataFrame(between + noise / n, index=names, columns=names),
        mean_variances=pd.Series(np.diag(noise) / n**2, index=names),
        category_counts=counts,
    )


def expected_of(data: rwn.Microdata, params: Method) -> ExpectedMoments:
    """Those of a setting on a table."""
    return expected_moments(params.prepare(data).law)
