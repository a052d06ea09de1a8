"""Prediction attack: a small model of the release predicts the secret from the true keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.measures.attacks.red_team.files import Files
from rwn_core.measures.attacks.red_team.finding import (
    RARE,
    Finding,
    Tried,
    count_names,
)

KEY = "prediction"
CONFIDENT = (0.0, 0.5, 0.8, 0.95)  # least chance of a level that is named
LEAF = 5  # rows of a leaf of a tree, at least
MANY_LEVELS = 50  # of a category; of more, a key is one number and a secret is not predicted

Predicted = tuple[Floats, Floats]
"""A value for each person, and its chance."""
Models = Iterator[tuple[str, Callable[[Floats], Predicted]]]


def attack(files: Files) -> list[Finding | Tried]:
    """Name secrets by least squares, a logistic regression and a shallow tree."""
    found: list[Finding | Tried] = []
    if not files.known:
        return found
    tables = [_features(files, table) for table in (files.rows, files.people)]
    if files.outside is not None:
        tables.append(_features(files, files.outside))
    middle, spread = tables[0].mean(axis=0), tables[0].std(axis=0)
    rows, *others = ((each - middle) / np.where(spread > 0, spread, 1.0) for each in tables)
    for secret in files.secrets:
        shown = files.column(files.rows, secret)
        learned = np.flatnonzero(~np.isnan(shown))[:LIVE_RECORDS]
        few = len(learned) < 2 * LEAF or np.unique(shown[learned]).size < 2
        if few or len(files.levels.get(secret, ())) > MANY_LEVELS:
            continue
        models = _levels if secret in files.levels else _numbers
        for words, predict in models(rows[learned], shown[learned]):
            predicted = [predict(each) for each in others]
            for least in CONFIDENT if secret in files.levels else CONFIDENT[:1]:
                sure = f", where its chance is at least {least:g}" if least else ""
                inside, *outside = (np.where(chance >= least, value, np.nan)
                                    for value, chance in predicted)  # fmt: skip
                tried = count_names(files, secret, inside, (KEY, f"{words} on the keys{sure}"))
                found += [_against(files, each, outside[0]) for each in tried] if outside else tried
    return found


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


def _numbers(rows: Floats, shown: Floats) -> Models:
    """Yield least squares and a tree of the standardized number."""
    from sklearn.tree import DecisionTreeRegressor

    middle, unit = float(shown.mean()), float(shown.std())
    scaled = (shown - middle) / unit
    slopes = np.linalg.lstsq(_with_one(rows), scaled, rcond=None)[0]
    tree = DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0).fit(rows, scaled)
    for words, predict in (
        ("a regression", lambda people: _with_one(people) @ slopes),
        ("a tree", tree.predict),
    ):
        yield words, partial(_in_units, predict, middle, unit)


def _levels(rows: Floats, shown: Floats) -> Models:
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(min_samples_leaf=LEAF, random_state=0)
    line = LogisticRegression(max_iter=200, tol=1e-3)
    for words, model in (("a tree", tree), ("a logistic regression", line)):
        yield words, partial(_likeliest, model.fit(rows, shown))


def _with_one(table: Floats) -> Floats:
    return np.column_stack((np.ones(len(table)), table))


def _in_units(
    predict: Callable[[Floats], Floats], middle: float, unit: float, people: Floats
) -> Predicted:
    return np.asarray(predict(people) * unit + middle), np.ones(len(people))


def _likeliest(model: Any, people: Floats) -> Predicted:
    chances = model.predict_proba(people)
    return model.classes_[chances.argmax(axis=1)], chances.max(axis=1)


def _against(files: Files, inside: Tried, guess: Floats) -> Tried:
    """Return the same counts with the success on people outside as their base."""
    truth = files.outside
    assert truth is not None
    own = files.column(truth, inside.secret)
    base = inside.base.copy()
    for place, level in enumerate(inside.levels):
        if level is None or level is RARE:
            known = ~np.isnan(own) & ~np.isnan(guess)
            if level is RARE:
                known &= ~np.isin(guess, files.memo[("common", inside.secret)])
            share = 0.0 if inside.secret in files.levels else 0.05
            right = np.abs(guess - own)[known] <= share * np.abs(own[known])
        else:
            values = files.memo[("levels", inside.secret)]
            known = guess == values[place]
            right = own[known] == values[place]
        if known.sum():
            base[place] = max(base[place], float(right.mean()))
    return inside._replace(base=np.minimum(base, 1.0))
