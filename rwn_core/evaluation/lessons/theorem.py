"""Shows the theorem at work: values drawn near a record keep the joint distribution.

U and V are drawn independently from the ball around (X, Y). Both stay within epsilon of it, so
their joint distribution comes near that of (X, Y) as epsilon shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.laws.law import Law
from rwn_core.masking import Prepared
from rwn_core.measures.statistics.association import correlation_matrix
from rwn_core.randomness import SecretKey

GRID = 25  # values of each variable at which the joint distributions are compared
SEED = 1  # a lesson is the same for all users


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Theorem:
    """One release of points in the plane, and the error of its joint distribution."""

    # original, released: shape (n, 2): in standard deviations of the original
    original: Floats
    released: Floats
    record: int  # the record at the center of the ball, from 0
    donors: Integers  # shape (2,): the donors of its U and V
    members: Integers32  # shape (m,): the records in the ball
    radius: float  # of the ball, in standard deviations
    correlation: tuple[float, float]  # of the original and of the release, from -1 to 1
    distance: float  # largest difference of the two joint distribution functions, from 0 to 1
    # the same for the expected joint distribution of all releases, which has a closed form
    expected_distance: float
    # share of released rows that are some original record as a whole, from 0 to 1
    whole_rows: float
    added_error: float  # standard deviation that the masking adds to the mean of x + y


def theorem(prepared: Prepared, *, record: int = 0) -> Theorem:
    """Draw a release of two variables and compare its joint distribution with the original's."""
    made = prepared.release(SecretKey.from_seed(SEED))
    law, donors = made.law, made.donors
    assert law is not None
    assert donors is not None
    neighborhoods = law.neighborhoods
    assert neighborhoods is not None  # the method copies from them
    metric = prepared.params.metric(prepared.microdata)
    released_names = [variable.name for variable in prepared.microdata.schema.released]
    original, released = metric.points(prepared.microdata), metric.points(made.masked)
    steps = cut_points(original)
    truth = joint_distribution(original, steps)
    # the expected joint distribution function of all releases, without drawing one
    x, y = _below(original, steps)
    members = law.probabilities
    if together(law):
        weight = np.asarray(members.sum(axis=0)).ravel()
        expected = (x * weight[:, None]).T @ y / len(original)
    else:
        expected = (members @ x).T @ (members @ y) / len(original)
    related = [float(correlation_matrix(points)[0, 1]) for points in (original, released)]
    return Theorem(
        original=original,
        released=released,
        record=record,
        donors=donors[record],
        members=neighborhoods.members(record),
        radius=float(neighborhoods.radius[record]),
        correlation=(related[0], related[1]),
        distance=float(np.abs(joint_distribution(released, steps) - truth).max()),
        expected_distance=float(np.abs(expected - truth).max()),
        whole_rows=whole_rows(original, released),
        added_error=added_error(law, prepared.microdata.matrix(released_names)),
    )


def cut_points(points: Floats) -> Floats:
    """The values at which distribution functions are compared, shape (`GRID`, 2)."""
    return np.quantile(points, (np.arange(GRID) + 0.5) / GRID, axis=0, method="inverted_cdf")


def joint_distribution(points: Floats, steps: Floats) -> Floats:
    """P(X <= a, Y <= b) over the records, for each pair of cut points."""
    x, y = _below(points, steps)
    return np.asarray(x.T @ y / len(points))


def _below(points: Floats, steps: Floats) -> Floats:
    """1 where a coordinate is at most a cut point, shape (2, n, `GRID`)."""
    return np.moveaxis(points[:, None, :] <= steps, -1, 0).astype(float)


def together(law: Law) -> bool:
    """True if all variables of a row come from one donor."""
    return len(law.units()) == 1


def added_error(law: Law, values: Floats) -> float:
    """Standard deviation over releases of the mean of x + y."""
    # Shapes: values (n, 2); members (n, n).
    drawn = values.sum(axis=1, keepdims=True) if together(law) else values
    members = law.probabilities
    spread = members @ drawn**2 - (members @ drawn) ** 2
    return float(np.sqrt(np.maximum(spread, 0.0).sum()) / len(values))


def whole_rows(original: Floats, released: Floats) -> float:
    """Share of released rows that are some original record as a whole."""
    # Shapes: original (n, 2); released (n, 2).
    known = {tuple(row) for row in original.tolist()}
    return float(np.mean([tuple(row) in known for row in released.tolist()]))
