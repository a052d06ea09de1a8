"""Hold our own statistics against those of the libraries, within a slider move of Tune.

``python -m benchmarks own_statistics`` draws a release and reads all measures of Tune, by turns
with the own function and with that of the library, 200 times each on bodyfat and on 2,000 x 10
numbers. It prints the ratio of the median times, by how much a reading differs, and how long a new
process imports the library for its first picture.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn.covariance import EmpiricalCovariance
from sklearn.decomposition import PCA

import rwn_core as rwn
from benchmarks.pages import say
from benchmarks.tables import mixed
from rwn_core.data.schema import Question
from rwn_core.measures.comparison import standardized
from rwn_core.measures.risk import outliers
from rwn_core.measures.statistics import ols
from rwn_core.measures.utility import relations
from rwn_ui.state.results import PreparedTable


def least_squares(design: ols.Design, where: str = "") -> ols.LeastSquares:
    """Fit by statsmodels, with each record's leverage."""
    response = standardized(design.response[:, None])[:, 0]
    fit = sm.OLS(response, sm.add_constant(standardized(design.columns))).fit()
    return ols.LeastSquares(
        design=design, r2=fit.rsquared, residuals=fit.resid, residual_variance=fit.mse_resid,
        leverages=fit.get_influence().hat_matrix_diag, dependence=fit.model.pinv_wexog,
        **ols._in_units(design, fit.params, fit.cov_params()),
    )  # fmt: skip


LIBRARY = {
    "least squares, statsmodels.regression.linear_model": (ols, "least_squares", least_squares),
    "components, sklearn.decomposition": (
        relations,
        "component_variances",
        lambda values: PCA().fit(standardized(values)).explained_variance_,
    ),
    "Mahalanobis distance, sklearn.covariance": (
        outliers,
        "mahalanobis_distances",
        lambda v: (np.sqrt(EmpiricalCovariance().fit(v).mahalanobis(v) * (1 - 1 / len(v))), 0),
    ),
}  # module, name of the own function, what replaces it


def report(name: str, data: rwn.Microdata) -> None:
    """Print a line for each statistic."""
    table = PreparedTable.prepare(data)

    def move(seed: int) -> tuple[float, list[float]]:
        start = time.perf_counter()
        readings = table.release(rwn.RWN(epsilon=1 + seed / 200, k=5), seed).readings
        values = [each.value for each in readings.values() if isinstance(each, rwn.Reading)]
        return time.perf_counter() - start, values

    for statistic, (module, function, other) in LIBRARY.items():
        own, library, apart = [], [], [0.0]
        for seed in range(200):
            seconds, before = move(seed)
            own.append(seconds)
            with patch.object(module, function, other):
                seconds, after = move(seed)
            library.append(seconds)
            apart.append(float(np.abs(np.subtract(before, after)).max()))
        ratio = np.median(library) / np.median(own)
        say(f"{name}, {statistic}: {ratio:.2f} times the move, readings {max(apart):.0e} apart")


if __name__ == "__main__":
    question = Question(response="x0", predictors=("x1", "x2", "x3", "x4", "x5"))
    ten = rwn.Microdata.from_frame(pd.DataFrame(mixed(2_000, 10)).add_prefix("x"))
    report("bodyfat", rwn.load_demo("bodyfat"))
    report("2,000 x 10", ten.with_schema(replace(ten.schema, question=question)))
    for statistic in LIBRARY:
        module = statistic.split(", ")[1]
        code = f"import time, rwn_core.measures; s = time.time(); import {module}\n"
        run = [sys.executable, "-c", f"{code}print(time.time() - s)"]
        spent = subprocess.run(run, capture_output=True, text=True, check=True).stdout
        say(f"import {module}: {float(spent):.2f} s")
