"""Prediction: error of a model trained on the release on records that were never masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison, numbers
from rwn_core.measures.measure import FROM_ZERO, Detail, Reading, Sides, utility_measure


class Sample(NamedTuple):
    """The records that a learner is fitted to, or tested on; NaN where a feature is missing."""

    features: Floats  # shape (n, d)
    response: NDArray[Any]  # shape (n,)


TREES = 100
NEIGHBORS = 15
RIDGE = 1.0  # keeps collinear features from having no answer; small against any n worth fitting


LEARNERS = ("random forest", "linear model", "nearest neighbors")
"""The first one's error is the measure's value."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction(Detail):
    """The errors of l learners on held-out records, of one split or of several.

    Attributes
    ----------
    response : str
        The variable that is predicted.
    error_name : {"misclassification rate", "1 - R2"}
    n_train, n_test : int
        Records that learners are fitted to, and held-out ones; of the last split.
    learners : sequence of str
        The forest first.
    errors : Sides of ndarray of float64, shape (l,) or (splits, l)
        Of learners fitted to the original, and to the release.
    """

    response: str
    error_name: str
    n_train: int
    n_test: int
    learners: Sequence[str]
    errors: Sides[Floats]

    def differences(self) -> list[tuple[str, float, float, float, float]]:
        """Every learner: its name, mean errors, and the difference with its standard error."""
        both = [np.atleast_2d(each) for each in self.errors]
        change = both[1] - both[0]
        spread = np.full(len(self.learners), np.nan)
        if len(change) > 1:
            spread = change.std(axis=0, ddof=1) / np.sqrt(len(change))
        means = (each.mean(axis=0).tolist() for each in (*both, change))
        return list(zip(self.learners, *means, spread.tolist(), strict=True))


def _learner(name: str, records: int, classify: bool) -> Any:
    """Return a learner of scikit-learn, to be fitted to n records."""
    # a second to import, and only prediction needs it
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if name == "random forest":  # Breiman 2001
        settings = {"n_estimators": TREES, "random_state": 0, "n_jobs": 1}
        if classify:
            # leaves of 10, as in the R program that the paper used: smaller ones learn single
            # records
            return RandomForestClassifier(**settings, min_samples_leaf=10)
        # a third of the features and leaves of 5
        return RandomForestRegressor(**settings, max_features=1 / 3, min_samples_leaf=5)
    if name == "linear model":
        made = LogisticRegression(C=1 / RIDGE, max_iter=5000, tol=1e-6)
        made = made if classify else Ridge(alpha=RIDGE)
    else:
        kind = KNeighborsClassifier if classify else KNeighborsRegressor
        made = kind(n_neighbors=min(NEIGHBORS, records))
    middle = SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True)
    return make_pipeline(StandardScaler(), middle, made)


def learner_error(learner: str, train: Sample, test: Sample, *, classify: bool) -> float:
    """Return a learner's error on test records: share of wrong classes, or 1 - R2."""
    features = train.features
    response = train.response
    # one order of the records, so that samples and ties do not depend on the file's
    order = np.lexsort((*np.nan_to_num(features, nan=np.inf).T, response))
    if classify and len(np.unique(response)) < 2:
        return float((response[0] != test.response).mean())
    made = _learner(learner, len(response), classify)
    with np.errstate(invalid="ignore"):  # a column without a value has no mean
        predicted = made.fit(features[order], response[order]).predict(test.features)
    if classify:
        return float((predicted != test.response).mean())
    residual = test.response - predicted
    deviation = test.response - test.response.mean()
    return float((residual**2).sum() / (deviation**2).sum())


MOST_FEATURES = 500
FARTHEST = 1e30  # ranges of the original; scikit-learn holds features in 32 bits


class _Encoder:
    """The features and responses of any table of the original's form."""

    def __init__(self, original: Microdata, response: str) -> None:
        self.original = original
        self.response = response
        self.predictors = [v for v in original.schema.released if v.name != response]
        self.categories = [v for v in self.predictors if v.kind is Kind.CATEGORICAL]
        kind = original.schema.variable(response).kind
        pair = kind is Kind.COUNT and len(original.codes(response)[1]) == 2
        self.classify = pair or kind is Kind.CATEGORICAL

    @property
    def width(self) -> int:
        """Return the number of features."""
        coded = {v.name: self.original.codes(v.name)[1] for v in self.categories}
        return len(self.predictors) - len(coded) + sum(map(len, coded.values()))

    def table(self, table: Microdata, where: str) -> Sample:
        values: NDArray[Any]
        if self.classify:
            known = ~table.frame[self.response].isna().to_numpy()
            values = table.codes(self.response, self.original.codes(self.response)[1])[0]
        else:
            values = self._scaled(table, self.response)
            known = ~np.isnan(values)
        if known.sum() < 2:
            raise NotApplicable(
                f"Fewer than 2 records have a value of the response {self.response}{where}."
            )
        columns = []
        for variable in self.predictors:
            if variable in self.categories:
                levels = self.original.codes(variable.name)[1]
                code, _ = table.codes(variable.name, levels)
                columns += [(code == number).astype(float) for number in range(len(levels))]
            else:
                columns.append(self._scaled(table, variable.name))
        return Sample(np.column_stack(columns)[known], values[known])

    def _scaled(self, table: Microdata, name: str) -> Floats:
        # Shapes: the answer (n,), of the records of the table.
        # trees see only the order of values; the original's range keeps them within 32 bits
        reference = numbers(self.original, self.original, name)
        low = np.nanmin(reference)
        high = np.nanmax(reference)
        unit = high - low if high > low else 1.0
        scaled = (numbers(self.original, table, name) - low) / unit
        return np.asarray(np.clip(scaled, -FARTHEST, FARTHEST), dtype=np.float64)


def compute(comparison: Comparison) -> Reading[Prediction]:
    """Return the holdout error of a forest trained on the release; baseline: the original's."""
    holdout = comparison.holdout
    if holdout is None:
        raise NotApplicable(
            "There are no held-out records; keep some of them out of the masking to see how well "
            "a model trained on the release predicts them."
        )
    original, question = comparison.original, comparison.question
    if question is None:
        raise NotApplicable("No response is chosen; choose the variable to predict.")
    names = [variable.name for variable in original.schema.released]
    if question.response not in names:
        raise NotApplicable(
            f"The response {question.response} is not among the variables of a release: "
            f"{', '.join(names)}."
        )
    if len(names) < 2:
        raise NotApplicable("The table has no other variable to predict from.")
    # the same coding for all three tables; forests of either file predict the holdout
    encoder = _Encoder(original, question.response)
    if encoder.width > MOST_FEATURES:
        raise NotApplicable(
            f"The predictors have {encoder.width:,} levels and numbers together, and the forest "
            f"takes at most {MOST_FEATURES}; give variables of many levels the role identifier."
        )
    test = encoder.table(holdout, " in the held-out records")
    train = encoder.table(original, "")
    released = encoder.table(comparison.masked, RELEASED)
    if not encoder.classify and test[1].min() == test[1].max():
        raise NotApplicable(f"The response {encoder.response} is constant in the held-out records.")
    # an error for each learner; those of the original are kept for further releases
    before = comparison.cached_for_original(
        ("prediction", encoder.response),
        lambda: [learner_error(name, train, test, classify=encoder.classify) for name in LEARNERS],
    )
    after = [learner_error(name, released, test, classify=encoder.classify) for name in LEARNERS]
    detail = Prediction(
        response=encoder.response,
        error_name="misclassification rate" if encoder.classify else "1 - R2",
        n_train=len(released[1]),
        n_test=len(test[1]),
        learners=list(LEARNERS),
        errors=Sides(np.array(before), np.array(after)),
    )
    return Reading(value=after[0], baseline=before[0], detail=detail)


MEASURE = utility_measure(
    key="prediction",
    title="Prediction",
    bounds=FROM_ZERO,
    unit="error on held-out records",
    question="How well does a model trained on the release predict records never masked?",
    source="Perry, Matloff, Tendick 2022, section 8.4; random forest of Breiman 2001",
    compute=compute,
    of_holdout=True,
)
