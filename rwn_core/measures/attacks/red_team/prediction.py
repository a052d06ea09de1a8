"""Prediction attack: a small model of the release predicts the secret from the true keys."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.measures.attacks.red_team.files import Files
from rwn_core.measures.attacks.red_team.finding import (
    RARE,
    Finding,
    NameCounts,
    are_among,
    count_names,
)

KEY = "prediction"
FITTED = "fitted models"  # of the rows alone, so that they serve all people
CONFIDENT = (0.0, 0.5, 0.8, 0.95)  # least chance of a level that is named
LEAF = 5  # rows of a leaf of a tree, at least
MANY_LEVELS = 50  # of a category; of more, a key is one number and a secret is not predicted

TREES = 20  # of a forest
SURELY = 3.0  # standard errors by which a model beats the majority on rows that it has not seen

Predicted = tuple[Floats, Floats]
"""A value for each person, and its chance."""


def _tell_nothing(values: Floats) -> bool:
    """True if values are too few, or all equal, to learn from."""
    # Shape: values (n,).
    return len(values) < 2 * LEAF or np.unique(values).size < 2


def _sure_values(values: Floats, chances: Floats, least: float) -> Floats:
    """Return the values whose chance is large enough, and none for others."""
    # Shapes: values, chances, the answer (n,).
    return np.where(chances >= least, values, np.nan)


def attack(files: Files) -> list[Finding | NameCounts]:
    """Name secrets by least squares, a logistic regression, a shallow tree and a forest."""
    return [*names(files)]


def names(files: Files) -> list[NameCounts]:
    """Name secrets by what models of the rows predict of people."""
    from sklearn import config_context

    # arrays of this module are finite, and its parameters are right: each fit would check them
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return _names(files)


def _names(files: Files) -> list[NameCounts]:
    """Return what each model names."""
    found: list[NameCounts] = []
    if not files.known:
        return found
    tables = [_features(files, table) for table in (files.rows, files.people)]
    if files.outside is not None:
        tables.append(_features(files, files.outside))
    middle = tables[0].mean(axis=0)
    spread = tables[0].std(axis=0)
    rows, *others = ((each - middle) / np.where(spread > 0, spread, 1.0) for each in tables)
    for secret in files.secrets:
        levels = secret in files.levels
        models = files.cached((FITTED, secret), partial(_fitted, files, rows, secret))
        for words, model in models.items():
            predicted = [_predicted(model, each) for each in others]
            for least in CONFIDENT if levels else CONFIDENT[:1]:
                sure = f", where its chance is at least {least:g}" if least else ""
                inside, *outside = (_sure_values(*each, least) for each in predicted)
                tried = count_names(files, secret, inside, (KEY, f"{words} on the keys{sure}"))
                found += [_against(files, each, outside[0]) for each in tried] if outside else tried
    return found


def _fitted(files: Files, rows: Floats, secret: str) -> Mapping[str, Any]:
    """Return the models that tell a secret by the keys of rows, shape (m, c), fitted to all."""
    shown = files.column(files.rows, secret)
    learned = np.flatnonzero(~np.isnan(shown))[:QUICK_RECORDS]
    if _tell_nothing(shown[learned]) or len(files.levels.get(secret, ())) > MANY_LEVELS:
        return {}
    known = rows[learned], shown[learned]
    levels = secret in files.levels
    models = {}
    for words, model in _models(levels).items():
        # what another model says of people is luck: that of one model names them all
        if files.is_side or _relates(model, *known, levels):
            models[words] = model.fit(*known)
    return models


def _relates(model: Model, rows: Floats, shown: Floats, levels: bool) -> bool:
    """True if a model of one half of the rows tells the secrets of the other beyond luck."""
    # Shapes: rows (m, c); shown (m,).
    half = np.arange(len(shown)) % 2 == 0  # rows are in random order
    better = np.zeros(len(shown))
    for own in (half, ~half):
        if np.unique(shown[own]).size < 2:
            return False
        value, _ = _predicted(model.fit(rows[own], shown[own]), rows[~own])
        if levels:
            kinds, count = np.unique(shown[own], return_counts=True)
            better[~own] = (value == shown[~own]) - 1.0 * (kinds[count.argmax()] == shown[~own])
        else:  # of ranks: one far number does not decide
            one, two = (np.argsort(np.argsort(each)) for each in (value, shown[~own]))
            better[~own] = (one - one.mean()) * (two - two.mean()) if np.ptp(value) else 0.0
    error = float(better.std()) / np.sqrt(len(better))
    return bool(better.mean() > SURELY * error)


def _features(files: Files, table: Floats) -> Floats:
    """Return a table's keys: numbers with the middle where missing, levels as corners."""
    parts = []
    for name in files.known:
        values, rows = files.column(table, name), files.column(files.rows, name)
        count = len(files.levels.get(name, ()))
        if 0 < count <= MANY_LEVELS:
            parts.append((values[:, np.newaxis] == np.arange(count)).astype(np.float64))
            continue
        middle = float(np.nanmedian(rows)) if not np.isnan(rows).all() else 0.0
        parts.append(np.where(np.isnan(values), middle, values)[:, np.newaxis])
    return np.column_stack(parts)


def _models(levels: bool) -> Mapping[str, Any]:
    """Return the models of a category, or of a number."""
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    tree: dict[str, Any] = {"min_samples_leaf": LEAF, "random_state": 0}
    if levels:
        return {
            "a tree": DecisionTreeClassifier(**tree),
            "a logistic regression": LogisticRegression(max_iter=200, tol=1e-3),
            "a random forest": ForestOfLevels(),
        }
    models = {
        "a regression": LinearRegression(),
        "a tree": DecisionTreeRegressor(**tree),
        "a random forest": ForestOfNumbers(),
    }
    return {name: _Standardized(model) for name, model in models.items()}


class Model(Protocol):
    """A model that is fitted to rows, shape (m, c), and predicts of people, shape (n, c)."""

    def fit(self, rows: Floats, shown: Floats) -> object:
        """Fit the model to rows and their values."""

    def predict(self, people: Floats) -> Floats:
        """Return a value for each person."""


class _Standardized:
    """A model of a number that is fitted in standard deviations."""

    def __init__(self, model: Model) -> None:
        from sklearn.preprocessing import StandardScaler

        self._model = model
        self._scaler = StandardScaler()

    def fit(self, rows: Floats, shown: Floats) -> Self:
        """Fit the model to rows, shape (m, c), and their values, shape (m,)."""
        column = shown[:, np.newaxis]
        self._model.fit(rows, self._scaler.fit(column).transform(column)[:, 0])
        return self

    def predict(self, people: Floats) -> Floats:
        """Return a value for each of some people, shape (n, c)."""
        found = self._model.predict(people)[:, np.newaxis]
        return np.asarray(self._scaler.inverse_transform(found)[:, 0])


class _Forest:
    """A random forest with the bits of scikit-learn's, which checks and copies for each tree."""

    def __init__(self) -> None:
        self._trees: list[Any] = []

    def _grow(self, tree: type[Any], rows: Floats, values: Floats) -> None:
        """Grow trees of random rows, shape (m, c), and their values, shape (m,)."""
        n = len(rows)
        known = np.ascontiguousarray(rows, np.float32)
        draw = np.random.RandomState(0)  # as scikit-learn draws
        self._trees = []
        for _ in range(TREES):
            seed = draw.randint(np.iinfo(np.int32).max)
            chosen = np.random.RandomState(seed).randint(0, n, n)
            often = np.bincount(chosen, minlength=n).astype(np.float64)
            one = tree(min_samples_leaf=2, max_features="sqrt", random_state=seed)
            one.fit(known, values[:, np.newaxis], sample_weight=often, check_input=False)
            self._trees.append(one)


class ForestOfNumbers(_Forest):
    """A random forest that predicts a number."""

    def fit(self, rows: Floats, shown: Floats) -> Self:
        """Grow the forest from rows, shape (m, c), and their values, shape (m,)."""
        from sklearn.tree import DecisionTreeRegressor

        self._grow(DecisionTreeRegressor, rows, shown)
        return self

    def predict(self, people: Floats) -> Floats:
        """Return a value for each of some people, shape (n, c)."""
        asked = np.ascontiguousarray(people, np.float32)
        total = np.zeros(len(asked))
        for each in self._trees:
            total += each.predict(asked, check_input=False)
        return total / TREES


class ForestOfLevels(_Forest):
    """A random forest that predicts a level."""

    def fit(self, rows: Floats, shown: Floats) -> Self:
        """Grow the forest from rows, shape (m, c), and their levels, shape (m,)."""
        from sklearn.tree import DecisionTreeClassifier

        self.classes_, codes = np.unique(shown, return_inverse=True)
        self._grow(DecisionTreeClassifier, rows, codes.astype(np.float64))
        return self

    def predict_proba(self, people: Floats) -> Floats:
        """Return the chance of each level for some people, shape (n, c); shape (n, levels)."""
        asked = np.ascontiguousarray(people, np.float32)
        total = np.zeros((len(asked), len(self.classes_)))
        for each in self._trees:
            total += each.predict_proba(asked, check_input=False)
        return total / TREES


def _predicted(fitted: Any, people: Floats) -> Predicted:
    # Shapes: people (n, c); both answers (n,).
    if not hasattr(fitted, "predict_proba"):
        return fitted.predict(people), np.ones(len(people))
    chances = fitted.predict_proba(people)
    return fitted.classes_[chances.argmax(axis=1)], chances.max(axis=1)


def _against(files: Files, inside: NameCounts, guess: Floats) -> NameCounts:
    """Return the same counts with the success on people outside as their base."""
    # Shapes: guess (n,), of the people outside.
    truth = files.outside
    assert truth is not None
    own = files.column(truth, inside.secret)
    base = inside.base.copy()
    for place, level in enumerate(inside.levels):
        if level is None or level is RARE:
            known = ~np.isnan(own) & ~np.isnan(guess)
            if level is RARE:
                known &= ~are_among(guess, files.memo[("common", inside.secret)])
            share = 0.0 if inside.secret in files.levels else 0.05
            right = np.abs(guess - own)[known] <= share * np.abs(own[known])
        else:
            values = files.memo[("levels", inside.secret)]
            known = guess == values[place]
            right = own[known] == values[place]
        if known.sum():
            base[place] = max(base[place], float(right.mean()))
    return inside._replace(base=np.minimum(base, 1.0))
