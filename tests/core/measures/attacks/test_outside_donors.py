"""Whether a row shows somebody who is not in the file: beliefs against their definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.evaluation.audit import compare
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.measures.attacks.non_members import NonMembers
from rwn_core.neighbors.metric import Metric

NAMES = ("x", "y", "s")
PARAMS = {
    "rwn": RWN(epsilon=0.9, k=2, q=0.7),
    "nearest": RWN(k=3),
    "mixture": NBRS2015(epsilon=0.9, q=0.6, record_selection="bernoulli"),
}
GROUPS = {"alone": {}, "x and s": {"x": "a", "s": "a"}, "whole": dict.fromkeys("xys", "a")}


def table(n: int, seed: int, groups: dict[str, str]) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (n, 3)) * 1.0, columns=list(NAMES))
    frame.loc[0] = [9.0, 9, 9]  # nobody is near
    schema = Microdata.from_frame(frame).schema
    variables = tuple(replace(each, group=groups.get(each.name)) for each in schema.variables)
    return Microdata(frame, Schema(variables=variables))


class Slow:
    """A file that one person outside has joined: one row and one record at a time."""

    def __init__(self, release, data: Microdata, outside: Microdata, person: int) -> None:
        metric = Metric.fit(data)
        points = np.vstack((metric.points(data), metric.points(outside)[person]))
        self.params = release.params
        self.people = [*data.frame.to_numpy(), outside.frame.to_numpy()[person]]
        self.units = [[NAMES.index(name) for name in unit] for unit in release.law.units()]
        self.last = data.n
        distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
        np.fill_diagonal(distances, np.inf)
        self.members = [self._near(row) for row in distances]

    def _near(self, distance: np.ndarray) -> list[int]:
        if self.params.method != "rwn":
            return np.flatnonzero(distance < self.params.epsilon - 1e-9).tolist()
        kth = np.sort(distance)[self.params.k - 1]
        reach = max(self.params.epsilon or 0.0, kth)
        return np.flatnonzero(distance <= reach + 1e-9).tolist()

    def ways(self) -> list[tuple[float, float]]:
        """P(a row comes about so), and the share of its units that are modified."""
        q = self.params.q
        return [(1.0, q)] if self.params.method == "rwn" else [(q, 1.0), (1 - q, 0.0)]

    def chance(self, record: int, columns: list[int], row: np.ndarray, q: float) -> float:
        """P(a record gives some columns of one unit the values of the row)."""
        members, own = self.members[record], self.fits(record, columns, row)
        if members:
            copied = np.mean([self.fits(one, columns, row) for one in members])
        else:
            copied = float(np.isnan(row[columns]).all())
        return (1 - q) * own + q * copied

    def fits(self, record: int, columns: list[int], row: np.ndarray) -> bool:
        return bool((self.people[record][columns] == row[columns]).all())

    def shown(self, record: int, columns: list[int], row: np.ndarray, q: float) -> float:
        """P(the row shows the person | it comes from a record, the columns beside the secret)."""
        members = self.members[record]
        gives = (1 - q) * (record == self.last)
        gives += q * (self.last in members) / max(len(members), 1)
        given = self.chance(record, columns, row, q) if columns else 1.0
        return gives * self.fits(self.last, columns, row) / given if given else 0.0

    def belief(self, row: np.ndarray, keys: list[int]) -> tuple[float, float]:
        """P(the row is from the person) and P(it shows him), by the row's keys."""
        beside = next([c for c in unit if c in keys] for unit in self.units if 2 in unit)
        parts = [[c for c in unit if c in keys] for unit in self.units]
        total = source = shown = 0.0
        for record in range(self.last + 1):
            for weight, q in self.ways():
                likely = weight * np.prod([self.chance(record, c, row, q) for c in parts if c])
                total += likely
                source += likely * (record == self.last)
                lost = not self.members[record] and q == 1
                shown += 0 if lost else likely * self.shown(record, beside, row, q)
        # a lost row, whose record is no longer without neighbors, is nobody's
        return (source / total, shown / total) if total else (0.0, 0.0)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("method", PARAMS)
def test_a_row_shows_people_outside_as_often_as_defined(method, groups):
    data, outside = table(14, 1, GROUPS[groups]), table(5, 2, GROUPS[groups])
    release = mask(data, PARAMS[method], seed=3)
    asked = NonMembers(compare(data, release), release.law, outside, ["x", "y"])
    found = asked.beliefs(np.arange(data.n), ["s"])
    rows = release.masked.frame.to_numpy()
    for person in range(outside.n):
        slow = Slow(release, data, outside, person)
        source, donor = zip(*(slow.belief(row, [0, 1]) for row in rows), strict=True)
        np.testing.assert_allclose(found.source.toarray()[person], source, atol=1e-12)
        np.testing.assert_allclose(found.donor[0].toarray()[person], donor, atol=1e-12)


def test_somebody_with_the_keys_of_a_person_in_the_file_halves_the_belief():
    """Whole rows: of two twins, one inside and one outside, a row shows either as likely."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list(NAMES))
    data = Microdata.from_frame(frame)
    variables = tuple(replace(each, group="a") for each in data.schema.variables)
    data = Microdata(frame, Schema(variables=variables))
    release = mask(data, RWN(epsilon=1e3), seed=1)  # everybody is everybody's neighbor
    double = int(release.donors[0, 0])
    twin = Microdata(frame.iloc[[double]].reset_index(drop=True), data.schema)
    asked = NonMembers(compare(data, release), release.law, twin, ["x", "y"])
    rows = np.flatnonzero(release.donors[:, 0] == double)
    shown = asked.beliefs(rows, ["s"]).donor[0].toarray()
    # the twin himself might be the source, who shows his double, and the double, who shows him
    assert shown == pytest.approx(0.5, abs=1e-9)
