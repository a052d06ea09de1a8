"""Slices by prediction the slow way: a fit anew for each row, weights by halving."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Columns = Sequence[Sequence[Any]]  # each with a value a record


def coordinates(columns: Columns) -> np.ndarray:
    """Return standardized coordinates of the records: numbers, and all levels."""
    made: list[list[float]] = []
    for column in columns:
        known = [value for value in column if value is not None]
        raw: list[list[float]] = []
        if any(isinstance(value, str) for value in column):
            raw += [indicator(column, level) for level in sorted(set(known))]
        else:
            made += standardized_number(column, known)
        raw.append(indicator(column, None))
        made += [standard for each in raw if (standard := standardized(each)) is not None]
    return np.array(made).T


def indicator(column: Sequence[object], level: object) -> list[float]:
    """Return 1 where a column has a level, None being that of what is missing; else 0."""
    return [1.0 if value == level else 0.0 for value in column]


def standardized_number(
    column: Sequence[float | None], known: Sequence[float]
) -> list[list[float]]:
    """Return a number with mean 0 and spread 1, 0 where it is missing; nothing of a constant."""
    mean = sum(known) / len(known)
    spread = math.sqrt(sum((value - mean) ** 2 for value in known) / (len(known) - 1))
    if spread <= 0:
        return []
    return [[0.0 if value is None else (value - mean) / spread for value in column]]


def standardized(column: Sequence[float]) -> list[float] | None:
    """Return a column with mean 0 and spread 1; None for a constant."""
    mean = sum(column) / len(column)
    spread = math.sqrt(sum((value - mean) ** 2 for value in column) / (len(column) - 1))
    return [(value - mean) / spread for value in column] if spread > 1e-9 else None


def with_product(own: np.ndarray) -> np.ndarray:
    """Add the product of the first two coordinates."""
    product = standardized([float(row[0] * row[1]) for row in own])
    return own if product is None else np.column_stack([own, product])


def predicted(
    predictors: np.ndarray, responses: np.ndarray, point: np.ndarray, without: set[int]
) -> np.ndarray:
    """Return the prediction at a point by the fit of the records that are not left out."""
    # the ridge as rows of data: one for each coordinate
    n, d = predictors.shape
    own = [record for record in range(n) if record not in without]
    free = np.column_stack([np.ones(len(own)), predictors[own]])
    ridge = np.column_stack([np.zeros(d), math.sqrt(1e-6 * n) * np.eye(d)])
    targets = np.concatenate([responses[own], np.zeros((d, responses.shape[1]))])
    found = np.linalg.lstsq(np.concatenate([free, ridge]), targets, rcond=1e-14)[0]
    score: np.ndarray = np.concatenate([[1.0], point]) @ found
    return score


def holders(slices: Sequence[Columns], donors: Sequence[int], later: int) -> set[int]:
    """Return the records that have what a row with these donors shows, where few have it."""
    left_out: set[int] = set()
    for columns, donor in zip(slices, donors, strict=True):
        contents = [*zip(*columns, strict=True)]
        own = {record for record, each in enumerate(contents) if each == contents[donor]}
        if len(own) <= later:
            left_out |= own
    return left_out


def shown_coordinates(parts: Sequence[np.ndarray], donors: Sequence[int]) -> np.ndarray:
    """Return the coordinates of a row that has each slice of another donor."""
    return np.concatenate([part[donor] for part, donor in zip(parts, donors, strict=True)])


def axes(
    slices: Sequence[Columns],
    response: Columns,
    rows: Sequence[Sequence[int]],
    later: int,
    product: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[set[int]]]:
    """Return scores of records and of rows on axes, the spread of each, and who is left out.

    A row is the records that gave it its slices.
    """
    parts = [coordinates(columns) for columns in slices]
    predictors = np.column_stack(parts)
    shown = [shown_coordinates(parts, row) for row in rows]
    if product:
        predictors = with_product(np.column_stack(parts))
        # one slice alone: a row has the product of the record that gave it
        shown = [predictors[row[0]] for row in rows]
    responses = coordinates(response)
    n = len(predictors)
    nobody: set[int] = set()
    scores = np.array([predicted(predictors, responses, own, nobody) for own in predictors])
    left_out = [holders(slices, row, later) for row in rows]
    of_rows = np.array(
        [
            predicted(predictors, responses, own, without)
            for own, without in zip(shown, left_out, strict=True)
        ]
    )
    residuals = responses - scores
    residuals = residuals - residuals.mean(axis=0)
    covariance = residuals.T @ residuals / n
    covariance += (1e-6 * np.trace(covariance) / len(covariance) + 1e-12) * np.eye(len(covariance))
    scale = np.linalg.inv(np.linalg.cholesky(covariance)).T
    scaled = (scores - scores.mean(axis=0)) @ scale
    # spread and direction of each axis, largest first
    _, spreads, directions = np.linalg.svd(scaled, full_matrices=False)
    spreads = spreads / math.sqrt(n - 1)
    some = [at for at in range(min(3, len(spreads))) if spreads[at] >= 0.1 * spreads[0]]
    vectors = directions[some].T
    for column in vectors.T:
        column *= np.sign(column[np.abs(column).argmax()])
    others = (of_rows - scores.mean(axis=0)) @ scale @ vectors
    return scaled @ vectors, others, spreads[some], left_out


def places(scores: np.ndarray, lots: Sequence[float], spreads: np.ndarray) -> np.ndarray:
    """Return places of equal margins, ties by lot."""
    found = np.zeros_like(scores)
    for axis in range(scores.shape[1]):
        ranked = sorted(range(len(scores)), key=lambda at: (round(scores[at, axis], 9), lots[at]))
        for place, at in enumerate(ranked):
            found[at, axis] = place / len(scores) * spreads[axis]
    return found


def even(rows: np.ndarray, records: np.ndarray, left_out: list[set[int]], later: int) -> np.ndarray:
    """Return weights of an even draw among the nearest, ties at the edge included."""
    weights = np.zeros((len(rows), len(records)))
    for row, own in enumerate(rows):
        squared = {
            record: float(((own - other) ** 2).sum())
            for record, other in enumerate(records)
            if record not in left_out[row]
        }
        edge = sorted(squared.values())[later - 1]
        # scores have nine digits: what differs by less is a tie
        near = [record for record, value in squared.items() if value <= edge * (1 + 1e-9) + 1e-16]
        weights[row, near] = 1 / len(near)
    return weights


def balanced(
    rows: np.ndarray, records: np.ndarray, left_out: list[set[int]], later: int
) -> np.ndarray:
    """Return weights of rows and records in balance, by turns."""
    n, m = len(rows), len(records)
    distance = np.sqrt(((rows[:, None] - records[None]) ** 2).sum(axis=2))
    for row, without in enumerate(left_out):
        distance[row, [*without]] = np.inf
    of_row = np.sort(distance, axis=1)[:, later - 1]
    of_record = np.sort(distance, axis=0)[later - 1]
    floor = 0.05 * np.median(of_row[of_row > 0])
    scales = np.outer(np.maximum(of_row, floor), np.maximum(of_record, floor))
    kernel = np.exp(-(distance**2) * 2 / scales) + later / (100_000 * n)
    kernel[np.isinf(distance)] = 0.0
    cap = 1 / later

    def factors(weights: np.ndarray) -> np.ndarray:
        """Return each row's factor, with sums of min(cap, factor times weight) at 1."""
        low, high = np.full(len(weights), 1e-9), np.full(len(weights), 1e9)
        for _ in range(90):
            middle = np.sqrt(low * high)
            enough = np.minimum(cap, middle[:, None] * weights).sum(axis=1) > 1
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    of_columns = np.ones(m)
    for _ in range(400):
        of_rows = factors(kernel * of_columns)
        of_columns = factors((kernel * of_rows[:, None]).T)
        weights = np.minimum(cap, of_rows[:, None] * kernel * of_columns)
        if abs(weights.sum(axis=1) - 1).max() < 1e-9:
            break
    return weights
